"""The index in its folder: what the last commit left, and who may write the next one."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gitmem.backends.tantivy_index.commit_file import (
    Commit,
    PartMark,
    find_commit,
    read_commit_file,
    write_commit_file,
)
from gitmem.backends.tantivy_index.damage import translated_reading
from gitmem.backends.tantivy_index.loose_part import LOOSE_SIZE
from gitmem.backends.tantivy_index.part_view import PartView, open_part
from gitmem.backends.tantivy_index.scratch import remove_abandoned
from gitmem.backends.tantivy_index.writing import write_commit
from gitmem.index_folder import is_readable, only_writer
from gitmem.manifest import EMPTY, Manifest
from gitmem.postings_cache import DEFAULT_BYTES, Postings, PostingsCache
from gitmem.private_folder import make_private, remove_folder
from gitmem.search_index import IndexChange, IndexDamaged, IndexRefused

#: A commit may remove files while they are being opened; then the next one is read.
_ATTEMPTS: Final = 5
_GONE: Final = "the index went while it was written"


class TantivySnapshot:
    """An `IndexSnapshot`."""

    def __init__(self, generation: int, name: str, manifest: Manifest, parts: Sequence[PartView]) -> None:
        self.generation = generation
        self.name = name
        self.manifest = manifest
        self.parts = parts


class TantivyIndex:
    """A `SearchIndex` in a private folder.

    Args:
        folder: made when first written; its lock file stands beside it.
        cache_bytes: memory for postings at most.
        loose_size: a part of fewer documents is kept without tantivy.
    """

    def __init__(
        self, folder: Path, cache_bytes: int = DEFAULT_BYTES, *, loose_size: int = LOOSE_SIZE
    ) -> None:
        self.loose_size = loose_size
        self._folder = folder
        self._cache: PostingsCache[Postings] = PostingsCache(cache_bytes)
        self._guard = threading.Lock()
        self._last: TantivySnapshot | None = None

    def snapshot(self) -> TantivySnapshot | None:
        """Return the index as the last commit left it, None where there is none yet."""
        if not is_readable(self._folder):
            return None
        with self._guard, translated_reading():
            return self._read()

    @contextmanager
    def writing(self) -> Iterator[TantivyWriter | None]:
        """Become the writer; None where somebody else is."""
        with only_writer(self._folder) as free:
            yield TantivyWriter(self, self._folder) if free else None

    def close(self) -> None:
        """Forget what was read; the files go with it."""
        with self._guard:
            self._last = None
            self._cache.clear()

    def _read(self) -> TantivySnapshot | None:
        for left in reversed(range(_ATTEMPTS)):
            try:
                found = find_commit(self._folder)
            except FileNotFoundError:  # discarded since it was looked at
                return None
            if found is None:
                return None
            if self._last is not None and self._last.name == found[1]:
                return self._last
            try:
                self._last = self._load(*found)
            except FileNotFoundError:
                # A writer may have taken the folder of the copy for one that a kill left: then again.
                if not left and self._is_last(found[1]):
                    raise
            else:
                return self._last
        raise IndexDamaged("the index changes faster than it can be read")

    def _is_last(self, name: str) -> bool:
        """Say whether a commit is still the last one, so that what is missing is missing for good."""
        try:
            found = find_commit(self._folder)
        except FileNotFoundError:
            return False
        return found is not None and found[1] == name

    def _load(self, generation: int, name: str) -> TantivySnapshot:
        commit = read_commit_file(self._folder / name)
        known = {} if self._last is None else {part.mark.name: part for part in self._last.parts}
        parts = [self._part(mark, known.get(mark.name)) for mark in commit.parts]
        return TantivySnapshot(generation, name, commit.manifest, parts)

    def _part(self, mark: PartMark, known: PartView | None) -> PartView:
        """Return a part as it is now: the very one of the commit before if nothing more was removed."""
        if known is not None and known.mark == mark:
            return known
        return PartView(open_part(self._folder, mark, self._cache) if known is None else known.part, mark)


class TantivyWriter:
    """An `IndexWriter`; lives as long as the lock is held."""

    def __init__(self, index: TantivyIndex, folder: Path) -> None:
        self._index = index
        self._folder = folder
        try:
            found = index.snapshot()
        except (IndexDamaged, IndexRefused):
            found = None
        if found is None:
            self.discard()
        else:
            remove_abandoned(folder)

    def snapshot(self) -> TantivySnapshot:
        """Return the index as it stands."""
        found = self._index.snapshot()
        if found is None:
            raise IndexDamaged(_GONE)
        return found

    def commit(self, change: IndexChange) -> None:
        """Commit a change durably."""
        last = self.snapshot()
        try:
            write_commit(self._folder, last.generation + 1, last.parts, change, self._index.loose_size)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise IndexDamaged(_GONE) from error

    def discard(self) -> None:
        """Throw the index away and begin with an empty one."""
        remove_folder(self._folder)
        self._index.close()
        make_private(self._folder)
        write_commit_file(self._folder, 1, Commit(EMPTY, ()))
