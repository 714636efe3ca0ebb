"""What the index does not cover yet, searched in memory, newest first, so that a record is found at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from gitmem.authored_files import read_authored
from gitmem.errors import GitmemError, LedgerCorrupt
from gitmem.index_backlog import Backlog, covered_offset, documents_of, is_searched
from gitmem.index_batch import Sources, analyzed, note_paths
from gitmem.ledger import Segment, spooled_records
from gitmem.ledger_format import BadLine, Line, decode, parse_line, split_segment
from gitmem.long_text import needs_blob
from gitmem.manifest import Manifest, SegmentMark
from gitmem.memory_part import MemoryPart
from gitmem.records import Record
from gitmem.search_index import Indexed
from gitmem.spool import SpooledTurn

#: At most so many records and files are read for one search, and of so many bytes.
MOST_RECORDS: Final = 500
MOST_BYTES: Final = 1024 * 1024
#: Long texts of more bytes are searched in their head and tail until they are indexed, unless half of the
#: room takes them.
_LONGEST: Final = 256 * 1024
#: Of a file for which there is no room so many characters are searched until it is indexed.
_HEAD: Final = 32 * 1024


#: Path of a segment and bytes of a line in it: how much room its record takes, and the record's documents.
Lines = Mapping[tuple[str, bytes], tuple[int, list[Indexed]]]


@dataclass(frozen=True, slots=True)
class Unindexed:
    """The newest of what is not indexed.

    Attributes:
        part: its documents.
        pending: records and files that are not indexed.
        read: how many of them are in `part`.
        files: paths of the files that were read to their end.
        problems: names of what cannot be searched, and why.
        cut: how many files were read at their beginning only.
        brief: how many records were read at their beginning and end only.
        lines: what was read of the ledger; the next search reads most of it again.
    """

    part: MemoryPart
    pending: int
    read: int
    files: frozenset[str]
    problems: Mapping[str, str] = field(default_factory=dict)
    cut: int = 0
    brief: int = 0
    lines: Lines = field(default_factory=dict)


@dataclass(slots=True)
class _Room:
    """What may still be read."""

    records: int
    bytes: int

    def take(self, size: int) -> bool:
        """Take room for one record; say whether there was any."""
        if self.is_full:
            return False
        self.records -= 1
        self.bytes -= size
        return True

    @property
    def is_full(self) -> bool:
        """Whether nothing more may be read."""
        return self.records <= 0 or self.bytes <= 0


def read_unindexed(
    sources: Sources, manifest: Manifest, backlog: Backlog, spooled: list[SpooledTurn], known: Lines
) -> Unindexed:
    """Read the newest of what the index does not cover.

    Args:
        sources: where it is.
        manifest: of the index, empty if there is none.
        backlog: what it does not cover.
        spooled: turns that are acknowledged and on no line yet.
        known: what the search before has read.
    """
    reading = _Reading(sources, known)
    for turn in spooled:
        for record in spooled_records(turn):
            reading.take(record, "spool")
    # Half for what people write, so that a checkout does not hide the last turns.
    room = _Room(MOST_RECORDS // 2, MOST_BYTES // 2)
    files = frozenset(reading.take_files(backlog, room))
    room = _Room(max(room.records, 0) + MOST_RECORDS // 2, max(room.bytes, 0) + MOST_BYTES // 2)
    for segment in backlog.new_segments:
        reading.take_newest(segment, manifest.segments.get(segment.path), room)
        if room.is_full:
            break
    return Unindexed(
        MemoryPart(reading.documents),
        count_unindexed(sources, manifest, backlog, spooled),
        reading.read,
        files,
        reading.problems,
        reading.cut,
        reading.brief,
        reading.lines,
    )


def count_unindexed(
    sources: Sources, manifest: Manifest, backlog: Backlog, spooled: Iterable[SpooledTurn]
) -> int:
    """Return how many records and files the index does not cover, in whatever state it is."""
    records = sum(len(turn.events) for turn in spooled)
    return records + len(backlog.new_files) + count_pending(sources, manifest, backlog)


class _Reading:
    """What is read for one search.

    Attributes:
        documents: what is searched.
        read: how many records and files that are.
        problems: names of what cannot be searched, and why.
        cut: how many files were read at their beginning only.
        brief: how many records were read at their beginning and end only.
        lines: what was read of the ledger.
    """

    def __init__(self, sources: Sources, known: Lines) -> None:
        self.documents: list[Indexed] = []
        self.read = 0
        self.cut = 0
        self.brief = 0
        self.problems: dict[str, str] = {}
        self.lines: dict[tuple[str, bytes], tuple[int, list[Indexed]]] = {}
        self._sources = sources
        self._known = known

    def take(self, record: Record, origin: str, *, longest: int | None = None) -> list[Indexed] | None:
        """Take a record; return its documents if they are all that there should be."""
        self.read += 1
        try:
            made = documents_of(self._sources.ledger, record, origin, longest=longest)
            documents = analyzed(made.documents)
        except Exception as error:  # noqa: BLE001 - one record's fault costs only itself
            self.problems[record.source_ref] = f"{type(error).__name__}: {error}"
            return None
        self.documents += documents
        self.brief += made.is_brief
        if made.lacks is not None:
            self.problems[record.source_ref] = made.lacks
        return documents if made.lacks is None and not made.is_brief else None

    def take_files(self, backlog: Backlog, room: _Room) -> Iterator[str]:
        """Take changed files, and yield the paths of those that were read to their end."""
        sources = self._sources
        if not backlog.new_files:
            return
        id_of = sources.note_ids.lookup(note_paths(sources))
        times = sources.times.in_passing(sources.head)
        for path in backlog.new_files:
            if room.is_full:
                return
            size = sources.found.files[path].st_size if sources.found is not None else 0
            is_whole = size <= room.bytes
            longest = None if is_whole else min(_HEAD, room.bytes)
            found = read_authored(sources.root, path, id_of, sources.receipts, longest=longest, times=times)
            if found is None:
                continue
            room.take(size if longest is None else longest)
            self.read += 1
            self.cut += not is_whole
            self.documents += analyzed(found.documents)
            if found.mark.problem is not None:
                self.problems[path] = found.mark.problem
            if is_whole:
                yield path

    def take_newest(self, segment: Segment, mark: SegmentMark | None, room: _Room) -> None:
        """Take a segment's new lines, the last line first."""
        try:
            content = self._sources.ledger.read_segment(segment)
        except GitmemError as error:
            self.problems[segment.path] = error.message
            return
        for raw in reversed(content[covered_offset(content, mark) :].split(b"\n")):
            if raw and not self._take_line(segment.path, raw, room):
                return

    def _take_line(self, path: str, raw: bytes, room: _Room) -> bool:
        """Take what stands on a line; say whether there was room."""
        known = self._known.get((path, raw))
        if known is not None:
            if not room.take(known[0]):
                return False
            self.read += 1
            self.documents += known[1]
            self.lines[path, raw] = known
            return True
        found = split_segment(raw + b"\n")
        for line in (one for one in reversed(found) if isinstance(one, Line)):
            if not room.take(len(line.mid)):
                return False
            try:
                record = decode(line)
            except LedgerCorrupt:  # named when it is indexed; here it costs only itself
                continue
            size = len(line.mid)
            is_long = needs_blob(record.body) and is_searched(record)
            long = record.body["blob"]["bytes"] if is_long else 0
            if _LONGEST < long <= room.bytes // 2:
                room.bytes -= long
                size += long
            documents = self.take(record, path, longest=max(_LONGEST, size))
            if documents is not None and len(found) == 1:
                self.lines[path, raw] = size, documents
        return True


def count_pending(sources: Sources, manifest: Manifest, backlog: Backlog) -> int:
    """Return how many records are on a line and not in the index.

    Each writer numbers its records, so the last line of its newest segment says how many there are; nothing
    else of a long backlog is read.
    """
    new = backlog.new_segments
    writers = {segment.writer for segment in new}
    if not writers:
        return 0
    newest: dict[str, Segment] = {}
    covered = dict.fromkeys(writers, 0)
    for path, segment in sources.ledger.segments().items():
        if segment.writer in writers:
            last = newest.get(segment.writer)
            if last is None or segment.number > last.number:
                newest[segment.writer] = segment
            mark = manifest.segments.get(path)
            covered[segment.writer] += mark.count if mark is not None else 0
    counts = [_last_number(sources, segment) - covered[name] for name, segment in newest.items()]
    return max(sum(count for count in counts if count > 0), len(new))


def _last_number(sources: Sources, segment: Segment) -> int:
    try:
        content = sources.ledger.read_segment(segment)
    except GitmemError:
        return 0
    end = content.rfind(b"\n")
    line = parse_line(content[content.rfind(b"\n", 0, max(end, 0)) + 1 : end + 1])
    return 0 if isinstance(line, BadLine) else line.seq
