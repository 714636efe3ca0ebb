"""The ranking in plain Python: slow, short, and what the fast one is compared with.

A question's score of a document is made of the words of the document and its neighbours, of the words of its
conversation, and of the time that the question names; then come factors for who said it, for words that only
ask, for a time expression where the question asks when, and for how much of the question a text holds that
was kept on purpose. `recipe.Recipe` has all weights.

The name with which a message begins, or which stands in its keywords, because he is its author, is one
occurrence of that name in this message and in no neighbour: the next speaker is somebody else.

A conversation is the messages of one session in the order of clock, sequence and place. Only messages belong
to one; a message without a session stands alone. In a conversation of more than `LONGEST_SESSION` messages
each message is seen in a window of `WINDOW` messages before and after it instead of in the whole. Such a
conversation counts as several where it is asked how many conversations have a term, and how long they are on
average: its messages are counted off in blocks of `BLOCK`, the last of which may be shorter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final

from gitmem.analysis import CHARACTER_WEIGHT, QueryUnit
from gitmem.asked_dates import closeness
from gitmem.question import Question, name_of
from gitmem.recipe import RECIPE, Recipe
from gitmem.search_index import Indexed
from gitmem.times import parse_timestamp
from gitmem.traits import ASKS, KEPT, SHARE_SHIFT, SHARE_UNIT, TELLS_TIME, traits_of

#: A conversation of more messages is searched in windows.
LONGEST_SESSION: Final = 200
#: Messages before and after one in its window.
WINDOW: Final = 8
#: Messages of a block: as many as a whole window has.
BLOCK: Final = 2 * WINDOW + 1

Weights = Mapping[str, float]


def score_plainly(documents: Sequence[Indexed], question: Question, recipe: Recipe = RECIPE) -> list[float]:
    """Return the score of each document.

    Args:
        documents: all that are searched.
        question: what is asked.
        recipe: the weights.
    """
    terms = choose_terms(documents, question.units)
    known = {name_of(one.document.author) for one in documents if one.document.author} & set(question.names)
    name_terms = frozenset().union(*(question.names[name] for name in known))
    sessions = sessions_of(documents)

    weights = {term: weight * (recipe.name if term in name_terms else 1.0) for term, weight in terms.items()}
    marks = [_author_terms(one, question, known) for one in documents]
    scores = _text_scores(documents, _neighbour_shares(documents, sessions, recipe), marks, weights, recipe)

    shares = _held_shares(documents, weights)
    weights = {term: weight for term, weight in terms.items() if term not in name_terms}
    for number, score in _session_scores(documents, sessions, weights, recipe).items():
        scores[number] += recipe.session * score

    for number, score in enumerate(_day_scores(documents, question)):
        scores[number] += recipe.day * score

    only_name = next(iter(known)) if len(known) == 1 else None
    return [
        score * _factor(one, only_name, question, recipe) * (1 + recipe.kept * share * _is_kept(one))
        for score, share, one in zip(scores, shares, documents, strict=True)
    ]


def choose_terms(documents: Sequence[Indexed], units: Iterable[QueryUnit]) -> dict[str, float]:
    """Return the terms to look for with their weights.

    In place of a pair of characters that no document has, its characters are looked for at half weight.
    """
    present = {term for one in documents for term in one.analysis.counts}
    chosen: dict[str, float] = {}
    for unit in units:
        for term, weight in unit.terms.items():
            if term in present:
                chosen[term] = max(chosen.get(term, 0.0), weight)
                continue
            for other in unit.otherwise.get(term, ()):
                if other in present:
                    chosen[other] = max(chosen.get(other, 0.0), weight * CHARACTER_WEIGHT)
    return chosen


def sessions_of(documents: Sequence[Indexed]) -> list[list[int]]:
    """Return the numbers of the messages of each conversation, in its order."""
    sessions: dict[str, list[int]] = {}
    for number, one in enumerate(documents):
        if one.document.kind == "message" and one.document.session is not None:
            sessions.setdefault(one.document.session, []).append(number)
    for numbers in sessions.values():
        numbers.sort(key=lambda number: (documents[number].document.clock, documents[number].document.seq))
    return list(sessions.values())


def rarity(frequency: int, total: int) -> float:
    """Return how much a term tells that `frequency` of `total` have (idf)."""
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def _traits(one: Indexed) -> int:
    return _traits_of(one.document.kind, one.document.text)


#: Reading a text for its traits takes longer than all the rest, and the same documents are scored often.
_traits_of: Final = lru_cache(maxsize=10_000)(traits_of)


def _author_terms(one: Indexed, question: Question, known: AbstractSet[str]) -> frozenset[str]:
    """Return the terms of the question that a document has because of who is its author."""
    name = name_of(one.document.author) if one.document.author else None
    if name is None or name not in known:
        return frozenset()
    return frozenset(term for term in question.names[name] if term in one.analysis.counts)


def _text_scores(
    documents: Sequence[Indexed],
    shares: Sequence[Mapping[int, float]],
    marks: Sequence[AbstractSet[str]],
    weights: Weights,
    recipe: Recipe,
) -> list[float]:
    """BM25 over the words of each document and, for less, those of its neighbours."""
    lengths = [
        sum(share * documents[near].analysis.length for near, share in nearby.items()) for nearby in shares
    ]
    average = sum(lengths) / len(lengths) if lengths else 0.0
    scores = [0.0] * len(documents)
    for term, weight in weights.items():
        own = [one.analysis.counts.get(term, 0) for one in documents]
        frequency = sum(count > 0 for count in own)
        shared = [count - (term in mark) for count, mark in zip(own, marks, strict=True)]
        for number, nearby in enumerate(shares):
            count = (term in marks[number]) + sum(share * shared[near] for near, share in nearby.items())
            part = _saturate(count, lengths[number], average, recipe.k1, recipe.b)
            scores[number] += weight * rarity(frequency, len(documents)) * part
    return scores


def _neighbour_shares(
    documents: Sequence[Indexed], sessions: Sequence[Sequence[int]], recipe: Recipe
) -> list[dict[int, float]]:
    """Return for each document which ones count as part of it, and how much of each: of itself, all."""
    shares: list[dict[int, float]] = [{number: 1.0} for number in range(len(documents))]
    for numbers in sessions:
        for place, number in enumerate(numbers):
            if place >= 1:
                asks = _traits(documents[numbers[place - 1]]) & ASKS
                shares[number][numbers[place - 1]] = recipe.before_asking if asks else recipe.before
            if place >= 2:
                shares[number][numbers[place - 2]] = recipe.before_2
            if place + 1 < len(numbers):
                shares[number][numbers[place + 1]] = recipe.after
            if place + 2 < len(numbers):
                shares[number][numbers[place + 2]] = recipe.after_2
    return shares


def _session_scores(
    documents: Sequence[Indexed], sessions: Sequence[Sequence[int]], weights: Weights, recipe: Recipe
) -> dict[int, float]:
    """BM25 of the conversation, or the window, in which each message stands."""
    blocks = [block for numbers in sessions for block in _blocks(numbers)]
    if not blocks:
        return {}
    average = sum(_length(documents, block) for block in blocks) / len(blocks)
    idf = {
        term: rarity(sum(_count(documents, block, term) > 0 for block in blocks), len(blocks))
        for term in weights
    }
    scores = {}
    for numbers in sessions:
        for place, number in enumerate(numbers):
            if len(numbers) <= LONGEST_SESSION:
                passage = numbers
            else:
                passage = numbers[max(0, place - WINDOW) : place + WINDOW + 1]
            length = _length(documents, passage)
            scores[number] = sum(
                weight
                * idf[term]
                * _saturate(
                    _count(documents, passage, term), length, average, recipe.session_k1, recipe.session_b
                )
                for term, weight in weights.items()
            )
    return scores


def _blocks(numbers: Sequence[int]) -> list[Sequence[int]]:
    if len(numbers) <= LONGEST_SESSION:
        return [numbers]
    return [numbers[start : start + BLOCK] for start in range(0, len(numbers), BLOCK)]


def _length(documents: Sequence[Indexed], numbers: Iterable[int]) -> int:
    return sum(documents[number].analysis.length for number in numbers)


def _count(documents: Sequence[Indexed], numbers: Iterable[int], term: str) -> int:
    return sum(documents[number].analysis.counts.get(term, 0) for number in numbers)


def _saturate(count: float, length: float, average: float, k1: float, b: float) -> float:
    """Return what a term contributes that occurs so often in a text of some length."""
    if count == 0:
        return 0.0
    return (k1 + 1) * count / (count + k1 * (1 - b + b * length / (average or 1.0)))


def _day_scores(documents: Sequence[Indexed], question: Question) -> list[float]:
    """How close each document stands to the time asked for, more where few documents stand in it."""
    if question.dates is None:
        return [0.0] * len(documents)
    close = [closeness(question.dates, parse_timestamp(one.document.ts)) for one in documents]
    inside = sum(value == 1.0 for value in close)
    return [rarity(inside, len(documents)) * value for value in close]


def _held_shares(documents: Sequence[Indexed], weights: Weights) -> list[float]:
    """Return which share of the weight of a question's terms each document holds itself."""
    rare = {
        term: weight * rarity(sum(term in one.analysis.counts for one in documents), len(documents))
        for term, weight in weights.items()
    }
    total = sum(rare.values()) or 1.0
    return [sum(rare[term] for term in rare if term in one.analysis.counts) / total for one in documents]


def _is_kept(one: Indexed) -> bool:
    return bool(_traits(one) & KEPT)


def _factor(one: Indexed, only_name: str | None, question: Question, recipe: Recipe) -> float:
    """How much of its score a document keeps."""
    traits = _traits(one)
    factor = 1.0 - recipe.asking * (traits >> SHARE_SHIFT) / SHARE_UNIT
    author = one.document.author
    if only_name is not None and author and name_of(author) != only_name:
        factor *= recipe.other_author
    if question.asks_when and traits & TELLS_TIME:
        factor *= recipe.when
    return factor
