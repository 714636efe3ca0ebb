"""The parts of a text that the scanner refuses, each the unit that a machine's allow list can name.

The same units hold wherever a text is judged: a store entry by entry, any other text paragraph by paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gitmem.authored_text import LINE_BREAK, line_at
from gitmem.entries import parse_store
from gitmem.findings import Finding, text_mark

#: Returns what is wrong with a text, without what this machine allows.
Judge = Callable[[str], Sequence[Finding]]

_NOT_BREAKS: Final = re.compile(r"[^\r\n]")


@dataclass(frozen=True, slots=True)
class BlockedPart:
    """An entry, or a stretch of paragraphs, that the scanner refuses.

    Attributes:
        start, end: in the text that was looked through; an entry of a store has none of its own.
        first: number of its first line in the file, from 1.
        text: of the part.
        hits: what was found in it, by offset; offsets are those in the part's text.
    """

    start: int
    end: int
    first: int
    text: str
    hits: tuple[Finding, ...]

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that it breaks, once each."""
        return tuple(dict.fromkeys(hit.rule for hit in self.hits))

    @property
    def line(self) -> int:
        """The line, in the file, of the first thing that was found."""
        return min(self.line_of(hit) for hit in self.hits)

    @property
    def mark(self) -> str:
        """Stands for its text in a machine's allow list."""
        return text_mark(self.text)

    def line_of(self, hit: Finding) -> int:
        """Return the line, in the file, on which a hit begins."""
        return self.first + line_at(self.text, hit.start) - 1


def find_blocked_entries(text: str, judge: Judge) -> tuple[BlockedPart, ...]:
    """Return the entries of a store's text that the scanner refuses."""
    parts = (BlockedPart(0, 0, one.line, one.text, tuple(judge(one.text))) for one in parse_store(text))
    return tuple(part for part in parts if part.hits)


def find_blocked(text: str, judge: Judge, *, line: int = 1) -> tuple[BlockedPart, ...]:
    """Return the paragraphs of a text that the scanner refuses, those together that it refuses together.

    Args:
        text: what a prompt may get.
        judge: the scanner; it sees each paragraph by itself too, so that one can be allowed.
        line: number of the text's first line.
    """
    if not judge(text):
        return ()
    spans = list(_paragraphs(text))
    found: dict[tuple[int, int], Sequence[Finding]] = {}
    for number, (start, end) in enumerate(spans):
        _note(found, (number, number), judge(text[start:end]))
    _find_joined(text, spans, judge, found)
    parts = []
    for (first, last), hits in sorted(found.items()):
        start, end = spans[first][0], spans[last][1]
        at = line + line_at(text, start) - 1
        parts.append(BlockedPart(start, end, at, text[start:end], tuple(hits)))
    return tuple(parts)


def _find_joined(
    text: str,
    spans: Sequence[tuple[int, int]],
    judge: Judge,
    found: dict[tuple[int, int], Sequence[Finding]],
) -> None:
    """Find what is refused only because of how several paragraphs read together."""
    hidden = [(spans[first][0], spans[last][1]) for first, last in found]
    while True:
        masked = text
        for start, end in hidden:
            masked = masked[:start] + _NOT_BREAKS.sub(".", masked[start:end]) + masked[end:]
        # One finding of each rule at most: what was looked at is hidden, so that the next one shows.
        fresh = [hit for hit in judge(masked) if (hit.start, hit.end) not in hidden]
        if not fresh:
            return
        for hit in fresh:
            hidden.append((hit.start, hit.end))
            group = [n for n, (start, end) in enumerate(spans) if start < hit.end and end > hit.start]
            if len(group) > 1:
                hidden.append(_join(text, spans, judge, found, (group[0], group[-1], hit)))


def _join(
    text: str,
    spans: Sequence[tuple[int, int]],
    judge: Judge,
    found: dict[tuple[int, int], Sequence[Finding]],
    group: tuple[int, int, Finding],
) -> tuple[int, int]:
    """Note paragraphs that are refused together, with those between them that are refused anyway."""
    first, last, hit = group
    inside = [key for key in found if key[0] <= last and key[1] >= first]
    key = min([first, *(one[0] for one in inside)]), max([last, *(one[1] for one in inside)])
    start, end = spans[key[0]][0], spans[key[1]][1]
    hits = tuple(judge(text[start:end]))
    if inside and all(one.rule != hit.rule for one in hits):  # it shows only where the others are hidden
        hits = (*hits, replace(hit, start=hit.start - start, end=hit.end - start))
    for one in inside:
        del found[one]
    _note(found, key, hits)
    return start, end


def _note(
    found: dict[tuple[int, int], Sequence[Finding]], key: tuple[int, int], hits: Sequence[Finding]
) -> None:
    if hits:
        found[key] = hits


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of lines that are not blank, without the white space around it."""
    start: int | None = None
    at = 0
    end = 0
    for line in LINE_BREAK.split(text):
        if line.strip():
            if start is None:
                start = at + len(line) - len(line.lstrip())
            end = at + len(line.rstrip())
        elif start is not None:
            yield start, end
            start = None
        at += len(line)
        at += 2 if text.startswith("\r\n", at) else 1
    if start is not None:
        yield start, end
