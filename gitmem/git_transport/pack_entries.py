"""What a pack for another repository is made of: newest versions, and the others as deltas of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from gitmem.pack_format import PackEntry, delta_entry, whole_entry
from gitmem.repository import GitObject, ObjectReader
from gitmem.transfer_walk import LackingObject

#: Longest object of which a delta is made.
_LARGEST_DELTA: Final = 4 << 20


def pack_entries(
    own: ObjectReader, lacking: Iterable[LackingObject], *, thin: bool, pulse: Callable[[], object]
) -> Iterator[PackEntry]:
    """Yield an entry for each object, the versions of one file or folder together.

    The longest version goes whole, or as a delta of the one that the other side has; the others go as deltas
    of it. A ledger only grows, and its folders change by one id, so that these deltas are nearly nothing.

    Args:
        own: the own store.
        lacking: what to send, none twice.
        thin: whether a delta may be one of an object that is not sent.
        pulse: called for each object; what it raises ends the work.
    """
    groups: dict[str, list[LackingObject]] = {}
    sent: set[str] = set()
    for one in lacking:
        sent.add(one.id)
        if one.place:
            groups.setdefault(one.place, []).append(one)
        else:
            pulse()
            yield whole_entry(_object(own, one.id))
    for group in groups.values():
        yield from _versions(own, group, sent, thin=thin, pulse=pulse)


def _versions(
    own: ObjectReader,
    group: Sequence[LackingObject],
    sent: Collection[str],
    *,
    thin: bool,
    pulse: Callable[[], object],
) -> Iterator[PackEntry]:
    base = max((_object(own, one.id) for one in group), key=lambda item: len(item.content))
    # Where clocks are wrong a commit is told before its parent, so that what stood before is sent as well;
    # as a base it could become a delta of its own delta.
    olds = (one.before for one in group if one.before and one.before not in sent)
    before = next(olds, None) if thin else None
    yield _smallest(base, None if before is None else _object(own, before))
    for one in group:
        pulse()
        if one.id != base.id:
            yield _smallest(_object(own, one.id), base)


def _smallest(item: GitObject, base: GitObject | None) -> PackEntry:
    """Return an object whole, or as a delta where that saves something."""
    if base is None or base.kind != item.kind or max(len(item.content), len(base.content)) > _LARGEST_DELTA:
        return whole_entry(item)
    delta = delta_entry(item.id, item.content, base.id, base.content)
    if delta is None:
        return whole_entry(item)
    if len(delta.raw) * 4 < len(item.content):
        return delta
    whole = whole_entry(item)
    return whole if len(whole.raw) <= len(delta.raw) else delta


def _object(own: ObjectReader, object_id: str) -> GitObject:
    return GitObject(*own.read(object_id), object_id)
