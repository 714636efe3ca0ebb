"""The terms of a question that the documents hold, each with its postings and its weight."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from gitmem.analysis import CHARACTER_WEIGHT, EDGE_WEIGHT, QueryUnit
from gitmem.question import Question
from gitmem.scoring.corpus import Corpus
from gitmem.scoring.part_arrays import Floats, Places
from gitmem.search_index import key_of

Postings = tuple[Places, Floats]


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
        found: how many words there are of which something is found.
        unmatched: the words of which nothing is found.
        postings: of each term that was looked up.
        author: the key of the one author whom the question names; 0 where it names none or several.
    """

    wanted: list[Wanted]
    found: int
    unmatched: list[str]
    author: int
    postings: Mapping[str, Postings]


def choose_terms(corpus: Corpus, question: Question) -> Words:
    """Return the terms to look for.

    A word of which the documents hold only substitutes, such as single characters, is looked for by these and
    named as unmatched all the same.
    """
    known = {name: key for name in question.names if (key := key_of(name)) in corpus.authors}
    postings: dict[str, Postings] = {}
    shares: dict[str, float] = {}
    found, unmatched = 0, []
    for unit in question.units:
        exact = [term for term in unit.terms if _having(corpus, postings, term)]
        for term in exact:
            shares[term] = max(shares.get(term, 0.0), unit.terms[term])
        others = _substitutes(corpus, postings, unit)
        for term, share in others:
            shares[term] = max(shares.get(term, 0.0), share)
        found += bool(exact or others)
        if not any(unit.terms[term] > EDGE_WEIGHT for term in exact):
            unmatched.append(unit.surface)
    wanted = []
    for term, share in shares.items():
        named = tuple(sorted(key for name, key in known.items() if term in question.names[name]))
        wanted.append(_wanted(corpus, term, share, postings[term], named))
    keys = set(known.values())
    author = keys.pop() if len(keys) == 1 else 0
    return Words(wanted, found, list(dict.fromkeys(unmatched)), author, postings)


def _having(corpus: Corpus, postings: dict[str, Postings], term: str) -> bool:
    """Say whether any document has a term, and keep its postings."""
    if term not in postings:
        postings[term] = corpus.postings(term)
    return bool(len(postings[term][0]))


def _substitutes(corpus: Corpus, postings: dict[str, Postings], unit: QueryUnit) -> list[tuple[str, float]]:
    """Return what stands in for the terms of a unit that no document has, with its weight."""
    return [
        (other, share * CHARACTER_WEIGHT)
        for term, share in unit.terms.items()
        if not len(postings[term][0])
        for other in unit.otherwise.get(term, ())
        if _having(corpus, postings, other)
    ]


def _wanted(corpus: Corpus, term: str, share: float, postings: Postings, named: tuple[int, ...]) -> Wanted:
    numbers, counts = postings
    if named:
        share *= corpus.recipe.name
    return Wanted(term, numbers, counts, share, share * rarity(corpus.count, len(numbers)), named)


def rarity(total: int, having: int) -> float:
    """Return how much it says that a document has something which `having` of `total` have (idf of BM25)."""
    return math.log(1 + (total - having + 0.5) / (having + 0.5))
