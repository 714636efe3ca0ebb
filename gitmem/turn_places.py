"""Where the turns of the ledger are, by session: the last ones are read without looking through the rest."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
        self._known: dict[str, list[TurnAt]] = {}
        self._sessions: dict[str | None, dict[str, list[TurnAt]]] = {}
        self._newest: dict[str, str] = {}
        self._lock = threading.Lock()

    def last(self, session: str | None, most: int) -> list[TurnAt]:
        """Return the last turns, oldest first; of all sessions for None."""
        with self._lock:
            self._catch_up()
            known = self._known if session is None else self._sessions.get(session, {})
            return self._last_told(known, most)

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
            known = dict(self._known)
        today = self._ledger.segments()

        def places() -> Iterator[TurnAt]:
            for path, segment in segments.items():
                if today.get(path) == segment:
                    yield from known.get(path, ())
                else:
                    yield from _places(path, place_rows(self._ledger.read_segment(segment)))

        wanted = (one for one in places() if session is None or one.session == session)
        return _newest((one for one in wanted if one.is_told and one.turn != without), most)

    def session_events(self, session: str) -> Iterator[Record]:
        """Yield the session events of a session, the last one first."""
        with self._lock:
            self._catch_up()
            known = self._sessions.get(session, {})
            places = [one for found in known.values() for one in found if one.has_event]
        for place in sorted(places, reverse=True):
            for turn in self.read([place]):
                yield from reversed([one for one in turn.of_kind("session") if one.session == session])

    def find(self, turns: Iterable[str]) -> list[TurnAt]:
        """Return where some turns are, in the order of the ledger."""
        names = set(turns)
        with self._lock:
            self._catch_up()
            return sorted(one for places in self._known.values() for one in places if one.turn in names)

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

    def _last_told(self, known: Mapping[str, Sequence[TurnAt]], most: int) -> list[TurnAt]:
        """Return the last turns in which something was told; looks at the segments that can hold them."""
        found: list[TurnAt] = []
        for path in sorted(known, key=lambda one: self._newest.get(one, ""), reverse=True):
            if len(found) == most and found[0].clock > self._newest.get(path, ""):
                break
            found = _newest([*found, *(one for one in known[path] if one.is_told)], most)
        return found

    def _catch_up(self) -> None:
        for path, rows in self._facts.catch_up():
            for one in self._known.get(path, ()):
                self._sessions.get(one.session, {}).pop(path, None)
            places = self._known[path] = list(_places(path, rows))
            self._newest[path] = max((one.clock for one in places), default="")
            for one in places:
                self._sessions.setdefault(one.session, {}).setdefault(path, []).append(one)


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


def _newest(places: Iterable[TurnAt], most: int) -> list[TurnAt]:
    found = nlargest(most, places, key=lambda one: (one.clock, one.writer, one.seq))
    found.reverse()
    return found
