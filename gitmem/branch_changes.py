"""The words in which a change to the operator's branch is asked for, waits, and is reported."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PathChange:
    """One file of the operator's branch as the caller saw it, and as it shall be.

    Attributes:
        path: relative to the home, with slashes.
        base: the Git blob id of the bytes that the caller saw; None where there was no file.
        result: the whole new content; None removes the file.
    """

    path: str
    base: str | None
    result: bytes | None


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """What is true of a write when it is reported.

    Attributes:
        committed: the commit that holds it; None while it waits, with `reason`.
        on_disk: whether the files hold it.
        unchanged: the branch held it already; `committed` is the commit that it was found in.
        conflicts: conflict copies that were committed with it.
    """

    committed: str | None
    reason: str | None
    on_disk: bool
    unchanged: bool = False
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PendingChange:
    """One file of a pending write; contents are those of blobs, None where there is no file.

    Attributes:
        head: what the branch held when it was written.
        base: what the writer saw; differs from `head` where the operator had an uncommitted edit.
        result: what the writer made of it.
    """

    path: str
    head: bytes | None
    base: bytes | None
    result: bytes | None


@dataclass(frozen=True, slots=True)
class PendingTag:
    """An annotated tag that a write's commit gets; it is a part of the write.

    Attributes:
        name: short name, without `refs/tags/`.
        message: text ending in a line feed; its trailers say whether another tag of that name is the same.
    """

    name: str
    message: str


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """A write that is acknowledged and not yet on the operator's branch.

    Attributes:
        number: its place in the queue.
        since: when it was written, seconds since 1970.
        reason: why it waits.
        recorded: whether its record is known to be in the spool.
        tag: what its commit is tagged with.
    """

    id: str
    number: int
    since: float
    operation: str
    turn: str | None
    author: str
    message: str
    changes: tuple[PendingChange, ...]
    reason: str = ""
    recorded: bool = False
    tag: PendingTag | None = None

    @property
    def path(self) -> str:
        """The first of its paths."""
        return self.changes[0].path

    @property
    def paths(self) -> tuple[str, ...]:
        """All of its paths."""
        return tuple(change.path for change in self.changes)


@dataclass(frozen=True, slots=True)
class Settled:
    """A pending write that waits no more.

    Attributes:
        committed: the commit that holds it; None where the branch held it already.
        conflicts: conflict copies that were committed with it.
    """

    write: PendingWrite
    committed: str | None
    conflicts: tuple[str, ...] = ()
