"""How well each document answers a question: the recipe over arrays.

A message is scored by its own words and those of its neighbours as one count, by its whole conversation, by
its author and its time. `testing/plain_ranking.py` has the same rules, slow and plain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from gitmem.question import Question
from gitmem.scoring.conversations import conversation_scores
from gitmem.scoring.corpus import Corpus
from gitmem.scoring.part_arrays import Floats, Mask
from gitmem.scoring.text_scores import add_text_scores
from gitmem.scoring.times import time_scores
from gitmem.scoring.wanted import Words, choose_terms

#: A question of fewer terms is a look-up: only what holds one of them is shown, not what stands beside it.
FEWEST_FOR_CONTEXT: Final = 2


@dataclass(frozen=True, slots=True)
class Scores:
    """What a question found.

    Attributes:
        total: the score of each document; shape (documents,).
        found: which documents may be shown.
        holds: which documents hold a term themselves.
        words: what became of the words of the question.
        text, conversation, time: what `total` is made of before its factors; of the same shape.
        factor: what it is multiplied with.
    """

    total: Floats
    found: Mask
    holds: Mask
    words: Words
    text: Floats
    conversation: Floats
    time: Floats
    factor: Floats

    @property
    def weights(self) -> Mapping[str, float]:
        """The terms that were found anywhere, with what each weighs."""
        return {one.term: one.weight for one in self.words.wanted}


def score(corpus: Corpus, question: Question) -> Scores:
    """Score all documents.

    Args:
        corpus: the documents, with the weights to use.
        question: taken apart.
    """
    recipe = corpus.recipe
    words = choose_terms(corpus, question)
    text = np.zeros(corpus.size + 1)
    holds, touched = add_text_scores(corpus, words.wanted, text)
    conversation = np.zeros(corpus.size)
    if recipe.session:
        conversation = recipe.session * conversation_scores(corpus, words.wanted)
    time = time_scores(corpus, question)
    factor = _factors(corpus, question, words)
    found = touched if len(words.wanted) >= FEWEST_FOR_CONTEXT else holds
    return Scores(
        total=(text[:-1] + conversation + time) * factor,
        found=(found[:-1] | (time > 0)) & corpus.live,
        holds=holds[:-1] & corpus.live,
        words=words,
        text=text[:-1],
        conversation=conversation,
        time=time,
        factor=factor,
    )


def _factors(corpus: Corpus, question: Question, words: Words) -> Floats:
    """Return by what each document's score is multiplied."""
    recipe = corpus.recipe
    factor = 1 - recipe.asking * corpus.asking_share
    if words.author:
        authors = corpus.column("author")
        factor[(authors != words.author) & (authors != 0)] *= recipe.other_author
    if question.asks_when:
        factor[corpus.tells_time] *= recipe.when
    if recipe.kept:
        factor[corpus.is_kept] *= 1 + recipe.kept * _held_share(corpus, words)[corpus.is_kept]
    return factor


def _held_share(corpus: Corpus, words: Words) -> Floats:
    """Return which share of the weight of a question's terms each document holds itself."""
    held = np.zeros(corpus.size)
    for wanted in words.wanted:
        held[wanted.numbers] += wanted.weight
    return held / (sum(wanted.weight for wanted in words.wanted) or 1.0)
