"""Where the turns of the ledger are, by session: the last ones are read without looking through the rest."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import nlargest
from typing import Any, Final

from gitmem.errors import GitmemError, ObjectMissing
from gitmem.layout import Layout
from gitmem.ledger import Ledger, Segment
from gitmem.ledger_format import Line, decode_lines, reading_order, split_segment
from gitmem.records import Record
from gitmem.segment_facts import SegmentFacts
from gitmem.turn_evidence import TurnEvidence, evidence_of

#: Of the rows that `place_rows` makes.
ROWS_VERSION: Final = 2

#: Segments whose turns are kept in memory.
_READ: Final = 64

#: Kinds that are bookkeeping: a turn that holds nothing else is none that anybody would recall.
_BOOKKEEPING: Final = frozenset({"turn", "assembly", "memory", "episode", "session", "file"})


@dataclass(frozen=True, slots=True, order=True)
class TurnAt:
    """A turn in the order of the ledger.

    Attributes:
        path: of the segment that holds it.
        session: None for what was said outside of any.
        is_told: it holds something that anybody would recall.
        has_event: it holds a session event.
    """

    clock: str
    writer: str
    seq: int
    turn: str
    path: str
    session: str | None
    is_told: bool = True
    has_event: bool = False


class TurnPlaces:
    """Finds the last turns of a session, and reads turns as evidence. Safe in threads.

    Args:
        layout: where the places are kept from process to process.
        ledger: where the turns are.
    """

    def __init__(self, layout: Layout, ledger: Ledger) -> None:
        self._ledger = ledger
        self._facts = SegmentFacts(layout, ledger, "turn-places", ROWS_VERSION, place_rows)
        self._newest: dict[str, str] = {}
        self._sessions: dict[str | None, dict[str, bool]] = {}
        self._read: OrderedDict[str, tuple[TurnAt, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def last(self, session: str | None, most: int) -> list[TurnAt]:
        """Return the last turns, oldest first; of all sessions for None."""
        with self._lock:
            self._catch_up()
            paths = self._newest if session is None else self._sessions.get(session, {})
            near = [(self._newest[path], path) for path in paths]
            return _last_told(near, self._places, session, most)

    def last_of(
        self, segments: Mapping[str, Segment], session: str | None, most: int, without: str | None = None
    ) -> list[TurnAt]:
        """Return the last turns as they were when the ledger had these segments.

        Args:
            segments: by path; those that are the same today are not read again.
            session: whose; None for all.
            most: how many at most.
            without: a turn that does not count.
        """
        with self._lock:
            self._catch_up()
            today = self._ledger.segments()
            past: dict[str, tuple[TurnAt, ...]] = {}
            near: list[tuple[str, str]] = []
            for path, segment in segments.items():
                if today.get(path) == segment:
                    near.append((self._newest.get(path, ""), path))
                else:
                    past[path] = (*_places(path, place_rows(self._ledger.read_segment(segment))),)
                    near.append((_newest_clock(past[path]), path))
            return _last_told(
                near, lambda path: past[path] if path in past else self._places(path), session, most, without
            )

    def session_events(self, session: str) -> Iterator[Record]:
        """Yield the session events of a session, the last one first."""
        with self._lock:
            self._catch_up()
            known = self._sessions.get(session, {})
            held = [one for path, has_event in known.items() if has_event for one in self._places(path)]
        for place in sorted((one for one in held if one.has_event and one.session == session), reverse=True):
            for turn in self.read([place]):
                yield from reversed([one for one in turn.of_kind("session") if one.session == session])

    def find(self, turns: Mapping[str, str]) -> list[TurnAt]:
        """Return the places of some turns, in the order of the ledger.

        Args:
            turns: with the path of the segment that each is in.
        """
        with self._lock:
            self._catch_up()
            held = (one for path in {*turns.values()} for one in self._places(path))
            return sorted(one for one in held if turns.get(one.turn) == one.path)

    def read(
        self, places: Sequence[TurnAt], segments: Mapping[str, Segment] | None = None
    ) -> list[TurnEvidence]:
        """Return turns as evidence, in the order given; one that cannot be read is left out.

        Args:
            places: of the turns.
            segments: as they were; those of today for None.
        """
        given = self._ledger.segments() if segments is None else segments
        by_path: dict[str, set[str]] = {}
        for place in places:
            by_path.setdefault(place.path, set()).add(place.turn)
        records: dict[str, list[Record]] = {}
        for path, turns in by_path.items():
            if path in given:
                for record in self._records(given[path], turns):
                    records.setdefault(record.turn, []).append(record)
        found = (evidence_of(records.get(place.turn, ())) for place in places)
        return [one for one in found if one is not None]

    def _records(self, segment: Segment, turns: set[str]) -> Iterator[Record]:
        needles = [f'"turn":"{turn}"'.encode() for turn in turns]
        with suppress(ObjectMissing):
            content = self._ledger.read_segment(segment)
            near = [raw for raw in content.split(b"\n") if any(needle in raw for needle in needles)]
            lines = [item for item in split_segment(b"\n".join(near)) if isinstance(item, Line)]
            for record in decode_lines(sorted(lines, key=reading_order)):
                yield self._whole(record)

    def _whole(self, record: Record) -> Record:
        if record.redacted:
            return record
        with suppress(GitmemError):  # head and tail of a long text say something too
            return replace(record, body=self._ledger.full_body(record))
        return record

    def _catch_up(self) -> None:
        for path, rows in self._facts.catch_up():
            self._read.pop(path, None)
            if path in self._newest:
                for paths in self._sessions.values():
                    paths.pop(path, None)
            places = [*_places(path, rows)]
            self._newest[path] = _newest_clock(places)
            for one in places:
                paths = self._sessions.setdefault(one.session, {})
                paths[path] = paths.get(path, False) or one.has_event

    def _places(self, path: str) -> tuple[TurnAt, ...]:
        """Return the turns of a segment; those of most segments are only in their file."""
        if path not in self._read:
            self._read[path] = (*_places(path, self._facts.value(path)),)
            if len(self._read) > _READ:
                self._read.popitem(last=False)
        self._read.move_to_end(path)
        return self._read[path]


def place_rows(content: bytes) -> list[list[Any]] | None:
    """Return turn, session, clock, writer, seq and what they hold of a segment's turns."""
    kinds: dict[str, set[str]] = {}
    own: dict[str, Line] = {}
    for item in split_segment(content):
        if isinstance(item, Line):
            kinds.setdefault(item.turn, set()).add(item.kind)
            if item.kind == "turn" and item.id == item.turn:
                own[item.turn] = item
    rows = []
    for record in decode_lines(own.values()):
        held = kinds[record.turn]
        holds = [not held <= _BOOKKEEPING, "session" in held]
        rows.append([record.turn, record.session, record.clock, record.writer, record.seq, *holds])
    return rows or None


def _places(path: str, rows: Iterable[Sequence[Any]] | None) -> Iterator[TurnAt]:
    for turn, session, clock, writer, seq, is_told, has_event in rows or ():
        yield TurnAt(clock, writer, seq, turn, path, session, is_told, has_event)


def _newest_clock(places: Iterable[TurnAt]) -> str:
    return max((one.clock for one in places), default="")


def _last_told(
    segments: Iterable[tuple[str, str]],
    places: Callable[[str], Iterable[TurnAt]],
    session: str | None,
    most: int,
    without: str | None = None,
) -> list[TurnAt]:
    """Return the last turns in which something was told; looks at the segments that can hold them.

    Args:
        segments: with the clock of the newest turn in each.
        places: returns the turns of one.
        session: whose; None for all.
        most: how many at most.
        without: a turn that does not count.
    """
    found: list[TurnAt] = []
    for newest, path in sorted(segments, reverse=True):
        if len(found) == most and found[0].clock > newest:
            break
        told = (one for one in places(path) if one.is_told and one.turn != without)
        found = _newest([*found, *(one for one in told if session is None or one.session == session)], most)
    return found


def _newest(places: Iterable[TurnAt], most: int) -> list[TurnAt]:
    found = nlargest(most, places, key=lambda one: (one.clock, one.writer, one.seq))
    found.reverse()
    return found
