"""Which documents a search may show, and in which order: read from arrays, before any document is."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.advanced_query import Logic, Operand, evaluate
from gitmem.analysis import fold
from gitmem.documents import Document
from gitmem.search_index import IndexPart, key_of
from gitmem.search_reply import SearchRequest

#: A phrase is looked up in the text of at most so many documents that have all of its words.
_PHRASE_LOOKS: Final = 5000
#: Words that a prefix stands for at most, in each part.
MOST_PREFIXED: Final = 50


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that may become a hit.

    Attributes:
        order: smaller comes first; candidates of equal order are put in order by their refs.
        time: milliseconds since 1970.
    """

    order: tuple[float, float]
    part: int
    number: int
    score: float
    time: int


def find_candidates(
    request: SearchRequest, parts: Sequence[IndexPart], scores: Sequence[dict[int, float]]
) -> tuple[list[Candidate], int]:
    """Return what may be shown, in no order, and how much is hidden because it is in another workspace.

    Args:
        request: what was asked.
        parts: where documents are.
        scores: of each part, the score of each document that has a word of the question.
    """
    matching = _advanced_matches(request.query, parts) if request.advanced else None
    found: list[Candidate] = []
    hidden = 0
    for place, (part, own) in enumerate(zip(parts, scores, strict=True)):
        numbers = own if matching is None else matching[place]
        allowed = _filter_of(request, part)
        in_workspace = _workspace_filter(request, part)
        times = part.column("time")
        for number in numbers:
            if not allowed(number):
                continue
            if not in_workspace(number):
                hidden += 1
                continue
            score = own.get(number, 0.0)
            time = times[number]
            found.append(Candidate(_order(request, score, time), place, number, score, time))
    return found, hidden


def in_order(
    candidates: list[Candidate], document_of: Callable[[Candidate], Document]
) -> Iterator[tuple[Candidate, Document]]:
    """Yield candidates best first, each with its document, read when it is its turn."""
    heap = [(c.order, index) for index, c in enumerate(candidates)]
    heapq.heapify(heap)
    while heap:
        order, index = heapq.heappop(heap)
        group = [candidates[index]]
        while heap and heap[0][0] == order:
            group.append(candidates[heapq.heappop(heap)[1]])
        pairs = [(candidate, document_of(candidate)) for candidate in group]
        if len(pairs) > 1:
            pairs.sort(key=lambda pair: (pair[1].source_ref, pair[1].line or 0, pair[0].part, pair[0].number))
        yield from pairs


def _order(request: SearchRequest, score: float, time: int) -> tuple[float, float]:
    if request.sort == "newest":
        return (-time, 0.0)
    if request.sort == "oldest":
        return (time, 0.0)
    return (-score, -time)


def _filter_of(request: SearchRequest, part: IndexPart) -> Callable[[int], bool]:
    """Return what says whether a document is one of those that were asked for."""
    wanted: list[tuple[Sequence[int], frozenset[int]]] = []
    if request.kinds:
        wanted.append((part.column("kind"), frozenset(map(key_of, request.kinds))))
    if request.session is not None:
        wanted.append((part.column("session"), frozenset([key_of(request.session)])))
    if request.work_item is not None:
        wanted.append((part.column("work_item"), frozenset([key_of(request.work_item)])))
    times = part.column("time")
    since = None if request.since is None else request.since * 1000
    until = None if request.until is None else request.until * 1000

    def allowed(number: int) -> bool:
        return (
            all(column[number] in keys for column, keys in wanted)
            and (since is None or times[number] >= since)
            and (until is None or times[number] <= until)
        )

    return allowed


def _workspace_filter(request: SearchRequest, part: IndexPart) -> Callable[[int], bool]:
    if request.workspace is None:
        return lambda _: True
    keys = frozenset([0, key_of(request.workspace)])
    column = part.column("workspace")
    return lambda number: column[number] in keys


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
