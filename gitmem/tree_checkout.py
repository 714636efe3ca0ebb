"""What brings work tree and staging area from one tree to another, and what of an operator's forbids it.

A file moves only from what the old tree has: one that is edited, staged otherwise or not tracked here is
left, and named. A file that holds what it is to hold already is in nobody's way.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path
from typing import Final

from gitmem.branch_snapshot import BranchSnapshot
from gitmem.errors import GitmemError, ProtectedPath
from gitmem.layout import LEDGER
from gitmem.repository import (
    EXECUTABLE_MODE,
    FILE_MODE,
    LINK_MODE,
    SUBMODULE_MODE,
    ObjectReader,
    TreeEntry,
)
from gitmem.staging_area import StagedEntry, StagedFile
from gitmem.tree_changes import TreeChange
from gitmem.tree_edit import TreeFile
from gitmem.tree_files import MAX_FILE
from gitmem.work_tree import check_way, is_inside, stat_file
from gitmem.work_tree_links import read_link

_PIECE: Final = 1 << 20
_FILES: Final = (FILE_MODE, EXECUTABLE_MODE)
EDITED: Final = "it has an edit that is not committed"
UNTRACKED: Final = "a file that is not tracked here stands in its place"
STAGED: Final = "it is staged otherwise"


@dataclass(frozen=True, slots=True)
class Checkout:
    """What has to be done.

    Attributes:
        files: content of each file to write, None to remove it.
        modes: Git's mode of each path that will be there.
        links: where each link to make leads.
        nested: nested repositories that come.
        dropped: nested repositories that go.
        late: files whose folder is a file now, or whose place a folder takes: they wait for what is removed.
        stage: what the staging area will hold of each path, None for nothing.
        large: files on disk that are too large to be compared in memory, and are the old ones.
        kept: files that hold what they are to hold, and those that are gone already.
        blocked: paths that must not be touched, and why.
    """

    files: dict[str, bytes | None] = field(default_factory=dict)
    modes: dict[str, int] = field(default_factory=dict)
    links: dict[str, bytes] = field(default_factory=dict)
    nested: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    late: set[str] = field(default_factory=set)
    stage: dict[str, StagedFile | None] = field(default_factory=dict)
    large: dict[str, os.stat_result] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    blocked: dict[str, str] = field(default_factory=dict)


def plan_checkout(
    objects: ObjectReader, snapshot: BranchSnapshot, root: Path, changes: Iterable[TreeChange]
) -> Checkout:
    """Work out what brings a work tree from one tree to another.

    Args:
        objects: reads the new contents.
        snapshot: of the branch at the old tree, the staging area and the disk.
        root: the work tree.
        changes: what differs between the trees.
    """
    rows = list(changes)
    planner = _Planner(objects, snapshot, root, frozenset(row.path for row in rows if row.new is None))
    for row in rows:
        planner.take(row)
    return planner.plan


class _Planner:
    def __init__(
        self, objects: ObjectReader, snapshot: BranchSnapshot, root: Path, gone: Collection[str]
    ) -> None:
        self.plan = Checkout()
        self._objects = objects
        self._snapshot = snapshot
        self._root = root
        self._gone = gone

    def take(self, change: TreeChange) -> None:
        path, new = change.path, change.new
        try:
            fault = self._fault(change)
            holds = None if fault else self._holds(change)
        except (GitmemError, OSError) as error:
            fault, holds = str(error), None
        if fault is not None:
            self.plan.blocked[path] = fault
            return
        self.plan.stage[path] = staged_file(new)
        if holds and not _is_mode_only(change):
            if new is None or new.mode in _FILES:
                self.plan.kept.add(path)
        else:
            self._write(path, change.old, new)
        if new is not None:
            self.plan.modes[path] = new.mode

    def _fault(self, change: TreeChange) -> str | None:
        """Say why a path must not be touched, whatever is there."""
        path = change.path
        if not is_inside(path):
            return "not a path inside the home"
        if path == LEDGER or path.startswith(f"{LEDGER}/"):
            return "ledger/ is gitmem's own and must not be tracked on a branch"
        view = self._snapshot.view(path)
        if view.sight.unmerged:
            return "it is unmerged"
        known = (change.old, change.new)
        is_known = self._snapshot.index.content is None or any(_same(view.staged, one) for one in known)
        return None if is_known else STAGED

    def _holds(self, change: TreeChange) -> bool:
        """Say whether the disk holds what is new; if it holds neither that nor the old, raise with why."""
        path, old, new = change.path, change.old, change.new
        link = read_link(self._root, path)
        if link is not None:
            return self._matches_link(path, link, old, new)
        kinds = {entry.mode for entry in (old, new) if entry is not None}
        if SUBMODULE_MODE in kinds:
            return self._matches_nested(path, new)
        if not os.path.lexists(self._root / path):
            return self._matches_nothing(path, old, new)
        if self._is_folder_going(path):
            self.plan.late.add(path)
            return False
        return self._matches_file(path, old, new)

    def _matches_link(self, path: str, link: bytes, old: TreeEntry | None, new: TreeEntry | None) -> bool:
        if new is not None and new.mode == LINK_MODE and self._content(new) == link:
            return True
        if old is None:
            raise _left(path, UNTRACKED)
        if old.mode != LINK_MODE or self._content(old) != link:
            raise _left(path, EDITED)
        return False

    def _matches_nested(self, path: str, new: TreeEntry | None) -> bool:
        there = self._root / path
        if new is not None and new.mode == SUBMODULE_MODE:
            if os.path.lexists(there) and not there.is_dir():
                raise _left(path, "a file stands where a nested repository belongs")
            return there.is_dir()
        if there.is_dir() and any(there.iterdir()) and new is not None:
            raise _left(path, "a nested repository stands in its place")
        return not os.path.lexists(there) and new is None

    def _matches_nothing(self, path: str, old: TreeEntry | None, new: TreeEntry | None) -> bool:
        if new is None:
            return True
        if any(up in self._gone for up in _above(path)):
            self.plan.late.add(path)
        else:
            check_way(self._root, path)
        if old is None:
            return False
        if old.mode in _FILES and self._snapshot.sight(path).disk is not None:
            return True  # a sparse checkout leaves it out
        raise _left(path, "it was removed and that is not committed")

    def _matches_file(self, path: str, old: TreeEntry | None, new: TreeEntry | None) -> bool:
        found = stat_file(self._root, path)
        if found is not None and stat.S_ISREG(found.st_mode) and found.st_size > MAX_FILE:
            return self._matches_large(path, found, old, new)
        sight = self._snapshot.sight(path)
        if sight.fault is not None and (old is None or old.mode in _FILES):
            raise _left(path, sight.fault.removeprefix(f"{path}: "))
        disk = sight.disk
        if new is not None and new.mode in _FILES and disk == self._content(new):
            return True
        if old is None:
            raise _left(path, UNTRACKED)
        if old.mode not in _FILES or disk != self._content(old):
            raise _left(path, EDITED)
        return False

    def _matches_large(
        self, path: str, found: os.stat_result, old: TreeEntry | None, new: TreeEntry | None
    ) -> bool:
        if old is None:
            raise _left(path, UNTRACKED)
        is_unchanged = self._snapshot.is_unchanged(path, found, TreeFile(old.mode, old.id))
        if not is_unchanged and _hash_file(self._root / path, found.st_size) != old.id:
            raise _left(path, EDITED)
        self.plan.large[path] = found
        return new is not None and new.id == old.id

    def _write(self, path: str, old: TreeEntry | None, new: TreeEntry | None) -> None:
        if old is not None and old.mode == SUBMODULE_MODE:
            self.plan.dropped.append(path)
        if new is None:
            if old is None or old.mode != SUBMODULE_MODE:
                self.plan.files[path] = None
        elif new.mode == SUBMODULE_MODE:
            self.plan.nested.append(path)
        elif new.mode == LINK_MODE:
            self.plan.links[path] = self._content(new)
        else:
            self.plan.files[path] = self._content(new)

    def _is_folder_going(self, path: str) -> bool:
        """Say whether a real folder stands there in which every file is one that goes."""
        folder = self._root / path
        if not folder.is_dir():
            return False
        return all(
            (Path(parent) / name).relative_to(self._root).as_posix() in self._gone
            for parent, _, names in os.walk(folder)
            for name in names
        )

    def _content(self, entry: TreeEntry) -> bytes:
        return self._objects.read(entry.id)[1]


def _hash_file(path: Path, size: int) -> str:
    """Return the blob id of a large file's bytes as they are, read piece by piece."""
    found = sha1(b"blob %d\0" % size)  # noqa: S324 - Git's own
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            found.update(piece)
    return found.hexdigest()


def staged_file(entry: TreeEntry | None) -> StagedFile | None:
    """Return what the staging area holds of a tree's entry."""
    return None if entry is None else StagedFile(entry.mode, entry.id)


def _is_mode_only(change: TreeChange) -> bool:
    """Say whether only the permission to run a file differs."""
    old, new = change.old, change.new
    return old is not None and new is not None and old.id == new.id and {old.mode, new.mode} <= {*_FILES}


def _left(path: str, reason: str) -> ProtectedPath:
    return ProtectedPath(reason, path=path)


def _above(path: str) -> list[str]:
    names = path.split("/")
    return ["/".join(names[:depth]) for depth in range(1, len(names))]


def _same(staged: StagedEntry | None, entry: TreeEntry | None) -> bool:
    if staged is None or entry is None:
        return staged is None and entry is None
    return (staged.id, staged.mode) == (entry.id, entry.mode)
