"""Which versions the files of a home have had: every blob that a path held in any history that is here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from gitmem.errors import GitmemError
from gitmem.repository import Commit, Repository
from gitmem.tree_changes import TreeChange, changed_paths

#: A part of the names of turn lines, which hold no files.
_LINES: Final = "gitmem/turns/"


@dataclass(slots=True)
class FileVersions:
    """What history tells of files.

    Attributes:
        blobs: path -> ids of what it held.
        moves: path -> the paths from and to which exactly its content was moved in one commit.
    """

    blobs: dict[str, set[str]] = field(default_factory=dict)
    moves: dict[str, set[str]] = field(default_factory=dict)

    def of(self, path: str) -> Mapping[str, str]:
        """Return the versions of the file at a path, wherever it was moved: blob id -> path."""
        paths, waiting = {path}, [path]
        while waiting:
            fresh = self.moves.get(waiting.pop(), set()) - paths
            paths |= fresh
            waiting += fresh
        return {blob: one for one in sorted(paths) for blob in self.blobs.get(one, ())}

    def take(self, changes: Iterable[TreeChange]) -> None:
        """Count what one commit changed."""
        gone: dict[str, str] = {}
        came: dict[str, str] = {}
        for change in changes:
            for entry in (change.old, change.new):
                if entry is not None:
                    self.blobs.setdefault(change.path, set()).add(entry.id)
            if change.new is None and change.old is not None:
                gone[change.old.id] = change.path
            if change.old is None and change.new is not None:
                came[change.new.id] = change.path
        for blob in gone.keys() & came.keys():
            self.moves.setdefault(gone[blob], set()).add(came[blob])
            self.moves.setdefault(came[blob], set()).add(gone[blob])


def read_versions(repository: Repository, wanted: Callable[[str], bool]) -> FileVersions:
    """Read the versions of files from all commits that a branch, a tag or another ref of people's reaches.

    Args:
        repository: whose history.
        wanted: says of a path whether it matters.
    """
    found = FileVersions()
    seen: set[str] = set()
    waiting = list(_tips(repository))
    while waiting:
        commit_id = waiting.pop()
        if commit_id in seen:
            continue
        seen.add(commit_id)
        with suppress(GitmemError):  # beyond the boundary of a shallow clone
            commit = repository.read_commit(commit_id)
            waiting += commit.parents
            found.take(change for change in _changes(repository, commit) if wanted(change.path))
    return found


def _changes(repository: Repository, commit: Commit) -> Iterator[TreeChange]:
    before = None
    with suppress(GitmemError):
        before = repository.read_commit(commit.parents[0]).tree if commit.parents else None
    yield from changed_paths(repository, before, commit.tree)


def _tips(repository: Repository) -> Iterator[str]:
    head = repository.head().commit
    if head is not None:
        yield head
    for name, target in repository.list_refs("refs/").items():
        if _LINES not in name:
            with suppress(GitmemError):
                yield _peeled(repository, target)


def _peeled(repository: Repository, object_id: str) -> str:
    kind, content = repository.read(object_id)
    if kind != "tag":
        return object_id
    return _peeled(repository, content.split(b"\n", 1)[0].removeprefix(b"object ").decode("ascii"))
