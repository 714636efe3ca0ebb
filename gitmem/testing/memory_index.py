"""A search index in memory, with switches for what can go wrong with one."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from gitmem.manifest import EMPTY, Manifest
from gitmem.memory_part import MemoryPart
from gitmem.search_index import IndexChange, IndexDamaged, IndexPart, IndexRefused, key_of


class MemorySnapshot:
    """An `IndexSnapshot` in memory."""

    def __init__(self, generation: int, manifest: Manifest, parts: Sequence[MemoryPart]) -> None:
        self.generation = generation
        self.manifest = manifest
        self.memory_parts = parts

    @property
    def parts(self) -> Sequence[IndexPart]:
        """All parts."""
        return self.memory_parts


class MemoryIndex:
    """A `SearchIndex` in memory.

    Attributes:
        damaged: whether reading raises `IndexDamaged` until the index is discarded.
        refused: whether reading and writing raise `IndexRefused`.
        full: whether commits fail as on a full disk.
        commits: how many there were.
    """

    def __init__(self) -> None:
        self.damaged = False
        self.refused = False
        self.full = False
        self.commits = 0
        self._lock = threading.Lock()
        self._last: MemorySnapshot | None = None

    def snapshot(self) -> MemorySnapshot | None:
        """Return the index as the last commit left it."""
        if self.refused:
            raise IndexRefused("refused by a switch")
        if self.damaged:
            raise IndexDamaged("damaged by a switch")
        return self._last

    @contextmanager
    def writing(self) -> Iterator[MemoryWriter | None]:
        """Become the writer; None where another thread is."""
        if self.refused:
            raise IndexRefused("refused by a switch")
        if not self._lock.acquire(blocking=False):
            yield None
            return
        try:
            yield MemoryWriter(self)
        finally:
            self._lock.release()

    def close(self) -> None:
        """There is nothing to release."""

    def replace(self, snapshot: MemorySnapshot) -> None:
        """Put a snapshot in place of the last one; called by the writer."""
        self._last = snapshot


class MemoryWriter:
    """An `IndexWriter` in memory."""

    def __init__(self, index: MemoryIndex) -> None:
        self._index = index
        if index.damaged or index.snapshot() is None:
            self.discard()

    def snapshot(self) -> MemorySnapshot:
        """Return the index as it stands."""
        found = self._index.snapshot()
        assert found is not None, "a writer begins with an index"
        return found

    def commit(self, change: IndexChange) -> None:
        """Commit a change."""
        if self._index.full:
            raise OSError(28, "No space left on device")
        last = self.snapshot()
        parts = [_without(part, change) for part in last.memory_parts]
        if change.add:
            parts.append(MemoryPart(list(change.add)))
        self._index.commits += 1
        self._index.replace(MemorySnapshot(last.generation + 1, change.manifest, parts))

    def discard(self) -> None:
        """Throw the index away and begin with an empty one."""
        self._index.damaged = False
        self._index.replace(MemorySnapshot(0, EMPTY, []))


def _without(part: MemoryPart, change: IndexChange) -> MemoryPart:
    origins = {key_of(origin) for origin in change.remove_origins}
    records = {key_of(record) for record in change.remove_records}
    columns = zip(part.column("origin"), part.column("record"), strict=True)
    return part.without({n for n, (o, r) in enumerate(columns) if o in origins or r in records})
