"""Tells from the words of a text which shapes it can match at all.

The rules ask for thousands of words, a text holds a few. So each word that is met says which groups of which
shapes it serves, as bits of one number; those of a text's words put together say which shapes have all their
groups. What that costs depends on the text, not on how many rules there are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, reduce
from operator import add, or_
from typing import Final

from gitmem.threat_rules import IN_SCOPE, RULES
from gitmem.threat_shapes import Rule, Shape
from gitmem.word_places import STEM, key_of

#: The bits of words that were met are kept, unless the words are long.
_MOST_KNOWN: Final = 1 << 15
_LONGEST_KNOWN: Final = 64
_WORD: Final = re.compile("[a-z0-9]{2,}")

#: So many letters of longer signs tell where in a word one may stand.
_THREE: Final = 3

_Served = dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Plane:
    """Shapes that are told in one way, and where their bits stand.

    Attributes:
        shapes: each with its place among those of all rules.
        levels: how many groups the shape has that has most.
        first: the bit of the first group of the first shape; that of its second one stands `len(shapes)` on.
    """

    shapes: tuple[tuple[int, Rule, Shape], ...]
    levels: int
    first: int

    @property
    def end(self) -> int:
        """The first bit behind those of the plane."""
        return self.first + self.levels * len(self.shapes)

    def bits_of(self, number: int) -> range:
        """Return the bits of a shape's groups."""
        return range(self.first + number, self.end, len(self.shapes))

    def complete(self, bits: int) -> int:
        """Return of which shapes all groups are served, a bit for each."""
        width = len(self.shapes)
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
        return number_of(number for number, (_, rule, _) in enumerate(self.shapes) if rule.id in rules)


class Meanings(dict[str, int]):
    """The bits of words, worked out when a word is first met."""

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
    """

    def __init__(self) -> None:
        shapes = [(number, *one) for number, one in enumerate(_all_shapes())]
        self._begins: _Served = defaultdict(list)
        self._pairs: _Served = defaultdict(list)
        self._signs: _Served = defaultdict(list)
        self._always: list[int] = []
        self.sentence = self._entered([one for one in shapes if one[2].is_in_sentence], 0)
        self.other = self._entered([one for one in shapes if not one[2].is_in_sentence], self.sentence.end)
        self._inside = {sign: bits for sign, bits in self._signs.items() if _WORD.fullmatch(sign)}
        self._marks = [
            (sign, number_of(bits)) for sign, bits in self._signs.items() if sign not in self._inside
        ]
        self._enter_marks()
        self._short = [sign for sign in self._inside if len(sign) < _THREE]
        self._by_three: dict[str, list[str]] = {}
        for sign in self._inside.keys() - self._short:
            self._by_three.setdefault(sign[:_THREE], []).append(sign)
        self.always = number_of(self._always)
        self.words = Meanings(self._bits_of)
        in_sentence = (1 << self.sentence.end) - 1
        self.words_in_sentence = Meanings(lambda word: self.words[word] & in_sentence)

    def _entered(self, shapes: list[tuple[int, Rule, Shape]], first: int) -> Plane:
        """Enter what the groups of shapes ask for; return the plane of their bits."""
        groups = [list(self._groups(shape)) for _, _, shape in shapes]
        plane = Plane(tuple(shapes), max(map(len, groups)), first)
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
        found = [*begins.get(key_of(word), ())]
        for size in range(min(len(word), 2), min(len(word), STEM) + 1):
            found += begins.get(word[:size], ())
        for sign in self._short:
            if sign in word:
                found += self._inside[sign]
        threes = list(map(add, map(add, word, word[1:]), word[2:]))
        if not self._by_three.keys().isdisjoint(threes):
            for place, three in enumerate(threes):
                for sign in self._by_three.get(three, ()):
                    if word.startswith(sign, place):
                        found += self._inside[sign]
        return number_of(found) if found else 0

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


def _all_shapes() -> Iterator[tuple[Rule, Shape]]:
    return ((rule, shape) for rule in RULES for shape in rule.shapes)
