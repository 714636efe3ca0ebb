"""How many tokens a text is to a model: never fewer than a tokenizer counts where a character costs much.

Weights are quarters of a token, set above what the vocabularies cl100k and o200k and Claude's published one
give for prose, identifiers, base64 and digits. A line's weight does not depend on
the lines around it, so texts that are joined by line feeds weigh what they weigh alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Final

#: Counts the tokens of a text.
Tokenizer = Callable[[str], int]

_QUARTERS: Final = 4
#: Letters of one case, or a capital and small ones: a tokenizer has most of them as one to three tokens.
_PIECE: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
#: From so many letters on a piece is no word that a vocabulary would have.
_WORD: Final = 12
#: What keys, hashes and encoded bytes look like; tokenizers need one token for 1.4 characters of it.
_OPAQUE: Final = re.compile(r"[A-Za-z0-9]{12,}")
_DIGITS: Final = "0123456789"
_OPAQUE_WEIGHT: Final = 3
_PUNCTUATION: Final = re.compile(r"[!-/:-@\[-`{-~]")
_RULE: Final = re.compile(r"(([!-/:-@\[-`{-~])\2{3,})")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_FOREIGN: Final = re.compile(r"[^\x00-\x7f]")
_LONGEST_CACHED: Final = 65_536

#: First code point -> quarters of a token per character, up to the next one. Bytes of UTF-8 are the ceiling.
_SCRIPTS: Final = (
    (0x80, 5),  # Latin with marks
    (0x100, 6),
    (0x180, 8),
    (0x250, 11),  # phonetic signs, which no space before them joins
    (0x370, 6),  # Greek
    (0x400, 3),  # Cyrillic
    (0x460, 10),  # its letters outside Russian
    (0x530, 9),  # Armenian
    (0x590, 8),  # Hebrew points
    (0x5D0, 5),  # Hebrew, Arabic
    (0x66E, 7),  # Arabic letters of other languages
    (0x700, 8),
    (0x800, 12),
    (0x900, 6),  # Devanagari
    (0x980, 8),  # other scripts of India, Thai
    (0xE80, 12),
    (0x10A0, 9),  # Georgian
    (0x1100, 12),
    (0x1E00, 8),  # Vietnamese
    (0x1F00, 8),
    (0x2010, 4),  # dashes, quotation marks, ellipsis
    (0x2028, 8),  # signs
    (0x2190, 10),  # arrows, mathematics
    (0x2500, 8),  # boxes
    (0x2600, 9),
    (0x2C00, 12),
    (0x3000, 6),  # punctuation and kana
    (0x3100, 12),  # among them Han and Hangul, whose frequent characters weigh less
    (0xFE00, 8),
    (0xFE10, 12),
    (0xFF00, 6),  # full width
    (0xFF61, 8),  # half width
    (0x10000, 16),
    (0x1F000, 12),  # emoji
    (0x1FB00, 16),
)
_FIRSTS: Final = [first for first, _ in _SCRIPTS]
#: Encoding -> first and last lead byte of its frequent characters, and what those weigh: the first that has
#: a character decides. Those of no list cost a token per byte.
_COMMON: Final = (
    ("gb2312", 0xB0, 0xD7, 7),
    ("gb2312", 0xD8, 0xF7, 12),
    ("big5", 0xA4, 0xC6, 9),
    ("shift_jis", 0x88, 0x98, 9),
    ("euc_kr", 0xB0, 0xC8, 7),
)
_RARE_WEIGHT: Final = 12


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text is, rather too many than too few.

    A longer text is never fewer: what is put before or behind a text adds to it. Never below a quarter of the
    characters.
    """
    return _estimate(text) if len(text) <= _LONGEST_CACHED else _rounded(_weight(text))


@lru_cache(maxsize=2048)
def _estimate(text: str) -> int:
    return _rounded(_weight(text))


def _rounded(weight: int) -> int:
    return -(-weight // _QUARTERS)


def _weight(text: str) -> int:
    """Return the weight of a text, in quarters of a token."""
    weight = len(text) + _letters(text)
    weight += 3 * (text.count("\n") + sum(map(text.count, _DIGITS)))
    weight += text.count("\t") + 2 * len(_PUNCTUATION.findall(text)) + 5 * len(_CONTROL.findall(text))
    weight -= 2 * sum(len(run) - 3 for run, _ in _RULE.findall(text))
    for run in _OPAQUE.findall(text):
        if sum(map(run.count, _DIGITS)) < 2:  # a word
            continue
        weight += max(0, _OPAQUE_WEIGHT * len(run) - _plain_weight(run))
    if not text.isascii():
        weight += sum(
            (_script_weight(char) - 1) * count for char, count in Counter(_FOREIGN.findall(text)).items()
        )
    return weight


def _plain_weight(run: str) -> int:
    """Return what letters and digits weigh, taken for words and numbers."""
    return len(run) + _letters(run) + 3 * sum(map(run.count, _DIGITS))


def _letters(text: str) -> int:
    """Return what pieces of words weigh above one for each letter: each is a token at least."""
    lengths = Counter(map(len, _PIECE.findall(text)))
    return sum(
        count * (max(0, _QUARTERS - length) + 2 * max(0, length - _WORD)) for length, count in lengths.items()
    )


@lru_cache(maxsize=8192)
def _script_weight(char: str) -> int:
    if "\u4e00" <= char < "\ua000" or "\uac00" <= char < "\ud7a4":
        return _common_weight(char)
    return _SCRIPTS[bisect_right(_FIRSTS, ord(char)) - 1][1]


def _common_weight(char: str) -> int:
    """Return what a character weighs that older standards sorted by how frequent it is."""
    for encoding, first, last, weight in _COMMON:
        with suppress(UnicodeEncodeError):
            if first <= char.encode(encoding)[0] <= last:
                return weight
    return _RARE_WEIGHT
