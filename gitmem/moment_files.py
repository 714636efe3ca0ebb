"""The files of two moments that differ, without what was forgotten: from commits, or from the disk."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Final

from gitmem.branch_snapshot import BranchSnapshot
from gitmem.closed_tree import close_file
from gitmem.commit_found import uncommitted
from gitmem.commit_names import find_commit
from gitmem.forgotten import Receipts
from gitmem.layout import Layout, is_managed
from gitmem.operator_branch import OperatorBranch
from gitmem.past_tree import tree_at
from gitmem.repository import EXECUTABLE_MODE, FILE_MODE, Repository, TreeEntry
from gitmem.tree_changes import changed_paths
from gitmem.tree_edit import TreeFile, find_file

_FILES: Final = (FILE_MODE, EXECUTABLE_MODE)
#: How the tags of episodes begin; never a time.
_EPISODE: Final = "episode/"


@dataclass(frozen=True, slots=True)
class Side:
    """The files of a moment.

    Attributes:
        commit: of the operator's branch, HEAD for the working tree; None where there was none yet.
        tree: of that commit.
        disk: of the working tree, which may differ from its commit, one look at it.
        edited: paths of files that do.
    """

    commit: str | None
    tree: str | None
    disk: BranchSnapshot | None = None
    edited: frozenset[str] = frozenset()


class MomentFiles:
    """Reads the files of moments.

    Args:
        layout: where the files are.
        repository: the history.
        branch: looks at the disk.
        receipts: returns what was forgotten.
        lines: returns the tips of the turn lines, where a shortened commit id is looked for too.
        now: the wall clock, seconds since 1970.
    """

    def __init__(
        self,
        layout: Layout,
        repository: Repository,
        branch: OperatorBranch,
        *,
        receipts: Callable[[], Receipts],
        lines: Callable[[], Collection[str]],
        now: Callable[[], float],
    ) -> None:
        self._layout = layout
        self._repository = repository
        self._branch = branch
        self._receipts = receipts
        self._lines = lines
        self._now = now

    def side(self, moment: str | None) -> Side:
        """Return the files of a moment.

        Args:
            moment: a commit by any name that Git has for it, `episode/<id>`, the commit of a turn, or a time
                in words; HEAD for None.

        Raises:
            NotFound: there is no such commit here.
            UsageError: it is neither a commit nor a time.
        """
        if moment is None:
            return self._head()
        if moment.startswith(_EPISODE):
            commit = find_commit(self._repository, moment, ())
            return Side(commit.id, commit.tree)
        past = tree_at(self._repository, moment, self._now(), self._lines())
        return Side(past.head, past.tree)

    def disk(self) -> Side:
        """Return the working tree."""
        edited = frozenset(uncommitted(self._branch, self._layout))
        return replace(self._head(), disk=self._branch.look(staged=False), edited=edited)

    def differing(self, one: Side, other: Side) -> dict[str, tuple[bytes | None, bytes | None]]:
        """Return the content of each file that differs, on both sides; None where it is not there."""
        found = {
            change.path: (self._blob(change.path, change.old), self._blob(change.path, change.new))
            for change in changed_paths(self._repository, one.tree, other.tree)
        }
        for path in one.edited | other.edited:
            found[path] = (self.content(one, path), self.content(other, path))
        return {path: both for path, both in sorted(found.items()) if both[0] != both[1]}

    def content(self, side: Side, path: str) -> bytes | None:
        """Return a file's content, None where there is none; of a link or another repository, what it is."""
        if side.disk is not None and is_managed(path):
            return self._closed(path, side.disk.sight(path).disk)
        file = None if side.tree is None else find_file(self._repository, side.tree, path)
        return self._blob(path, file)

    def _blob(self, path: str, file: TreeEntry | TreeFile | None) -> bytes | None:
        if file is None:
            return None
        if file.mode not in _FILES:
            return f"(no file, but {file.mode:o} {file.id})\n".encode()
        return self._closed(path, self._repository.read(file.id)[1])

    def _head(self) -> Side:
        commit = self._repository.head().commit
        return Side(commit, self._repository.read_commit(commit).tree if commit else None)

    def _closed(self, path: str, content: bytes | None) -> bytes | None:
        return None if content is None else close_file(path, content, self._receipts())
