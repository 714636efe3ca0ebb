"""The work refs of many turns as one list: the active ones, and those that only stay to be asked for."""

from __future__ import annotations

import heapq
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitmem.work_ref import (
    REF_STATUSES,
    WorkRef,
    in_order,
    ref_name,
)

#: How many of a kind are active at most: each has places of its own, so that commands push out no files.
QUOTAS: Final[Mapping[str, int]] = {
    "file": 12,
    "tool_execution": 4,
    "issue": 4,
    "pr": 4,
    "url": 4,
    "memory": 4,
    "task": 4,
    "wait": 4,
    "workspace": 2,
    "other": 2,
}

#: How many of a kind are kept at all. Older ones are found by searching the records of the work item.
MOST_KEPT: Final = 500

_RANK: Final = {status: rank for rank, status in enumerate(REF_STATUSES)}
_Place = tuple[bool, tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class WorkRefs:
    """The refs of a work item.

    Attributes:
        active: what it is about now; of each kind no more than its quota.
        archived: what is gone (`stale`) or over (`resolved`), and active ones that newer ones pushed out
            (`archived`).
    """

    active: tuple[WorkRef, ...] = ()
    archived: tuple[WorkRef, ...] = ()

    @property
    def all(self) -> tuple[WorkRef, ...]:
        """Both, in their order."""
        return self.active + self.archived

    def find(self, kind: str, ref: str) -> WorkRef | None:
        """Return one ref, wherever it stands."""
        return next((found for found in self.all if found.key == (kind, ref_name(kind, ref))), None)


class RefFold:
    """Adds up refs, turn by turn; cheap where there are many turns.

    The result does not depend on the order in which turns are added, nor on adding one twice, unless a kind
    has more refs than are kept: then turns are to be added in the order of the ledger.

    Args:
        known: to go on from.
    """

    def __init__(self, known: WorkRefs | None = None) -> None:
        self._kinds: dict[str, dict[str, WorkRef]] = defaultdict(dict)
        self._oldest: dict[str, list[_Place]] = defaultdict(list)
        self._refs: WorkRefs | None = known
        for ref in known.all if known else ():
            self._take(ref)

    def add(self, refs: Iterable[WorkRef]) -> None:
        """Take the refs of one turn."""
        for ref in refs:
            self._take(ref)
            self._refs = None
        for kind in self._kinds:
            self._evict(kind)

    def refs(self) -> WorkRefs:
        """Return everything that was added, in order."""
        if self._refs is None:
            self._refs = _arranged(list(kind.values()) for kind in self._kinds.values())
        return self._refs

    def _take(self, ref: WorkRef) -> None:
        if ref.status == "archived":  # a matter of how many there are, not of the ref
            ref = replace(ref, status="active")
        elif ref.status != "active" and not ref.judged:
            ref = replace(ref, judged=" ".join(ref.stamp))
        refs = self._kinds[ref.kind]
        name = ref.key[1]
        known = refs.get(name)
        refs[name] = ref = ref if known is None else joined(known, ref)
        heapq.heappush(self._oldest[ref.kind], _place(ref))

    def _evict(self, kind: str) -> None:
        refs, oldest = self._kinds[kind], self._oldest[kind]
        while len(refs) > MOST_KEPT:
            place = heapq.heappop(oldest)
            ref = refs.get(place[2])
            if ref is not None and _place(ref) == place:  # it was not seen since
                del refs[place[2]]
        if len(oldest) > 4 * MOST_KEPT:
            self._oldest[kind] = sorted(map(_place, refs.values()))


def merge_refs(known: WorkRefs, new: Iterable[WorkRef]) -> WorkRefs:
    """Return what is known with the refs of one turn.

    Args:
        known: of all turns before.
        new: as `derive_refs` or a turn's record gives them; the same turn twice changes nothing.
    """
    fold = RefFold(known)
    fold.add(new)
    merged = fold.refs()
    return known if merged == known else merged


def joined(one: WorkRef, other: WorkRef) -> WorkRef:
    """Return two sightings of one thing as one: the later judgement says what it is, the newer when."""
    clock, last = max(one.stamp, other.stamp)
    first = min(filter(None, (one.first_seen, other.first_seen)), default="")
    said = max(one, other, key=_weight)
    return replace(said, clock=clock, last_seen=last, first_seen=first)


def _weight(ref: WorkRef) -> tuple[Any, ...]:
    """Return what makes a sighting count more: a judgement first, and only then how new it is."""
    # Content decides between equals, so that the order of merging does not.
    content = (
        ref.title or "",
        ref.reason or "",
        ref.source_ref or "",
        ref.ref,
        json.dumps(ref.metadata, sort_keys=True),
    )
    return ref.judged, _RANK[ref.status], ("", "") if ref.judged else ref.stamp, content


def _place(ref: WorkRef) -> _Place:
    """Return where a ref stands among those that may go: what is over goes first, then the oldest."""
    return ref.status == "active", ref.stamp, ref.key[1]


def _arranged(kinds: Iterable[list[WorkRef]]) -> WorkRefs:
    active: list[WorkRef] = []
    archived: list[WorkRef] = []
    for refs in kinds:
        ordered = in_order(refs)
        alive = [ref for ref in ordered if ref.status == "active"]
        quota = QUOTAS[ordered[0].kind] if ordered else 0
        active += alive[:quota]
        archived += [replace(ref, status="archived") for ref in alive[quota:]] + ordered[len(alive) :]
    return WorkRefs(tuple(in_order(active)), tuple(in_order(archived)))
