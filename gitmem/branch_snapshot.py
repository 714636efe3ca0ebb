"""What the branch, the staging area and the disk hold of a few paths at one moment."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from gitmem.attribute_files import AttributeFiles
from gitmem.attributes import Conversion
from gitmem.errors import ObjectMissing
from gitmem.git_objects import hash_object
from gitmem.git_state import GitState, read_git_state
from gitmem.layout import Layout
from gitmem.repository import (
    EXECUTABLE_MODE,
    FILE_MODE,
    LINK_MODE,
    SUBMODULE_MODE,
    TREE_MODE,
    Repository,
    walk_tree,
)
from gitmem.settling import PathSight
from gitmem.staged_index import UNREAD, StagedIndex, index_identity, read_index
from gitmem.staging_area import StagedEntry
from gitmem.staging_extensions import StagingRefused
from gitmem.tree_edit import TreeFile, TreeLookup
from gitmem.tree_files import ManagedFile, Skipped, read_managed
from gitmem.work_tree import is_inside, stat_file

_FALSE = ("false", "no", "off", "0")
_IN_THE_WAY: Mapping[int, str] = {
    LINK_MODE: "a link on the branch",
    SUBMODULE_MODE: "a nested repository on the branch",
    TREE_MODE: "a folder on the branch",
}


@dataclass(frozen=True, slots=True)
class PathView:
    """One path as it was found.

    Attributes:
        raw: bytes on disk, None where there is no file.
        stat: of the file on disk.
        mode: the file's mode as Git would store it.
        head: its entry on the branch.
        staged: its entry in the staging area, None where it has none or is unmerged.
        sight: its contents as blobs, for planning.
    """

    raw: bytes | None
    stat: os.stat_result | None
    mode: int
    head: TreeFile | None
    staged: StagedEntry | None
    conversion: Conversion
    sight: PathSight


class BranchSnapshot:
    """One look at HEAD's branch, the staging area and the disk.

    Args:
        layout: where they lie.
        repository: reads objects, refs and configuration.
        attributes: converts bytes.
        branch: full name of the branch that may be committed on, None for any.
        staged: whether the staging area is read.
        landed: blob ids of texts that a commit that was broken off put on disk, by path.

    Attributes:
        state: HEAD and what keeps its branch from taking a commit.
        tree: of HEAD's commit.
        refused: why the staging area could not be read.
    """

    def __init__(
        self,
        layout: Layout,
        repository: Repository,
        attributes: AttributeFiles,
        *,
        branch: str | None,
        staged: bool,
        landed: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._layout = layout
        self._repository = repository
        self._attributes = attributes.look()
        self._branch = branch
        self._landed = landed
        self._file_mode = (repository.config("core.fileMode") or "").lower() not in _FALSE
        self._views: dict[str, PathView] = {}
        self.state: GitState = read_git_state(layout, repository, branch)
        commit = self.state.head.commit
        self.tree: str | None = repository.read_commit(commit).tree if commit else None
        self._files = TreeLookup(repository, self.tree) if self.tree else None
        self.index: StagedIndex = UNREAD
        self.refused: StagingRefused | None = None
        if staged:
            try:
                self.index = read_index(layout)
            except StagingRefused as refused:
                self.refused = refused

    def view(self, path: str) -> PathView:
        """Return what there is at a path."""
        if path not in self._views:
            self._views[path] = self._read(path)
        return self._views[path]

    def sight(self, path: str) -> PathSight:
        """Return the contents at a path, for planning."""
        return self.view(path).sight

    def resolved_sides(self, path: str) -> tuple[bytes, bytes] | None:
        """Return what both sides had of a path that was unmerged; None where that is not known."""
        ids = self.index.resolved_sides(path)
        try:
            return (
                None if ids is None else (self._repository.read(ids[0])[1], self._repository.read(ids[1])[1])
            )
        except ObjectMissing:
            return None

    def branch_files(self, wanted: Callable[[str], bool]) -> dict[str, TreeFile]:
        """Return the files of the branch whose paths are wanted; folders at the top are asked for first."""
        if self.tree is None:
            return {}
        files: dict[str, TreeFile] = {}
        for top in self._repository.read_tree(self.tree):
            if not wanted(top.name):
                continue
            if top.mode != TREE_MODE:
                files[top.name] = TreeFile(top.mode, top.id)
                continue
            for path, entry in walk_tree(self._repository, top.id, f"{top.name}/"):
                files[path] = TreeFile(entry.mode, entry.id)
        return files

    def is_unchanged(self, path: str, found: os.stat_result, entry: TreeFile) -> bool:
        """Say whether a file is certainly what the branch has, without reading it."""
        staged, _, _ = self._staged(path)
        modified = self.index.modified
        if staged is None or modified is None or not _same(staged, entry):
            return False
        return staged.is_file(found, modified)

    def still_holds(self, paths: Collection[str]) -> bool:
        """Say whether the staging area and these paths are as they were seen; asked under Git's locks."""
        if index_identity(self._layout) != self.index.identity:
            return False
        root = self._layout.root
        return all(_identity(stat_file(root, path)) == _identity(self.view(path).stat) for path in paths)

    def read_state(self) -> GitState:
        """Return Git's state as it is now."""
        return read_git_state(self._layout, self._repository, self._branch)

    def disk_bytes(self, path: str, content: bytes) -> bytes:
        """Return the bytes to put on disk for a blob: the file there keeps its line endings."""
        view = self.view(path)
        if view.raw is not None and b"\r" in view.raw:
            return view.conversion.to_work_tree_like(content, view.raw)
        return content

    def _read(self, path: str) -> PathView:
        fault = None if is_inside(path) else f"{path}: not a path inside the home"
        found = None if fault else read_managed(self._layout.root, path)
        file = found if isinstance(found, ManagedFile) else None
        if isinstance(found, Skipped):
            fault = f"{path}: {found.reason}"
        entry = self._files.find(path) if self._files else None
        if fault is None and entry is not None and entry.mode in _IN_THE_WAY:
            fault = f"{path}: {_IN_THE_WAY[entry.mode]}"
        conversion = self._attributes.conversion(path)
        if fault is None and conversion.foreign:
            fault = f"{path} has {conversion.foreign}"
        return self._compare(path, file, entry, conversion, fault)

    def _compare(
        self,
        path: str,
        file: ManagedFile | None,
        entry: TreeFile | None,
        conversion: Conversion,
        fault: str | None,
    ) -> PathView:
        is_file = entry is not None and entry.mode in (FILE_MODE, EXECUTABLE_MODE)
        head = self._repository.read(entry.id)[1] if entry is not None and is_file else None
        staged, hidden, unmerged = self._staged(path)
        disk = None if file is None else conversion.to_blob(file.content, head)
        if file is None and hidden:
            disk = head  # a sparse checkout left it out; nobody removed it
        mode = self._mode(file, entry)
        sight = PathSight(
            head=head,
            disk=disk,
            staged_is_head=_same(staged, entry) or self._is_own(path, staged),
            staged_is_disk=_holds(staged, disk, mode, compare_mode=self._file_mode),
            landed=disk is not None and self._landed.get(path) == hash_object("blob", disk),
            unmerged=unmerged,
            fault=fault,
        )
        return PathView(
            raw=file.content if file else None,
            stat=file.stat if file else None,
            mode=mode,
            head=entry,
            staged=staged,
            conversion=conversion,
            sight=sight,
        )

    def _staged(self, path: str) -> tuple[StagedEntry | None, bool, bool]:
        """Return what is staged, whether a sparse checkout hides it, and whether the path is unmerged."""
        rows = self.index.rows(path)
        unmerged = any(row.stage for row in rows)
        if unmerged or not rows or rows[0].intent_to_add:
            return None, False, unmerged
        return rows[0], rows[0].skip_worktree, False

    def _is_own(self, path: str, staged: StagedEntry | None) -> bool:
        """Say whether a commit that was broken off staged it, so that nobody else's is there."""
        return staged is not None and staged.id == self._landed.get(path)

    def _mode(self, file: ManagedFile | None, entry: TreeFile | None) -> int:
        known = entry.mode if entry is not None and entry.mode in (FILE_MODE, EXECUTABLE_MODE) else FILE_MODE
        if file is None or not self._file_mode:
            return known
        return EXECUTABLE_MODE if file.stat.st_mode & stat.S_IXUSR else FILE_MODE


def _same(staged: StagedEntry | None, entry: TreeFile | None) -> bool:
    if staged is None or entry is None:
        return staged is None and entry is None
    return (staged.id, staged.mode) == (entry.id, entry.mode)


def _holds(staged: StagedEntry | None, disk: bytes | None, mode: int, *, compare_mode: bool) -> bool:
    if staged is None or disk is None:
        return staged is None and disk is None
    return staged.id == hash_object("blob", disk) and (staged.mode == mode or not compare_mode)


def _identity(found: os.stat_result | None) -> tuple[int, int, int, int, int] | None:
    if found is None:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_mode
