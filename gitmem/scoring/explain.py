"""Why a hit ranks: its terms, and what each part of the recipe gave it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gitmem.scoring.corpus import Corpus
from gitmem.scoring.score import Scores


def explain(corpus: Corpus, scores: Scores, number: int) -> dict[str, Any]:
    """Return what a document's score is made of.

    Args:
        corpus: the documents.
        scores: of a question.
        number: of the document.
    """
    around = {
        name: int(places[number])
        for name, places in (
            ("before", corpus.links.before),
            ("after", corpus.links.after),
            ("before_2", corpus.links.before_2),
            ("after_2", corpus.links.after_2),
        )
    }
    terms = {}
    for wanted in scores.words.wanted:
        counts = dict(zip(wanted.numbers.tolist(), wanted.counts.tolist(), strict=True))
        near = {name: counts[place] for name, place in around.items() if place in counts}
        if number in counts or near:
            weight = round(wanted.weight, 6)
            terms[wanted.term] = {"count": int(counts.get(number, 0)), "weight": weight, "near": near}
    return {
        "terms": terms,
        "text": _rounded(scores.text[number]),
        "conversation": _rounded(scores.conversation[number]),
        "time": _rounded(scores.time[number]),
        "factor": _rounded(scores.factor[number]),
    }


def _rounded(value: np.float64) -> float:
    return round(float(value), 6)
