"""Why a hit ranks: its terms, and what each part of the recipe gave it."""

from __future__ import annotations

from typing import Any

from gitmem.scoring.corpus import Corpus
from gitmem.scoring.score import Scores


def explain(corpus: Corpus, scores: Scores, number: int) -> dict[str, Any]:
    """Return what a document's score is made of.

    Args:
        corpus: the documents.
        scores: of a question.
        number: of the document.
    """
    around = {f"{distance:+d}": number + distance for distance, share in corpus.near if share[number + 2]}
    terms = {}
    for wanted in scores.words.wanted:
        counts = dict(zip(wanted.numbers.tolist(), wanted.counts.tolist(), strict=True))
        near = {name: counts[place] for name, place in around.items() if place in counts}
        if number in counts or near:
            weight = round(wanted.weight, 6)
            terms[wanted.term] = {"count": int(counts.get(number, 0)), "weight": weight, "near": near}
    at = scores.at(number)
    if at is None:
        return {"terms": terms}
    made_of = {
        "text": scores.text,
        "conversation": scores.conversation,
        "time": scores.time,
        "factor": scores.factor,
    }
    return {"terms": terms, **{name: round(float(values[at]), 6) for name, values in made_of.items()}}
