"""One session as it stands: its messages in order, without what was undone or cleared; no I/O.

What a program took out of its context by compaction stays: that is what somebody searches for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from typing import Final

from gitmem.session_rows import (
    CLEAR,
    COMPACT,
    SUMMARY,
    TOOL_RUN,
    UNDO,
    USER_SUMMARY,
    EventFact,
    SessionPart,
)

#: Stands for the writer of what is on no line yet: behind every writer.
UNSEALED: Final = "~"
_LIVE, _ARCHIVED, _GONE = b"\0", b"\1", b"\2"
_TO_ARCHIVED: Final = bytes.maketrans(_LIVE, _ARCHIVED)
_TO_GONE: Final = bytes.maketrans(_LIVE, _GONE)
_TURNING: Final = re.compile(f"[uU{re.escape(UNDO + CLEAR + COMPACT)}]")
_SHOWN: Final = frozenset("uastUAST" + USER_SUMMARY + SUMMARY + TOOL_RUN)
#: Rows that a bookend may be: somebody's words.
_SPOKEN: Final = frozenset("ua")


@dataclass(frozen=True, slots=True)
class PlacedPart:
    """A part of a session and where it comes from.

    Attributes:
        path: of the segment; empty for what is on no line yet.
        writer, number: of the segment; they order parts.
    """

    path: str
    writer: str
    number: int
    rows: SessionPart


@dataclass(frozen=True, slots=True)
class SessionView:
    """What can be seen of a session, in order; the sequences belong together.

    Attributes:
        ids: of its messages and tool runs.
        codes: a letter for each, as `session_rows` has them.
        live: for each whether it is still in the context of whoever holds this conversation.
        where: for each its part and its row there.
        index: place of each id.
        has_let_go: whether something was taken out of its context since it began.
    """

    ids: Sequence[str]
    codes: str
    live: Sequence[bool]
    where: Sequence[tuple[PlacedPart, int]]
    index: dict[str, int]
    has_let_go: bool

    def __len__(self) -> int:
        """Return how many messages there are."""
        return len(self.ids)

    def first_spoken(self) -> int | None:
        """Return the place of the first message of a user that is one."""
        found = self.codes.find("u")
        return found if found >= 0 else None


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What is known of a session as a whole.

    Attributes:
        source, model: as its events said; empty where none did.
        parent: the session that it came from; empty for none.
        is_branch: whether it began with what the parent held.
        title: digest and number of its title.
        titled: where the event stands that gave it.
        first, last: times of its first and last message, RFC 3339; empty without any.
        began: clock of its first row.
    """

    source: str = ""
    model: str = ""
    parent: str = ""
    is_branch: bool = False
    title: tuple[str, int] | None = None
    titled: tuple[PlacedPart, int] | None = None
    first: str = ""
    last: str = ""
    began: str = ""


_Row = tuple[PlacedPart, int]


def fold_facts(parts: Sequence[PlacedPart]) -> SessionFacts:
    """Return what a session's events say together: the first source and parent, the last model and title."""
    events = [(part, event) for part in parts for event in part.rows.events]
    events.sort(key=lambda pair: _key((pair[0], pair[1].row)))
    facts = reduce(_with_event, events, (SessionFacts()))
    times = [part.rows for part in parts if part.rows.last]
    return SessionFacts(
        source=facts.source,
        model=facts.model,
        parent=facts.parent,
        is_branch=facts.is_branch,
        title=facts.title,
        titled=facts.titled,
        first=min((rows.first for rows in times), default=""),
        last=max((rows.last for rows in times), default=""),
        began=min((part.rows.clock(0) for part in parts), default=""),
    )


def _with_event(facts: SessionFacts, told: tuple[PlacedPart, EventFact]) -> SessionFacts:
    part, event = told
    is_titled = event.title is not None
    return SessionFacts(
        source=facts.source or event.source,
        model=event.model or facts.model,
        parent=facts.parent or event.parent,
        is_branch=facts.is_branch if facts.parent else event.is_branch,
        title=event.title if is_titled else facts.title,
        titled=(part, event.row) if is_titled else facts.titled,
    )


def fold_session(parts: Sequence[PlacedPart], until: str | None = None) -> SessionView:
    """Return a session as it stands.

    Args:
        parts: all of them, in any order.
        until: a clock; what came from then on is left out.
    """
    rows, ids = _merged(parts, until)
    codes = "".join(part.rows.codes[row] for part, row in rows)
    counts = {(id(part), event.row): event.count for part in parts for event in part.rows.events}
    states = _states(codes, lambda at: counts.get((id(rows[at][0]), rows[at][1]), 1))
    shown = [at for at, code in enumerate(codes) if code in _SHOWN and states[at] != _GONE[0]]
    seen = [ids[at] for at in shown]
    return SessionView(
        ids=seen,
        codes="".join(codes[at] for at in shown),
        live=[states[at] == _LIVE[0] for at in shown],
        where=[rows[at] for at in shown],
        index={name: at for at, name in enumerate(seen)},
        has_let_go=COMPACT in codes or CLEAR in codes,
    )


def _merged(parts: Sequence[PlacedPart], until: str | None) -> tuple[list[_Row], list[str]]:
    """Return the rows of all parts in reading order, each record once, and their ids."""
    ordered = sorted(parts, key=lambda part: (part.writer, part.number))
    rows = [(part, row) for part in ordered for row in range(len(part.rows.codes))]
    ids = [name for part in ordered for name in part.rows.ids.split()]
    if len({part.writer for part in parts} - {UNSEALED}) > 1:
        order = sorted(range(len(rows)), key=lambda at: _key(rows[at]))
        rows, ids = [rows[at] for at in order], [ids[at] for at in order]
    if until is not None:
        kept = [at for at, (part, row) in enumerate(rows) if part.rows.clock(row) < until]
        rows, ids = [rows[at] for at in kept], [ids[at] for at in kept]
    if len(set(ids)) < len(ids):  # an import made twice, or a turn that went to its line just now
        first: dict[str, _Row] = {}
        for name, row in zip(ids, rows, strict=True):
            first.setdefault(name, row)
        rows, ids = list(first.values()), list(first)
    return rows, ids


def _key(row: _Row) -> tuple[str, str, int, int]:
    part, number = row
    return part.rows.clock(number), part.writer, part.number, number


def _states(codes: str, count_of: Callable[[int], int]) -> bytearray:
    """Return for each row whether it is live, archived or gone, by the events among them."""
    states = bytearray(len(codes))
    asked: list[int] = []  # places of the users' messages that an undo can take back
    cleared = settled = 0  # nothing is left before the one, and nothing is live before the other
    for found in _TURNING.finditer(codes):
        at, code = found.start(), found[0]
        if code in "uU":
            asked.append(at)
        elif code == UNDO:
            count = min(count_of(at), len(asked))
            if count:
                start = asked[-count]
                del asked[-count:]
                states[start:at] = states[start:at].translate(_TO_GONE)
        else:
            if code == COMPACT:
                states[settled:at] = states[settled:at].translate(_TO_ARCHIVED)
            else:
                states[cleared:at] = _GONE * (at - cleared)
                cleared = at
            settled = at
            asked.clear()
    return states


@dataclass(frozen=True, slots=True)
class Window:
    """The places around an anchor, from `start` up to but without `end`."""

    anchor: int
    start: int
    end: int

    @property
    def before(self) -> int:
        """How many there are before the anchor."""
        return self.anchor - self.start

    @property
    def after(self) -> int:
        """How many there are behind the anchor."""
        return self.end - self.anchor - 1


def window_around(view: SessionView, anchor: int, size: int) -> Window:
    """Return up to `size` places on each side of an anchor."""
    return Window(anchor, max(0, anchor - size), min(len(view), anchor + size + 1))


def bookends(view: SessionView, window: Window, most: int) -> tuple[list[int], list[int]]:
    """Return the places of the first and the last words of a session that lie outside of a window.

    Messages without text, tools' and what a program wrote in place of a conversation are passed over.
    """
    return (
        _first_spoken(view, range(window.start), most),
        _first_spoken(view, range(len(view) - 1, window.end - 1, -1), most)[::-1],
    )


def _first_spoken(view: SessionView, places: range, most: int) -> list[int]:
    return list(islice((at for at in places if view.codes[at] in _SPOKEN), most))
