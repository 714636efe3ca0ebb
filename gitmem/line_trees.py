"""What the trees of the turn lines hold; a folder that stayed as it was is not read again."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from gitmem.errors import GitmemError
from gitmem.repository import (
    EXECUTABLE_MODE,
    FILE_MODE,
    TREE_MODE,
    Repository,
    TreeEntry,
    read_path,
    walk_tree,
)

_MONTH: Final = re.compile(r"[0-9]{4}-[0-9]{2}")
#: Folders kept beyond those that the tips hold: at each turn the day's folder is another one.
_SPARE: Final = 8

Files = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class LineTree:
    """The tree of one tip.

    Attributes:
        root: id of the tree.
        files: path and blob id of everything in the folders of days.
        forgotten: path and blob id of every receipt.
    """

    root: str
    files: Files
    forgotten: Files


class LineTrees:
    """Reads trees of tips.

    Args:
        repository: where they are.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._folders: dict[str, Files] = {}
        self._used: dict[str, frozenset[str]] = {}
        self._tips: dict[str, LineTree] = {}

    def read(self, tips: Collection[str]) -> Iterator[tuple[str, LineTree | None]]:
        """Yield each tip with what it holds, None if a part of it is damaged or not here.

        Args:
            tips: of all lines; what others held before is let go of.
        """
        self._tips = {tip: tree for tip, tree in self._tips.items() if tip in tips}
        for tip in sorted(tips):
            if tip not in self._tips:
                with suppress(GitmemError):
                    self._tips[tip] = self._read(tip)
            yield tip, self._tips.get(tip)
        self._let_go()

    def _let_go(self) -> None:
        """Drop folders that no tip holds any more, a few at a time."""
        self._used = {tip: ids for tip, ids in self._used.items() if tip in self._tips}
        used = frozenset[str]().union(*self._used.values())
        if len(self._folders) > len(used) + _SPARE:
            self._folders = {tree_id: files for tree_id, files in self._folders.items() if tree_id in used}

    def _read(self, tip: str) -> LineTree:
        root = self._repository.read_commit(tip).tree
        ledger = read_path(self._repository, root, "ledger")
        if ledger is None or ledger.mode != TREE_MODE:
            return LineTree(root, (), ())
        folders = list(_folders(self._repository.read_tree(ledger.id)))
        days = [day for folder in folders if _MONTH.fullmatch(folder.name) for day in self._days(folder)]
        receipts = [folder.id for folder in folders if folder.name == "forgotten"]
        files = tuple((f"{path}/{name}", blob) for path, day in days for name, blob in self._day(day))
        self._used[tip] = frozenset([*(day for _, day in days), *receipts])
        return LineTree(root, files, self._receipts(receipts[0]) if receipts else ())

    def _receipts(self, tree_id: str) -> Files:
        return self._cached(tree_id, lambda: walk_tree(self._repository, tree_id, "forgotten/"))

    def _days(self, month: TreeEntry) -> Iterator[tuple[str, str]]:
        for day in _folders(self._repository.read_tree(month.id)):
            yield f"ledger/{month.name}/{day.name}", day.id

    def _day(self, tree_id: str) -> Files:
        return self._cached(tree_id, lambda: ((e.name, e) for e in self._repository.read_tree(tree_id)))

    def _cached(self, tree_id: str, read: Callable[[], Iterable[tuple[str, TreeEntry]]]) -> Files:
        files = self._folders.get(tree_id)
        if files is None:
            files = tuple((name, entry.id) for name, entry in read() if _is_file(entry))
            self._folders[tree_id] = files
        return files


def _is_file(entry: TreeEntry) -> bool:
    return entry.mode in (FILE_MODE, EXECUTABLE_MODE)


def _folders(entries: Sequence[TreeEntry]) -> Iterator[TreeEntry]:
    return (entry for entry in entries if entry.mode == TREE_MODE)
