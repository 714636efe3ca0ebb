"""What a ref, a commit or a path names, for people: a turn as a conversation, a commit as its changes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitmem.errors import GitmemError, InvalidRef, NotFound, UnknownSource
from gitmem.graphemes import cut_at
from gitmem.json_view import JsonView
from gitmem.judgement_rules import Judgement
from gitmem.layout import NOTES, is_managed
from gitmem.ledger import Ledger
from gitmem.ledger_text import memory_sentence
from gitmem.memory_files import file_id
from gitmem.memory_get import Memory
from gitmem.records import Record
from gitmem.repository import Commit, Repository
from gitmem.subjects import TURN, parse_trailers
from gitmem.times import format_time, short_time
from gitmem.tree_changes import TreeChange, changed_paths

_COMMIT: Final = re.compile(r"[0-9a-f]{7,40}")
_RECORD: Final = re.compile(r"memory:(?=mem_)")
_TURN: Final = re.compile(r"(?:turn:)?(turn_[0-9a-f]{15})")
#: Characters of one text that are shown; the ref leads to the rest.
_LONGEST: Final = 2000


@dataclass(frozen=True, slots=True)
class Shown(JsonView):
    """What was asked for, as text for people.

    Attributes:
        id: the full name of what was found.
        kind: `turn`, `commit`, or the kind of the source ref.
    """

    id: str
    kind: str
    title: str
    text: str


class Shower:
    """Tells what something is.

    Args:
        repository: commits.
        ledger: turns and records.
        get: returns what a source ref or path names, the whole of it.
        judged: returns the retraction of what a source ref names.
    """

    def __init__(
        self,
        repository: Repository,
        ledger: Ledger,
        get: Callable[[str], Memory],
        judged: Callable[[str], Judgement | None] = lambda _: None,
    ) -> None:
        self._judged = judged
        self._repository = repository
        self._ledger = ledger
        self._get = get

    def show(self, what: str) -> Shown:
        """Return what a source ref, commit id, turn id or path names.

        Raises:
            NotFound: nothing has this name.
            GitmemError: what has it cannot be shown.
        """
        turn = _TURN.fullmatch(what)
        if turn:
            return self._turn(turn[1])
        commit = self._find_commit(what)
        if commit is not None:
            return self._commit(commit)
        memory = self._read(what)
        record = self._ledger.find(_RECORD.sub("", what)) if _RECORD.match(what) else None
        if record is not None and record.kind == "memory" and not isinstance(record.body.get("text"), str):
            return Shown(memory.source_ref, memory.kind, memory.title, "\n\n".join(self._told(record)))
        return Shown(
            memory.source_ref, memory.kind, memory.title, self._marked(memory.source_ref, memory.content)
        )

    def _marked(self, ref: str, text: str) -> str:
        """Return a text with a line above it where it was retracted."""
        judgement = self._judged(ref)
        return text if judgement is None else f"[{judgement.sentence}]\n{text}"

    def _read(self, what: str) -> Memory:
        if is_managed(what) and not what.startswith(f"{NOTES}/"):
            what = f"file:{file_id(what)}"
        try:
            return self._get(what)
        except (InvalidRef, UnknownSource) as error:
            raise UnknownSource(
                f"nothing in this home is {what}",
                hint="Give a source ref (`gitmem search` prints them), a commit id, or a path of the home.",
            ) from error

    def _turn(self, turn_id: str) -> Shown:
        records = self._ledger.find_turn(turn_id)
        if not records:
            raise NotFound(f"no turn {turn_id}", hint="`gitmem log --by turn` lists them.")
        end = records[-1]
        index = end.body.get("turn_index") if end.kind == "turn" else None
        session = next((record.session for record in records if record.session), None)
        head = f"Turn {index or turn_id}" + (f" of session {session}" if session else "")
        state = end.body.get("end", "completed") if end.kind == "turn" else "not committed yet"
        title = f"{head}, {short_time(end.ts)}" + ("" if state == "completed" else f" ({state})")
        parts = [part for record in records if record.kind != "turn" for part in self._told(record)]
        return Shown(f"turn:{turn_id}", "turn", title, "\n\n".join([title, *parts]))

    def _told(self, record: Record) -> Iterator[str]:
        if record.redacted:
            yield f"[{record.kind} {record.id}: redacted]"
            return
        try:
            body = self._ledger.full_body(record)
        except GitmemError:
            body = record.body
        yield self._marked(record.source_ref, _shorten(_tell(record, body), record.source_ref))

    def _find_commit(self, what: str) -> Commit | None:
        if what == "HEAD":
            commit = self._repository.head().commit
            return self._repository.read_commit(commit) if commit else None
        if not _COMMIT.fullmatch(what):
            return None
        if len(what) == 40:
            return self._repository.read_commit(what) if self._repository.contains(what) else None
        return next((commit for commit in self._commits() if commit.id.startswith(what)), None)

    def _commits(self) -> Iterator[Commit]:
        tips = [self._repository.head().commit, *self._ledger.tips().values()]
        for tip in tips:
            if tip is not None:
                yield from self._repository.walk_first_parents(tip)

    def _commit(self, commit: Commit) -> Shown:
        parent = commit.parents[0] if commit.parents else None
        tree = self._repository.read_commit(parent).tree if parent else None
        changes = list(changed_paths(self._repository, tree, commit.tree))
        when = short_time(format_time(commit.author_time))
        head = [f"commit {commit.id}", f"{commit.author}, {when}"]
        text = "\n".join([*head, "", commit.message.rstrip("\n"), "", *map(_told_change, changes)])
        turn = parse_trailers(commit.message).get(TURN)
        if turn and all(change.path.startswith("ledger/") for change in changes):
            text += "\n\n" + self._turn(turn).text
        return Shown(commit.id, "commit", commit.message.split("\n", 1)[0], text)


def _told_change(change: TreeChange) -> str:
    sign = "+" if change.old is None else "-" if change.new is None else "~"
    return f"  {sign} {change.path}"


def _tell(record: Record, body: Mapping[str, Any]) -> str:
    if record.kind == "message":
        return f"{body.get('author') or body.get('role')}: {body.get('text')}"
    if record.kind == "tool_execution":
        return _tell_tool(body)
    if record.kind == "brief":
        return f"[{body.get('brief_kind')}] {body.get('text')}"
    if record.kind == "decision":
        because = f"\n  because {body['because']}" if body.get("because") else ""
        return f"decided: {body.get('text')}{because}"
    if record.kind == "memory":
        return memory_sentence(body)
    rest = ", ".join(f"{name}: {_text(value)}" for name, value in body.items() if value != record.object)
    return f"[{record.kind} {record.object or ''}] {rest}".replace(" ]", "]")


def _tell_tool(body: Mapping[str, Any]) -> str:
    lines = [f"$ {body.get('tool')}: {_text(body.get('input'))}"]
    if body.get("output") is not None:
        lines.append(_text(body["output"]).rstrip("\n"))
    if body.get("status") not in (None, "success"):
        lines.append(f"({body['status']})")
    return "\n".join(lines)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _shorten(text: str, ref: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[: cut_at(text, _LONGEST)]}\n… the rest: gitmem get {ref}"
