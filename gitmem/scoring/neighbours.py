"""Who speaks before and after whom: the messages of each conversation linked in the order they were said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gitmem.scoring.part_arrays import Numbers, PartArrays, Places


@dataclass(frozen=True, slots=True)
class Links:
    """For each document its neighbours; a document without one has the number of documents in its place.

    Attributes:
        before, after: one message away; shape (documents,).
        before_2, after_2: two messages away.
    """

    before: Places
    after: Places
    before_2: Places
    after_2: Places


def link(parts: Sequence[PartArrays], offsets: Sequence[int], size: int) -> Links:
    """Link the messages of all parts.

    A conversation that goes on while its first messages are indexed already stands in several parts; only
    those few are put in order again.

    Args:
        parts: of the index, and what is not indexed yet.
        offsets: the number of each part's first document among all.
        size: documents in all.
    """
    links = Links(*(np.full(size, size, dtype=np.intp) for _ in range(4)))
    spread = _spread_sessions(parts)
    for part, offset in zip(parts, offsets, strict=True):
        order, sessions = part.order + offset, part.order_sessions
        if len(spread):
            own = ~np.isin(sessions, spread)
            order, sessions = order[own], sessions[own]
        _join(links, order, sessions)
    return links


def join_spread(
    links: Links, parts: Sequence[PartArrays], offsets: Sequence[int], clock: Numbers, seq: Numbers
) -> None:
    """Link the conversations that stand in several parts.

    Args:
        links: what `link` gave; changed in place.
        parts: as for `link`.
        offsets: as for `link`.
        clock: of all documents.
        seq: of all documents.
    """
    spread = _spread_sessions(parts)
    if not len(spread):
        return
    chosen = [np.isin(part.order_sessions, spread) for part in parts]
    numbers = np.concatenate(
        [part.order[own] + offset for part, own, offset in zip(parts, chosen, offsets, strict=True)]
    )
    sessions = np.concatenate([part.order_sessions[own] for part, own in zip(parts, chosen, strict=True)])
    sorting = np.lexsort((numbers, seq[numbers], clock[numbers], sessions))
    _join(links, numbers[sorting], sessions[sorting])


def _spread_sessions(parts: Sequence[PartArrays]) -> Numbers:
    if not parts:
        return np.empty(0, dtype=np.int64)
    keys, counts = np.unique(np.concatenate([part.sessions for part in parts]), return_counts=True)
    return keys[counts > 1]


def _join(links: Links, order: Places, sessions: Numbers) -> None:
    for distance, before, after in ((1, links.before, links.after), (2, links.before_2, links.after_2)):
        together = sessions[distance:] == sessions[:-distance]
        first, second = order[:-distance][together], order[distance:][together]
        after[first] = second
        before[second] = first
