"""Reads the text of a pattern: which words must stand in whatever it matches.

A pattern need not be tried on a text that lacks one of them, nor even be compiled.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import Final

from gitmem.word_places import STEM

_PIECE: Final = re.compile(
    r"[a-z0-9]+|\(\?(?:[:>=!]|<[=!])|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|\\[\s\S]|(?:[?*+]|\{[0-9,]+\})[?+]?|[\s\S]"
)
_QUANTIFIERS: Final = ("?", "*", "+", "{")
_OPTIONAL: Final = ("?", "*", "{0", "{,")
#: What is no part of a word and no part of how patterns are written, escaped or not.
_SEPARATOR: Final = re.compile(r"\\[sn]|\\?[^\w\\.^$*+?{}\[\]|()]|\\[.^$*+?{}\[\]|()]|_")
#: Before or behind a word, whole.
_EDGES: Final = (r"\b", "(?<![a-z0-9])", "(?<![a-z0-9-])", r"(?<!\w)", "(?![a-z0-9])", r"(?!\w)")
_LOOKS: Final = ("(?=", "(?!", "(?<=", "(?<!")
_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_ANYTHING: Final = (".", "^", "$")
_SHORTEST: Final = 2
#: Of what a pattern may begin with.
_NOTHING: Final = ""
_UNKNOWN: Final = "unknown"

Group = frozenset[str]


@cache
def _separates(piece: str) -> bool:
    return _SEPARATOR.fullmatch(piece) is not None


def key_of_sign(sign: str) -> str:
    """Return what of a sign is compared: how a long word begins, all of a short one with its space."""
    return sign if len(sign) <= STEM and sign.endswith(" ") else sign[:STEM].rstrip()


def words_needed(pattern: str, *, is_whole: bool) -> list[Group]:
    """Return groups of beginnings of words: of each one must stand in whatever a pattern matches.

    Args:
        pattern: as tables of rules write it; a space is any white space.
        is_whole: whether it begins and ends where words do.
    """
    pieces = _PIECE.findall(pattern)
    return _Reader(pieces).choices(0, len(pieces), begins=is_whole, ends=is_whole)[0]


def first_letters(pattern: str) -> frozenset[str]:
    """Return with which characters whatever a pattern matches begins; none if it is not known."""
    pieces = _PIECE.findall(pattern)
    letters = _Reader(pieces).firsts(0, len(pieces))
    return frozenset() if _NOTHING in letters or _UNKNOWN in letters else frozenset(letters)


def _rarest(groups: list[Group]) -> Group:
    """Return the group whose shortest word is longest: short words stand in most texts."""
    if len(groups) == 1:
        return groups[0]
    return max(groups, key=lambda group: (min(map(len, group)), -len(group)), default=frozenset())


def _alone(letters: str, is_word: bool, is_whole: bool) -> list[Group]:
    """Return what letters need that begin a word or not, and are all of it or not."""
    if not is_word or not letters or not (is_whole or len(letters) >= _SHORTEST):
        return []
    return [frozenset((key_of_sign(letters + " " * is_whole),))]


class _Reader:
    """The pieces of a pattern, and where its groups end."""

    def __init__(self, pieces: list[str]) -> None:
        self.pieces = pieces
        self.closing: dict[int, int] = {}
        opened: list[int] = []
        for place, piece in enumerate(pieces):
            if piece[0] == "(":
                opened.append(place)
            elif piece == ")":
                self.closing[opened.pop()] = place

    def choices(self, start: int, stop: int, *, begins: bool, ends: bool) -> tuple[list[Group], bool]:
        """Return what each alternative between two places needs, and whether a word begins behind them."""
        bounds = [start]
        place = start
        while place < stop:
            if self.pieces[place] == "|":
                bounds.append(place + 1)
            place = self.closing.get(place, place) + 1
        bounds.append(stop + 1)
        parts = [self._sequence(first, last - 1, begins, ends) for first, last in pairwise(bounds)]
        if len(parts) == 1:
            return parts[0]
        rarest = [_rarest(groups) for groups, _ in parts]
        return ([frozenset().union(*rarest)] if all(rarest) else []), all(is_word for _, is_word in parts)

    def _sequence(self, start: int, stop: int, begins: bool, ends: bool) -> tuple[list[Group], bool]:
        """Return what one alternative needs, and whether a word begins behind it."""
        if stop == start + 1 and self.pieces[start][0] in _LETTERS:
            return _alone(self.pieces[start], begins, ends), False
        sequence = _Sequence(self, start, stop, begins, ends)
        return sequence.groups, sequence.is_word

    def firsts(self, start: int, stop: int) -> set[str]:
        """Return with what the alternatives between two places begin: characters, `_NOTHING`, `_UNKNOWN`."""
        found: set[str] = set()
        place = start
        open_set = {_NOTHING}  # what the alternative may begin with, as far as it was read
        while place < stop:
            after = self.closing.get(place, place) + 1
            if self.pieces[place] == "|":
                found |= open_set
                open_set = {_NOTHING}
            elif _NOTHING in open_set and self.pieces[place] not in _LOOKS and self.pieces[place] != r"\b":
                is_optional = after < stop and self.pieces[after].startswith(_OPTIONAL)
                letters = self._first_of(place)
                open_set = open_set - {_NOTHING} | letters | ({_NOTHING} if is_optional else set())
            place = after
        return found | open_set

    def _first_of(self, place: int) -> set[str]:
        piece = self.pieces[place]
        if piece[0] == "(":
            return self.firsts(place + 1, self.closing[place])
        if piece[0] == "[":
            return {_UNKNOWN} if piece[1] == "^" or re.search(r"[\\-]", piece) else set(piece[1:-1])
        if piece.startswith(_QUANTIFIERS) and piece != "{":
            return {_NOTHING}
        if piece[0] == "\\":
            return {_UNKNOWN} if piece[1].isalnum() else {piece[1]}
        return {_UNKNOWN} if piece in _ANYTHING else {piece[0]}

    def edge(self, place: int, stop: int, ends: bool) -> bool:
        """Say whether the word ends that ends before a place."""
        if place >= stop:
            return ends
        if place + 1 < stop and self.pieces[place + 1].startswith(_OPTIONAL):
            return False
        return _separates(self.pieces[place]) or self.whole(place) in _EDGES

    def whole(self, place: int) -> str:
        """Return a piece, or the group that it opens."""
        return "".join(self.pieces[place : self.closing.get(place, place) + 1])


class _Sequence:
    """One alternative, read from begin to end.

    Attributes:
        groups: what it needs.
        is_word: whether what follows it begins a word.
    """

    def __init__(self, reader: _Reader, start: int, stop: int, begins: bool, ends: bool) -> None:
        self.groups: list[Group] = []
        self.is_word = begins
        self._run = ""
        self._reader = reader
        place = start
        while place < stop:
            place = self._read(place, stop, ends)
        if self._run:
            self._close(is_whole=ends)

    def _read(self, place: int, stop: int, ends: bool) -> int:
        """Read one part of the pattern; return where the next one begins."""
        piece = self._reader.pieces[place]
        after = self._reader.closing.get(place, place) + 1
        quantifier = self._reader.pieces[after] if after < stop else ""
        if not quantifier.startswith(_QUANTIFIERS):
            quantifier = ""
        following = after + bool(quantifier)
        is_optional = quantifier.startswith(_OPTIONAL)
        if piece[0] in _LETTERS:
            if quantifier:
                self._letters(piece, is_end=quantifier == "?" and self._reader.edge(following, stop, ends))
            else:
                self._run += piece
        elif piece[0] == "(":
            is_end = not quantifier and self._reader.edge(following, stop, ends)
            self._group(place, after - 1, is_optional, is_end)
        elif piece == r"\b":
            self._edge()
        elif _separates(piece):
            self._close(is_whole=not is_optional)
            self.is_word = not is_optional
        else:
            self._close(is_whole=False)
        return following

    def _letters(self, letters: str, *, is_end: bool) -> None:
        """Read letters whose last one has a quantifier: with `is_end` it may be missing at the word's end."""
        self._run += letters[:-1]
        if is_end and self.is_word and self._run:
            both = (self._run + " ", self._run + letters[-1] + " ")
            self.groups.append(frozenset(map(key_of_sign, both)))
            self._run = ""
        self._close(is_whole=False)

    def _group(self, start: int, stop: int, is_optional: bool, ends: bool) -> None:
        piece = self._reader.pieces[start]
        if piece in _LOOKS:
            if self._reader.whole(start) in _EDGES:
                self._edge()
            return
        begins = self.is_word and not self._run
        self._close(is_whole=False)
        groups, is_word = self._reader.choices(start + 1, stop, begins=begins, ends=ends)
        self.groups += () if is_optional else groups
        self.is_word = is_word and (begins or not is_optional)

    def _edge(self) -> None:
        if self._run:
            self._close(is_whole=True)
        else:
            self.is_word = True

    def _close(self, *, is_whole: bool) -> None:
        """End the word that is being read; the next letters belong to none that is known."""
        self.groups += _alone(self._run, self.is_word, is_whole)
        self.is_word = False
        self._run = ""
