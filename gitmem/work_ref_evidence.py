"""Work refs from the evidence of one turn; `docs/work.md` has the table of what counts as evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import islice
from posixpath import normpath
from typing import Any, Final

from gitmem.errors import InvalidRef
from gitmem.github_refs import GithubItem, created_item, created_kind, gh_calls, github_item
from gitmem.message_authority import voice_of
from gitmem.records import TERMINAL_STATUSES, Json, Record
from gitmem.redaction import find_secrets, redact_secrets
from gitmem.refs import parse_ref
from gitmem.tool_evidence import Run, changed_by, edited_files, read_address, read_memories, runs
from gitmem.turn_evidence import TurnEvidence
from gitmem.web_addresses import addresses, plain_address
from gitmem.work_ref import MOST_REASON, MOST_REF, MOST_TITLE, WorkRef, bounded_text, in_order

#: Refs of one kind that a turn gives; the turn's own records have the rest.
MOST_PER_KIND: Final = 200
#: Code points of a message in which addresses are looked for.
_MOST_TEXT: Final = 65_536
#: Of a command, what is read for its preview: more than is shown, so that no secret is cut before it is seen.
_MOST_COMMAND: Final = 8_192
#: Instead of a command that brings its own program or data along: its beginning would say nothing.
INLINE: Final = "[inline script]"

_KINDS: Final = ("message", "tool_execution", "task", "wait", "file")
#: The kind of ref that a source ref is, by its own kind. A message is where things are named, not one.
_CITED: Final = {
    "task": "task",
    "wait": "wait",
    "work_item": "other",
    "workspace_profile": "workspace",
    "tool_execution": "tool_execution",
    **dict.fromkeys(
        ("agent_memory", "brief", "turn", "episode", "note", "entry", "decision", "memory", "session"),
        "memory",
    ),
}
_CHANGED: Final = {
    "changed": "changed",
    "added": "added",
    "deleted": "deleted",
    "moved_away": "moved away",
    "moved_here": "moved here",
    "copied": "copied",
}


@dataclass(frozen=True, slots=True)
class _Sighting:
    """One piece of evidence that names something.

    Attributes:
        status: what became of it; None where it is only named.
    """

    kind: str
    ref: str
    reason: str
    status: str | None = None
    title: str | None = None
    metadata: Json = field(default_factory=dict)
    source_ref: str | None = None


def derive_refs(evidence: TurnEvidence, work_item: str | None) -> tuple[WorkRef, ...]:
    """Return what a turn's evidence names, the newest first.

    Args:
        evidence: of the turn.
        work_item: whose refs these are to be; records that belong to another one are left out. None for a
            turn without a work item.
    """
    found: dict[tuple[str, str], WorkRef] = {}
    counts: Counter[str] = Counter()
    for record in _own(evidence, work_item):
        for sighting in _sightings(record):
            ref = _ref(sighting, record, evidence.turn.clock)
            known = found.get(ref.key)
            if known is None and counts[ref.kind] >= MOST_PER_KIND:
                continue
            counts[ref.kind] += known is None
            found[ref.key] = ref if known is None else _later(known, ref)
    return tuple(in_order(found.values()))


def _own(evidence: TurnEvidence, work_item: str | None) -> Iterator[Record]:
    """Yield the records that are evidence for a work item, the turn's own first."""
    for record in (evidence.turn, *evidence.of_kind(*_KINDS)):
        owner = record.work_item
        if record.kind in ("task", "wait"):  # these say themselves what they are for
            owner = record.body.get("work_item_id") or owner
        if record.turn == evidence.id and (owner in (None, work_item) or record.kind == "turn"):
            yield record


def _sightings(record: Record) -> Iterator[_Sighting]:
    if record.workspace is not None:
        yield _Sighting("workspace", record.workspace, "where it ran", "active")
    if record.kind == "message":
        yield from _of_message(record.body)
    elif record.kind == "tool_execution":
        yield from _of_tool(record)
    elif record.kind in ("task", "wait"):
        yield from _of_object(record)
    elif record.kind == "file" and isinstance(record.body.get("path"), str):
        yield from _file(record.body["path"], "active", "changed by the agent")


def _of_message(body: Json) -> Iterator[_Sighting]:
    voice = voice_of(body)
    if voice not in ("operator", "runtime"):  # words to read, not evidence
        return
    who = f"the {voice}"
    text = body.get("text")
    if isinstance(text, str):
        for address in islice(addresses(text[:_MOST_TEXT]), MOST_PER_KIND * 2):
            yield from _address(address, f"named by {who}", "active")
    for value in _texts(body.get("source_refs")):
        yield from _cited(value, f"cited by {who}")
        for address in addresses(value[:MOST_REF]):
            yield from _address(address, f"cited by {who}", "active")


def _of_tool(record: Record) -> Iterator[_Sighting]:
    tool = str(record.body.get("tool", ""))
    for run in runs(record):
        yield from _of_run(run, record)
    for file in edited_files(record):
        yield from _file(
            file.path, "stale" if file.is_gone else "active", f"{_CHANGED[file.change]} by {tool}"
        )
    address = read_address(record)
    if address is not None:
        yield from _address(address, f"read by {tool}", None)
    for cited in read_memories(record):
        yield from _cited(cited, f"read by {tool}", is_read=True)


def _of_run(run: Run, record: Record) -> Iterator[_Sighting]:
    source = f"tool_execution:{record.id}:cmd" if run.item is None else _item_ref(record.id, run.item)
    for sighting in (_command(run, source), *_of_command_line(run)):
        yield replace(sighting, source_ref=source)


def _of_command_line(run: Run) -> Iterator[_Sighting]:
    for address in islice(addresses(run.line.text), MOST_PER_KIND * 2):
        yield from _address(address, "named in a command", None)
    for file in changed_by(run):
        if run.has_worked:
            reason = f"{_CHANGED[file.change]} by a command"
            yield from _file(file.path, "stale" if file.is_gone else "active", reason)
        else:
            yield from _file(file.path, "active", "in the patch of a command that failed")
    for command in run.line.commands:
        for call in gh_calls(command):
            has_happened = run.has_worked and (command.is_certain or call.status == "active")
            status = call.status if has_happened else None
            yield _github(call.item, f"gh {call.item.kind} {call.verb}", status)
        kind = created_kind(command)
        item = created_item(kind, run.output) if kind and run.has_worked and command.is_certain else None
        if item is not None:
            yield _github(item, f"made by gh {item.kind} create", "active")


def _command(run: Run, source: str) -> _Sighting:
    metadata: dict[str, Any] = {"digest": sha256(run.text.encode("utf-8", "surrogatepass")).hexdigest()}
    if run.exit_code is not None:
        metadata["exit_code"] = run.exit_code
    failed = f"failed, exit {run.exit_code}" if run.exit_code else "failed"
    title = INLINE if run.line.is_inline else command_preview(run.text)
    return _Sighting("tool_execution", source, "ran" if run.has_worked else failed, "active", title, metadata)


def command_preview(text: str) -> str:
    """Return a command as one bounded line without secrets."""
    return bounded_text(redact_secrets(text[:_MOST_COMMAND])[0], MOST_TITLE)


def _of_object(record: Record) -> Iterator[_Sighting]:
    status = record.status or record.body.get("status")
    if record.object is None or not isinstance(status, str):
        return
    title = record.body.get("summary" if record.kind == "task" else "waiting_for")
    yield _Sighting(
        record.kind,
        f"{record.kind}:{record.object}",
        status,
        "resolved" if status in TERMINAL_STATUSES else "active",
        bounded_text(title, MOST_TITLE) if isinstance(title, str) and title.strip() else None,
    )


def _address(address: str, reason: str, status: str | None) -> Iterator[_Sighting]:
    """Yield what a web address leads to; no address with a secret in it."""
    item = github_item(address)
    if item is not None:
        yield _github(item, reason, status)
        return
    plain = plain_address(address)
    if plain is not None and len(plain) <= MOST_REF and not find_secrets(plain):
        yield _Sighting("url", plain, reason, status)


def _github(item: GithubItem, reason: str, status: str | None) -> _Sighting:
    return _Sighting(item.kind, item.ref, reason, status)


def _file(path: str, status: str, reason: str) -> Iterator[_Sighting]:
    name = normpath(path.removeprefix(".\\"))
    if path.strip() and len(name) <= MOST_REF and name not in (".", "/", "/dev/null"):
        yield _Sighting("file", name, reason, status)


def _cited(text: str, reason: str, *, is_read: bool = False) -> Iterator[_Sighting]:
    """Yield what a source ref is a ref to; a message only where a tool read it as memory."""
    try:
        source = parse_ref(text)
    except InvalidRef:
        return
    kind = "memory" if is_read and source.kind == "message" else _CITED.get(source.kind)
    if kind is not None:
        yield _Sighting(kind, source.id if kind == "workspace" else text, reason)


def _item_ref(record: str, item: int) -> str:
    return f"tool_execution:{record}:batch_item:{item}:cmd"


def _texts(value: object) -> list[str]:
    """Return the texts in a message's `source_refs`: a list, or an object whose values count."""
    items = list(value.values()) if isinstance(value, Mapping) else value
    return (
        [item for item in items[:MOST_PER_KIND] if isinstance(item, str)] if isinstance(items, list) else []
    )


def _ref(sighting: _Sighting, record: Record, clock: str) -> WorkRef:
    return WorkRef(
        sighting.kind,
        sighting.ref,
        sighting.status or "active",
        title=sighting.title,
        reason=bounded_text(sighting.reason, MOST_REASON),
        last_seen=record.ts,
        first_seen=record.ts,
        source_ref=sighting.source_ref or record.source_ref,
        metadata=sighting.metadata,
        clock=clock,
        judged=f"{clock} {record.ts}" if sighting.status else "",
    )


def _later(known: WorkRef, ref: WorkRef) -> WorkRef:
    """Return a ref with later evidence of the same turn: the order of its records counts, not their times."""
    judge = ref if ref.judged else known
    # What a command did says more than that another one looked at it.
    said = ref if ref.judged or not known.judged else known
    return replace(
        ref,
        status=judge.status,
        judged=judge.judged,
        title=said.title,
        reason=said.reason,
        source_ref=said.source_ref,
        metadata=said.metadata or known.metadata,
        last_seen=max(known.last_seen, ref.last_seen),
        first_seen=min(known.first_seen, ref.first_seen),
    )
