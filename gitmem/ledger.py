"""The ledger as it is read: the union of all turn lines known here, closed under what was forgotten."""

from __future__ import annotations

import heapq
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from gitmem.errors import GitmemError, LedgerCorrupt, NotFound, ObjectMissing
from gitmem.forgotten import (
    Receipts,
    close_segment,
    is_receipt_path,
    merge_receipt_files,
    read_receipts,
)
from gitmem.layout import LEDGER, Layout
from gitmem.ledger_format import (
    Line,
    blob_path,
    decode_lines,
    parse_blob_path,
    parse_segment_path,
    split_segment,
    union_segments,
)
from gitmem.line_trees import LineTree, LineTrees
from gitmem.lines import Lines
from gitmem.long_text import join_long, needs_blob
from gitmem.records import Record, record_of
from gitmem.repository import TREE_MODE, Repository, TreeEntry, read_path, walk_tree
from gitmem.spool import Spool, SpooledTurn, read_turn

#: Bytes of segments kept as they were read; they hold some 2,000 turns.
_CACHE_BYTES: Final = 8 * 1024 * 1024
_LONG_TEXTS: Final = "ledger/blobs"


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


class _Reader(Protocol):
    def close(self) -> None: ...


class Ledger:
    """Reads records; from the turn lines and the spool, never from the copy on disk.

    A turn goes from the spool to its line while others read: whoever wants all takes `spooled` first and the
    lines after it, and finds a turn that moved in between twice, never not at all. Safe in threads.

    Args:
        repository: the home's object store.
        layout: its folders.
        home_id: lines of other homes are ignored.
    """

    def __init__(self, repository: Repository, layout: Layout, home_id: str) -> None:
        self.lines = Lines(repository, layout, home_id)
        self._repository = repository
        self._spool = Spool(layout.spool)
        self._trees = LineTrees(repository)
        self._past_trees = LineTrees(repository)
        self._lock = threading.RLock()
        self._known: tuple[frozenset[str], Mapping[str, Segment]] = (frozenset(), {})
        self._receipts: tuple[frozenset[tuple[str, str]], Receipts] = (frozenset(), read_receipts({}))
        self._contents: OrderedDict[str, tuple[tuple[str, ...], bytes]] = OrderedDict()
        self._cached = 0
        self._damaged: dict[str, str] = {}
        self._readers: weakref.WeakSet[_Reader] = weakref.WeakSet()

    def close_with(self, reader: _Reader) -> None:
        """Take note of whoever holds files open for what was read here: it is closed with this."""
        self._readers.add(reader)

    def close(self) -> None:
        """Release the files that are open for what was read."""
        for reader in [*self._readers]:
            reader.close()

    def tips(self) -> Mapping[str, str]:
        """Return ref name and commit id of each line of this home."""
        return self.lines.tips()

    def still(self) -> AbstractContextManager[None]:
        """Let this thread see the lines as they stand at its next look, until the context ends."""
        return self.lines.still()

    def damaged(self) -> Mapping[str, str]:
        """Return tips of lines and blobs of segments that could not be read and were left out, and why."""
        with self._lock:
            return dict(self._damaged)

    def segments(self) -> Mapping[str, Segment]:
        """Return all segments by path, as the lines stand now."""
        tips = frozenset(self.tips().values())
        with self._lock:
            if self._known[0] != tips:
                self._known = (tips, self._collect(self._line_trees(tips)))
            return self._known[1]

    def segments_of(self, commits: Iterable[str]) -> Mapping[str, Segment]:
        """Return the segments that the trees of some commits of turn lines hold, by path."""
        with self._lock:
            trees = [tree for _, tree in self._past_trees.read(frozenset(commits)) if tree is not None]
            return self._collect(trees)

    def read_segment(self, segment: Segment) -> bytes:
        """Return the union of a segment's versions, closed under the receipts.

        Raises:
            ObjectMissing: none of its versions can be read.
        """
        receipts = self.receipts()
        content = self._union(segment)
        return close_segment(content, receipts) if receipts.records else content

    def segment_lines(self, segment: Segment) -> list[Line]:
        """Return a segment's good lines in order."""
        return [line for line in split_segment(self.read_segment(segment)) if isinstance(line, Line)]

    def receipts(self) -> Receipts:
        """Return all receipts of forgetting that the lines hold."""
        tips = frozenset(self.tips().values())
        with self._lock:
            found = frozenset(file for tree in self._line_trees(tips) for file in tree.forgotten)
            if self._receipts[0] != found:
                self._receipts = (found, self._read_receipts(found))
            return self._receipts[1]

    def receipt_files(self) -> Mapping[str, tuple[str, ...]]:
        """Return the files of the receipts by path, each with the ids of the versions that the lines hold."""
        versions: dict[str, set[str]] = {}
        for tree in self._line_trees(self.tips().values()):
            for path, blob in tree.forgotten:
                # The name may come from another machine: no other than that of a receipt leads to a file.
                if is_receipt_path(path):
                    versions.setdefault(f"{LEDGER}/{path}", set()).add(blob)
        return {path: tuple(sorted(blobs)) for path, blobs in versions.items()}

    def read_receipt_file(self, blobs: Iterable[str]) -> bytes:
        """Return the union of a receipt's versions."""
        return merge_receipt_files(map(self._read_receipt, blobs))

    def lines_newest_first(self) -> Iterator[Line]:
        """Yield every line, the newest by clock first, reading no more segments than are asked for."""
        writers: dict[str, list[Segment]] = {}
        for segment in self.segments().values():
            writers.setdefault(segment.writer, []).append(segment)
        streams = [self._backwards(segments) for segments in writers.values()]
        return heapq.merge(*streams, key=lambda line: (line.clock, line.writer, line.seq), reverse=True)

    def record_ids(self) -> frozenset[str]:
        """Return the ids of all records of the ledger and of the spool."""
        spooled = {event.id for turn in self.spooled() for event in turn.events}
        segments = self.segments().values()
        return frozenset(spooled.union(line.id for segment in segments for line in self._lines_of(segment)))

    def find(self, record_id: str) -> Record | None:
        """Return the record with this id, None if there is none; of several in one segment the newest."""
        wanted = f',"id":"{record_id}","turn"'.encode()
        spooled = self.spooled()
        for segment in self._newest_first():
            found = [line for line in self._lines_of(segment, wanted) if line.id == record_id]
            if found:
                found.sort(key=lambda line: line.clock, reverse=True)
                return next(decode_lines(found), None)
        return next((r for turn in spooled for r in spooled_records(turn) if r.id == record_id), None)

    def find_turn(self, turn_id: str) -> list[Record]:
        """Return all records of a turn in the order in which they were told."""
        wanted = f'","turn":"{turn_id}",'.encode()
        spooled = self.spooled()
        found = [
            line
            for segment in self.segments().values()
            for line in self._lines_of(segment, wanted)
            if line.turn == turn_id
        ]
        if found:
            found.sort(key=lambda line: (line.clock, line.writer, line.seq, line.envelope_hash))
            return list(decode_lines(found))
        return [r for turn in spooled if turn.turn == turn_id for r in spooled_records(turn)]

    def find_all(self, needle: bytes) -> Iterator[Record]:
        """Yield the records of every line that contains `needle`, newest segment first."""
        for segment in self._newest_first():
            lines = reversed(self._lines_of(segment, needle))
            yield from decode_lines(line for line in lines if needle in line.raw)

    def full_body(self, record: Record) -> Mapping[str, Any]:
        """Return a record's body with the texts that were moved to its blob put back.

        Raises:
            NotFound: the blob is gone.
            CorruptionError: it is not the one that the record names.
        """
        if not record.writer:
            return record.body
        if not needs_blob(record.body):
            return join_long(record.body, None)
        damage: GitmemError | None = None
        for content in self._long_texts(record):
            try:
                return join_long(record.body, content)
            except LedgerCorrupt as error:
                damage = error
        raise damage or NotFound(f"the long text of {record.id} is gone", hint="Fetch it from another clone.")

    def long_text_folders(self) -> Mapping[str, tuple[str, ...]]:
        """Return the folders that hold long texts, with the ids of the trees that the lines have for each."""
        found: dict[str, set[str]] = {}
        for tree in self._line_trees(self.tips().values()):
            with suppress(GitmemError):
                for path, folder in self._days_of_long_texts(tree.root):
                    found.setdefault(path, set()).add(folder)
        return {path: tuple(sorted(trees)) for path, trees in sorted(found.items())}

    def long_texts(
        self, folder: str, trees: Iterable[str], known: Container[str] = ()
    ) -> Iterator[tuple[str, bytes]]:
        """Yield path and content of the long texts of such a folder, but of those whose names are known."""
        receipts = self.receipts()
        for entry in (entry for tree in trees for entry in self._repository.read_tree(tree)):
            path = f"{folder}/{entry.name}"
            # The name may come from another machine: no other than that of a record leads to a file.
            if entry.name in known or parse_blob_path(path) is None or receipts.is_forgotten_path(path):
                continue
            with suppress(GitmemError):
                yield path, self._repository.read(entry.id)[1]

    def spooled(self) -> Sequence[SpooledTurn]:
        """Return the turns that are acknowledged and not yet on a line, without what was forgotten."""
        turns = []
        for path in self._spool.finished():
            with suppress(FileNotFoundError):  # sealed by another process meanwhile
                turns.append(read_turn(path))
        forgotten = self.receipts().records if turns else frozenset()
        if not any(event.id in forgotten for turn in turns for event in turn.events):
            return turns
        kept = [tuple(event for event in turn.events if event.id not in forgotten) for turn in turns]
        return [replace(turn, events=events) for turn, events in zip(turns, kept, strict=True)]

    def _backwards(self, segments: list[Segment]) -> Iterator[Line]:
        for segment in sorted(segments, key=lambda s: -s.number):
            yield from sorted(self._lines_of(segment), key=lambda line: (line.clock, line.seq), reverse=True)

    def _newest_first(self) -> list[Segment]:
        return sorted(self.segments().values(), key=lambda segment: (-segment.number, segment.writer))

    def _lines_of(self, segment: Segment, needle: bytes = b"") -> list[Line]:
        """Return a segment's good lines; none where it lacks `needle`, or where nothing of it can be read."""
        with suppress(ObjectMissing):
            if needle in self._union(segment):
                return self.segment_lines(segment)
        return []

    def _line_trees(self, tips: Iterable[str]) -> Iterator[LineTree]:
        for tip, tree in self._trees.read(frozenset(tips)):
            if tree is not None:
                yield tree
            else:
                self._damaged[tip] = "a part of the line's last commit cannot be read"

    def _collect(self, trees: Iterable[LineTree]) -> Mapping[str, Segment]:
        versions: dict[str, set[str]] = {}
        for tree in trees:
            for path, blob in tree.files:
                versions.setdefault(path, set()).add(blob)
        before = self._known[1]
        found = {}
        for path, blobs in versions.items():
            same, ids = before.get(path), tuple(sorted(blobs))
            if same is not None and same.blobs == ids:  # most of them, after every turn
                found[path] = same
            elif (name := parse_segment_path(path)) is not None:
                found[path] = Segment(path, name.writer, name.number, ids)
        return found

    def _union(self, segment: Segment) -> bytes:
        with self._lock:
            blobs, content = self._contents.get(segment.path, ((), b""))
            if blobs == segment.blobs:
                self._contents.move_to_end(segment.path)
                return content
        versions = list(self._versions(segment.blobs))
        content = versions[0] if len(versions) == 1 else union_segments(versions)
        if len(versions) == len(segment.blobs):
            self._remember(segment, content)
        return content

    def _remember(self, segment: Segment, content: bytes) -> None:
        """Keep what a segment holds now instead of what it held before: one grows with every turn."""
        with self._lock:
            self._cached += len(content) - len(self._contents.pop(segment.path, ((), b""))[1])
            self._contents[segment.path] = segment.blobs, content
            while self._cached > _CACHE_BYTES and len(self._contents) > 1:
                self._cached -= len(self._contents.popitem(last=False)[1][1])

    def _versions(self, blobs: tuple[str, ...]) -> Iterator[bytes]:
        missing = []
        for blob in blobs:
            try:
                content = self._repository.read(blob)[1]
            except GitmemError as error:
                missing.append(error)
                with self._lock:
                    self._damaged[blob] = error.message
            else:
                with self._lock:
                    self._damaged.pop(blob, None)  # it may have come with a fetch
                yield content
        if missing and len(missing) == len(blobs):
            raise ObjectMissing(f"a segment of the ledger cannot be read: {missing[0].message}", blobs=blobs)

    def _read_receipts(self, found: Iterable[tuple[str, str]]) -> Receipts:
        files: dict[str, bytes] = {}
        for path, blob in sorted(found):
            files[path] = files.get(path, b"") + self._read_receipt(blob)
        return read_receipts(files)

    def _read_receipt(self, blob: str) -> bytes:
        # The path alone forgets; its lines only say who, when and why.
        try:
            return self._repository.read(blob)[1]
        except GitmemError:
            return b"{}\n"

    def _long_texts(self, record: Record) -> Iterator[bytes]:
        """Yield what the lines hold as the long text of a record, mostly one content."""
        path = blob_path(int(record.clock[:12], 16) / 1000, record.id)
        with self._lock:
            roots = list(dict.fromkeys(tree.root for tree in self._line_trees(self.tips().values())))
        seen: set[str] = set()
        for find in (lambda root: read_path(self._repository, root, path), self._search_long_text(record.id)):
            for root in roots:
                with suppress(GitmemError):
                    entry = find(root)
                    if entry is not None and entry.id not in seen:
                        seen.add(entry.id)
                        yield self._repository.read(entry.id)[1]

    def _days_of_long_texts(self, root: str) -> Iterator[tuple[str, str]]:
        blobs = read_path(self._repository, root, _LONG_TEXTS)
        if blobs is not None and blobs.mode == TREE_MODE:
            for month in _folders(self._repository.read_tree(blobs.id)):
                for day in _folders(self._repository.read_tree(month.id)):
                    yield f"{_LONG_TEXTS}/{month.name}/{day.name}", day.id

    def _search_long_text(self, record_id: str) -> Callable[[str], TreeEntry | None]:
        # The clock runs ahead of the wall after a fast machine was heard, so the day may be another.
        def find(root: str) -> TreeEntry | None:
            folder = read_path(self._repository, root, _LONG_TEXTS)
            if folder is None or folder.mode != TREE_MODE:
                return None
            return next((e for _, e in walk_tree(self._repository, folder.id) if e.name == record_id), None)

        return find


def _folders(entries: Iterable[TreeEntry]) -> Iterator[TreeEntry]:
    return (entry for entry in entries if entry.mode == TREE_MODE)


def spooled_records(turn: SpooledTurn) -> Iterator[Record]:
    """Yield a spooled turn's events as records that have no place in the chain yet."""
    for event in turn.events:
        yield record_of(event, turn.turn)
