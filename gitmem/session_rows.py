"""What is kept of the messages of each session of a segment: where they stand and who spoke, never a word.

Texts stay in the ledger: a title is known here by a digest, a message by the place of its line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from gitmem.ledger_format import Line, decode_lines, split_segment
from gitmem.records import Record, is_name

#: Raise this when the same segment gives other rows than before.
ROWS_VERSION: Final = 1

#: One letter for each row. A message: in upper case where it has no text.
ROLES: Final[Mapping[str, str]] = {"u": "user", "a": "assistant", "s": "system", "t": "tool"}
#: What a program wrote when it cut a conversation short, by role; such a text is nobody's word.
USER_SUMMARY: Final = "p"
SUMMARY: Final = "q"
TOOL_RUN: Final = "x"
UNDO: Final = "<"
CLEAR: Final = "!"
COMPACT: Final = "|"
OTHER_EVENT: Final = "e"

_KINDS: Final = frozenset({"message", "tool_execution", "session"})
_EVENTS: Final = {"undo": UNDO, "clear": CLEAR, "compact": COMPACT}
_CODES: Final = {role: code for code, role in ROLES.items()}
_SUMMARY_STARTS: Final = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:")
_BRANCHES: Final = ("branch", "fork")
_NUMBERED: Final = re.compile(r"(.+?) #([0-9]{1,9})", re.DOTALL)
_AROUND_TITLES: Final = " \t\r\n\"'`“”‘’「」«»"
#: Names of sources and models are shown in every reply.
_NAME_CHARS: Final = 80


@dataclass(frozen=True, slots=True)
class EventFact:
    """What a session event says.

    Attributes:
        row: its number among the rows of its part.
        parent: the session that this one came from.
        is_branch: whether this session began with what the parent held.
        title: digest of a title without its number, and that number, 0 for none.
        count: of an undo: how many exchanges it takes back.
    """

    row: int
    source: str = ""
    model: str = ""
    parent: str = ""
    is_branch: bool = False
    title: tuple[str, int] | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class SessionPart:
    """The rows of one session in one segment, in the order of the lines.

    Attributes:
        ids: of the records, with spaces between.
        codes: one letter for each row.
        clocks: 16 characters for each row.
        places: start and length of each line in the segment.
        first, last: times of its first and last message by the wall, RFC 3339; empty without any.
        events: what its session events say.
    """

    ids: str
    codes: str
    clocks: str
    places: Sequence[int]
    first: str
    last: str
    events: Sequence[EventFact]

    def clock(self, row: int) -> str:
        """Return the clock of a row."""
        return self.clocks[16 * row : 16 * row + 16]


@dataclass(slots=True)
class PartDraft:
    """A part that is being put together."""

    ids: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    clocks: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    first: str = ""
    last: str = ""
    events: list[EventFact] = field(default_factory=list)

    def add(self, record: Record, start: int, length: int) -> None:
        """Add a record, which stands at a place."""
        code = code_of(record)
        if record.kind == "session":
            self.events.append(_event_fact(record, len(self.codes)))
        else:
            self.first = min(self.first or record.ts, record.ts)
            self.last = max(self.last, record.ts)
        self.ids.append(record.id)
        self.codes.append(code)
        self.clocks.append(record.clock or "~" * 16)
        self.places += (start, length)

    def part(self) -> SessionPart:
        """Return what was put together."""
        return SessionPart(
            " ".join(self.ids),
            "".join(self.codes),
            "".join(self.clocks),
            self.places,
            self.first,
            self.last,
            self.events,
        )


def session_of(record: Record) -> str:
    """Return the id of the conversation that a record belongs to; a turn without one is one by itself."""
    return record.session or record.turn


def is_row(kind: str) -> bool:
    """Say whether records of a kind stand among a session's rows."""
    return kind in _KINDS


def segment_rows(content: bytes) -> dict[str, Any]:
    """Return the parts of a segment by session, as JSON data.

    Args:
        content: of the segment, closed under what was forgotten.
    """
    drafts: dict[str, PartDraft] = {}
    at = 0
    for line in split_segment(content):
        if not isinstance(line, Line) or line.kind not in _KINDS or line.redacted:
            continue
        raw = line.raw[:-1]
        start = content.find(raw, at)
        at = start + len(raw)
        for record in decode_lines([line]):
            drafts.setdefault(session_of(record), PartDraft()).add(record, start, len(raw))
    return {session: to_row(draft.part()) for session, draft in drafts.items()}


def to_row(part: SessionPart) -> list[Any]:
    """Return a part as JSON data."""
    events = [
        [one.row, one.source, one.model, one.parent, one.is_branch, one.title, one.count]
        for one in part.events
    ]
    return [part.ids, part.codes, part.clocks, list(part.places), part.first, part.last, events]


def from_row(row: Sequence[Any]) -> SessionPart:
    """Return the part that `to_row` gave."""
    ids, codes, clocks, places, first, last, events = row
    return SessionPart(ids, codes, clocks, places, first, last, [_from_event(one) for one in events])


def _from_event(row: Sequence[Any]) -> EventFact:
    number, source, model, parent, is_branch, title, count = row
    return EventFact(number, source, model, parent, is_branch, tuple(title) if title else None, count)


def code_of(record: Record) -> str:
    """Return the letter of a record's row."""
    if record.kind == "tool_execution":
        return TOOL_RUN
    if record.kind == "session":
        return _EVENTS.get(str(record.body.get("event")), OTHER_EVENT)
    text = record.body.get("text")
    role = str(record.body.get("role"))
    if isinstance(text, str) and is_summary(text):
        return USER_SUMMARY if role == "user" else SUMMARY
    code = _CODES.get(role, "s")
    return code if isinstance(text, str) and text.strip() else code.upper()


def is_summary(text: str) -> bool:
    """Say whether a text is what a program put in place of a conversation that it cut short."""
    return text.lstrip().startswith(_SUMMARY_STARTS)


def role_of(code: str) -> str:
    """Return the role of a row, as replies name it."""
    if code == USER_SUMMARY:
        return "user"
    return "assistant" if code == SUMMARY else ROLES.get(code.lower(), "tool")


def _event_fact(record: Record, row: int) -> EventFact:
    body = record.body
    title = body.get("title")
    parent = body.get("parent")
    parent = parent.removeprefix("session:") if isinstance(parent, str) else ""
    count = body.get("count")
    return EventFact(
        row=row,
        source=_name(body.get("source")),
        model=_name(body.get("model")),
        parent=parent if is_name(parent) and parent != record.session else "",
        is_branch=str(body.get("reason") or "").strip().casefold().startswith(_BRANCHES),
        title=title_key(title) if isinstance(title, str) and title.strip() else None,
        count=count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 1,
    )


def _name(value: object) -> str:
    return " ".join(value.split())[:_NAME_CHARS] if isinstance(value, str) else ""


def title_key(title: str) -> tuple[str, int]:
    """Return a digest of a title without the number of a continuation, and that number, 0 for none."""
    plain = plain_title(title)
    numbered = _NUMBERED.fullmatch(plain)
    return (_digest(numbered[1]), int(numbered[2])) if numbered else (_digest(plain), 0)


def meant_titles(query: str) -> list[tuple[str, int | None]]:
    """Return the digests of titles that a query may be, each with the number it must have, None for any."""
    plain = plain_title(query)
    if not plain:
        return []
    meant: list[tuple[str, int | None]] = [(_digest(plain), None)]
    numbered = _NUMBERED.fullmatch(plain)
    return [(_digest(numbered[1]), int(numbered[2])), *meant] if numbered else meant


def plain_title(title: str) -> str:
    """Return a title without what stands around it, on one line, in one case."""
    return " ".join(title.strip(_AROUND_TITLES).split()).casefold()


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
