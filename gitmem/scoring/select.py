"""Which documents a search may show, best first: filters as masks over all documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from gitmem.advanced_query import Logic, Operand, evaluate
from gitmem.analysis import analyze_query, count_terms, is_spaceless
from gitmem.documents import Document
from gitmem.scoring.corpus import Corpus
from gitmem.scoring.part_arrays import Floats, Mask, Places
from gitmem.search_candidates import Candidate, holds_phrase
from gitmem.search_index import key_of
from gitmem.search_reply import SearchRequest

#: Candidates that are put in order first: mostly nobody asks for more.
_FIRST_BATCH: Final = 128
#: A phrase is looked up in the text of at most so many documents that have all of its words.
_PHRASE_LOOKS: Final = 5000
#: Words that a prefix stands for at most, in each part.
_MOST_PREFIXED: Final = 50


def narrow(request: SearchRequest, corpus: Corpus, numbers: Places) -> Places:
    """Return which of some documents were asked for, wherever they belong."""
    if request.kinds:
        keys = [key_of(kind) for kind in request.kinds]
        numbers = numbers[np.isin(corpus.column("kind")[numbers], keys)]
    for name, value in (("session", request.session), ("work_item", request.work_item)):
        if value is not None:
            numbers = numbers[corpus.column(name)[numbers] == key_of(value)]
    if request.since is not None:
        numbers = numbers[corpus.column("time")[numbers] >= request.since * 1000]
    if request.until is not None:
        numbers = numbers[corpus.column("time")[numbers] <= request.until * 1000]
    return numbers


def in_workspace(request: SearchRequest, corpus: Corpus, numbers: Places) -> Places:
    """Return which of some documents belong to the workspace that was asked for, or to none."""
    if request.workspace is None:
        return numbers
    workspaces = corpus.column("workspace")[numbers]
    return np.asarray(numbers[(workspaces == 0) | (workspaces == key_of(request.workspace))])


def by_score(corpus: Corpus, scores: Floats, numbers: Places) -> Iterator[list[Candidate]]:
    """Yield the best candidates, then the others.

    All of a batch comes before all of the next one; within it there is no order yet.

    Args:
        corpus: the documents.
        scores: of those that may be shown.
        numbers: of the same.
    """
    if len(numbers) > 4 * _FIRST_BATCH:
        bar = np.partition(scores, -_FIRST_BATCH)[-_FIRST_BATCH]
        best = scores >= bar
        yield candidates_of(corpus, -scores[best], numbers[best])
        numbers, scores = numbers[~best], scores[~best]
    yield from _slices(corpus, -scores, numbers)


def by_time(corpus: Corpus, numbers: Places, *, newest: bool) -> Iterator[list[Candidate]]:
    """Yield candidates in the order of their times."""
    times = corpus.column("time")[numbers].astype(np.float64)
    yield from _slices(corpus, -times if newest else times, numbers)


def _slices(corpus: Corpus, first: Floats, numbers: Places) -> Iterator[list[Candidate]]:
    """Yield candidates batch by batch; equal ones are never in two."""
    order = np.argsort(first, kind="stable")
    first, numbers = first[order], numbers[order]
    start = 0
    while start < len(numbers):
        end = int(np.searchsorted(first, first[min(start + _FIRST_BATCH, len(numbers)) - 1], side="right"))
        yield candidates_of(corpus, first[start:end], numbers[start:end])
        start = end


def candidates_of(corpus: Corpus, first: Floats, numbers: Places) -> list[Candidate]:
    """Return documents with what decides their places, `first` of each before its time."""
    times = -corpus.column("time")[numbers].astype(np.float64)
    return list(zip(first.tolist(), times.tolist(), numbers.tolist(), strict=True))


def advanced_matches(query: str, corpus: Corpus, document_of: Callable[[int], Document]) -> Mask:
    """Return which documents match a query with operators."""
    logic: Logic[Mask] = Logic(
        lambda operand: _operand_matches(operand, corpus, document_of),
        lambda left, right: left & right,
        lambda left, right: left | right,
        lambda found: corpus.live & ~found,
    )
    found = evaluate(query, logic)
    return np.zeros(corpus.size, dtype=np.bool_) if found is None else found


def _operand_matches(operand: Operand, corpus: Corpus, document_of: Callable[[int], Document]) -> Mask:
    units = operand.units
    if operand.prefix is not None:
        if not is_spaceless(operand.prefix):
            return _having(corpus, prefixed_terms(corpus, operand.prefix))
        units = tuple(analyze_query(operand.prefix, keep_all=True))  # every place in such text begins a word
    found: Mask | None = None
    for term in (term for unit in units for term in unit.simple):
        here = _having(corpus, [term])
        found = here if found is None else found & here
    if found is None:
        return np.zeros(corpus.size, dtype=np.bool_)
    if operand.phrase is None:
        return found
    looked_at = np.flatnonzero(found)[::-1][:_PHRASE_LOOKS].tolist()
    found[:] = False
    found[[number for number in looked_at if holds_phrase(document_of(number), operand.phrase)]] = True
    return found


def prefixed_terms(corpus: Corpus, prefix: str) -> list[str]:
    """Return the terms of the words that begin with a prefix; the stem of a whole word is shorter than it."""
    return [*dict.fromkeys([*corpus.terms_from(prefix, _MOST_PREFIXED), *count_terms(prefix).counts])]


def _having(corpus: Corpus, terms: list[str]) -> Mask:
    mask = np.zeros(corpus.size, dtype=np.bool_)
    for term in terms:
        mask[corpus.postings(term)[0]] = True
    return mask
