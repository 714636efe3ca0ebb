"""Readings of text that is spelled to get past rules: digits for letters, letters set apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Final

from gitmem.text_folding import FoldedText, fold
from gitmem.threat_shapes import compiled

_DIGIT_LETTERS: Final = str.maketrans("013457@$!|", "oieastasil")
#: A word with digits or signs inside, such as `1gn0re`; a number, an id or a version has fewer letters.
_DIGIT_WORD: Final = (
    r"(?<![\w@$!|./-])(?=[\w@$!|]{0,24}[a-z])(?=[a-z]{0,24}[013457@$!|])[a-z013457@$!|]{3,24}(?![\w@$|/-])"
)
_MAYBE_DIGIT_WORD: Final = "[013457@$!|][a-z]"
_APART: Final = (
    r"(?<![^\W_])[a-z](?:[ ._*·|~-]{1,3}+[a-z](?![^\W_])){4,}|[\u4e00-\u9fff](?:[ ._*·|"
    r"~-]{1,2}+[\u4e00-\u9fff]){3,}"
)
#: Quick to look for, and in every stretch of letters set apart.
_MAYBE_APART: Final = (
    r"[ ._*·|~-](?:[a-z][ ._*·|~-]{1,3}+[a-z](?![a-z])|[\u4e00-\u9fff][ ._*·|~-]{1,2}+[\u4e00-\u9fff]["
    r" ._*·|~-])"
)
_GAP: Final = "[ ._*·|~-]+"
#: A character as HTML may spell it.
_ENTITY: Final = (
    r"&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|nbsp|shy|zwj|zwnj|ensp|emsp|thinsp|lt|gt|amp|quot|apos|period|comma);"
)
#: A comment, or a hyphen inside a word, which tears key words apart.
_TORN: Final = r"<!--(?:(?!<!--)[^>]){0,40}-->|(?<=[a-z])-(?=[a-z])"
_MAYBE_TORN: Final = r"-->[a-z]|-(?:regard|gard|nore|vious|struc|get|ride|lier|rule|tions|guide)"


class Reading(FoldedText):
    """A text read otherwise; its places are those of the letters it was read from."""

    __slots__ = ("_folded", "_places")

    def __init__(self, folded: FoldedText, text: str, places: list[int] | None) -> None:
        super().__init__(folded.original, text)
        self._folded = folded
        self._places = places

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original that a span of the reading came from."""
        if self._places is None:
            return self._folded.origin(start, end)
        return self._folded.origin(self._places[start], self._places[end - 1] + 1)


def disguised_readings(folded: FoldedText, is_news: Callable[[str], bool]) -> Iterator[Reading]:
    """Yield what a text says if digits stand for letters, and if letters set apart belong together.

    Args:
        folded: the text.
        is_news: says whether a word with letters for its digits says something that the text does not.
    """
    text = folded.text
    if compiled(_MAYBE_DIGIT_WORD).search(text) and any(map(is_news, _digit_words(text))):
        plain = compiled(_DIGIT_WORD).sub(lambda word: word[0].translate(_DIGIT_LETTERS), text)
        yield Reading(folded, plain, None)
    if compiled(_MAYBE_TORN).search(text):
        yield _without(folded, _TORN, lambda torn: " " if torn.startswith("<") else "")
    if "&" in text and compiled(_ENTITY).search(text):
        yield _decoded(folded)
    if compiled(_MAYBE_APART).search(text) and compiled(_APART).search(text):
        yield _joined(folded)


def _digit_words(text: str) -> set[str]:
    return {word.translate(_DIGIT_LETTERS) for word in compiled(_DIGIT_WORD).findall(text)}


def _joined(folded: FoldedText) -> Reading:
    return _without(folded, _APART, _words_of)


def _words_of(run: str) -> str:
    """Return letters set apart as words; the wider gaps are between words, or those without a sign."""
    gaps: set[str] = set(compiled(_GAP).findall(run))
    plain = {gap for gap in gaps if not gap.strip()}
    if plain == gaps:
        plain = {gap for gap in gaps if len(gap) > 1} if min(map(len, gaps), default=0) == 1 else set()
    return compiled(_GAP).sub(lambda gap: " " if gap[0] in plain else "", run)


def _decoded(folded: FoldedText) -> Reading:
    return _without(folded, _ENTITY, lambda entity: fold(unescape(entity)).text)


def _without(folded: FoldedText, pattern: str, plain: Callable[[str], str]) -> Reading:
    """Return the reading in which `plain` replaces what a pattern matches; it only leaves characters out."""
    text = folded.text
    parts: list[str] = []
    places: list[int] = []
    end = 0
    for run in compiled(pattern).finditer(text):
        rest = plain(run[0])
        parts += [text[end : run.start()], rest]
        places += range(end, run.start())
        places += _places(run, rest)
        end = run.end()
    parts.append(text[end:])
    places += range(end, len(text))
    return Reading(folded, "".join(parts), places)


def _places(run: re.Match[str], rest: str) -> Iterator[int]:
    """Yield where the characters that are left of a match stood; one that was put in stands at its begin."""
    place = run.start()
    for letter in rest:
        found = run.string.find(letter, place, run.end())
        yield found if found >= 0 else run.start()
        place = found + 1 if found >= 0 else place
