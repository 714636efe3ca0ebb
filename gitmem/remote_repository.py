"""The seam to another Git repository, over whatever it is reached: its refs, fetching from it, pushing to it.

No ref of a remote ever moves to a commit that does not follow its value, and none is deleted unless a caller
asks for just that. Implementations: `git_transport/` and, in memory, `testing/memory_remote.py`; both pass
`tests/contract/remote_repository_contract.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

from gitmem.errors import UsageError
from gitmem.repository import Repository

#: How many of the newest common commits are worth naming in a fetch; more cost time and find no more.
MOST_HAVES: Final = 32

#: The setting of a machine with the largest pack that a fetch takes in, in MiB.
PACK_SETTING: Final = "gitmem.sync.packMiB"
MOST_PACK_MIB: Final = 1 << 20
_MIB: Final = 1 << 20

#: What became of one update: done; the remote has commits that must be fetched first; the ref is not what the
#: caller expected, because it moved meanwhile; the remote says no.
OutcomeCode = Literal["accepted", "fetch_first", "moved", "refused"]


#: The longest that anybody waits for a remote, in seconds: a day.
LONGEST: Final = 86_400.0


def checked_seconds(seconds: float) -> float:
    """Return a time limit.

    Raises:
        UsageError: it is none.
    """
    if not 0 < seconds <= LONGEST:  # nor is what is no number
        raise UsageError(
            f"not a time limit: {seconds:g}", hint=f"Give seconds, up to {LONGEST:,.0f}.", field="timeout"
        )
    return seconds


@dataclass(frozen=True, slots=True)
class TransferLimits:
    """What a connection may cost.

    Attributes:
        seconds: from the first byte to the last one of one call, connecting included; nothing runs longer.
        given: what somebody allowed for all calls together, for messages; None where that is `seconds`.
        pack_bytes: the largest pack that a fetch takes in.
        object_bytes: the largest single object.
        answer_bytes: the longest list of refs or report that is read.
    """

    seconds: float = 120.0
    pack_bytes: int = 4096 * _MIB
    object_bytes: int = 256 * _MIB
    answer_bytes: int = 64 * _MIB
    given: float | None = None

    def with_pack(self, setting: str | None) -> TransferLimits:
        """Return the limits with the largest pack that a machine's setting allows, if it says so."""
        mib = None if setting is None else parse_pack_mib(setting)
        return self if mib is None else replace(self, pack_bytes=mib * _MIB)


@dataclass(frozen=True, slots=True)
class RemoteRefs:
    """The refs that a remote shows.

    Attributes:
        refs: value by full name; of an annotated tag the tag itself.
        head: full name of the branch that its HEAD names, whether it has a commit yet or not; None if it is
            detached, or not told.
        peeled: the commit (or other object) behind an annotated tag, by the tag's full name.
    """

    refs: Mapping[str, str] = field(default_factory=dict)
    head: str | None = None
    peeled: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RefUpdate:
    """One ref of a remote to move.

    Attributes:
        name: full name.
        old: the value that it must have; None: it must not exist.
        new: the value it gets, which is in the own store; None deletes it.
    """

    name: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class RefOutcome:
    """What became of one update.

    Attributes:
        reason: why not, for a person; empty where it was accepted.
    """

    name: str
    code: OutcomeCode = "accepted"
    reason: str = ""

    @property
    def accepted(self) -> bool:
        """Whether the remote has the new value now."""
        return self.code == "accepted"


@dataclass(frozen=True, slots=True)
class FetchedPack:
    """What came with a fetch; both 0 where everything was there already."""

    objects: int = 0
    bytes: int = 0


def parse_pack_mib(text: str) -> int | None:
    """Return a number of MiB that the setting may have, or None."""
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MOST_PACK_MIB))):
        return None
    return int(text) if 1 <= int(text) <= MOST_PACK_MIB else None


class RemoteRepository(Protocol):
    """One remote, for one repository of one's own; not to be used by two threads at once.

    Each call connects anew if it must and has the whole time limit for itself. Every method may raise a
    `RemoteError`: `RemoteUnreachable`, `RemoteDenied`, `RemoteTimeout`, `NotARepository`, `RemoteMisbehaved`.
    """

    def refs(self, prefixes: Sequence[str] = ()) -> RemoteRefs:
        """Return the remote's refs as they are now; HEAD is not among them.

        Args:
            prefixes: only refs whose full names begin with one of them; a remote that cannot choose sends
                all, and the others are dropped here.
        """
        ...

    def fetch(self, wants: Sequence[str], haves: Sequence[str] = ()) -> AbstractContextManager[FetchedPack]:
        """Bring commits and tags, with all that they need, into the own store as one durable pack.

        The pack is held by a `.keep` until the context ends, so that refs may be moved in between. Nothing is
        in the store unless the whole of it arrived, was sound, and lacks nothing.

        Args:
            wants: ids that the remote shows as values of refs.
            haves: commits of the own store that the remote probably has, the best guess first; of them
                `MOST_HAVES` are named.
        """
        ...

    def push(self, updates: Sequence[RefUpdate]) -> tuple[RefOutcome, ...]:
        """Move refs of the remote, each by compare-and-swap, with the objects that it lacks.

        A branch only moves forwards; a tag is only made; never is anything forced.

        Returns:
            One outcome for each update, in their order; one that was not accepted hinders no other.
        """
        ...

    def close(self) -> None:
        """End the connection and every process that serves it."""
        ...


class Connect(Protocol):
    """Returns a remote by its URL or path; nothing is sent before the first call of a method."""

    def __call__(
        self, url: str, *, repository: Repository, limits: TransferLimits = ..., pushing: bool = False
    ) -> RemoteRepository:
        """Return the remote.

        Args:
            url: as Git takes it: a path, `file://`, `git://`, `ssh://`, `host:path`, `http(s)://`; rewritten
                by `url.<base>.insteadOf`.
            repository: the own one.
            limits: what one call may cost.
            pushing: rewrite by `pushInsteadOf` first.

        Raises:
            InvalidRemote: not such a URL, or one that would run a command.
        """
        ...
