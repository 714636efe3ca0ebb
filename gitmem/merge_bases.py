"""The best common ancestors of two histories: from what a merge of them begins."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection
from typing import Final

from gitmem.errors import ObjectMissing
from gitmem.reachability import reaches
from gitmem.repository import Commit

_ONE: Final = 1
_OTHER: Final = 2
_BOTH: Final = _ONE | _OTHER
#: Behind a common ancestor: no better one is found there.
_BEHIND: Final = 4
#: More common ancestors side by side come of a history made to cost time; the others are passed over.
_MOST: Final = 16


def find_merge_bases(
    read_commit: Callable[[str], Commit], one: Collection[str], other: Collection[str]
) -> tuple[str, ...]:
    """Return the common ancestors of two groups of commits that no other common ancestor reaches, by id.

    At most sixteen: any of them is a base that the others only make better. A missing parent (a shallow
    clone) ends its own path. Clocks that are wrong cost time, not the answer.

    Args:
        read_commit: returns a commit.
        one: tips; what any of them reaches counts.
        other: tips of the other side.

    Raises:
        ObjectMissing: a tip is not in the store.
    """
    found = sorted(_paint(read_commit, one, other))[:_MOST]
    return tuple(
        commit
        for commit in found
        if not any(rival != commit and reaches(read_commit, rival, commit) for rival in found)
    )


def _paint(read_commit: Callable[[str], Commit], one: Collection[str], other: Collection[str]) -> list[str]:
    """Paint both histories, newest commits first; return where the colours meet."""
    commits = {tip: read_commit(tip) for tip in {*one, *other}}
    colours = {tip: _ONE * (tip in one) | _OTHER * (tip in other) for tip in commits}
    queue = [(-commit.commit_time, tip) for tip, commit in commits.items()]
    heapq.heapify(queue)
    fresh = {*commits}
    met: dict[str, None] = {}
    while fresh:
        _, here = heapq.heappop(queue)
        fresh.discard(here)
        colour = colours[here]
        if colour & _BOTH == _BOTH and not colour & _BEHIND:
            met[here] = None
            colour |= _BEHIND
        for parent in commits[here].parents:
            if colours.get(parent, 0) | colour == colours.get(parent, 0):
                continue
            if parent not in commits:
                try:
                    commits[parent] = read_commit(parent)
                except ObjectMissing:
                    continue
            colours[parent] = colours.get(parent, 0) | colour
            heapq.heappush(queue, (-commits[parent].commit_time, parent))
            if colours[parent] & _BEHIND:
                fresh.discard(parent)
            else:
                fresh.add(parent)
    return [commit for commit in met if not colours[commit] & _BEHIND]
