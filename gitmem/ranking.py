"""How well documents answer a question: BM25 over the words of each document.

The place where ranking goes: it sees parts of an index, on disk and in memory alike, as arrays, and gives
each document that has any of the question's terms a score.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from gitmem.analysis import CHARACTER_WEIGHT, QueryUnit

#: Saturation of repeated terms, and how much a document's length counts.
K1: Final = 0.9
B: Final = 0.4


class Postings(Protocol):
    """What ranking needs of a part of an index."""

    @property
    def size(self) -> int:
        """How many documents there are, removed ones included."""
        ...

    @property
    def removed(self) -> Sized:
        """Numbers of documents that are no longer there."""
        ...

    @property
    def total_length(self) -> int:
        """The sum of the lengths of all documents that were not removed."""
        ...

    def postings(self, term: str) -> tuple[Sequence[int], Sequence[float]]:
        """Return the documents that have a term, and how often each has it."""
        ...

    def column(self, name: str) -> Sequence[int]:
        """Return one number for each document."""
        ...


class Sized(Protocol):
    """Anything with a length."""

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a question found.

    Attributes:
        scores: for each part, the score of each document that has any term.
        weights: the terms that were found anywhere, with what each contributes at most.
        unmatched: the words of the question that no document has.
    """

    scores: list[dict[int, float]]
    weights: Mapping[str, float]
    unmatched: list[str]


def rank(parts: Sequence[Postings], units: Sequence[QueryUnit]) -> Ranking:
    """Score all documents that have any term of a question.

    Frequencies and lengths are those of all parts together, so that a document scores alike in each of them.

    Args:
        parts: the index, and what is not indexed yet.
        units: the question, analysed.
    """
    total = sum(part.size - len(part.removed) for part in parts)
    average = sum(part.total_length for part in parts) / total if total else 1.0
    wanted, unmatched = _choose_terms(parts, units)
    scores: list[dict[int, float]] = [{} for _ in parts]
    weights = {}
    for term, weight in wanted.items():
        found = [part.postings(term) for part in parts]
        frequency = sum(len(numbers) for numbers, _ in found)
        weights[term] = weight * math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
        for part, sums, (numbers, counts) in zip(parts, scores, found, strict=True):
            if len(numbers):
                saturation = K1 * (1 - B), K1 * B / (average or 1.0)
                _add(
                    sums, zip(numbers, counts, strict=True), part.column("length"), weights[term], saturation
                )
    return Ranking(scores, weights, unmatched)


def _choose_terms(
    parts: Sequence[Postings], units: Sequence[QueryUnit]
) -> tuple[dict[str, float], list[str]]:
    """Return the terms to look for with their weights, and the words of which nothing is found."""
    wanted: dict[str, float] = {}
    unmatched = []
    for unit in units:
        is_found = False
        for term, weight in unit.terms.items():
            for actual, share in _present(parts, term, unit.otherwise.get(term, ())):
                is_found = True
                wanted[actual] = max(wanted.get(actual, 0.0), weight * share)
        if not is_found:
            unmatched.append(unit.surface)
    return wanted, list(dict.fromkeys(unmatched))


def _present(parts: Sequence[Postings], term: str, otherwise: Sequence[str]) -> list[tuple[str, float]]:
    if any(len(part.postings(term)[0]) for part in parts):
        return [(term, 1.0)]
    return [
        (other, CHARACTER_WEIGHT)
        for other in otherwise
        if any(len(part.postings(other)[0]) for part in parts)
    ]


def _add(
    sums: dict[int, float],
    postings: Iterable[tuple[int, float]],
    lengths: Sequence[int],
    weight: float,
    saturation: tuple[float, float],
) -> None:
    """Add what one term contributes to each document that has it."""
    most = weight * (K1 + 1)
    base, slope = saturation
    get = sums.get
    for number, count in postings:
        sums[number] = get(number, 0.0) + most * count / (count + base + slope * lengths[number])
