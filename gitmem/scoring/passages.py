"""A message's conversation for ranking: all of it, or in a very long one what stands around the message.

For how rare a term is among conversations, and how long they are on average, a long one counts as several
blocks. The rule and its constants are those of `testing/plain_ranking.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from gitmem.scoring.part_arrays import Floats, Numbers, Places
from gitmem.scoring.reading_order import ReadingOrder

#: A conversation of more messages is searched in windows.
LONGEST: Final = 200
#: Messages before and after one in its window, and messages of a block.
WINDOW: Final = 8
BLOCK: Final = 2 * WINDOW + 1


@dataclass(frozen=True, slots=True)
class Passages:
    """The conversations of all messages, cut where they are long.

    Attributes:
        block: of each document, from 0; what is in no conversation has the number of blocks.
        lengths: of each block, in words.
        windowed: the documents of long conversations.
        first: of each of `windowed`, the first document of its window.
        end: the document behind the last of its window.
        window_lengths: of each window, in words.
    """

    block: Places
    lengths: Floats
    windowed: Places
    first: Places
    end: Places
    window_lengths: Floats


def find_passages(order: ReadingOrder, lengths: Numbers) -> Passages:
    """Cut conversations into passages.

    Args:
        order: of the documents.
        lengths: of all documents, in words.
    """
    is_long = order.sizes > LONGEST
    windowed = np.flatnonzero(np.append(is_long, False)[order.conversation])
    start = order.starts[order.conversation[windowed]]
    size = order.sizes[order.conversation[windowed]]
    blocks = np.where(is_long, -(-order.sizes // BLOCK), 1)
    first_block = np.append(np.cumsum(blocks) - blocks, blocks.sum()).astype(np.intp)
    block = first_block[order.conversation]
    block[windowed] += (windowed - start) // BLOCK
    own = lengths.astype(np.float64)
    first = np.maximum(start, windowed - WINDOW)
    end = np.minimum(start + size, windowed + WINDOW + 1)
    return Passages(
        block=block,
        lengths=np.bincount(block, own, int(first_block[-1]) + 1)[:-1].astype(np.float64),
        windowed=windowed,
        first=first,
        end=end,
        window_lengths=_sums(own, first, end),
    )


def window_sums(passages: Passages, numbers: Places, counts: Floats) -> Floats:
    """Return how often a term stands in each window; shape (windowed,).

    Args:
        passages: which windows there are.
        numbers: the documents that have the term.
        counts: how often each has it.
    """
    values = np.zeros(len(passages.block))
    values[numbers] = counts
    return _sums(values, passages.first, passages.end)


def _sums(values: Floats, first: Places, end: Places) -> Floats:
    sums = np.concatenate(([0.0], np.cumsum(values)))
    return np.asarray(sums[end] - sums[first])
