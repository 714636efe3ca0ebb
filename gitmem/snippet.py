"""The piece of a document's text that shows why it was found."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.analysis import chunk_pattern
from gitmem.chunk_places import LONGEST_WHOLE, places_in
from gitmem.graphemes import cut_at
from gitmem.term_folding import fold_with_places, is_spaceless
from gitmem.word_terms import index_terms, pair_terms

#: A snippet's length at most, in characters, its ellipses included.
SNIPPET_CHARS: Final = 240
_ELLIPSIS: Final = "…"
#: Characters before the first match, so that its context is seen.
_BEFORE: Final = 60
#: A window begins and ends at a space, if there is one so many characters away.
_NEAR: Final = 20
_SPACES: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of text.

    Attributes:
        highlights: where the words of the question stand in it: start and end.
    """

    text: str
    highlights: list[tuple[int, int]]


def make_snippet(text: str, terms: Collection[str], limit: int = SNIPPET_CHARS) -> Snippet:
    """Return the piece of `text` that holds most of a question's terms, on one line.

    Args:
        text: of the document.
        terms: as the analyzer gives them.
        limit: length at most, in characters.
    """
    line = _SPACES.sub(" ", text).strip()
    matches = list(_matches(line, frozenset(terms)))
    start, end = _window(line, _best_start(matches, limit), limit) if len(line) > limit else (0, len(line))
    head = _ELLIPSIS if start else ""
    tail = _ELLIPSIS if end < len(line) else ""
    shift = len(head) - start
    marks = [(max(a, start) + shift, min(b, end) + shift) for a, b, _ in matches if a < end and start < b]
    return Snippet(f"{head}{line[start:end]}{tail}", _joined(marks))


#: Start, end and term of a place where a term of the question stands.
_Match = tuple[int, int, str]


def _matches(line: str, terms: frozenset[str]) -> Iterator[_Match]:
    folded, places = fold_with_places(line)
    for start, end, term in _folded_matches(folded, terms):
        # A part of what one character folds to is that character.
        last = next(at for at in range(end, len(places)) if places[at] > places[start])
        yield _without_split(line, places[start], places[last], term)


def _folded_matches(folded: str, terms: frozenset[str]) -> Iterator[_Match]:
    before: re.Match[str] | None = None
    has_runs = not folded.isascii()
    for match in chunk_pattern(folded).finditer(folded):
        chunk = match[0]
        if has_runs and is_spaceless(chunk):
            yield from _run_matches(chunk, match.start(), terms)
            before = None
            continue
        if before is not None and (chunk < ":") is not (before[0] < ":"):
            pair = (term for term in pair_terms(before[0], chunk) if term in terms)
            yield from ((before.start(), match.end(), term) for term in pair)
        own = index_terms(chunk)[0]
        if not terms.isdisjoint(own):
            held = [term for term in own if term in terms]
            if len(chunk) <= LONGEST_WHOLE:
                yield match.start(), match.end(), held[0]
            else:
                shift = match.start()
                yield from ((shift + a, shift + b, term) for a, b, term in sorted(places_in(chunk, held)))
        before = match


def _run_matches(run: str, offset: int, terms: frozenset[str]) -> Iterator[_Match]:
    """Yield the matches in text without spaces: pairs of characters, and single ones."""
    for at, char in enumerate(run):
        if _is_mark(char):  # it is marked with its letter
            continue
        for piece in (run[at : at + 2], char):
            if piece in terms:
                yield offset + at, offset + at + len(piece), piece
                break


def _without_split(line: str, start: int, end: int, term: str) -> _Match:
    """Return a match with the marks of its first and last letter."""
    while start > 0 and _is_mark(line[start]):
        start -= 1
    while end < len(line) and _is_mark(line[end]):
        end += 1
    return start, end, term


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"


def _best_start(matches: Sequence[_Match], limit: int) -> int:
    """Return where the window begins that holds most different terms; of equal ones the first."""
    room = limit - _BEFORE
    best, most, last = 0, 0, 0
    inside: Counter[str] = Counter()
    for start, _, term in matches:
        while last < len(matches) and matches[last][1] - start <= room:
            inside[matches[last][2]] += 1
            last += 1
        if len(inside) > most:
            best, most = start, len(inside)
        inside[term] -= 1
        if inside[term] <= 0:
            del inside[term]
    return max(0, best - _BEFORE)


def _window(line: str, start: int, limit: int) -> tuple[int, int]:
    """Return the bounds of a window that splits neither words, if it can be helped, nor characters."""
    start = min(start, len(line) - limit + 1)
    if start:
        space = line.find(" ", start, start + _NEAR)
        start = cut_at(line, start if space < 0 else space + 1)
    room = limit - (1 if start else 0)
    if len(line) - start <= room:
        return start, len(line)
    most = start + room - 1
    space = line.rfind(" ", max(start + 1, most - _NEAR), most + 1)
    end = cut_at(line, most if space < 0 else space)
    return start, end if end > start else most


def _joined(marks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return marks in order, overlapping and touching ones as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(marks):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
