"""How well the conversation in which a message stands answers: BM25 with the passage as the document."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gitmem.scoring.corpus import Corpus
from gitmem.scoring.part_arrays import Floats, Places
from gitmem.scoring.passages import Passages, window_sums
from gitmem.scoring.wanted import Wanted, rarity


def conversation_scores(corpus: Corpus, wanted: Iterable[Wanted], numbers: Places) -> Floats:
    """Return the score of the conversation of each of some documents; 0 for what is in none.

    Names of authors say nothing about a conversation in which both speak, so they are left out.

    Args:
        corpus: the documents.
        wanted: the terms.
        numbers: of the documents.
    """
    passages = corpus.passages
    blocks = len(passages.lengths)
    by_block, by_window = np.zeros(blocks + 1), np.zeros(len(passages.windowed))
    average = float(passages.lengths.mean()) if blocks else 1.0
    for term in wanted:
        if term.is_name:
            continue
        counts = np.bincount(passages.block[term.numbers], term.counts, blocks + 1)[:-1].astype(np.float64)
        weight = term.share * rarity(blocks, int(np.count_nonzero(counts)))
        by_block[:-1] += weight * _saturate(corpus, counts, passages.lengths, average)
        if len(passages.windowed):
            by_window += weight * _window_part(corpus, passages, term, average)
    scores = by_block.take(passages.block.take(numbers))
    if len(passages.windowed):
        windows = np.searchsorted(passages.windowed, numbers)
        windows[windows == len(passages.windowed)] = 0
        inside = passages.windowed[windows] == numbers
        scores[inside] = by_window[windows[inside]]
    return scores


def _window_part(corpus: Corpus, passages: Passages, term: Wanted, average: float) -> Floats:
    sums = window_sums(passages, term.numbers, term.counts)
    return _saturate(corpus, sums, passages.window_lengths, average)


def _saturate(corpus: Corpus, counts: Floats, lengths: Floats, average: float) -> Floats:
    recipe = corpus.recipe
    share = 1 - recipe.session_b + recipe.session_b * lengths / (average or 1.0)
    # A conversation without words has no counts either.
    return np.asarray((recipe.session_k1 + 1) * counts / np.maximum(counts + recipe.session_k1 * share, 1e-9))
