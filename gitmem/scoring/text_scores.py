"""BM25 over a document's words and those of its neighbours, counted together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from gitmem.scoring.corpus import Corpus
from gitmem.scoring.part_arrays import Floats, Mask, Places
from gitmem.scoring.wanted import Wanted


def _around(corpus: Corpus, here: Places) -> Iterator[tuple[Places, Floats | float]]:
    """Yield the neighbours of some documents, with how much of these counts as theirs."""
    links, recipe = corpus.links, corpus.recipe
    yield links.after[here], corpus.weight_of_before[here]
    yield links.before[here], recipe.after
    yield links.after_2[here], recipe.before_2
    yield links.before_2[here], recipe.after_2


def add_text_scores(corpus: Corpus, wanted: Iterable[Wanted], total: Floats) -> tuple[Mask, Mask]:
    """Add what each term contributes to each document.

    Args:
        corpus: the documents.
        wanted: the terms.
        total: where it is added; shape (documents + 1,), the last one for neighbours that do not exist.

    Returns:
        Which documents hold a term, and which hold one or stand beside one that does; shaped as `total`.
    """
    holds, touched = (np.zeros(corpus.size + 1, dtype=np.bool_) for _ in range(2))
    counts = np.zeros(corpus.size + 1)
    recipe = corpus.recipe
    resistance = np.append(corpus.resistance, 1.0)
    for term in wanted:
        here, often = term.numbers, term.counts
        holds[here] = True
        counts[here] = often
        near = [here]
        spoken = often
        if term.named:
            # That a message bears its author's name says nothing about the messages beside it.
            spoken = often - np.isin(corpus.column("author")[here], term.named)
        for places, share in _around(corpus, here):
            counts[places] += share * spoken
            near.append(places)
        for places in near:
            touched[places] = True
        # A document that stands in it twice gets the same value twice, not its double.
        everywhere = np.concatenate(near)
        seen = counts[everywhere]
        gained = term.weight * (recipe.k1 + 1) * seen / (seen + resistance[everywhere])
        total[everywhere] += gained
        counts[everywhere] = 0.0
    return holds, touched
