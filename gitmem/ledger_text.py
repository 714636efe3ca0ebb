"""A segment of the ledger as sentences, for people who look at it with Git: one record, one or few lines.

The same bytes always give the same text, and a record's text depends on that record alone, so that a
difference between two texts shows which records came, were redacted or were tampered with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from gitmem.control_signs import show_controls
from gitmem.counted import counted
from gitmem.errors import LedgerCorrupt
from gitmem.judgement_rules import JUDGEMENT
from gitmem.ledger_format import BadLine, Line, decode, split_segment
from gitmem.long_text import FIELD, needs_blob
from gitmem.records import LIFECYCLE_KINDS, Record

#: Characters of one value that are shown; `gitmem show` leads to the rest.
_LONGEST: Final = 1000
_INDENT: Final = "    "
_RECEIPT: Final = frozenset({"at", "by"})
#: What some editors and pagers take for the end of a line.
_ODD_BREAKS: Final = re.compile("[\u2028\u2029]")

_Body = Mapping[str, Any]


def render_ledger(content: bytes) -> str:
    """Return the text of a file of the ledger: a segment, a receipt, or a long text as it is.

    Never fails: what is no record stays, named as such.
    """
    if not content.startswith(b'{"ts":"') and b'\n{"ts":"' not in content:
        return _render_other(content)
    return "".join(f"{line}\n" for item in split_segment(content) for line in _told(item))


def _render_other(content: bytes) -> str:
    receipts = [_parse_receipt(line) for line in content.split(b"\n") if line]
    if receipts and None not in receipts:
        return "".join(f"{receipt}\n" for receipt in receipts)
    return show_controls(content.decode("utf-8", "replace"))


def _parse_receipt(line: bytes) -> str | None:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or not fields.keys() >= _RECEIPT:
        return None
    rest = _rest(fields, _RECEIPT)
    said = f"{_moment(str(fields['at']))}  forgotten by {_value(fields['by'])}" + (
        f"; {rest}" if rest else ""
    )
    return _on_one_line(said)


def _told(item: Line | BadLine) -> Iterator[str]:
    if isinstance(item, BadLine):
        raw = _text(item.raw.rstrip(b"\n"))
        yield f"[no record: {item.reason}] {_cut(_on_one_line(raw))}".rstrip()
        return
    try:
        text = _tell(decode(item))
    except LedgerCorrupt as error:
        text = f"[{item.kind} {item.id}: {error.message}] {_cut(_text(item.mid))}"
    mark = "" if item.is_intact else "[not as it was sealed] "
    first, *more = _ODD_BREAKS.sub("\n", show_controls(text)).split("\n")
    yield f"{_moment(item.ts)}  {mark}{first}".rstrip()
    yield from (f"{_INDENT}{line}".rstrip() for line in more)


def _tell(record: Record) -> str:
    if record.redacted:
        return f"[{record.kind} {record.object or record.id}: redacted]"
    body = record.body
    told, tell = _SNAPSHOT if record.kind in LIFECYCLE_KINDS else _SENTENCES.get(record.kind, _ANY)
    moved = needs_blob(body)
    notes = [_rest(body, told | {FIELD} if moved else told)]
    links = {"work item": record.work_item, "workspace": record.workspace}
    notes += [f"{name}: {value}" for name, value in links.items() if value]
    if moved:
        notes.append(f"the whole text is in ledger/blobs, {body[FIELD].get('bytes')} bytes")
    return "\n".join(filter(None, [tell(record), "; ".join(filter(None, notes))]))


def _message(record: Record) -> str:
    body = record.body
    return f"{_value(body.get('author') or body.get('role'))}: {_value(body.get('text'))}"


def _tool(record: Record) -> str:
    body = record.body
    state = "" if body.get("status") in (None, "success") else f" ({_value(body['status'])})"
    given = "" if body.get("input") is None else f": {_value(body['input'])}"
    output = "" if body.get("output") is None else f"\n{_value(body['output'])}".rstrip("\n")
    return f"ran {_value(body.get('tool'))}{state}{given}{output}"


def _brief(record: Record) -> str:
    return f"reported ({_value(record.body.get('brief_kind'))}): {_value(record.body.get('text'))}"


def _decision(record: Record) -> str:
    because = f"\nbecause {_value(record.body['because'])}" if record.body.get("because") else ""
    return f"decided: {_value(record.body.get('text'))}{because}"


def _session(record: Record) -> str:
    title = f": {_value(record.body['title'])}" if record.body.get("title") else ""
    return f"session {record.session or ''} {_value(record.body.get('event'))}{title}"


def _file(record: Record) -> str:
    return f"changed {_value(record.body.get('path'))}"


def _memory(record: Record) -> str:
    return memory_sentence(record.body)


def memory_sentence(body: _Body) -> str:
    """Return what a `memory` record says: which entries or files were changed how, and why."""
    if body.get("target") == JUDGEMENT:
        return _judgement(body)
    files = body.get("files")
    named = [file.get("path") for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    paths = [_value(path) for path in named]
    reason = f", because {_value(body['reason'])}" if body.get("reason") else ""
    odd = "" if "entries" not in body or _entry_ids(body) else f"\nentries: {_value(body['entries'])}"
    return f"memory: {_entries_told(body, paths) or _files_told(body, paths)}{reason}{odd}"


def _entries_told(body: _Body, paths: Sequence[str]) -> str | None:
    """Say which entries of a store went and came; None where the record does not tell."""
    ids = _entry_ids(body)
    if ids is None or not paths:
        return None
    went, came = ids
    if went and came:
        return f"replaced {_listed(went)} by {_listed(came)} in {paths[0]}"
    if came:
        return f"added {_listed(came)} to {paths[0]}"
    return (
        f"removed {_listed(went)} from {paths[0]}" if went else f"put entries of {paths[0]} in another order"
    )


def _files_told(body: _Body, paths: Sequence[str]) -> str:
    action, target = _value(body.get("action")), _value(body.get("target"))
    if not paths:
        return f"{_DONE.get(action, action)} {target}"
    noun = f"{target} " if target == "note" else ""
    return f"{_DONE.get(action, action)} {noun}{(' to ' if action == 'move' else ', ').join(paths)}"


def _entry_ids(body: _Body) -> tuple[list[str], list[str]] | None:
    """Return the ids of the entries that went and that came; None where a record tells them otherwise."""
    entries = body.get("entries")
    if not isinstance(entries, dict) or entries.keys() != {"before", "after"}:
        return None
    went, came = entries["before"], entries["after"]
    if not all(isinstance(side, list) and all(isinstance(one, str) for one in side) for side in (went, came)):
        return None
    return went, came


def _listed(ids: Sequence[str]) -> str:
    return f"{counted(len(ids), 'entry', 'entries')} ({_cut(', '.join(f'entry:{one}' for one in ids))})"


def _judgement(body: _Body) -> str:
    what = _value(body.get("ref")) or f"what {_value(body.get('proposal'))} had proposed"
    reason = f", because {_value(body['reason'])}" if body.get("reason") else ""
    instead = f"\ninstead: {_value(body['with'])}" if body.get("with") else ""
    return f"the {_value(body.get('by'))} judged: {_value(body.get('action'))} {what}{reason}{instead}"


def _turn(record: Record) -> str:
    number, end = (_value(record.body.get(name)) for name in ("turn_index", "end"))
    session = f" of session {record.session}" if record.session else ""
    return f"turn {number}{session} {end} ({record.id})"


def _snapshot(record: Record) -> str:
    action = f"{_value(record.body['action'])}, " if record.body.get("action") else ""
    heads = f" of {len(record.after)} heads" if len(record.after) > 1 else ""
    kind = record.kind.replace("_", " ")
    return f"{kind} {record.object}: {action}{record.status} (revision {record.revision}{heads})"


def _any(record: Record) -> str:
    return f"{record.kind}:"


def _row(fields: str, tell: Callable[[Record], str]) -> tuple[frozenset[str], Callable[[Record], str]]:
    return frozenset(fields.split()), tell


#: What an action of a `memory` record is called behind it.
_DONE: Final = {
    "add": "added",
    "append": "appended to",
    "batch": "changed",
    "edit": "edited",
    "move": "moved",
    "remove": "removed",
    "replace": "replaced",
}
#: By kind: the fields of a body that its sentence tells, and the sentence; the other fields follow it.
_SENTENCES: Final = {
    "message": _row("author role text", _message),
    "tool_execution": _row("tool status input output", _tool),
    "brief": _row("brief_kind text", _brief),
    "decision": _row("text because", _decision),
    "session": _row("event title", _session),
    "file": _row("path", _file),
    "memory": _row("action target reason files entries by ref with digests", _memory),
    "turn": _row("turn_index end", _turn),
}
_SNAPSHOT: Final = _row("task_id wait_id work_item_id status action", _snapshot)
_ANY: Final = _row("", _any)


def _rest(body: _Body, told: frozenset[str]) -> str:
    """Return the fields that no sentence tells, so that none is hidden."""
    return "; ".join(f"{name}: {_value(value)}" for name, value in body.items() if name not in told)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _cut(value)
    return "" if value is None else _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text) - _LONGEST:,} more characters)"


def _on_one_line(text: str) -> str:
    return show_controls(" ".join(_ODD_BREAKS.sub("\n", text).split("\n")))


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _moment(ts: str) -> str:
    return ts[:19].replace("T", " ")
