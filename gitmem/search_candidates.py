"""Which documents a search may show, and in which order: read from arrays, before any document is."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from gitmem.advanced_query import Logic, Operand, evaluate
from gitmem.analysis import fold
from gitmem.documents import Document
from gitmem.judgement_rules import subject_of
from gitmem.search_index import IndexPart, key_of
from gitmem.search_reply import Place, SearchRequest

#: Candidates that are put in order first.
_FIRST_BATCH: Final = 500
#: A phrase is looked up in the text of at most so many documents that have all of its words.
_PHRASE_LOOKS: Final = 5000
#: Words that a prefix stands for at most, in each part.
MOST_PREFIXED: Final = 50


#: A document that may become a hit: two numbers that decide its place (smaller comes first; of equal ones the
#: refs decide), the place of its part, and its number there. A plain tuple: there are as many as matches.
Candidate = tuple[float, float, int, int]


def find_candidates(
    request: SearchRequest, parts: Sequence[IndexPart], scores: Sequence[dict[int, float]]
) -> tuple[Iterator[list[Candidate]], int]:
    """Return what may be shown in batches, and how much is hidden because it is in another workspace.

    All of a batch comes before all of the next one; within it there is no order yet.

    Args:
        request: what was asked.
        parts: where documents are.
        scores: of each part, the score of each document that has a word of the question.
    """
    matching = _advanced_matches(request.query, parts) if request.advanced else scores
    allowed = [_narrow(request, part, matched) for part, matched in zip(parts, matching, strict=True)]
    shown = [_in_workspace(request, part, numbers) for part, numbers in zip(parts, allowed, strict=True)]
    hidden = sum(map(len, allowed)) - sum(map(len, shown))
    if request.sort == "relevance":
        return _by_score(parts, scores, shown), hidden
    sign = -1 if request.sort == "newest" else 1
    times = [part.column("time") for part in parts]
    found: list[Candidate] = [
        (sign * times[p][n], 0.0, p, n) for p, numbers in enumerate(shown) for n in numbers
    ]
    return iter([found]), hidden


def _by_score(
    parts: Sequence[IndexPart], scores: Sequence[dict[int, float]], shown: Sequence[Collection[int]]
) -> Iterator[list[Candidate]]:
    """Yield the best candidates, then all others: mostly nobody asks for those."""
    scored = [
        own if numbers is own else {n: own.get(n, 0.0) for n in numbers}
        for own, numbers in zip(scores, shown, strict=True)
    ]
    bar = -math.inf
    if sum(map(len, scored)) > 4 * _FIRST_BATCH:
        bar = heapq.nlargest(_FIRST_BATCH, chain.from_iterable(own.values() for own in scored))[-1]
    times = [part.column("time") for part in parts]
    yield [(-s, -times[p][n], p, n) for p, own in enumerate(scored) for n, s in own.items() if s >= bar]
    yield [(-s, -times[p][n], p, n) for p, own in enumerate(scored) for n, s in own.items() if s < bar]


def in_order(
    batches: Iterable[list[Candidate]], document_of: Callable[[Candidate], Document]
) -> Iterator[tuple[Candidate, Document]]:
    """Yield candidates best first, each with its document, read when it is its turn."""
    for candidates in batches:
        heapq.heapify(candidates)
        while candidates:
            group = [heapq.heappop(candidates)]
            while candidates and candidates[0][:2] == group[0][:2]:
                group.append(heapq.heappop(candidates))
            pairs = [(candidate, document_of(candidate)) for candidate in group]
            if len(pairs) > 1:
                pairs.sort(key=lambda pair: (pair[1].source_ref, pair[1].line or 0, pair[0]))
            yield from pairs


#: A hit with its place and its score.
Placed = tuple[Place, Document, float]


def retracted_last(places: Iterable[Placed], retracted: Container[str]) -> Iterator[Placed]:
    """Yield what was retracted behind everything else, whatever the order."""
    held: list[Placed] = []
    for place, document, score in places:
        if subject_of(document.source_ref) in retracted:
            held.append(((1, *place[1:]), document, score))
        else:
            yield place, document, score
    yield from sorted(held, key=lambda one: one[0])


def _narrow(request: SearchRequest, part: IndexPart, numbers: Collection[int]) -> Collection[int]:
    """Return those of some documents that were asked for."""
    wanted: list[tuple[str, Iterable[str]]] = [("kind", request.kinds)] if request.kinds else []
    wanted += [("session", [request.session])] if request.session is not None else []
    wanted += [("work_item", [request.work_item])] if request.work_item is not None else []
    for name, texts in wanted:
        column, keys = part.column(name), frozenset(map(key_of, texts))
        numbers = [n for n in numbers if column[n] in keys]
    times = part.column("time")
    if request.since is not None:
        since = request.since * 1000
        numbers = [n for n in numbers if times[n] >= since]
    if request.until is not None:
        until = request.until * 1000
        numbers = [n for n in numbers if times[n] <= until]
    return numbers


def _in_workspace(request: SearchRequest, part: IndexPart, numbers: Collection[int]) -> Collection[int]:
    if request.workspace is None:
        return numbers
    column, keys = part.column("workspace"), (0, key_of(request.workspace))
    return [n for n in numbers if column[n] in keys]


Matches = list[frozenset[int]]


def _advanced_matches(query: str, parts: Sequence[IndexPart]) -> Matches:
    """Return the documents of each part that match a query with operators."""

    def both(left: Matches, right: Matches) -> Matches:
        return [a & b for a, b in zip(left, right, strict=True)]

    def either(left: Matches, right: Matches) -> Matches:
        return [a | b for a, b in zip(left, right, strict=True)]

    def negate(found: Matches) -> Matches:
        return [
            frozenset(range(part.size)) - part.removed - own for part, own in zip(parts, found, strict=True)
        ]

    logic = Logic(
        lambda operand: [_operand_matches(operand, part) for part in parts],
        both,
        either,
        negate,
    )
    return evaluate(query, logic) or [frozenset() for _ in parts]


def _operand_matches(operand: Operand, part: IndexPart) -> frozenset[int]:
    if operand.prefix is not None:
        terms = part.terms_from(operand.prefix, MOST_PREFIXED)
        return frozenset().union(*(part.postings(term)[0] for term in terms))
    found: frozenset[int] | None = None
    for term in (term for unit in operand.units for term in unit.simple):
        here = frozenset(part.postings(term)[0])
        found = here if found is None else found & here
    if not found or operand.phrase is None:
        return found or frozenset()
    looked_at = sorted(found, reverse=True)[:_PHRASE_LOOKS]
    return frozenset(n for n in looked_at if holds_phrase(part.document(n), operand.phrase))


def holds_phrase(document: Document, phrase: str) -> bool:
    """Say whether a document has a phrase as it stands; case, accents and spacing do not count."""
    wanted = _plain(phrase)
    return any(wanted in _plain(text) for text in (document.title, document.text))


def _plain(text: str) -> str:
    return " ".join(fold(text).casefold().split())
