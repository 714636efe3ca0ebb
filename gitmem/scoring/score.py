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
from gitmem.scoring.part_arrays import Floats, Mask, Places
from gitmem.scoring.text_scores import add_text_scores
from gitmem.scoring.times import time_scores
from gitmem.scoring.wanted import Words, choose_terms

#: A question of fewer words is a look-up: only what holds one of them is shown, not what stands beside it.
FEWEST_FOR_CONTEXT: Final = 2


@dataclass(frozen=True, slots=True)
class Scores:
    """What a question found.

    Attributes:
        words: what became of the words of the question.
        numbers: the documents that were found, ascending; shape (found,).
        total: the score of each.
        text, conversation, time: what it is made of before its factors.
        factor: what that is multiplied with.
    """

    words: Words
    numbers: Places
    total: Floats
    text: Floats
    conversation: Floats
    time: Floats
    factor: Floats

    @property
    def weights(self) -> Mapping[str, float]:
        """The terms that were found anywhere, with what each weighs."""
        return {one.term: one.weight for one in self.words.wanted}

    def at(self, number: int) -> int | None:
        """Return where a document stands among those that were found."""
        place = int(np.searchsorted(self.numbers, number))
        return place if place < len(self.numbers) and self.numbers[place] == number else None


def score(corpus: Corpus, question: Question, *, everywhere: bool = False) -> Scores:
    """Score the documents that answer a question.

    Args:
        corpus: the documents, with the weights to use.
        question: taken apart.
        everywhere: score all others too.
    """
    words = choose_terms(corpus, question)
    times = time_scores(corpus, question)
    with corpus.spaces.lend() as space:
        said = [wanted for wanted in words.wanted if not wanted.is_name]
        add_text_scores(corpus, said or words.wanted, space)
        # Who is named in half of all messages is no answer where something else is asked for.
        touched = space.total[2:-2] > 0
        if said:
            add_text_scores(corpus, [wanted for wanted in words.wanted if wanted.is_name], space)
        numbers = np.arange(corpus.size) if everywhere else _found(corpus, words, touched, times)
        text = space.total.take(numbers + 2)
        space.total.fill(0.0)
    conversation = corpus.recipe.session * conversation_scores(corpus, words.wanted, numbers)
    time = np.zeros(len(numbers)) if times is None else times[numbers]
    factor = _factors(corpus, question, words, numbers)
    total = (text + conversation + time) * factor
    return Scores(words, numbers, total, text, conversation, time, factor)


def holding(corpus: Corpus, words: Words) -> Mask:
    """Return which documents hold a term of a question themselves; shape (documents,)."""
    mask = np.zeros(corpus.size, dtype=np.bool_)
    for wanted in words.wanted:
        mask[wanted.numbers] = True
    return mask


def holding_all(corpus: Corpus, question: Question, words: Words) -> Mask:
    """Return which documents hold all words of a question, whole or in parts; shape (documents,)."""
    terms = {term for unit in question.units for term in unit.simple}
    if words.unmatched or not terms:
        return np.zeros(corpus.size, dtype=np.bool_)
    having = np.zeros(corpus.size, dtype=np.uint16)
    for term in terms:
        numbers, _ = words.postings.get(term) or corpus.postings(term)
        having[numbers] += 1
    return np.asarray(having == len(terms))


def _found(corpus: Corpus, words: Words, touched: Mask, times: Floats | None) -> Places:
    found = touched if words.found >= FEWEST_FOR_CONTEXT else holding(corpus, words)
    return np.flatnonzero(found if times is None else found | (times > 0))


def _factors(corpus: Corpus, question: Question, words: Words, numbers: Places) -> Floats:
    """Return by what each document's score is multiplied."""
    recipe = corpus.recipe
    factor = corpus.telling.take(numbers)
    if words.author:
        authors = corpus.column("author").take(numbers)
        factor[(authors != words.author) & (authors != 0)] *= recipe.other_author
    if question.asks_when:
        factor[corpus.tells_time.take(numbers)] *= recipe.when
    if recipe.kept and len(corpus.kept):
        kept = np.flatnonzero(np.isin(numbers, corpus.kept, assume_unique=True))
        if len(kept):
            factor[kept] *= 1 + recipe.kept * _held_share(words, numbers[kept])
    return factor


def _held_share(words: Words, numbers: Places) -> Floats:
    """Return which share of the weight of a question's terms each of some documents holds itself.

    Args:
        words: of the question.
        numbers: of the documents, ascending.
    """
    held = np.zeros(len(numbers))
    for wanted in words.wanted:
        places = np.searchsorted(numbers, wanted.numbers)
        places[places == len(numbers)] = 0
        same = numbers[places] == wanted.numbers
        held[places[same]] += wanted.weight
    return held / (sum(wanted.weight for wanted in words.wanted) or 1.0)
