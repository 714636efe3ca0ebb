"""How well the conversation in which a message stands answers: BM25 with the passage as the document."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gitmem.scoring.corpus import Corpus
from gitmem.scoring.part_arrays import Floats
from gitmem.scoring.passages import Passages, window_sums
from gitmem.scoring.wanted import Wanted, rarity


def conversation_scores(corpus: Corpus, wanted: Iterable[Wanted]) -> Floats:
    """Return the score of each document's conversation; 0 for what is in none; shape (documents,).

    Names of authors say nothing about a conversation in which both speak, so they are left out.
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
    scores = by_block[passages.block]
    scores[passages.windowed] = by_window
    return scores


def _window_part(corpus: Corpus, passages: Passages, term: Wanted, average: float) -> Floats:
    positions = passages.position[term.numbers]
    inside = positions >= 0
    values = np.zeros(len(passages.windowed))
    values[positions[inside]] = term.counts[inside]
    return _saturate(corpus, window_sums(passages, values), corpus.window_lengths, average)


def _saturate(corpus: Corpus, counts: Floats, lengths: Floats, average: float) -> Floats:
    recipe = corpus.recipe
    share = 1 - recipe.session_b + recipe.session_b * lengths / (average or 1.0)
    # A conversation without words has no counts either.
    return np.asarray((recipe.session_k1 + 1) * counts / np.maximum(counts + recipe.session_k1 * share, 1e-9))
