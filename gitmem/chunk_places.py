"""Where in a long address, path or identifier some of its terms stand."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Final

from gitmem.word_terms import index_terms

#: A longer word is marked only as far as it matched: nobody sees in it what was found.
LONGEST_WHOLE: Final = 60
#: So many places of a term in one chunk are looked at.
_MOST_LOOKED_AT: Final = 1_000
#: The beginning of a longer word is a term where it is one of a hash, or of a word that is cut.
_SHORTEST_BEGINNING: Final = 7
_WORD: Final = re.compile(r"[^\W_]+")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W_A-Za-z0-9]+")
#: What a term of several words is written without.
_JOINTS: Final = frozenset("-_'’")


def places_in(chunk: str, terms: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and term of the places of some of a chunk's terms; the whole chunk where none is.

    Args:
        chunk: a word or identifier, folded but for its case.
        terms: those that are looked for.
    """
    lowered, at = _without_joints(chunk)
    is_found = False
    for term in terms:
        for start, end in _places_of(chunk, term, lowered, at):
            is_found = True
            yield start, end, term
    if not is_found:
        yield 0, len(chunk), next(iter(terms))


def _without_joints(chunk: str) -> tuple[str, list[int]]:
    """Return a chunk as terms are written, and where each of its characters stands."""
    kept = [(char, place) for place, char in enumerate(chunk) if char not in _JOINTS]
    letters = [("/" if char == "\\" else char.lower(), place) for char, place in kept]
    text = "".join(letter for letter, _ in letters)
    return text, [place for letter, place in letters for _ in letter] + [len(chunk)]


def _places_of(chunk: str, term: str, lowered: str, at: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the places at which a term is written; without any, those of words that mean it."""
    is_found, found, last = False, lowered.find(term), 0
    for _ in range(_MOST_LOOKED_AT):
        if found < 0:
            break
        start, end = at[found], at[found + len(term) - 1] + 1
        place = _bounds(chunk, start, end, term) if start >= last else None
        if place is not None:
            is_found, last = True, place[1]
            yield place
        found = lowered.find(term, found + 1)
    if not is_found:
        words = islice(_WORD.finditer(chunk), _MOST_LOOKED_AT)
        yield from (word.span() for word in words if term in _terms(word[0]))


def _bounds(chunk: str, start: int, end: int, term: str) -> tuple[int, int] | None:
    """Return the bounds of the words that a place lies in, if these have the term; else it is chance."""
    left, right = start, end
    while left > max(0, start - LONGEST_WHOLE) and chunk[left - 1].isalnum():
        left -= 1
    while right < min(len(chunk), end + LONGEST_WHOLE) and chunk[right].isalnum():
        right += 1
    first = next((part.start() for part in _PART.finditer(chunk, left, right) if part.end() > start), start)
    last = next((part.end() for part in _PART.finditer(chunk, first, right) if part.end() >= end), right)
    for place in ((first, last), (left, right)):
        if place[1] - place[0] <= LONGEST_WHOLE and term in _terms(chunk[place[0] : place[1]]):
            return place
    is_beginning = start == left and right - left > LONGEST_WHOLE and len(term) >= _SHORTEST_BEGINNING
    return (start, end) if is_beginning else None


def _terms(text: str) -> Collection[str]:
    # Not through the cache: what is long is hardly met again.
    return index_terms.__wrapped__(text)[0]
