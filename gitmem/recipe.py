"""The weights of the ranking, as one value; tests and measurements take it apart step by step.

Each weight was chosen on development conversations and lies on a plateau: half or double of it changes the
recall among the first ten hits by less than .006. That is why they are constants, not settings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a document's score is made of.

    Attributes:
        k1, b: saturation of repeated terms, and how much a document's length counts (BM25).
        before: how much of the message before a message counts as its own: answers share the words of what
            they answer.
        before_asking: the same where that message asks something.
        after, before_2, after_2: the same of the message after it, of the last but one, the next but one.
        name: weight of a word of the question that is the name of an author.
        other_author: factor for a message of somebody else than the one author whom the question names.
        session: weight of the score of the whole conversation.
        session_k1, session_b: `k1` and `b` of that score.
        day: weight of standing in a time that the question names.
        asking: what a document loses in the share of its words that stand in questions.
        when: factor for a time expression in a document, if the question asks when.
        kept: what a document that was kept on purpose gains in the share of the question that it holds
            itself: it has no neighbours, and it is there to be found.
    """

    k1: float = 0.9
    b: float = 0.4
    before: float = 0.40
    before_asking: float = 0.75
    after: float = 0.25
    before_2: float = 0.20
    after_2: float = 0.10
    name: float = 0.4
    other_author: float = 0.6
    session: float = 0.3
    session_k1: float = 1.2
    session_b: float = 0.75
    day: float = 3.0
    asking: float = 0.3
    when: float = 1.3
    kept: float = 2.0


#: How gitmem ranks.
RECIPE: Final = Recipe()
#: Plain BM25 over each document's own words, with the weights of `RECIPE`.
OWN_TEXT: Final = Recipe(
    before=0.0, before_asking=0.0, after=0.0, before_2=0.0, after_2=0.0,
    name=1.0, other_author=1.0, session=0.0, day=0.0, asking=0.0, when=1.0, kept=0.0,
)  # fmt: skip
