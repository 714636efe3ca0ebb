"""A message's conversation for ranking: all of it, or of a very long one what stands around the message.

For how rare a term is among conversations, and how long they are on average, a long one counts as several
blocks. The rule and its constants are those of `testing/plain_ranking.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from gitmem.scoring.part_arrays import Floats, Numbers, Places

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
        windowed: the documents of long conversations, in the order they were said.
        position: the place of each document in `windowed`, -1 for others.
        first, end: where the window of each of `windowed` begins and ends there.
    """

    block: Places
    lengths: Floats
    windowed: Places
    position: Places
    first: Places
    end: Places


def find_passages(
    conversation: Places, number: int, lengths: Numbers, clock: Numbers, seq: Numbers
) -> Passages:
    """Cut conversations into passages.

    Args:
        conversation: of each document, from 0; `number` for none.
        number: of conversations.
        lengths: of all documents, in words.
        clock: of all documents.
        seq: of all documents.
    """
    sizes = np.bincount(conversation, minlength=number + 1)[:-1]
    is_long = np.append(sizes > LONGEST, False)
    windowed = np.flatnonzero(is_long[conversation])
    windowed = windowed[np.lexsort((windowed, seq[windowed], clock[windowed], conversation[windowed]))]
    position = np.full(len(conversation), -1, dtype=np.intp)
    position[windowed] = np.arange(len(windowed))
    start = np.append(np.cumsum(np.where(is_long[:-1], sizes, 0)) - np.where(is_long[:-1], sizes, 0), 0)
    within = np.arange(len(windowed)) - start[conversation[windowed]]
    size = sizes[conversation[windowed]]
    blocks_of = np.where(is_long[:-1], -(-sizes // BLOCK), 1)
    first_block = np.append(np.cumsum(blocks_of) - blocks_of, blocks_of.sum())
    block = first_block[conversation]
    block[windowed] += within // BLOCK
    block_lengths = np.bincount(block, weights=lengths, minlength=int(first_block[-1]) + 1)[:-1]
    begin = np.arange(len(windowed)) - within
    return Passages(
        block=block,
        lengths=block_lengths.astype(np.float64),
        windowed=windowed,
        position=position,
        first=np.maximum(begin, np.arange(len(windowed)) - WINDOW),
        end=np.minimum(begin + size, np.arange(len(windowed)) + WINDOW + 1),
    )


def window_sums(passages: Passages, values: Floats) -> Floats:
    """Return the sum over each window; shape (windowed,).

    Args:
        passages: which windows there are.
        values: one for each of `windowed`.
    """
    sums = np.concatenate(([0.0], np.cumsum(values)))
    return np.asarray(sums[passages.end] - sums[passages.first])
