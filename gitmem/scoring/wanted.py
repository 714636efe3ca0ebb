"""The terms of a question that the documents hold, each with its postings and its weight."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from gitmem.analysis import CHARACTER_WEIGHT
from gitmem.question import Question
from gitmem.scoring.corpus import Corpus
from gitmem.scoring.part_arrays import Floats, Places
from gitmem.search_index import key_of


@dataclass(frozen=True, slots=True)
class Wanted:
    """A term to look for.

    Attributes:
        numbers, counts: the documents that have it, and how often; shape (documents that have it,).
        share: its weight in the question: 1, or less for a single character and for an author's name.
        weight: `share` and how rare the term is.
        named: keys of the authors whose name it is of.
    """

    term: str
    numbers: Places
    counts: Floats
    share: float
    weight: float
    named: tuple[int, ...]

    @property
    def is_name(self) -> bool:
        """Whether it is of the name of an author."""
        return bool(self.named)


@dataclass(frozen=True, slots=True)
class Words:
    """What became of the words of a question.

    Attributes:
        wanted: what is looked for.
        unmatched: the words of which nothing is found.
        author: the key of the one author whom the question names; 0 where it names none or several.
    """

    wanted: list[Wanted]
    unmatched: list[str]
    author: int


def choose_terms(corpus: Corpus, question: Question) -> Words:
    """Return the terms to look for."""
    known = {name: key for name in question.names if (key := key_of(name)) in corpus.authors}
    shares: dict[str, float] = {}
    postings: dict[str, tuple[Places, Floats]] = {}
    unmatched = []
    for unit in question.units:
        found = False
        for term, share in unit.terms.items():
            for actual, part in _present(corpus, postings, term, unit.otherwise.get(term, ())):
                found = True
                shares[actual] = max(shares.get(actual, 0.0), share * part)
        if not found:
            unmatched.append(unit.surface)
    wanted = []
    for term, share in shares.items():
        named = tuple(sorted(key for name, key in known.items() if term in question.names[name]))
        wanted.append(_wanted(corpus, term, share, postings[term], named))
    keys = set(known.values())
    return Words(wanted, list(dict.fromkeys(unmatched)), keys.pop() if len(keys) == 1 else 0)


def _present(
    corpus: Corpus, postings: dict[str, tuple[Places, Floats]], term: str, otherwise: tuple[str, ...]
) -> Iterator[tuple[str, float]]:
    """Yield the term if any document has it, else those of its substitutes that any has."""
    for candidates, share in (((term,), 1.0), (otherwise, CHARACTER_WEIGHT)):
        any_is = False
        for candidate in candidates:
            if candidate not in postings:
                postings[candidate] = corpus.postings(candidate)
            if len(postings[candidate][0]):
                any_is = True
                yield candidate, share
        if any_is:
            return


def _wanted(
    corpus: Corpus, term: str, share: float, postings: tuple[Places, Floats], named: tuple[int, ...]
) -> Wanted:
    numbers, counts = postings
    if named:
        share *= corpus.recipe.name
    return Wanted(term, numbers, counts, share, share * rarity(corpus.count, len(numbers)), named)


def rarity(total: int, having: int) -> float:
    """Return how much it says that a document has something which `having` of `total` have (idf of BM25)."""
    return math.log(1 + (total - having + 0.5) / (having + 0.5))
