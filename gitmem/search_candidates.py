"""Candidates in order, each read when it is its turn, and what was retracted behind all others."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

from gitmem.analysis import fold
from gitmem.documents import Document
from gitmem.judgement_rules import subject_of
from gitmem.search_cursor import Place

#: A document that may become a hit: two numbers that decide its place (smaller comes first; of equal ones the
#: refs decide), and its own number. A plain tuple: there are as many as matches.
Candidate = tuple[float, float, int]


class Placed(NamedTuple):
    """A hit with its place and its score."""

    place: Place
    document: Document
    score: float
    number: int


def in_order(
    batches: Iterable[list[Candidate]], document_of: Callable[[int], Document]
) -> Iterator[tuple[Candidate, Document]]:
    """Yield candidates best first, each with its document, read when it is its turn."""
    for candidates in batches:
        heapq.heapify(candidates)
        while candidates:
            group = [heapq.heappop(candidates)]
            while candidates and candidates[0][:2] == group[0][:2]:
                group.append(heapq.heappop(candidates))
            pairs = [(candidate, document_of(candidate[2])) for candidate in group]
            if len(pairs) > 1:
                pairs.sort(key=lambda pair: (pair[1].source_ref, pair[1].line or 0, pair[0]))
            yield from pairs


def retracted_last(places: Iterable[Placed], retracted: Container[str]) -> Iterator[Placed]:
    """Yield what was retracted behind everything else, whatever the order."""
    held: list[Placed] = []
    for placed in places:
        if subject_of(placed.document.source_ref) in retracted:
            held.append(placed._replace(place=(1, *placed.place[1:])))
        else:
            yield placed
    yield from sorted(held, key=lambda one: one.place)


def holds_phrase(document: Document, phrase: str) -> bool:
    """Say whether a document has a phrase as it stands; case, accents and spacing do not count."""
    wanted = _plain(phrase)
    return any(wanted in _plain(text) for text in (document.title, document.text))


def _plain(text: str) -> str:
    return " ".join(fold(text).casefold().split())
