"""The seam to Git: what gitmem asks of an object store and its refs, in plain types.

Object ids are 40 hex digits as `str`; contents and paths inside trees are bytes and `str`. Implementations:
`backends/dulwich_repository/` and, in memory, `testing/memory_repository.py`; both pass
`tests/contract/repository_contract.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, Literal, Protocol

ObjectKind = Literal["commit", "tree", "blob", "tag"]

#: The id that stands for "does not exist" in a compare-and-swap.
ABSENT: Final = "0" * 40

FILE_MODE: Final = 0o100644
EXECUTABLE_MODE: Final = 0o100755
TREE_MODE: Final = 0o040000
LINK_MODE: Final = 0o120000
SUBMODULE_MODE: Final = 0o160000


@dataclass(frozen=True, slots=True)
class GitObject:
    """One object to write: its kind, its raw content, and its id (the hash of both).

    Attributes:
        deflated: `content` as a zlib stream, if the caller has it already (a growing file keeps its own).
    """

    kind: ObjectKind
    content: bytes
    id: str
    deflated: bytes | None = None


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One entry of a tree."""

    name: str
    mode: int
    id: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A parsed commit.

    Attributes:
        author, committer: `Name <mail>` as text.
        author_time, commit_time: seconds since 1970.
        message: whole message, decoded as UTF-8 with replacement.
    """

    id: str
    tree: str
    parents: tuple[str, ...]
    author: str
    author_time: int
    committer: str
    commit_time: int
    message: str


@dataclass(frozen=True, slots=True)
class Head:
    """What HEAD is: the branch it names (`refs/heads/…`; None: detached) and the commit (None: unborn)."""

    branch: str | None
    commit: str | None


class ObjectReader(Protocol):
    """Reads objects; everything the ledger, search and history need from Git."""

    def read(self, object_id: str) -> tuple[ObjectKind, bytes]:
        """Return kind and raw content.

        Raises:
            ObjectMissing: not in the store, or its bytes cannot be read.
        """
        ...

    def read_tree(self, tree_id: str) -> Sequence[TreeEntry]:
        """Return the entries of a tree in Git's order; names that are not UTF-8 keep surrogate escapes."""
        ...

    def read_commit(self, commit_id: str) -> Commit:
        """Return a parsed commit."""
        ...

    def contains(self, object_id: str) -> bool:
        """Say whether the object is in the store."""
        ...


class RefStore(Protocol):
    """Reads and moves refs."""

    def head(self) -> Head:
        """Return what HEAD is now; never from a cache."""
        ...

    def read_ref(self, name: str) -> str | None:
        """Return a ref's value now, or None; an unreadable loose ref is an `OSError`, not None."""
        ...

    def list_refs(self, prefix: str) -> Mapping[str, str]:
        """Return full names and values of the refs below `prefix`, sorted by name.

        Args:
            prefix: ends in `/`; a component may be `*`, which stands for any one name.
        """
        ...

    def move_ref(
        self, name: str, *, old: str, new: str, message: str, who: str, durable: bool = True
    ) -> None:
        """Compare-and-swap one ref that HEAD does not name, with its reflog line.

        Args:
            name: full name, for example `refs/heads/gitmem/turns/w0123abcd`.
            old: the value it must have now, `ABSENT` for none.
            new: the new value, `ABSENT` to delete.
            message: reflog text.
            who: `Name <mail>` for the reflog.
            durable: make the new value durable before it gets its name. Without it a power cut before
                `settle_refs` may leave the ref damaged; for refs that their owner can put right.

        Raises:
            HeadMoved: it has another value.
            HomeLocked: its lock file is held for over a second.
        """
        ...

    def settle_refs(self) -> None:
        """Make the last ref moves durable: fsync refs, and their folders, moved since the last call.

        Those on the turn lines, and the names of packs, are made durable whoever wrote them.
        """
        ...


class Repository(ObjectReader, RefStore, Protocol):
    """One Git repository with a work tree."""

    def write_pack(
        self, objects: Sequence[GitObject], *, durable: bool = True
    ) -> AbstractContextManager[None]:
        """Write objects as one small durable pack, protected by a `.keep` until the context ends.

        The pack and its index are fsynced when the context is entered, so that a ref may then be moved.

        Args:
            objects: what to write.
            durable: fsync the names of both as well. Without it a power cut before `settle_refs` may take
                them; for refs that their owner can put right.
        """
        ...

    def config(self, key: str) -> str | None:
        """Return a Git config value (`section.name` or `section.sub.name`), the most local one, or None."""
        ...

    def config_section(self, section: str) -> Sequence[tuple[str | None, str, str]]:
        """Return every setting of a Git config section as subsection, name (lower case) and value.

        Where a setting stands more than once the strongest comes last.
        """
        ...

    def set_config(self, key: str, value: str | None) -> None:
        """Set a value in the repository's own config file; None removes it."""
        ...

    def object_format(self) -> str:
        """Return `sha1`, or name the unsupported extension (`sha256`, `reftable`, `partialClone`, …)."""
        ...

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Say whether one commit is reachable from another (a commit is its own ancestor)."""
        ...

    def walk_first_parents(self, commit_id: str) -> Iterator[Commit]:
        """Yield a commit and its first parents, newest first; stops where a parent is missing (shallow)."""
        ...

    def close(self) -> None:
        """Release files; the object stays usable and opens them again."""
        ...


def read_path(objects: ObjectReader, tree_id: str, path: str) -> TreeEntry | None:
    """Return the tree entry at `path` (slashes, relative to the tree), or None."""
    entry: TreeEntry | None = TreeEntry("", TREE_MODE, tree_id)
    for name in path.split("/"):
        if entry is None or entry.mode != TREE_MODE:
            return None
        entry = next((e for e in objects.read_tree(entry.id) if e.name == name), None)
    return entry


def walk_tree(objects: ObjectReader, tree_id: str, prefix: str = "") -> Iterator[tuple[str, TreeEntry]]:
    """Yield `(path, entry)` for everything below a tree that is not itself a tree, in tree order."""
    for entry in objects.read_tree(tree_id):
        path = f"{prefix}{entry.name}"
        if entry.mode == TREE_MODE:
            yield from walk_tree(objects, entry.id, path + "/")
        else:
            yield path, entry
