"""Several trees side by side, read from the top: folders that are equal in all of them are not read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from gitmem.branch_merge import CONFLICTS
from gitmem.errors import CorruptionError, RefusedError
from gitmem.repository import TREE_MODE, TreeEntry
from gitmem.tree_edit import TreeFile

#: Deeper folders and more of both than any home has; a few small trees can tell of billions of files.
MAX_DEPTH: Final = 128
MAX_FILES: Final = 250_000


class TreeReader(Protocol):
    """Reads the entries of trees."""

    def read_tree(self, tree_id: str) -> Sequence[TreeEntry]:
        """Return the entries of a tree."""
        ...


@dataclass(slots=True)
class TreeSides:
    """What trees hold where they are not all equal.

    Attributes:
        files: of each tree, by path: all that lie in a folder that is not the same in all of them, and all
            conflict copies.
        folders: the folders that are equal in all of them and were passed over.
    """

    files: list[dict[str, TreeFile]]
    folders: set[str] = field(default_factory=set)


def read_sides(
    objects: TreeReader,
    roots: Sequence[str | None],
    *,
    is_wanted: Callable[[str, str], bool] | None = None,
) -> TreeSides:
    """Read trees side by side.

    Args:
        objects: where they are read from.
        roots: ids of the trees; None for an empty one.
        is_wanted: says by path and blob id whether a file in an equal folder is told of too. Without it
            such folders are not read.

    Raises:
        CorruptionError: a tree is damaged, or names one thing twice.
        RefusedError: the trees are too deep or too large to be a home's.
    """
    reading = _Reading(objects, TreeSides([{} for _ in roots]), is_wanted)
    reading.read("", roots, 0)
    return reading.sides


@dataclass(slots=True)
class _Reading:
    objects: TreeReader
    sides: TreeSides
    is_wanted: Callable[[str, str], bool] | None
    count: int = 0

    def read(self, folder: str, trees: Sequence[str | None], depth: int) -> None:
        """Read one folder of all trees."""
        if depth > MAX_DEPTH:
            raise RefusedError(f"a tree is deeper than {MAX_DEPTH} folders", path=folder[:200])
        listings = [{} if tree is None else self._entries(tree, folder) for tree in trees]
        inner: dict[str, list[str | None]] = {}
        for number, entries in enumerate(listings):
            for name, entry in entries.items():
                if entry.mode == TREE_MODE:
                    inner.setdefault(name, [None] * len(trees))[number] = entry.id
                else:
                    self._count()
                    self.sides.files[number][folder + name] = TreeFile(entry.mode, entry.id)
        for name, ids in inner.items():
            self._enter(folder + name, ids, depth + 1)

    def _enter(self, path: str, trees: Sequence[str | None], depth: int) -> None:
        first = trees[0]
        if first is None or any(tree != first for tree in trees) or _is_told_whole(path):
            self.read(path + "/", trees, depth)
            return
        self.sides.folders.add(path)
        if self.is_wanted is not None:
            self._pick(path + "/", first, depth)

    def _pick(self, folder: str, tree: str, depth: int) -> None:
        """Tell of the wanted files of a folder that is equal in all trees."""
        assert self.is_wanted is not None
        if depth > MAX_DEPTH:
            raise RefusedError(f"a tree is deeper than {MAX_DEPTH} folders", path=folder[:200])
        for name, entry in self._entries(tree, folder).items():
            path = folder + name
            if entry.mode == TREE_MODE:
                self._pick(path + "/", entry.id, depth + 1)
                continue
            self._count()
            if self.is_wanted(path, entry.id):
                for files in self.sides.files:
                    files[path] = TreeFile(entry.mode, entry.id)

    def _entries(self, tree: str, folder: str) -> dict[str, TreeEntry]:
        self._count()
        entries = self.objects.read_tree(tree)
        found = {entry.name: entry for entry in entries}
        if len(found) != len(entries) or any(not name or "/" in name for name in found):
            raise CorruptionError(
                f"a damaged tree: {folder or 'the top'} has a name twice, or one with a slash",
                hint="Run `git fsck`.",
                tree=tree,
            )
        return found

    def _count(self) -> None:
        self.count += 1
        if self.count > MAX_FILES:
            raise RefusedError(f"the trees tell of more than {MAX_FILES:,} files and folders")


def _is_told_whole(path: str) -> bool:
    """Say whether a folder is read though it is equal: copies are a set, and their names depend on all."""
    return path == CONFLICTS or path.startswith(f"{CONFLICTS}/")
