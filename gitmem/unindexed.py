"""What the index does not cover yet, searched in memory, newest first, so that a record is found at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gitmem.authored_files import read_authored
from gitmem.documents import Document, analyze
from gitmem.errors import GitmemError
from gitmem.index_backlog import Backlog, documents_of, resume_offset
from gitmem.index_batch import Sources, note_paths
from gitmem.ledger import Segment, spooled_records
from gitmem.ledger_format import BadLine, Line, decode, parse_line, split_segment
from gitmem.manifest import Manifest, SegmentMark
from gitmem.memory_part import MemoryPart
from gitmem.search_index import Indexed
from gitmem.spool import SpooledTurn

#: At most so many records and files are read for one search, and of so many bytes.
MOST_RECORDS: Final = 500
MOST_BYTES: Final = 1024 * 1024
#: Long texts of more bytes are searched in their head and tail until they are indexed.
_LONGEST: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Unindexed:
    """The newest of what is not indexed.

    Attributes:
        part: its documents.
        pending: records and files that are not indexed.
        read: how many of them are in `part`.
        files: paths of the files that were read.
    """

    part: MemoryPart
    pending: int
    read: int
    files: frozenset[str]


#: What is seen when only the index is searched.
NOTHING: Final = Unindexed(MemoryPart([]), 0, 0, frozenset())


@dataclass(slots=True)
class _Room:
    """What may still be read."""

    records: int
    bytes: int

    def take(self, size: int) -> bool:
        """Take room for one record; say whether there was any."""
        if self.records <= 0 or self.bytes <= 0:
            return False
        self.records -= 1
        self.bytes -= size
        return True


def read_unindexed(
    sources: Sources, manifest: Manifest, backlog: Backlog, spooled: list[SpooledTurn]
) -> Unindexed:
    """Read the newest of what the index does not cover.

    Args:
        sources: where it is.
        manifest: of the index, empty if there is none.
        backlog: what it does not cover.
        spooled: turns that are acknowledged and on no line yet.
    """
    documents: list[Document] = []
    records = sum(len(turn.events) for turn in spooled)
    for turn in spooled:
        for record in spooled_records(turn):
            documents += documents_of(sources.ledger, record, "spool")
    # Half for what people write, so that a checkout does not hide the last turns.
    room = _Room(MOST_RECORDS // 2, MOST_BYTES // 2)
    files = []
    for path, found in _read_files(sources, backlog, room):
        files.append(path)
        documents += found
    room = _Room(room.records + MOST_RECORDS // 2, room.bytes + MOST_BYTES // 2)
    read = 0
    for segment in backlog.segments:
        for made in _read_newest(sources, segment, manifest.segments.get(segment.path), room):
            read += 1
            documents += made
        if room.records <= 0 or room.bytes <= 0:
            break
    pending = records + len(backlog.files) + count_pending(sources, manifest, backlog)
    part = MemoryPart([Indexed(document, analyze(document)) for document in documents])
    return Unindexed(part, pending, records + len(files) + read, frozenset(files))


def count_pending(sources: Sources, manifest: Manifest, backlog: Backlog) -> int:
    """Return how many records are on a line and not in the index.

    Each writer numbers its records, so the last line of its newest segment says how many there are; nothing
    else of a long backlog is read.
    """
    writers = {segment.writer for segment in backlog.segments}
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
    return max(sum(count for count in counts if count > 0), len(backlog.segments))


def _last_number(sources: Sources, segment: Segment) -> int:
    try:
        content = sources.ledger.read_segment(segment)
    except GitmemError:
        return 0
    end = content.rfind(b"\n")
    line = parse_line(content[content.rfind(b"\n", 0, max(end, 0)) + 1 : end + 1])
    return 0 if isinstance(line, BadLine) else line.seq


def _read_files(sources: Sources, backlog: Backlog, room: _Room) -> Iterator[tuple[str, list[Document]]]:
    id_of = sources.note_ids.lookup(note_paths(sources))
    for path in backlog.files:
        read = read_authored(sources.root, path, id_of, sources.receipts)
        if read is None:
            continue
        if not room.take(read.mark.size):
            return
        yield path, read.documents


def _read_newest(
    sources: Sources, segment: Segment, mark: SegmentMark | None, room: _Room
) -> Iterator[list[Document]]:
    """Yield the documents of a segment's new lines, the last line first."""
    try:
        content = sources.ledger.read_segment(segment)
    except GitmemError:
        return
    new = content[resume_offset(content, mark) :]
    for line in reversed(split_segment(new)):
        if not isinstance(line, Line):
            continue
        if not room.take(len(line.mid)):
            return
        try:
            record = decode(line)
            yield documents_of(sources.ledger, record, segment.path, longest=_LONGEST)
        except Exception:  # noqa: BLE001, S112 - named when it is indexed; here it costs only itself
            continue
