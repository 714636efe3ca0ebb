"""The ledger as it is read: the union of all turn lines known here, closed under what was forgotten."""

from __future__ import annotations

import heapq
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitmem.errors import NotFound
from gitmem.forgotten import Receipts, close_segment, read_receipts
from gitmem.layout import Layout
from gitmem.ledger_format import (
    Line,
    blob_path,
    decode_lines,
    parse_segment_path,
    split_segment,
    union_segments,
)
from gitmem.lines import Lines
from gitmem.long_text import join_long, needs_blob
from gitmem.records import Event, Record
from gitmem.repository import TREE_MODE, Repository, read_path, walk_tree
from gitmem.spool import Spool, SpooledTurn, read_turn

_MONTH: Final = re.compile(r"\d{4}-\d{2}")
#: Bytes of segments kept decoded; 24 MB hold some 6,000 turns.
_CACHE_BYTES: Final = 24 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment of the ledger.

    Attributes:
        path: `ledger/YYYY-MM/DD/<writer>-NNNN.jsonl`.
        number: orders the writer's segments.
        blobs: ids of the versions that the lines hold; mostly one.
    """

    path: str
    writer: str
    number: int
    blobs: tuple[str, ...]


class Ledger:
    """Reads records; from the turn lines and the spool, never from the copy on disk.

    Args:
        repository: the home's object store.
        layout: its folders.
        home_id: lines of other homes are ignored.
    """

    def __init__(self, repository: Repository, layout: Layout, home_id: str) -> None:
        self.lines = Lines(repository, layout, home_id)
        self._repository = repository
        self._spool = Spool(layout.spool)
        self._known: tuple[Mapping[str, str], Mapping[str, Segment]] | None = None
        self._days: dict[str, tuple[tuple[str, str], ...]] = {}
        self._receipts: tuple[frozenset[str], Receipts] = (frozenset(), read_receipts({}))
        self._contents: OrderedDict[tuple[str, ...], bytes] = OrderedDict()
        self._cached = 0

    def tips(self) -> Mapping[str, str]:
        """Return ref name and commit id of each line of this home."""
        return self.lines.tips()

    def segments(self) -> Mapping[str, Segment]:
        """Return all segments by path, as the lines stand now."""
        tips = self.tips()
        if self._known is None or self._known[0] != tips:
            self._known = (tips, self._collect(set(tips.values())))
        return self._known[1]

    def read_segment(self, segment: Segment) -> bytes:
        """Return the union of a segment's versions, closed under the receipts."""
        receipts = self.receipts()
        content = self._union(segment.blobs)
        return close_segment(content, receipts) if receipts.records else content

    def segment_lines(self, segment: Segment) -> list[Line]:
        """Return a segment's good lines in order."""
        return [line for line in split_segment(self.read_segment(segment)) if isinstance(line, Line)]

    def receipts(self) -> Receipts:
        """Return all receipts of forgetting that the lines hold."""
        folders = {}
        for tip in set(self.tips().values()):
            tree = self._repository.read_commit(tip).tree
            entry = read_path(self._repository, tree, "ledger/forgotten")
            if entry is not None and entry.mode == TREE_MODE:
                folders[entry.id] = entry
        if self._receipts[0] != frozenset(folders):
            self._receipts = (frozenset(folders), self._read_receipts(folders))
        return self._receipts[1]

    def lines_newest_first(self) -> Iterator[Line]:
        """Yield every line, the newest by clock first, reading no more segments than are asked for."""
        writers: dict[str, list[Segment]] = {}
        for segment in self.segments().values():
            writers.setdefault(segment.writer, []).append(segment)
        streams = [self._backwards(segments) for segments in writers.values()]
        return heapq.merge(*streams, key=lambda line: (line.clock, line.writer, line.seq), reverse=True)

    def record_ids(self) -> frozenset[str]:
        """Return the ids of all records of the ledger and of the spool."""
        lines = (line.id for segment in self.segments().values() for line in self.segment_lines(segment))
        return frozenset(lines) | {event.id for turn in self.spooled() for event in turn.events}

    def find(self, record_id: str) -> Record | None:
        """Return the record with this id, None if there is none; of a fork's several the newest by clock."""
        wanted = f',"id":"{record_id}","turn"'.encode()
        for segment in sorted(self.segments().values(), key=lambda s: (-s.number, s.writer)):
            if wanted in self._union(segment.blobs):
                found = [line for line in self.segment_lines(segment) if line.id == record_id]
                if found:
                    found.sort(key=lambda line: line.clock, reverse=True)
                    return next(decode_lines(found), None)
        return next((r for turn in self.spooled() for r in spooled_records(turn) if r.id == record_id), None)

    def find_turn(self, turn_id: str) -> list[Record]:
        """Return all records of a turn in the order in which they were told."""
        wanted = f'","turn":"{turn_id}",'.encode()
        found = [
            line
            for segment in self.segments().values()
            if wanted in self._union(segment.blobs)
            for line in self.segment_lines(segment)
            if line.turn == turn_id
        ]
        if found:
            found.sort(key=lambda line: (line.clock, line.writer, line.seq, line.envelope_hash))
            return list(decode_lines(found))
        return [r for turn in self.spooled() if turn.turn == turn_id for r in spooled_records(turn)]

    def find_all(self, needle: bytes) -> Iterator[Record]:
        """Yield the records of every line that contains `needle`, newest segment first."""
        for segment in sorted(self.segments().values(), key=lambda s: (-s.number, s.writer)):
            if needle in self._union(segment.blobs):
                lines = reversed(self.segment_lines(segment))
                yield from decode_lines(line for line in lines if needle in line.raw)

    def full_body(self, record: Record) -> Mapping[str, Any]:
        """Return a record's body with the texts that were moved to its blob put back.

        Raises:
            NotFound: the blob is gone.
            CorruptionError: it is not the one that the record names.
        """
        if not record.writer:
            return record.body
        content = self._read_blob(record) if needs_blob(record.body) else b""
        if content is None:
            raise NotFound(f"the long text of {record.id} is gone", hint="Fetch it from another clone.")
        return join_long(record.body, content)

    def spooled(self) -> Sequence[SpooledTurn]:
        """Return the turns that are acknowledged and not yet on a line."""
        turns = []
        for path in self._spool.finished():
            try:
                turns.append(read_turn(path))
            except FileNotFoundError:  # sealed by another process meanwhile
                continue
        return turns

    def _backwards(self, segments: list[Segment]) -> Iterator[Line]:
        for segment in sorted(segments, key=lambda s: -s.number):
            yield from sorted(
                self.segment_lines(segment), key=lambda line: (line.clock, line.seq), reverse=True
            )

    def _collect(self, tips: Iterable[str]) -> Mapping[str, Segment]:
        versions: dict[str, dict[str, None]] = {}
        for tip in sorted(tips):
            for path, blob in self._segments_of(tip):
                versions.setdefault(path, {})[blob] = None
        found = {}
        for path, blobs in versions.items():
            name = parse_segment_path(path)
            if name is not None:
                found[path] = Segment(path, name.writer, name.number, tuple(blobs))
        return found

    def _segments_of(self, tip: str) -> Iterator[tuple[str, str]]:
        entry = read_path(self._repository, self._repository.read_commit(tip).tree, "ledger")
        if entry is None or entry.mode != TREE_MODE:
            return
        for month in self._repository.read_tree(entry.id):
            if month.mode == TREE_MODE and _MONTH.fullmatch(month.name):
                for day in self._repository.read_tree(month.id):
                    if day.mode == TREE_MODE:
                        for name, blob in self._day(day.id):
                            yield f"ledger/{month.name}/{day.name}/{name}", blob

    def _day(self, tree_id: str) -> tuple[tuple[str, str], ...]:
        if tree_id not in self._days:
            if len(self._days) > 5000:
                self._days.clear()
            entries = self._repository.read_tree(tree_id)
            self._days[tree_id] = tuple((e.name, e.id) for e in entries if e.mode != TREE_MODE)
        return self._days[tree_id]

    def _union(self, blobs: tuple[str, ...]) -> bytes:
        content = self._contents.get(blobs)
        if content is not None:
            self._contents.move_to_end(blobs)
            return content
        versions = [self._repository.read(blob)[1] for blob in blobs]
        content = versions[0] if len(versions) == 1 else union_segments(versions)
        self._contents[blobs] = content
        self._cached += len(content)
        while self._cached > _CACHE_BYTES and len(self._contents) > 1:
            self._cached -= len(self._contents.popitem(last=False)[1])
        return content

    def _read_receipts(self, folders: Iterable[str]) -> Receipts:
        files: dict[str, bytes] = {}
        for tree_id in folders:
            for path, entry in walk_tree(self._repository, tree_id, "forgotten/"):
                content = self._repository.read(entry.id)[1]
                files[path] = files.get(path, b"") + content
        return read_receipts(files)

    def _read_blob(self, record: Record) -> bytes | None:
        sealed = int(record.clock[:12], 16) / 1000
        path = blob_path(sealed, record.id)
        for tip in set(self.tips().values()):
            tree = self._repository.read_commit(tip).tree
            entry = read_path(self._repository, tree, path) or self._search_blob(tree, record.id)
            if entry is not None:
                return self._repository.read(entry.id)[1]
        return None

    def _search_blob(self, tree: str, record_id: str) -> Any:
        # The clock runs ahead of the wall after a fast machine was heard, so the day may be another.
        folder = read_path(self._repository, tree, "ledger/blobs")
        if folder is None or folder.mode != TREE_MODE:
            return None
        return next((e for _, e in walk_tree(self._repository, folder.id) if e.name == record_id), None)


def spooled_records(turn: SpooledTurn) -> Iterator[Record]:
    """Yield a spooled turn's events as records that have no place in the chain yet."""
    for event in turn.events:
        yield spooled_record(event, turn.turn)


def spooled_record(event: Event, turn: str) -> Record:
    """Return an event as a record without writer, seq and clock."""
    status = event.body.get("status") if event.object else None
    return Record(
        id=event.id,
        kind=event.kind,
        ts=event.ts,
        turn=turn,
        body=event.body,
        writer="",
        seq=0,
        clock="",
        session=event.session,
        work_item=event.work_item,
        workspace=event.workspace,
        object=event.object,
        status=status if isinstance(status, str) else None,
    )
