"""What the ledger says of episodes: a mark of each turn from the segments, texts when they are wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from gitmem.episode_marks import MARKS_VERSION, READ_KINDS, mark_to_row, mark_turn
from gitmem.episode_rules import EpisodeFold
from gitmem.errors import LedgerCorrupt, NotFound, ObjectMissing
from gitmem.layout import Layout
from gitmem.ledger import Ledger
from gitmem.ledger_format import Line, decode, decode_lines, parse_segment_path, reading_order, split_segment
from gitmem.records import Record
from gitmem.segment_facts import SegmentFacts
from gitmem.turn_evidence import TurnEvidence, evidence_of

#: A turn's mark as JSON data, with the path of its segment behind it.
Row = Sequence[Any]


@dataclass(slots=True)
class _Known:
    """How far a fold has come: the path of its last segment, and how many of that one's turns it took."""

    fold: EpisodeFold
    path: str = ""
    count: int = 0


class EpisodeFacts:
    """The marks of all turns, by writer; reads each version of a segment once.

    Args:
        layout: where they are kept from process to process.
        ledger: where the turns are.
    """

    def __init__(self, layout: Layout, ledger: Ledger) -> None:
        self._ledger = ledger
        self._facts = SegmentFacts(layout, ledger, "episodes", MARKS_VERSION, extract_marks)
        self._known: _Known | None = None

    def fold(self, writer: str) -> EpisodeFold:
        """Return the builders of a writer behind the last turn of its line."""
        changed = self._facts.catch_up()
        known = self._known
        if known is None or known.fold.writer != writer or not self._go_on(known, changed):
            known = self._known = _Known(EpisodeFold(writer))
            for path, rows in self._of(writer, self._facts.values().items()):
                self._take(known, path, rows)
        return known.fold

    def note(self, row: Sequence[Any], path: str) -> None:
        """Go on over a turn that was sealed here and is on no line yet."""
        known = self._known
        if known is None:
            return
        is_next = bool(known.path) and path != known.path
        self._take(known, path, [row])
        if (
            is_next
        ):  # a segment is full: it is kept now, while it is one, not by the next process with all others
            self._facts.catch_up()

    def prepare(self) -> None:
        """Read what no process has read yet, so that a fold is quick."""
        self._facts.values()

    def forget_notes(self) -> None:
        """Drop the fold: what was noted did not come to the line."""
        self._known = None

    def rows(self) -> list[Row]:
        """Return the mark of every turn, writer by writer, in the order of their lines."""
        self._known = None  # what is new comes here, and would not be told to the fold
        found = self._of(None, self._facts.values().items())
        return [[*row, path] for path, rows in found for row in rows]

    def evidence(self, turn: str, place: str) -> TurnEvidence:
        """Return a turn of one segment as evidence.

        Raises:
            NotFound: it cannot be read any more.
        """
        found = evidence_of(list(self._records(place, f'"turn":"{turn}"'.encode())))
        if found is None or found.id != turn:
            raise NotFound(f"turn {turn} cannot be read", turn=turn)
        return found

    def record(self, record_id: str, place: str) -> Record | None:
        """Return a record of one segment."""
        records = self._records(place, f',"id":"{record_id}","turn"'.encode())
        return next((record for record in records if record.id == record_id), None)

    def _records(self, place: str, needle: bytes) -> Iterator[Record]:
        segment = self._ledger.segments().get(place)
        if segment is None:
            return
        with suppress(ObjectMissing):
            content = self._ledger.read_segment(segment)
            near = [raw for raw in content.split(b"\n") if needle in raw]
            lines = [item for item in split_segment(b"\n".join(near)) if isinstance(item, Line)]
            yield from decode_lines(sorted(lines, key=reading_order))

    def _go_on(self, known: _Known, changed: Iterable[tuple[str, Any]]) -> bool:
        """Take what is new behind the last turn that was taken; say whether nothing before it changed."""
        last = _number(known.path)
        for path, rows in self._of(known.fold.writer, changed):
            if _number(path) < last:
                return False
            if path == known.path and len(rows) < known.count:
                return False
            self._take(known, path, rows[known.count if path == known.path else 0 :])
        return True

    @staticmethod
    def _take(known: _Known, path: str, rows: Sequence[Any]) -> None:
        for row in rows:
            known.fold.take([*row, path])
        known.count = len(rows) + (known.count if path == known.path else 0)
        known.path = path

    @staticmethod
    def _of(writer: str | None, values: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Sequence[Any]]]:
        named = [(parse_segment_path(path), path, rows) for path, rows in values if rows]
        known = [(name, path, rows) for name, path, rows in named if name is not None]
        for name, path, rows in sorted(known, key=lambda one: one[0]):
            if writer is None or name.writer == writer:
                yield path, rows


def extract_marks(content: bytes) -> list[list[Any]] | None:
    """Return the marks of a segment's turns in their order; None where it has none.

    Only ids, times and digests are in them, so that what is kept of them never has to be forgotten.
    """
    turns: dict[str, list[Line]] = {}
    for item in split_segment(content):
        if isinstance(item, Line):
            turns.setdefault(item.turn, []).append(item)
    rows = [row for lines in turns.values() if (row := _row_of(lines)) is not None]
    return rows or None


def _row_of(lines: Sequence[Line]) -> list[Any] | None:
    records = [light_record(line) for line in lines]
    own = [record for record in records if record.kind == "turn" and record.id == record.turn]
    if len(own) != 1:
        return None
    mark = mark_turn(own[0], [record for record in records if record.kind != "turn"])
    return None if mark is None else mark_to_row(mark)


def light_record(line: Line) -> Record:
    """Return a line's record; without its body where a mark does not need it."""
    if line.kind in READ_KINDS:
        with suppress(LedgerCorrupt):
            return decode(line)
    return Record(
        line.id, line.kind, line.ts, line.turn, {}, line.writer, line.seq, line.clock,
        object=line.object, revision=line.revision, status=line.status, after=line.after,
        redacted=line.redacted,
    )  # fmt: skip


def places_of(rows: Iterable[Row], turns: Iterable[str], item: str | None) -> Mapping[str, str]:
    """Return the segments of turns, and of the record that holds a work item."""
    wanted = set(turns)
    places: dict[str, str] = {}
    for row in rows:
        if row[0] in wanted:
            places[row[0]] = row[-1]
        if item is not None and any(one[3] == item for one in row[7]):
            places[item] = row[-1]
    return places


def _number(path: str) -> int:
    name = parse_segment_path(path)
    return 0 if name is None else name.number
