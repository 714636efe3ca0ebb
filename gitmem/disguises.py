"""Readings of text that is spelled to get past rules: digits for letters, letters set apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from html import unescape
from typing import Final

from gitmem.text_folding import FoldedText, fold
from gitmem.threat_shapes import compiled

_DIGIT_LETTERS: Final = str.maketrans("013457@$!|", "oieastasil")
#: A word with digits or signs inside, such as `1gn0re`; a number, an id or a version has fewer letters.
_DIGIT_WORD: Final = (
    r"(?<![\w@$!|./-])(?=[\w@$!|]{0,24}[a-z])(?=[a-z]{0,24}[013457@$!|])([a-z013457@$!|]{3,24})(?![\w@$|/-])"
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
_GAPS: Final = "([ ._*·|~-]+)"
#: A character as HTML may spell it.
_ENTITY: Final = (
    r"&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|nbsp|shy|zwj|zwnj|ensp|emsp|thinsp|lt|gt|amp|quot|apos|period|comma);"
)
#: A comment, or a hyphen inside a word, which tears key words apart.
_TORN: Final = r"<!--(?:(?!<!--)[^>]){0,40}-->|(?<=[a-z])-(?=[a-z])"
_MAYBE_TORN: Final = r"-->[a-z]|-(?:regard|gard|nore|vious|struc|get|ride|lier|rule|tions|guide)"


class Reading(FoldedText):
    """A text read otherwise; its places are those of the letters it was read from."""

    __slots__ = ("_find_places", "_folded", "_places")

    def __init__(self, folded: FoldedText, text: str, places: Callable[[], list[int]] | None) -> None:
        super().__init__(folded.original, text)
        self._folded = folded
        self._find_places = places
        self._places: list[int] | None = None

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original that a span of the reading came from."""
        if self._find_places is None:
            return self._folded.origin(start, end)
        if self._places is None:
            self._places = self._find_places()
        return self._folded.origin(self._places[start], self._places[end - 1] + 1)


def disguised_readings(folded: FoldedText, are_news: Callable[[set[str]], bool]) -> Iterator[Reading]:
    """Yield what a text says if digits stand for letters, and if letters set apart belong together.

    Args:
        folded: the text.
        are_news: says whether words, with letters for their digits, say something that the text does not.
    """
    text = folded.text
    if compiled(_MAYBE_DIGIT_WORD).search(text) and (plain := _lettered(text, are_news)) is not None:
        yield Reading(folded, plain, None)
    if compiled(_MAYBE_TORN).search(text):
        yield _without(folded, _TORN, lambda torn: " " if torn.startswith("<") else "")
    if "&" in text and compiled(_ENTITY).search(text):
        yield _decoded(folded)
    if compiled(_MAYBE_APART).search(text) and compiled(_APART).search(text):
        yield _joined(folded)


def _lettered(text: str, are_news: Callable[[set[str]], bool]) -> str | None:
    """Return a text with letters for the digits in its words; nothing if those words are no news."""
    parts = compiled(_DIGIT_WORD).split(text)
    # Translated all at once: one by one takes longer than all else.
    words = "\n".join(parts[1::2]).translate(_DIGIT_LETTERS).split("\n")
    if len(parts) == 1 or not are_news(set(words)):
        return None
    parts[1::2] = words
    return "".join(parts)


def _joined(folded: FoldedText) -> Reading:
    return _without(folded, _APART, _words_of)


def _words_of(run: str) -> str:
    """Return letters set apart as words; the wider gaps are between words, or those without a sign."""
    parts = compiled(_GAPS).split(run)
    gaps = set(parts[1::2])
    plain = {gap for gap in gaps if not gap.strip()}
    if plain == gaps:
        plain = {gap for gap in gaps if len(gap) > 1} if min(map(len, gaps), default=0) == 1 else set()
    between = {gap: " " if gap in plain else "" for gap in gaps}
    parts[1::2] = map(between.__getitem__, parts[1::2])
    return "".join(parts)


def _decoded(folded: FoldedText) -> Reading:
    return _without(folded, _ENTITY, lambda entity: fold(unescape(entity)).text)


def _without(folded: FoldedText, pattern: str, plain: Callable[[str], str]) -> Reading:
    """Return the reading in which `plain` replaces what a pattern matches; it only leaves characters out."""
    runs = [(run.start(), run.end(), plain(run[0])) for run in compiled(pattern).finditer(folded.text)]
    parts: list[str] = []
    done = 0
    for start, end, rest in runs:
        parts += folded.text[done:start], rest
        done = end
    parts.append(folded.text[done:])
    return Reading(folded, "".join(parts), partial(_places, folded.text, runs))


def _places(text: str, runs: list[tuple[int, int, str]]) -> list[int]:
    """Return where the characters stood that are left; one that was put in stands where its run began."""
    places: list[int] = []
    done = 0
    for start, end, rest in runs:
        places += range(done, start)
        done = end
        place = start
        for letter in rest:
            found = text.find(letter, place, end)
            places.append(found if found >= 0 else start)
            place = found + 1 if found >= 0 else place
    places += range(done, len(text))
    return places
