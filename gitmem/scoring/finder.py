"""One search over arrays: what a request finds among the parts of a moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gitmem.advanced_query import find_operands
from gitmem.analysis import QueryUnit, analyze_query, is_spaceless
from gitmem.documents import Document
from gitmem.question import Question, parse_question
from gitmem.scoring.corpus import Corpus
from gitmem.scoring.explain import explain
from gitmem.scoring.part_arrays import Floats, Places
from gitmem.scoring.score import Scores, holding, holding_all, score
from gitmem.scoring.select import (
    advanced_matches,
    by_score,
    by_time,
    candidates_of,
    in_workspace,
    narrow,
    prefixed_terms,
)
from gitmem.search_candidates import Candidate
from gitmem.search_index import IndexPart
from gitmem.search_reply import SearchRequest


@dataclass(frozen=True, slots=True)
class Found:
    """What was found.

    Attributes:
        numbers: of the documents that may be shown.
        totals: their scores.
        candidates: they in batches; all of a batch comes before all of the next one.
        hidden: how many are not shown because they belong to another workspace.
        unmatched: words of the question that no document has.
    """

    corpus: Corpus
    question: Question
    scores: Scores
    numbers: Places
    totals: Floats
    candidates: Iterator[list[Candidate]]
    hidden: int
    unmatched: Sequence[str]

    @property
    def weights(self) -> Mapping[str, float]:
        """The terms that were found anywhere, with what each weighs."""
        return self.scores.weights

    def score_of(self, number: int) -> float:
        """Return the score of a document."""
        at = self.scores.at(number)
        return 0.0 if at is None else float(self.scores.total[at])

    @property
    def top(self) -> float:
        """The best score."""
        return float(self.totals.max()) if len(self.totals) else 0.0

    def best_with_all_words(self, most: int) -> list[Candidate]:
        """Return those of the best documents that may have all words of the question as they were typed.

        Args:
            most: so many of the best are looked at.
        """
        having = np.flatnonzero(holding_all(self.corpus, self.question, self.scores.words)[self.numbers])
        if len(having) and len(self.numbers) > most:
            bar = np.partition(self.totals, -most)[-most]
            having = having[self.totals[having] >= bar]
        return candidates_of(self.corpus, -self.totals[having], self.numbers[having])

    def explain(self, number: int, score: float) -> dict[str, Any]:
        """Return what the score of a document is made of.

        Args:
            number: of the document.
            score: as it is shown; more than its own where it has the words as they were typed.
        """
        told = explain(self.corpus, self.scores, number)
        return {**told, "as_typed": round(score - self.score_of(number), 6)}


class Finder:
    """Searches the parts of one moment; safe to use from several threads.

    Args:
        parts: of the index, and what is not indexed yet.
        room: bytes that the postings of words may take, to be kept for the next question.
    """

    def __init__(self, parts: Sequence[IndexPart], room: int) -> None:
        self.parts = parts
        self.corpus = Corpus(parts, room=room)

    def is_over(self, parts: Sequence[IndexPart]) -> bool:
        """Say whether these are the very parts that this searches."""
        return len(parts) == len(self.parts) and all(a is b for a, b in zip(parts, self.parts, strict=True))

    def place(self, number: int) -> tuple[int, Document]:
        """Return the place of a document's part, and the document."""
        part, own = self.corpus.place(number)
        return part, self.parts[part].document(own)

    def find(self, request: SearchRequest, now: float) -> Found:
        """Find what a request asks for.

        Args:
            request: checked.
            now: seconds since 1970; `yesterday` counts from there.
        """
        corpus = self.corpus
        question = self._advanced(request.query) if request.advanced else parse_question(request.query, now)
        scores = score(corpus, question)
        found = narrow(request, corpus, self._matches(request, scores))
        shown = in_workspace(request, corpus, found)
        totals = _totals(scores, shown)
        batches = (
            by_score(corpus, totals, shown)
            if request.sort == "relevance"
            else by_time(corpus, shown, newest=request.sort == "newest")
        )
        unmatched = scores.words.unmatched if question.units else [request.query[:100]]
        return Found(corpus, question, scores, shown, totals, batches, len(found) - len(shown), unmatched)

    def _matches(self, request: SearchRequest, scores: Scores) -> Places:
        if request.advanced:
            mask = advanced_matches(request.query, self.corpus, lambda number: self.place(number)[1])
            return np.flatnonzero(mask)
        if request.sort == "relevance":
            return scores.numbers
        # In the order of time, what only stands beside a match would stand among the matches.
        return np.flatnonzero(holding(self.corpus, scores.words))

    def _advanced(self, query: str) -> Question:
        """Return the words of a query with operators, those that its prefixes stand for too."""
        units: list[QueryUnit] = []
        for operand in find_operands(query):
            units += operand.units
            if operand.prefix is not None and is_spaceless(operand.prefix):
                units += analyze_query(operand.prefix, keep_all=True)
            elif operand.prefix is not None:
                terms = dict.fromkeys(prefixed_terms(self.corpus, operand.prefix), 1.0)
                units.append(QueryUnit(f"{operand.prefix}*", terms, ()))
        return Question(units, {})


def _totals(scores: Scores, numbers: Places) -> Floats:
    """Return the score of each of some documents, 0 for what has no term of the question."""
    if numbers is scores.numbers:
        return scores.total
    if not len(scores.numbers):
        return np.zeros(len(numbers))
    places = np.minimum(np.searchsorted(scores.numbers, numbers), len(scores.numbers) - 1)
    return np.where(scores.numbers[places] == numbers, scores.total[places], 0.0)
