"""Many records of real text, and the questions that were asked about it; or made-up ones.

The development conversations have two thousand turns. For a hundred thousand records their sentences are
shuffled: each record has as many sentences as some turn, drawn from all conversations, and begins with the
name of a speaker. So no record is the copy of another, while words keep the frequencies of speech.
"""

from __future__ import annotations

import itertools
import random
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from retrieval_sets import Collection, read_locomo

from gitmem.analysis import analyze_query, count_terms

_SENTENCE = re.compile(r"[^.!?]+[.!?]*\s*")
_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"][:18]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts, and questions about them."""

    texts: Sequence[str]
    questions: Sequence[str]

    def describe(self) -> str:
        """Return how long texts are, and how frequent what is asked for."""
        wanted = [[term for unit in analyze_query(q) for term in unit.terms] for q in self.questions]
        frequency: Counter[str] = Counter()
        for text in self.texts:
            frequency.update(count_terms(text).counts.keys())
        every = [frequency[term] for terms in wanted for term in terms if frequency[term]]
        length = sum(map(len, self.texts)) / len(self.texts)
        return (
            f"{len(self.texts):,} records of {length:.0f} characters; {len(self.questions)} questions of "
            f"{sum(map(len, wanted)) / len(wanted):.1f} content terms, each in "
            f"{statistics.median(every):,.0f} records (median)"
        )


def make_corpus(data: Path | None, records: int, questions: int, seed: int = 1) -> Corpus:
    """Return so many records and questions.

    Args:
        data: a folder with `locomo/locomo-dev.json`; without it, texts and questions are made up.
        records: how many texts.
        questions: how many at most.
        seed: of what is drawn.
    """
    if data is None:
        texts = list(itertools.islice(_made_up(seed), records))
        return Corpus(texts, _made_up_questions(texts, questions))
    conversations = read_locomo(data / "locomo" / "locomo-dev.json")
    asked = sorted({q.text for one in conversations for q in one.questions})
    random.Random(seed).shuffle(asked)
    return Corpus(list(itertools.islice(_shuffled(conversations, seed), records)), asked[:questions])


def _shuffled(conversations: Sequence[Collection], seed: int) -> Iterator[str]:
    chance = random.Random(seed)
    messages = [message for one in conversations for message in one.messages]
    cut = [[part.strip() for part in _SENTENCE.findall(message.text)] for message in messages]
    sentences = [sentence for parts in cut for sentence in parts]
    while True:
        drawn = chance.sample(sentences, len(chance.choice(cut)))
        yield f"{chance.choice(messages).author}: {' '.join(drawn)}"


def _made_up(seed: int) -> Iterator[str]:
    """Yield texts from a vocabulary with Zipf's frequencies."""
    chance = random.Random(seed)
    words = ["".join(parts) for parts in itertools.product(_SYLLABLES, repeat=3)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    chance.shuffle(words)
    while True:
        yield " ".join(chance.choices(words, weights, k=chance.randint(8, 40))) + "."


def _made_up_questions(texts: Sequence[str], count: int, seed: int = 2) -> list[str]:
    """Return questions of six words of a record each, as an agent asks."""
    chance = random.Random(seed)
    found: list[str] = []
    while len(found) < count:
        words = re.findall(r"[A-Za-z]{3,}", chance.choice(texts))
        if len(words) >= 6:
            found.append(" ".join(chance.sample(words, 6)))
    return found
