"""Where the words of a folded text stand, by how they begin: what cannot match need not be tried."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from operator import add
from typing import Final

#: How many letters of a word's beginning are compared before a pattern is tried.
STEM: Final = 6
PLAIN_WORD: Final = re.compile("[a-z0-9]+")
HAN: Final = re.compile("[\u4e00-\u9fff]")
#: Behind them no word of the same sentence stands.
_SENTENCE_END: Final = re.compile(r"[.!?;。](?:(?<!\.)|(?<!\.\.\.)(?![\w.]))")
_NO_MORE: Final = r"(?![a-z0-9])"
#: A word that stands so often is looked for by a pattern: setting one up costs more than a few places.
_FEW: Final = 16


def sentences_of(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the sentences of a folded text begin and end, as shapes of words take them."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        yield start, end.start()
        start = end.end()
    yield start, len(text)


def key_of(word: str) -> str:
    """Return how a word begins; a short one is whole and ends in a space."""
    return word[:STEM] if len(word) >= STEM else word + " "


def places_of(text: str, key: str) -> list[int]:
    """Return where in a folded text the words stand that begin like a key of `key_of`."""
    bare = key.rstrip()
    if text.count(bare) > _FEW:
        return [match.start() for match in _begun_by(key).finditer(text)]
    places = []
    place = text.find(bare)
    while place >= 0:
        if _begun_by(key).match(text, place):
            places.append(place)
        place = text.find(bare, place + 1)
    return places


def all_places(text: str) -> dict[str, list[int]]:
    """Return where in a folded text words stand, by how they begin."""
    places: dict[str, list[int]] = {}
    for word in PLAIN_WORD.finditer(text):
        places.setdefault(key_of(word[0]), []).append(word.start())
    return places


@lru_cache(maxsize=1 << 10)
def _begun_by(key: str) -> re.Pattern[str]:
    """Return the pattern of a word that begins like a key; it begins with a letter, which is found fast."""
    bare = key.rstrip()
    end = _NO_MORE if key.endswith(" ") else ""
    return re.compile(f"{bare[0]}(?<![a-z0-9]{bare[0]}){bare[1:]}{end}")


def pairs_of(text: str) -> frozenset[str]:
    """Return the pairs of neighbouring characters of a text; Chinese words are told by them."""
    return frozenset(map(add, text, text[1:]))


def has_chinese(text: str) -> bool:
    """Say whether a text holds Chinese characters."""
    return not text.isascii() and HAN.search(text) is not None
