"""The piece of a document's text that shows why it was found."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from gitmem.analysis import count_terms, fold, is_spaceless

#: A snippet's length at most, in characters, its ellipses included.
SNIPPET_CHARS: Final = 240
_ELLIPSIS: Final = "…"
#: Characters before the first match, so that its context is seen.
_BEFORE: Final = 60
_WORD: Final = re.compile(r"[^\s]+")
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
    places = list(_matches(line, frozenset(terms)))
    start = _best_start(places, limit) if len(line) > limit else 0
    start, end = _window(line, start, limit)
    head = _ELLIPSIS if start else ""
    tail = _ELLIPSIS if end < len(line) else ""
    shift = len(head) - start
    marks = [(a + shift, b + shift) for a, b, _ in places if start <= a and b <= end]
    return Snippet(f"{head}{line[start:end]}{tail}", _joined(marks))


def _matches(line: str, terms: frozenset[str]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and term of each place where a term of the question stands."""
    for word in _WORD.finditer(line):
        if any(map(is_spaceless, word[0])):
            yield from _run_matches(word[0], word.start(), terms)
            continue
        found = terms.intersection(count_terms(word[0]).counts)
        if found:
            start, end = _core(word[0])
            yield word.start() + start, word.start() + end, min(found)


def _run_matches(run: str, offset: int, terms: frozenset[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the matches in text without spaces: pairs of characters, single ones, and words glued to them."""
    for at in range(len(run)):
        for piece in (run[at : at + 2], run[at]):
            folded = fold(piece)
            if folded in terms and all(map(is_spaceless, folded)):
                yield offset + at, offset + at + len(piece), folded
                break
    for word in re.finditer(r"[A-Za-z0-9_.:/+#-]+", run):
        found = terms.intersection(count_terms(word[0]).counts)
        if found:
            yield offset + word.start(), offset + word.end(), min(found)


def _core(word: str) -> tuple[int, int]:
    """Return where a word stands in what is between two spaces, without punctuation around it."""
    start, end = 0, len(word)
    while start < end and not word[start].isalnum():
        start += 1
    while end > start and not (word[end - 1].isalnum() or word[end - 1] in "+#"):
        end -= 1
    return (start, end) if start < end else (0, len(word))


def _best_start(places: list[tuple[int, int, str]], limit: int) -> int:
    """Return where the window begins that holds most different terms; of equal ones the first."""
    best, most = 0, 0
    room = limit - _BEFORE
    for index, (start, _, _) in enumerate(places):
        inside = set()
        for _, end, term in places[index : index + 40]:
            if end - start > room:
                break
            inside.add(term)
        if len(inside) > most:
            best, most = start, len(inside)
    return max(0, best - _BEFORE)


def _window(line: str, start: int, limit: int) -> tuple[int, int]:
    """Return the bounds of a window that splits neither words nor characters."""
    if len(line) <= limit:
        return 0, len(line)
    start = min(start, max(0, len(line) - limit + 1))
    if start:
        start = _next_break(line, start)
    room = limit - (1 if start else 0)
    if len(line) - start <= room:
        return start, len(line)
    return start, _previous_break(line, start + room - 1, start)


def _next_break(line: str, at: int) -> int:
    space = line.find(" ", at, at + 20)
    at = at if space < 0 else space + 1
    while at < len(line) and _continues(line[at]):
        at += 1
    return at


def _previous_break(line: str, at: int, start: int) -> int:
    space = line.rfind(" ", max(start, at - 20), at)
    at = at if space <= start else space
    while at > start + 1 and (_continues(line[at]) or line[at - 1] == "\u200d"):
        at -= 1
    return at


def _continues(char: str) -> bool:
    """Say whether a character belongs to the one before it: a mark, a joiner, a variation of an emoji."""
    return (
        bool(unicodedata.combining(char))
        or char in "\u200d\ufe0e\ufe0f"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
    )


def _joined(marks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return marks in order, overlapping and touching ones as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(marks):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
