"""Tells from the words of a text which shapes it can match at all.

The rules ask for thousands of words, a text holds a few. So each word that is met says which groups of which
shapes it serves, as bits of one number; those of a text's words put together say which shapes have all their
groups. What that costs depends on the text, not on how many rules there are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, reduce
from itertools import chain
from operator import add, or_
from typing import Final

from gitmem.threat_rules import IN_SCOPE, RULES
from gitmem.threat_shapes import Rule, Shape
from gitmem.word_places import STEM

#: The bits of words that were met are kept, unless the words are long.
_MOST_KNOWN: Final = 1 << 15
_LONGEST_KNOWN: Final = 64
_WORD: Final = re.compile("[a-z0-9]{2,}")
#: Where a text has more words, they are not looked up one by one.
_MANY: Final = 1 << 11
#: So many letters of longer signs tell where in a word one may stand.
_THREE: Final = 3

_Served = dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Trial:
    """A shape to try on a text.

    Attributes:
        order: its place among the shapes of all rules.
        bit: of a shape that matches within one sentence: its own among such.
    """

    order: int
    rule: Rule
    shape: Shape
    bit: int | None


@dataclass(frozen=True, slots=True)
class Plane:
    """Shapes that are told in one way, and where their bits stand.

    Attributes:
        trials: the shapes.
        levels: how many groups the shape has that has most.
        first: the bit of the first group of the first shape; that of its second one stands `len(trials)` on.
    """

    trials: tuple[Trial, ...]
    levels: int
    first: int

    @property
    def end(self) -> int:
        """The first bit behind those of the plane."""
        return self.first + self.levels * len(self.trials)

    def levels_at(self) -> range:
        """Return where the bits begin of each level."""
        return range(self.first, self.end, len(self.trials))

    def bits_of(self, number: int) -> range:
        """Return the bits of a shape's groups."""
        return range(self.first + number, self.end, len(self.trials))

    def complete(self, bits: int) -> int:
        """Return of which shapes all groups are served, a bit for each."""
        width = len(self.trials)
        bits >>= self.first
        held = bits & ((1 << width) - 1)
        for _ in range(1, self.levels):
            if not held:
                break
            bits >>= width
            held &= bits
        return held

    def in_scope(self, scope: str) -> int:
        """Return which shapes are of a scope, a bit for each."""
        rules = {rule.id for rule in IN_SCOPE[scope]}
        return number_of(number for number, trial in enumerate(self.trials) if trial.rule.id in rules)


class Meanings(dict[str, int]):
    """The bits of words, worked out when one is first met."""

    def __init__(self, bits_of: Callable[[str], int]) -> None:
        super().__init__()
        self._bits_of = bits_of

    def __missing__(self, word: str) -> int:
        bits = self._bits_of(word)
        if len(word) <= _LONGEST_KNOWN:
            if len(self) >= _MOST_KNOWN:
                self.clear()
            self[word] = bits
        return bits


class ThreatIndex:
    """All shapes by what a text must hold: how words begin, pairs of characters, and signs.

    Attributes:
        sentence: the shapes that match within one sentence.
        other: those that need not.
        words: the bits of each word.
        words_in_sentence: of those only what the shapes within one sentence ask for.
        always: the bits that no word need serve.
        anywhere: the bits of signs, which also for a shape within one sentence may stand in another.
    """

    def __init__(self) -> None:
        self._begins: _Served = defaultdict(list)
        self._pairs: _Served = defaultdict(list)
        self._signs: _Served = defaultdict(list)
        self._always: list[int] = []
        self.sentence = self._entered(_trials(is_in_sentence=True), 0)
        self.other = self._entered(_trials(is_in_sentence=False), self.sentence.end)
        self._inside = {sign: bits for sign, bits in self._signs.items() if _WORD.fullmatch(sign)}
        self._marks = [
            (sign, number_of(bits)) for sign, bits in self._signs.items() if sign not in self._inside
        ]
        self.anywhere = number_of(chain.from_iterable(self._signs.values()))
        self._enter_marks()
        self._short = [sign for sign in self._inside if len(sign) < _THREE]
        self._by_three: dict[str, list[str]] = {}
        for sign in self._inside.keys() - self._short:
            self._by_three.setdefault(sign[:_THREE], []).append(sign)
        self.always = number_of(self._always)
        self._known = frozenset(self._begins) | frozenset(self._pairs)
        self._begun = [
            {begin[:size] for begin in self._known if len(begin) > size} for size in range(1, STEM)
        ]
        self._of_begin = Meanings(lambda stem: number_of(self._begins[stem]))
        self._of_sign = Meanings(lambda sign: number_of(self._inside[sign]))
        self.words = Meanings(self._bits_of)
        in_sentence = (1 << self.sentence.end) - 1
        self.words_in_sentence = Meanings(lambda word: self.words[word] & in_sentence)

    def _entered(self, trials: list[Trial], first: int) -> Plane:
        """Enter what the groups of shapes ask for; return the plane of their bits."""
        groups = [list(self._groups(trial.shape)) for trial in trials]
        plane = Plane(tuple(trials), max(map(len, groups)), first)
        for number, asked in enumerate(groups):
            bits = iter(plane.bits_of(number))
            for (served, members), bit in zip(asked, bits, strict=False):
                for member in members:
                    served[member].append(bit)
            self._always += bits
        return plane

    def _groups(self, shape: Shape) -> Iterator[tuple[_Served, Iterable[str]]]:
        """Yield what a shape asks for: of each group one must be in the text."""
        for stems in shape.stems:
            yield (self._pairs if shape.is_chinese else self._begins), stems
        for words in shape.words():
            yield self._begins, words
        for signs in shape.signs:
            yield self._signs, signs
        if shape.is_chinese and not shape.stems:
            yield self._pairs, ("",)

    def _enter_marks(self) -> None:
        """Have signs that are not letters alone looked for if the longest word in them stands in the text."""
        for bit, (mark, _) in enumerate(self._marks, self.other.end):
            word = max(_WORD.findall(mark), key=len, default="")
            (self._inside.setdefault(word, []) if word else self._always).append(bit)

    def _bits_of(self, word: str) -> int:
        begins = self._begins
        bits = 0
        for size in range(min(len(word), 2), min(len(word), STEM) + 1):
            if word[:size] in begins:
                bits |= self._of_begin[word[:size]]
        if len(word) < STEM and word + " " in begins:
            bits |= self._of_begin[word + " "]
        for sign in self._short:
            if sign in word:
                bits |= self._of_sign[sign]
        threes = list(map(add, map(add, word, word[1:]), word[2:]))
        if not self._by_three.keys().isdisjoint(threes):
            for place, three in enumerate(threes):
                for sign in self._by_three.get(three, ()):
                    if word.startswith(sign, place):
                        bits |= self._of_sign[sign]
        return bits

    def begins_of(self, words: Iterable[str]) -> set[str]:
        """Return how words begin, as far as some shape asks for it; short ones also whole, with a space."""
        left = list(words)
        found = {word for word in left if len(word) == 1}
        for size, begun in enumerate(self._begun, 1):
            found |= {word + " " for word in left if len(word) == size}
            left = [word for word in left if word[:size] in begun]
            found |= {word[: size + 1] for word in left}
        return found & self._known

    def of_text(self, words: AbstractSet[str], begins: Callable[[], AbstractSet[str]], text: str) -> int:
        """Return the bits of all words of a text, and those that every text has.

        Args:
            words: those of the text.
            begins: returns what `begins_of` does for them.
            text: in which they stand.
        """
        if len(words) <= _MANY:
            return reduce(or_, map(self.words.__getitem__, words), self.always)
        # Of so many most are met for the first time, and will not be met again.
        bits = reduce(or_, map(self._of_begin.__getitem__, begins() & self._begins.keys()), self.always)
        asked = self._asked(bits)
        signs = (served for sign in self._inside if (served := self._of_sign[sign]) & asked and sign in text)
        return reduce(or_, signs, bits)

    def _asked(self, bits: int) -> int:
        """Return the bits of signs that matter to a text with these bits: shapes that lack nothing else."""
        asked = -1 << self.other.end
        for plane in (self.sentence, self.other):
            held = plane.complete(bits | self.anywhere)
            asked |= reduce(or_, (held << place for place in plane.levels_at()), 0)
        return asked

    def of_pairs(self, pairs: frozenset[str]) -> int:
        """Return the bits of the pairs of characters of a text with Chinese in it."""
        found = self._pairs[""][:] if pairs else []
        for pair in pairs & self._pairs.keys():
            found += self._pairs[pair]
        return number_of(found)

    def of_marks(self, bits: int, text: str) -> int:
        """Return the bits of those signs in a text that the bits of its words tell to look for."""
        found = 0
        for number in ones(bits >> self.other.end):
            mark, served = self._marks[number]
            if mark in text:
                found |= served
        return found


@cache
def threat_index() -> ThreatIndex:
    """Return the index of all rules; it is made when the first text is read."""
    return ThreatIndex()


def number_of(bits: Iterable[int]) -> int:
    """Return the number that has these bits."""
    return reduce(or_, map((1).__lshift__, set(bits)), 0)


def ones(bits: int) -> Iterator[int]:
    """Yield the bits of a number, lowest first."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def _trials(*, is_in_sentence: bool) -> list[Trial]:
    shapes = ((rule, shape) for rule in RULES for shape in rule.shapes)
    some = [(order, *one) for order, one in enumerate(shapes) if one[1].is_in_sentence == is_in_sentence]
    return [Trial(*one, bit if is_in_sentence else None) for bit, one in enumerate(some)]
