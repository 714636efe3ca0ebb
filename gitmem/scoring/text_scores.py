"""BM25 over a document's words and those of its neighbours, counted together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from gitmem.scoring.corpus import Corpus
from gitmem.scoring.part_arrays import Floats, Places
from gitmem.scoring.wanted import Wanted
from gitmem.scoring.work_space import WorkSpace

#: A term that more than this share of all documents have is counted over all of them at once.
_COMMON: Final = 1 / 16


def add_text_scores(corpus: Corpus, wanted: Iterable[Wanted], space: WorkSpace) -> None:
    """Add what the terms contribute to each document to `space.total`, where document 0 stands at 2.

    Args:
        corpus: the documents.
        wanted: the terms.
        space: to work in.
    """
    for term in wanted:
        add = _add_common if len(term.numbers) > corpus.size * _COMMON else _add_rare
        add(corpus, term, _shared(corpus, term), space)


def _shared(corpus: Corpus, term: Wanted) -> Floats:
    """Return how often each document has a term for its neighbours too.

    That a message bears its author's name says nothing about the messages beside it.
    """
    if not term.named:
        return term.counts
    authors = corpus.column("author").take(term.numbers)
    if len(term.named) == 1:
        return np.asarray(term.counts - (authors == term.named[0]))
    return np.asarray(term.counts - np.isin(authors, term.named))


def _add_rare(corpus: Corpus, term: Wanted, shared: Floats, space: WorkSpace) -> None:
    here = term.numbers + 2
    counts = space.counts
    counts[here] = term.counts
    around: list[Places] = [here]
    for distance, share in corpus.near:
        there = here - distance
        counts[there] += share.take(there) * shared
        around.append(there)
    # A document that stands in it twice gets the same value twice, not its double.
    everywhere = np.concatenate(around)
    seen = counts.take(everywhere)
    gain = term.weight * (corpus.recipe.k1 + 1)
    space.total[everywhere] += gain * seen / (seen + corpus.resistance.take(everywhere))
    counts[everywhere] = 0.0


def _add_common(corpus: Corpus, term: Wanted, shared: Floats, space: WorkSpace) -> None:
    here = term.numbers + 2
    own, counts, part = space.counts, space.first, space.second
    own[here] = shared
    np.copyto(counts, own)
    counts[here] = term.counts
    for distance, share in corpus.near:
        to, of = _slices(distance)
        np.multiply(share[to], own[of], out=part[to])
        counts[to] += part[to]
    own[here] = 0.0
    np.add(counts, corpus.resistance, out=part)
    np.divide(counts, part, out=part)
    np.multiply(part, term.weight * (corpus.recipe.k1 + 1), out=part)
    np.add(space.total, part, out=space.total)


def _slices(distance: int) -> tuple[slice, slice]:
    """Return all documents that have one so far away, and those."""
    if distance < 0:
        return slice(-distance, None), slice(None, distance)
    return slice(None, -distance), slice(distance, None)
