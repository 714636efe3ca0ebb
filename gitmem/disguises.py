"""Readings of text that is spelled to get past rules: digits for letters, letters set apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gitmem.text_folding import FoldedText

_DIGIT_LETTERS: Final = str.maketrans("013457@$!|", "oieastasil")
#: A word with digits or signs inside, such as `1gn0re`; a number, an id or a version has fewer letters.
_DIGIT_WORD: Final = re.compile(
    r"(?<![\w@$!|./-])(?=[\w@$!|]{0,24}[a-z])(?=[a-z@$!|]{0,24}[013457@$!|])[a-z013457@$!|]{3,24}(?![\w@$|/-])"
)
_MANY_DIGIT_WORDS: Final = 2
_APART: Final = re.compile(r"(?<![^\W_])[a-z](?:([ ._*·|~-]{1,2}+)[a-z]){4,}(?![^\W_])")
_GAP: Final = re.compile(r"[ \n]{2,}|\n")


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


def disguised_readings(folded: FoldedText) -> Iterator[Reading]:
    """Yield what a text says if digits stand for letters, and if letters set apart belong together."""
    text = folded.text
    count = 0
    for _ in _DIGIT_WORD.finditer(text):
        count += 1
        if count >= _MANY_DIGIT_WORDS:
            plain = _DIGIT_WORD.sub(lambda word: word[0].translate(_DIGIT_LETTERS), text)
            yield Reading(folded, plain, None)
            break
    if _APART.search(text):
        yield _joined(folded)


def _joined(folded: FoldedText) -> Reading:
    text = folded.text
    parts: list[str] = []
    places: list[int] = []
    end = 0
    for run in _APART.finditer(text):
        parts.append(text[end : run.start()])
        places += range(end, run.start())
        letters = [place for place in range(run.start(), run.end()) if "a" <= text[place] <= "z"]
        parts.append("".join(text[place] for place in letters))
        places += letters
        end = run.end()
    parts.append(text[end:])
    places += range(end, len(text))
    return Reading(folded, "".join(parts), places)
