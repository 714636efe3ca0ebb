"""One search over arrays: what a request finds among the parts of a moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gitmem.advanced_query import find_operands
from gitmem.analysis import QueryUnit
from gitmem.documents import Document
from gitmem.question import Question, parse_question
from gitmem.scoring.corpus import Corpus
from gitmem.scoring.explain import explain
from gitmem.scoring.part_arrays import Mask
from gitmem.scoring.score import Scores, score
from gitmem.scoring.select import MOST_PREFIXED, advanced_matches, by_score, by_time, in_workspace, narrow
from gitmem.search_candidates import Candidate
from gitmem.search_index import IndexPart
from gitmem.search_reply import SearchRequest


@dataclass(frozen=True, slots=True)
class Found:
    """What was found.

    Attributes:
        candidates: in batches; all of a batch comes before all of the next one.
        hidden: how many are not shown because they belong to another workspace.
        unmatched: words of the question that no document has.
    """

    corpus: Corpus
    scores: Scores
    candidates: Iterator[list[Candidate]]
    hidden: int
    unmatched: Sequence[str]

    @property
    def weights(self) -> Mapping[str, float]:
        """The terms that were found anywhere, with what each weighs."""
        return self.scores.weights

    def score_of(self, number: int) -> float:
        """Return the score of a document."""
        return float(self.scores.total[number])

    def explain(self, number: int) -> dict[str, Any]:
        """Return what the score of a document is made of."""
        return explain(self.corpus, self.scores, number)


class Finder:
    """Searches the parts of one moment; safe to use from several threads.

    Args:
        parts: of the index, and what is not indexed yet.
    """

    def __init__(self, parts: Sequence[IndexPart]) -> None:
        self.parts = parts
        self.corpus = Corpus(parts)

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
        matches = self._matches(request, scores) & narrow(request, corpus)
        own = in_workspace(request, corpus)
        shown = matches if own is None else matches & own
        hidden = 0 if own is None else int(np.count_nonzero(matches) - np.count_nonzero(shown))
        batches = (
            by_score(corpus, scores.total, shown)
            if request.sort == "relevance"
            else by_time(corpus, shown, newest=request.sort == "newest")
        )
        unmatched = scores.words.unmatched if question.units else [request.query[:100]]
        return Found(corpus, scores, batches, hidden, unmatched)

    def _matches(self, request: SearchRequest, scores: Scores) -> Mask:
        if request.advanced:
            return advanced_matches(request.query, self.corpus, lambda number: self.place(number)[1])
        return scores.found if request.sort == "relevance" else scores.holds

    def _advanced(self, query: str) -> Question:
        """Return the words of a query with operators, those that its prefixes stand for too."""
        units: list[QueryUnit] = []
        for operand in find_operands(query):
            units += operand.units
            if operand.prefix is not None:
                terms = dict.fromkeys(self.corpus.terms_from(operand.prefix, MOST_PREFIXED), 1.0)
                units.append(QueryUnit(f"{operand.prefix}*", terms, ()))
        return Question(units, {})
