"""What is known of a text before a pattern of a threat rule is tried on it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Set as AbstractSet
from functools import cache, reduce
from operator import attrgetter, or_
from typing import Final

from gitmem.threat_index import Trial, ones, threat_index
from gitmem.threat_rules import IN_SCOPE
from gitmem.word_places import (
    PLAIN_WORD,
    all_places,
    has_chinese,
    key_of,
    pairs_of,
    places_of,
    sentences_of,
)

#: Where so many words were looked for one by one, all of them are.
_MANY: Final = 48
#: So many stretches of a text are told apart; where it has more sentences, several make one.
_STRETCHES: Final = 512


class Sight:
    """A folded text, its words and where they stand.

    Attributes:
        text: folded.
        words: each once.
        pairs: its pairs of characters, if some are Chinese.
    """

    __slots__ = (
        "_all_places",
        "_begins",
        "_bits",
        "_keys",
        "_places",
        "_stems",
        "_stretches",
        "pairs",
        "text",
        "words",
    )

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = set(PLAIN_WORD.findall(text))
        self.pairs: frozenset[str] = pairs_of(text) if has_chinese(text) else frozenset()
        self._keys: set[str] | None = None
        self._begins: set[str] | None = None
        self._bits: int | None = None
        self._stems: set[str] | None = None
        self._places: dict[str, list[int]] = {}
        self._all_places: dict[str, list[int]] | None = None
        self._stretches: Stretches | None = None

    @property
    def keys(self) -> set[str]:
        """How its words begin."""
        if self._keys is None:
            self._keys = set(map(key_of, self.words))
        return self._keys

    @property
    def stems(self) -> set[str]:
        """Those of `begins` that tables declare."""
        if self._stems is None:
            self._stems = self.begins() & words_of("strict")
        return self._stems

    def begins(self) -> set[str]:
        """Return how its words begin, as far as some shape asks for it."""
        if self._begins is None:
            self._begins = threat_index().begins_of(self.words)
        return self._begins

    @property
    def bits(self) -> int:
        """Which groups of which shapes are served by what stands in it."""
        if self._bits is None:
            index = threat_index()
            bits = index.of_text(self.words, self.begins, self.text)
            if self.pairs:
                bits |= index.of_pairs(self.pairs)
            self._bits = bits | index.of_marks(bits, self.text)
        return self._bits

    @property
    def stretches(self) -> Stretches:
        """Its sentences, or several as one."""
        if self._stretches is None:
            self._stretches = Stretches(self.text, self.bits)
        return self._stretches

    def places(self, heads: frozenset[str]) -> list[int]:
        """Return in order where the words stand that begin in one of several ways."""
        found: list[int] = []
        for key in heads & self.keys:
            found += self._places_of(key)
        found.sort()
        return found

    def _places_of(self, key: str) -> list[int]:
        if self._all_places is not None:
            return self._all_places[key]
        places = self._places.get(key)
        if places is None:
            places = self._places[key] = places_of(self.text, key)
            if len(self._places) == _MANY:
                self._all_places = all_places(self.text)
        return places


class Stretches:
    """The sentences of a text, or several as one, and what their words can match.

    Attributes:
        starts: where each begins.
        ends: where each ends.
        held: which shapes have all their words in it, a bit for each.
    """

    __slots__ = ("ends", "held", "starts")

    def __init__(self, text: str, bits: int) -> None:
        """See what the sentences of a text can match.

        Args:
            text: folded.
            bits: those of the whole text, which are those of its sentence if it has one.
        """
        sentences = [*sentences_of(text)]
        size = -(-len(sentences) // _STRETCHES)
        self.starts = [start for start, _ in sentences[::size]]
        self.ends = [end for _, end in sentences[size - 1 :: size]]
        if len(self.ends) < len(self.starts):
            self.ends.append(sentences[-1][1])
        index = threat_index()
        if len(sentences) == 1:
            self.held = [index.sentence.complete(bits)]
            return
        bits_of = index.words_in_sentence.__getitem__
        anywhere = index.always | bits & index.anywhere
        self.held = [
            index.sentence.complete(reduce(or_, map(bits_of, PLAIN_WORD.findall(text, *span)), anywhere))
            for span in zip(self.starts, self.ends, strict=True)
        ]

    def within(self, places: list[int], bit: int) -> list[int]:
        """Return those places of words that stand where a shape has all its words."""
        if len(places) < len(self.starts):
            starts, held = self.starts, self.held
            return [place for place in places if held[bisect_right(starts, place) - 1] >> bit & 1]
        found: list[int] = []
        for start, end, shapes in zip(self.starts, self.ends, self.held, strict=True):
            if shapes >> bit & 1:
                found += places[bisect_left(places, start) : bisect_left(places, end)]
        return found


def known_stems(words: AbstractSet[str]) -> set[str]:
    """Return how words begin, as far as some shape asks for it."""
    return threat_index().begins_of(words) & words_of("strict")


@cache
def words_of(scope: str) -> frozenset[str]:
    """Return every stem and pair that some shape of a scope asks for."""
    shapes = (shape for rule in IN_SCOPE[scope] for shape in rule.shapes)
    return frozenset().union(*(stems for shape in shapes for stems in shape.stems))


@cache
def _in_scope(scope: str) -> tuple[int, int]:
    return threat_index().sentence.in_scope(scope), threat_index().other.in_scope(scope)


def trials(sight: Sight, scope: str) -> list[Trial]:
    """Return in the order of the rules what a text may match."""
    index = threat_index()
    in_sentence, others = _in_scope(scope)
    found = [index.other.trials[bit] for bit in ones(index.other.complete(sight.bits) & others)]
    inside = index.sentence.complete(sight.bits) & in_sentence
    if inside:
        inside &= reduce(or_, sight.stretches.held)
        found += [index.sentence.trials[bit] for bit in ones(inside)]
    return sorted(found, key=attrgetter("order"))
