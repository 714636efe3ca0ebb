"""Walks through history: first parents, and whether one commit is reachable from another."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Final

from gitmem.errors import ObjectMissing
from gitmem.repository import Commit

_FROM_TIP: Final = 1
_FROM_ANCESTOR: Final = 2


def reaches(read_commit: Callable[[str], Commit], tip: str, ancestor: str) -> bool:
    """Say whether `ancestor` is `tip` or reachable from it.

    Both histories are painted, newest commits first, until nothing is left that only `tip` or only `ancestor`
    reaches; so the answer no does not cost the history that they share. Clocks that are wrong cost time, not
    the right answer.

    Args:
        read_commit: returns a commit.
        tip: where the search starts.
        ancestor: what it looks for; it need not be in the store (a shallow clone).

    Raises:
        ObjectMissing: `tip` is not in the store. A missing parent ends only its own path.
    """
    if tip == ancestor:
        return True
    walk = _Walk(read_commit)
    walk.reach(tip, _FROM_TIP, required=True)
    walk.reach(ancestor, _FROM_ANCESTOR)
    while walk.hunting:
        commit, colour = walk.take()
        for parent in commit.parents:
            if parent == ancestor and colour == _FROM_TIP:
                return True
            walk.reach(parent, colour)
    return False


def first_parents(read_commit: Callable[[str], Commit], tip: str) -> Iterator[Commit]:
    """Yield a commit and its first parents, newest first, up to where one is not in the store.

    Raises:
        ObjectMissing: `tip` is not in the store.
    """
    commit = read_commit(tip)
    yield commit
    while commit.parents:
        try:
            commit = read_commit(commit.parents[0])
        except ObjectMissing:
            return
        yield commit


class _Walk:
    """Commits still to be looked at, newest first, and the side or sides that each is reached from."""

    def __init__(self, read_commit: Callable[[str], Commit]) -> None:
        self._read_commit = read_commit
        self._colours: dict[str, int] = {}
        self._queue: list[tuple[int, str, Commit]] = []
        #: Waiting commits that only the tip reaches; the ancestor can be found behind these alone.
        self.hunting: set[str] = set()

    def reach(self, commit_id: str, colour: int, *, required: bool = False) -> None:
        known = self._colours.get(commit_id, 0)
        if known | colour == known:
            return
        try:
            commit = self._read_commit(commit_id)
        except ObjectMissing:
            if required:
                raise
            return
        self._colours[commit_id] = known | colour
        heapq.heappush(self._queue, (-commit.commit_time, commit_id, commit))
        if known | colour == _FROM_TIP:
            self.hunting.add(commit_id)
        else:
            self.hunting.discard(commit_id)

    def take(self) -> tuple[Commit, int]:
        _, commit_id, commit = heapq.heappop(self._queue)
        self.hunting.discard(commit_id)
        return commit, self._colours[commit_id]
