"""Takes what was forgotten off the operator's branch and off the disk, in one commit of the agent's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.branch_changes import PathChange
from gitmem.branch_merge import EPISODES, STORES, conflict_path
from gitmem.closed_tree import close_file, close_tree
from gitmem.errors import HeadMoved, ProtectedPath, RefusedError
from gitmem.forgotten import Receipts
from gitmem.git_objects import hash_object
from gitmem.layout import MANAGED_FILES, MANAGED_FOLDERS, Layout, is_managed
from gitmem.memory_records import FORGET_WRITE
from gitmem.operator_branch import OperatorBranch
from gitmem.repository import Repository, walk_tree
from gitmem.subjects import KIND, forget_subject, format_message
from gitmem.tree_edit import TreeFile
from gitmem.tree_files import ManagedFile, list_files, read_managed

#: How often it is tried again where an editor saves meanwhile.
_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of the operator's branch.

    Attributes:
        commit: the commit that takes it off; None where there was nothing, or with `reason`.
        reason: why it has to wait.
        paths: the files that went or hold less now.
        left: paths that gitmem does not change, and why.
    """

    commit: str | None = None
    reason: str | None = None
    paths: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class ForgottenBranch:
    """Closes the files of a home.

    An operator's uncommitted edit is committed first, as found, so that no word of theirs is lost. Where they
    edited a file that was forgotten, the file goes, and what they made of it is a conflict copy.

    Args:
        layout: where the files are.
        repository: knows the branch.
        branch: takes the commit.
        agent: the agent's `Name <mail>`.
    """

    def __init__(self, layout: Layout, repository: Repository, branch: OperatorBranch, agent: str) -> None:
        self._root = layout.root
        self._repository = repository
        self._branch = branch
        self._agent = agent

    def close(self, receipts: Receipts) -> Taken:
        """Take everything off that is forgotten; what cannot be committed now is off the disk and waits."""
        for _ in range(_TRIES):
            found = self._found(receipts)
            managed = {path: content for path, content in found.items() if is_managed(path)}
            left = [f"{path}: it is not among gitmem's files" for path in found if path not in managed]
            try:
                return self._take([*self._changes(managed, receipts)], left)
            except HeadMoved:  # an editor saved at the same moment
                continue
        return Taken(reason="files keep changing")

    def _take(self, changes: Sequence[PathChange], left: Sequence[str]) -> Taken:
        try:
            return self._write(changes, left) if changes else Taken(left=tuple(left))
        except (ProtectedPath, RefusedError) as error:
            if len(changes) == 1:
                return Taken(left=(*left, f"{changes[0].path}: {error.message}"))
        # One that cannot be changed must not hold up the others.
        parts = [self._take([change], ()) for change in changes]
        return Taken(
            next((one.commit for one in reversed(parts) if one.commit), None),
            next((one.reason for one in parts if one.reason), None),
            tuple(path for one in parts for path in one.paths),
            (*left, *(path for one in parts for path in one.left)),
        )

    def _write(self, changes: Sequence[PathChange], left: Sequence[str]) -> Taken:
        # The record of the forgetting, on whichever machine it was, is the record of this, too.
        outcome = self._branch.write(
            changes,
            message=format_message(forget_subject(len(changes)), [(KIND, "forget")]),
            author=self._agent,
            operation=FORGET_WRITE,
            turn=None,
        )
        commit = None if outcome.unchanged else outcome.committed
        return Taken(commit, outcome.reason, tuple(change.path for change in changes), tuple(left))

    def _found(self, receipts: Receipts) -> Mapping[str, bytes | None]:
        """Return the paths that hold what was forgotten, on the branch or on disk; the closed branch file."""
        head = self._repository.head().commit
        tree = self._repository.read_commit(head).tree if head else None
        entries = walk_tree(self._repository, tree) if tree else ()
        files = {path: TreeFile(entry.mode, entry.id) for path, entry in entries}
        closed = close_tree(files, receipts, self._blob)
        found: dict[str, bytes | None] = {
            path: self._content(closed.files[path].id, closed.made) if path in closed.files else None
            for path in closed.forgotten
        }
        for path, content in self._on_disk():
            if path not in found and close_file(path, content, receipts) != content:
                found[path] = close_file(path, content, receipts)
        return found

    def _changes(self, found: Mapping[str, bytes | None], receipts: Receipts) -> Iterator[PathChange]:
        for path, closed in sorted(found.items()):
            read = read_managed(self._root, path)
            if read is not None and not isinstance(read, ManagedFile):
                yield PathChange(path, None, closed)  # a link or the like, which the write refuses
                continue
            if read is None:
                yield PathChange(path, None, closed if path.startswith(f"{EPISODES}/") else None)
                continue
            base = hash_object("blob", read.content)
            own = close_file(path, read.content, receipts)
            is_edited = closed is None and own == read.content and path not in STORES
            if is_edited:
                yield from self._kept(path, read.content)
            yield PathChange(path, base, closed if is_edited or path.startswith(f"{EPISODES}/") else own)

    def _kept(self, path: str, content: bytes) -> Iterator[PathChange]:
        """Yield the copy of what an operator made of a file that was forgotten."""
        copy = conflict_path(path, content)
        if read_managed(self._root, copy) is None:
            yield PathChange(copy, None, content)

    def _on_disk(self) -> Iterator[tuple[str, bytes]]:
        listed = (
            one.path for folder in MANAGED_FOLDERS for one in list_files(self._root, folder, ("",)).files
        )
        for path in (*MANAGED_FILES, *listed):
            read = read_managed(self._root, path)
            if isinstance(read, ManagedFile):
                yield path, read.content

    def _content(self, blob: str, made: Mapping[str, bytes]) -> bytes:
        return made[blob] if blob in made else self._blob(blob)

    def _blob(self, blob: str) -> bytes:
        return self._repository.read(blob)[1]
