"""Remotes in memory that keep every promise of the protocol and can be told to fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

from gitmem.errors import CorruptionError, NotARepository, RemoteMisbehaved, RemoteUnreachable
from gitmem.push_rules import check_updates, judge_update
from gitmem.remote_repository import FetchedPack, RefOutcome, RefUpdate, RemoteRefs, TransferLimits
from gitmem.repository import ABSENT, GitObject, ObjectReader, Repository
from gitmem.testing.memory_repository import MemoryRepository
from gitmem.transfer_walk import Closure, LackingObject, lacking_objects, links_of, new_history

RemotePoint = Literal["before refs", "before fetch", "after fetch", "before push", "after push"]

_WHO = "remote <remote@example.com>"


class MemoryRemotes:
    """Remotes by URL; its `connect` is a `Connect`.

    Attributes:
        served: repository by URL; a MemoryRepository or any other that moves refs.
        checked_out: URLs whose HEAD's branch refuses pushes, as in a repository with a work tree.
        rejected: full ref names that the remotes refuse to move, as a hook would, with the reason.
    """

    def __init__(self, served: Mapping[str, MemoryRepository] | None = None) -> None:
        self.served: dict[str, MemoryRepository] = dict(served or {})
        self.checked_out: set[str] = set()
        self.rejected: dict[str, str] = {}
        self._faults: dict[RemotePoint, BaseException] = {}

    def fail_next(self, point: RemotePoint, error: BaseException | None = None) -> None:
        """Make the next call fail at one point, once; by default as a broken connection.

        A failure after a step leaves the step done, as where only the answer was lost.
        """
        self._faults[point] = error or RemoteUnreachable("the connection broke", hint="Try again.")

    def connect(
        self,
        url: str,
        *,
        repository: Repository,
        limits: TransferLimits = TransferLimits(),  # noqa: ARG002, B008 - nothing is slow or large here
        pushing: bool = False,  # noqa: ARG002 - no URL is rewritten
    ) -> MemoryRemote:
        """Return the remote under a URL, for a repository of one's own."""
        return MemoryRemote(self, url, repository)

    def fail(self, point: RemotePoint) -> None:
        """Raise what was set for this point."""
        error = self._faults.pop(point, None)
        if error is not None:
            raise error


class MemoryRemote:
    """The `RemoteRepository` protocol between two repositories."""

    def __init__(self, remotes: MemoryRemotes, url: str, repository: Repository) -> None:
        self._remotes = remotes
        self._url = url
        self._own = repository

    def refs(self, prefixes: Sequence[str] = ()) -> RemoteRefs:
        """Return the remote's refs."""
        self._remotes.fail("before refs")
        served = self._served()
        refs = {
            name: value
            for name, value in served.list_refs("refs/").items()
            if not prefixes or name.startswith(tuple(prefixes))
        }
        peeled = {name: _peel(served, value) for name, value in refs.items()}
        return RemoteRefs(
            refs, served.head().branch, {name: end for name, end in peeled.items() if end != refs[name]}
        )

    @contextmanager
    def fetch(self, wants: Sequence[str], haves: Sequence[str] = ()) -> Iterator[FetchedPack]:
        """Bring objects into the own store."""
        self._remotes.fail("before fetch")
        served, shown = self._served(), set(self._served().list_refs("refs/").values())
        strange = [want for want in wants if want not in shown]
        if strange:
            raise RemoteMisbehaved(f"the remote does not show {strange[0]}", object=strange[0])
        history = new_history(served, [want for want in wants if not self._own.contains(want)], haves)
        objects = _objects_of(served, lacking_objects(served, history))
        closure = Closure()
        try:
            for item in objects:
                closure.add(item.id, item.kind, item.content)
            closure.check(wants, self._own.contains)
        except CorruptionError as error:
            raise RemoteMisbehaved(error.message, **error.details) from error
        with self._own.write_pack(objects):
            self._remotes.fail("after fetch")
            yield FetchedPack(len(objects), sum(len(item.content) for item in objects))

    def push(self, updates: Sequence[RefUpdate]) -> tuple[RefOutcome, ...]:
        """Move refs of the remote."""
        check_updates(updates, self._own)
        self._remotes.fail("before push")
        served = self._served()
        outcomes = tuple(self._pushed(served, update) for update in updates)
        self._remotes.fail("after push")
        return outcomes

    def close(self) -> None:
        """Do nothing: there is no connection."""

    def _pushed(self, served: MemoryRepository, update: RefUpdate) -> RefOutcome:
        known = served.list_refs("refs/")
        decided = judge_update(update, known, self._own)
        if decided is not None:
            return decided
        if self._url in self._remotes.checked_out and update.name == served.head().branch:
            return RefOutcome(update.name, "refused", "branch is currently checked out")
        if update.name in self._remotes.rejected:
            return RefOutcome(update.name, "refused", self._remotes.rejected[update.name])
        tips = [] if update.new is None else [update.new]
        lacking = lacking_objects(self._own, new_history(self._own, tips, set(known.values())))
        with served.write_pack(_objects_of(self._own, lacking)):
            old, new = update.old or ABSENT, update.new or ABSENT
            served.move_ref(update.name, old=old, new=new, message="push", who=_WHO)
        return RefOutcome(update.name)

    def _served(self) -> MemoryRepository:
        try:
            return self._remotes.served[self._url]
        except KeyError:
            raise NotARepository(f"no repository at {self._url}", url=self._url) from None


def _objects_of(source: ObjectReader, lacking: Iterator[LackingObject]) -> list[GitObject]:
    return [GitObject(*source.read(one.id), one.id) for one in lacking]


def _peel(source: ObjectReader, object_id: str) -> str:
    kind, content = source.read(object_id)
    while kind == "tag":
        object_id = links_of(object_id, kind, content)[0][0]
        kind, content = source.read(object_id)
    return object_id
