"""The index in its folder: what the last commit left, and who may write the next one."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from whoosh.filedb.filestore import FileStorage
from whoosh.index import TOC
from whoosh.reading import SegmentReader

from gitmem.backends.whoosh_index.files import (
    NAME,
    SCHEMA,
    Segment,
    Storage,
    find_generation,
    read_manifest,
    read_seal,
)
from gitmem.backends.whoosh_index.segment import DecodedSegment, SegmentPart
from gitmem.backends.whoosh_index.writer import write_commit
from gitmem.index_damage import translated_damage
from gitmem.index_folder import is_readable, only_writer
from gitmem.manifest import EMPTY, Manifest
from gitmem.postings_cache import DEFAULT_BYTES, Postings, PostingsCache
from gitmem.private_folder import make_private, remove_folder, standing_of
from gitmem.search_index import IndexChange, IndexDamaged, IndexRefused

#: A commit may remove files while they are being opened; then the next one is read.
_ATTEMPTS: Final = 5


class WhooshIndex:
    """A `SearchIndex` in a private folder.

    Args:
        folder: made when first written; its lock file stands beside it.
        cache_bytes: memory for postings at most.
    """

    def __init__(self, folder: Path, cache_bytes: int = DEFAULT_BYTES) -> None:
        self._folder = folder
        self._cache: PostingsCache[Postings] = PostingsCache(cache_bytes)
        self._guard = threading.Lock()
        self._segments: dict[str, DecodedSegment] = {}
        self._last: WhooshSnapshot | None = None
        self._seal = b""

    def snapshot(self) -> WhooshSnapshot | None:
        """Return the index as the last commit left it, None where there is none yet."""
        if not is_readable(self._folder):
            return None
        with self._guard, translated_damage():
            return self._read()

    @contextmanager
    def writing(self) -> Iterator[WhooshWriter | None]:
        """Become the writer; None where somebody else is."""
        with only_writer(self._folder) as alone, _whoosh_lock(self._folder, alone) as free:
            yield WhooshWriter(self, self._folder) if free else None

    def close(self) -> None:
        """Forget what was read; the files go with it."""
        with self._guard:
            self._segments, self._last = {}, None
            self._cache.clear()

    def _read(self) -> WhooshSnapshot | None:
        for _ in range(_ATTEMPTS):
            generation = find_generation(self._folder)
            if generation is None:
                return None
            try:
                seal = read_seal(self._folder, generation)
                if self._last is None or (self._last.generation, self._seal) != (generation, seal):
                    self._last, self._seal = self._load(generation), seal
            except FileNotFoundError:
                if find_generation(self._folder) == generation:
                    raise
            else:
                return self._last
        raise IndexDamaged("the index changes faster than it can be read")

    def _load(self, generation: int) -> WhooshSnapshot:
        storage = Storage(self._folder)
        toc = TOC.read(storage, NAME, gen=generation, schema=SCHEMA)
        manifest = read_manifest(self._folder, generation)
        known = self._segments
        self._segments = {
            s.segid: known.get(s.segid) or DecodedSegment(SegmentReader(storage, SCHEMA, s), self._cache)
            for s in toc.segments
        }
        return WhooshSnapshot(generation, manifest, [self._part_of(s) for s in toc.segments])

    def _part_of(self, segment: Segment) -> SegmentPart:
        """Return a segment as it is now: the very part of the commit before, if nothing more was removed."""
        decoded, removed = self._segments[segment.segid], frozenset(segment.deleted_docs())
        for part in () if self._last is None else self._last.parts:
            if part.is_of(decoded, removed):
                return part
        return SegmentPart(decoded, removed)


class WhooshSnapshot:
    """An `IndexSnapshot`."""

    def __init__(self, generation: int, manifest: Manifest, parts: Sequence[SegmentPart]) -> None:
        self.generation = generation
        self.manifest = manifest
        self.parts = parts


class WhooshWriter:
    """An `IndexWriter`; lives as long as the lock is held."""

    def __init__(self, index: WhooshIndex, folder: Path) -> None:
        self._index = index
        self._folder = folder
        try:
            found = index.snapshot()
        except (IndexDamaged, IndexRefused):
            found = None
        if found is None:
            self.discard()

    def snapshot(self) -> WhooshSnapshot:
        """Return the index as it stands."""
        found = self._index.snapshot()
        if found is None:
            raise IndexDamaged("the index went while it was written")
        return found

    def commit(self, change: IndexChange) -> None:
        """Commit a change durably."""
        parts = self.snapshot().parts
        with translated_damage():
            write_commit(self._folder, parts, change)

    def discard(self) -> None:
        """Throw the index away and begin with an empty one."""
        remove_folder(self._folder)
        self._index.close()
        make_private(self._folder)
        with translated_damage():
            TOC.create(Storage(self._folder, EMPTY), SCHEMA, NAME)


@contextmanager
def _whoosh_lock(folder: Path, alone: bool) -> Iterator[bool]:
    """Hold Whoosh's own lock too, against other programs that open the index; say whether both were free."""
    if not alone or standing_of(folder) != "private":
        yield alone
        return
    lock = FileStorage(str(folder)).lock(f"{NAME}_WRITELOCK")
    if not lock.acquire():
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
