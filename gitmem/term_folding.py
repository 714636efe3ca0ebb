"""Letters that count as the same letter in a search, and the scripts that are written without spaces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Final

# Scripts of south-east Asia that are written without spaces (Thai, Lao, Burmese, Khmer, Tai), kana, bopomofo.
_SPELLED: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u109f\u1780-\u17d3\u17d7\u17dc\u17dd"
    "\u1950-\u19df\u1a20-\u1aad\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u312f\u31a0-\u31bf\u31f0-\u31ff"
)
# Han and Hangul: a character is a syllable with a meaning.
_SYLLABLES: Final = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3130-\u319f\u31c0-\u31ef\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
#: Characters of scripts without spaces, for a class of a pattern.
RUN_CLASS: Final = _SPELLED + _SYLLABLES
#: No character of `RUN_CLASS` comes before this one.
FIRST_RUN_CHAR: Final = "\u0e00"

# Emoji and the symbols that are used like them; skin tones are among them.
_EMOJI: Final = (
    "\u231a-\u23ff\u25aa-\u25fe\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001faff"
)
_TONES: Final = "\U0001f3fb-\U0001f3ff"
_ONE: Final = f"[{_EMOJI}][{_TONES}]?[\U000e0020-\U000e007f]*"
#: One emoji: joined ones (a family, a profession), flags of two letters, flags by tags.
EMOJI: Final = f"[\U0001f1e6-\U0001f1ff]{{1,2}}|{_ONE}(?:\u200d{_ONE})*"
#: No emoji begins before this one.
FIRST_EMOJI: Final = "\u231a"

# Accents of Latin, Greek and Cyrillic, vowel points of Semitic scripts, and marks that only shape text.
_SHAPING: Final = (
    "\u00ad\u0300-\u036f\u0483-\u0487\u034f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u061c"
    "\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u08d3-\u08e1"
    "\u08e3-\u08ff\u115f\u1160\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u2069\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\U000e0100-\U000e01ef"
)
_MARKS: Final = f"[{_SHAPING}]+"
# A joiner stays where it joins emoji: a family is one picture.
_LOOSE_JOINER: Final = f"\u200d(?![{_EMOJI}])|(?<![{_EMOJI}])(?<![{_EMOJI}]\ufe0f)\u200d"
# The digits 0 of other scripts; the other nine follow each of them.
_ZEROS: Final = (
    "\u0660\u06f0\u07c0\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0e50\u0ed0\u0f20\u1040\u1090\u17e0"
    "\u1810"
)
_LETTERS: Final[Mapping[str, str]] = {
    "ı": "i", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "ł": "l", "Ł": "L", "ħ": "h",
    "Ħ": "H", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "TH", "ŋ": "n", "Ŋ": "N",
    "ŧ": "t", "Ŧ": "T", "\u200b": " ", "\u2010": "-", "\u2212": "-", "\u05be": "-", "\u02bc": "'",
    # Arabic: forms of alef, ya, kaf and ha that are written for one another.
    "\u0671": "\u0627", "\u0649": "\u064a", "\u06cc": "\u064a", "\u06a9": "\u0643", "\u0629": "\u0647",
    "\u06c1": "\u0647", "\u06d5": "\u0647",
    **{chr(ord(zero) + digit): str(digit) for zero in _ZEROS for digit in range(10)},
}  # fmt: skip
_LETTER: Final = f"[{''.join(_LETTERS)}]"
_ESCAPE: Final = re.compile(r"\x1b\[[0-9;:?]*[A-Za-z]")
# What changes with the character before it; joined emoji together.
_FOLLOWING: Final = (
    f"{_SHAPING}{_TONES}\u0900-\u0903\u093a-\u094f\u1160-\u11ff\u3099\u309a\uff9e\uff9f\U000e0020-\U000e007f"
)
# First of all, characters that are what they are, many at once.
_CLUSTER: Final = (
    f"([ -~\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]+)(?![{_FOLLOWING}\u200d])"
    f"|(?s:.)[{_FOLLOWING}]*(?:\u200d(?s:.)[{_FOLLOWING}]*)*"
)


def fold(text: str) -> str:
    """Return `text` with compatibility forms, accents, and digits of all scripts folded; case is kept."""
    text = _without_colours(text)
    if text.isascii():
        return text
    text = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text))
    if "\u200d" in text:
        text = compiled(_LOOSE_JOINER).sub("", text)
    text = compiled(_MARKS).sub("", text)
    return unicodedata.normalize("NFC", compiled(_LETTER).sub(lambda found: _LETTERS[found[0]], text))


def fold_with_places(text: str) -> tuple[str, Sequence[int]]:
    """Return the folded text, and where in `text` each of its characters begins; last, where it ends."""
    text = _without_colours(text)
    folded = fold(text)
    if len(folded) == len(text) and unicodedata.is_normalized("NFKC", text):
        return folded, range(len(text) + 1)
    pieces: list[str] = []
    places: list[int] = []
    for cluster in compiled(_CLUSTER).finditer(text):
        piece = cluster[1] or fold(cluster[0])
        pieces.append(piece)
        places += range(*cluster.span()) if cluster[1] else [cluster.start()] * len(piece)
    if "".join(pieces) == folded:
        return folded, [*places, len(text)]
    # Text that composes across what was taken apart is rare: places near enough to show where it is.
    return folded, [at * len(text) // max(len(folded), 1) for at in range(len(folded) + 1)]


def _without_colours(text: str) -> str:
    """Return a text with spaces for what colours it in a terminal, and glues letters to its words."""
    return _ESCAPE.sub(lambda found: " " * len(found[0]), text) if "\x1b" in text else text


def is_spaceless(text: str) -> bool:
    """Say whether `text` begins with a character of a script that is written without spaces."""
    return text[:1] >= FIRST_RUN_CHAR and _is_of_run(text[0])


def is_syllable(char: str) -> bool:
    """Say whether a character without spaces around it has a meaning of its own."""
    return bool(compiled(f"[{_SYLLABLES}]").match(char))


def plain_emoji(emoji: str) -> str:
    """Return an emoji without its skin tones."""
    return compiled(f"(?<=.)[{_TONES}]").sub("", emoji)


@lru_cache(maxsize=20_000)
def _is_of_run(char: str) -> bool:
    return bool(compiled(f"[{RUN_CLASS}]").match(char))


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern that takes milliseconds to compile, for texts that need it."""
    return re.compile(pattern)
