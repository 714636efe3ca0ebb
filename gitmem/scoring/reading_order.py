"""The order in which documents are numbered: each conversation's messages side by side, as they were said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gitmem.scoring.part_arrays import Floats, Mask, Numbers, PartArrays, Places
from gitmem.search_index import IndexPart


@dataclass(frozen=True, slots=True)
class ReadingOrder:
    """Documents renumbered so that neighbours are neighbours.

    Attributes:
        place: of each number, the place of its document among all parts' documents one after another.
        number: of each such place, its number.
        starts: the first number of each conversation.
        sizes: how many messages each conversation has.
        conversation: of each number, its conversation; what is in none has the number of conversations.
    """

    place: Places
    number: Places
    starts: Places
    sizes: Places
    conversation: Places


def order_documents(
    parts: Sequence[IndexPart], arrays: Sequence[PartArrays], offsets: Sequence[int], size: int
) -> ReadingOrder:
    """Number the documents of all parts.

    A conversation that goes on while its first messages are indexed already stands in several parts; only
    those few are sorted anew.

    Args:
        parts: of the index, and what is not indexed yet.
        arrays: of each part.
        offsets: the place of each part's first document.
        size: documents in all.
    """
    spread = _spread_sessions(arrays)
    places, sessions = [], []
    for part, offset in zip(arrays, offsets, strict=True):
        own = _is_own(part, spread)
        places.append(part.order[own] + offset)
        sessions.append(part.order_sessions[own])
    if len(spread):
        found, keys = _sort_spread(parts, arrays, offsets, spread)
        places.append(found)
        sessions.append(keys)
    said = np.concatenate(places) if places else np.empty(0, dtype=np.intp)
    is_said = np.zeros(size, dtype=np.bool_)
    is_said[said] = True
    place = np.concatenate((said, np.flatnonzero(~is_said)))
    number = np.empty(size, dtype=np.intp)
    number[place] = np.arange(size)
    keys = np.concatenate(sessions) if sessions else np.empty(0, dtype=np.int64)
    begins = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
    starts = np.flatnonzero(begins)
    conversation = np.full(size, len(starts), dtype=np.intp)
    conversation[: len(keys)] = np.cumsum(begins) - 1
    return ReadingOrder(place, number, starts, np.diff(np.append(starts, len(keys))), conversation)


def shares_of_neighbour(order: ReadingOrder, distance: int, share: Floats | float) -> Floats:
    """Return how much of the message so many places away counts for each document; shape (documents + 4,).

    The array begins and ends with two zeros, as all arrays do over which neighbours are added up.

    Args:
        order: of the documents.
        distance: 1 for the message after, -2 for the last but one.
        share: of each neighbour, or of all; shape (documents,).
    """
    size = len(order.place)
    shares = np.zeros(size + 4)
    at = np.arange(size)
    near = at + distance
    inside = (near >= 0) & (near < size)
    at, near = at[inside], near[inside]
    said = order.conversation < len(order.starts)
    together = (order.conversation[at] == order.conversation[near]) & said[at]
    values = np.broadcast_to(np.asarray(share, dtype=np.float64), (size,))
    shares[at[together] + 2] = values[near[together]]
    return shares


def _spread_sessions(arrays: Sequence[PartArrays]) -> Numbers:
    if not arrays:
        return np.empty(0, dtype=np.int64)
    keys, counts = np.unique(np.concatenate([part.sessions for part in arrays]), return_counts=True)
    return keys[counts > 1]


def _is_own(part: PartArrays, spread: Numbers) -> Mask:
    """Return which messages of a part's `order` are of conversations that stand in this part alone."""
    if not len(np.intersect1d(part.sessions, spread, assume_unique=True)):
        return np.ones(len(part.order), dtype=np.bool_)
    return ~np.isin(part.order_sessions, spread)


def _sort_spread(
    parts: Sequence[IndexPart], arrays: Sequence[PartArrays], offsets: Sequence[int], spread: Numbers
) -> tuple[Places, Numbers]:
    places, sessions, clocks, seqs = [], [], [], []
    for part, own, offset in zip(parts, arrays, offsets, strict=True):
        chosen = ~_is_own(own, spread)
        numbers = own.order[chosen]
        places.append(numbers + offset)
        sessions.append(own.order_sessions[chosen])
        clocks.append(np.asarray(part.column("clock"), dtype=np.int64)[numbers])
        seqs.append(np.asarray(part.column("seq"), dtype=np.int64)[numbers])
    found, keys = np.concatenate(places), np.concatenate(sessions)
    sorting = np.lexsort((found, np.concatenate(seqs), np.concatenate(clocks), keys))
    return found[sorting], keys[sorting]
