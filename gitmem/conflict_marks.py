"""Marks of an unresolved merge in a text, and those among them that only stand in an example."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

#: What Git writes around a clash: seven of each, at the start of a line, the middle one alone on its line.
_OURS: Final = re.compile(rb"<{7}(?: .*)?")
_BASE: Final = re.compile(rb"\|{7}(?: .*)?")
_MIDDLE: Final = re.compile(rb"={7}")
_THEIRS: Final = re.compile(rb">{7}(?: .*)?")
#: A fence of CommonMark; an opening one of backticks has none behind it.
_FENCE: Final = re.compile(rb" {0,3}(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<rest>.*)")
_LINE_BREAK: Final = re.compile(rb"\r\n?|\n")
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Clash:
    """A stretch between the marks of a clash, all three in their order.

    Attributes:
        line: of the first mark, from 1.
        content: the stretch, its lines ended by LF.
        is_fenced: it lies in one fenced block of code, which ends behind it.
    """

    line: int
    content: bytes
    is_fenced: bool

    def is_between(self, ours: bytes, theirs: bytes) -> bool:
        """Say whether its two sides are parts of two texts, as they are where Git wrote the marks."""
        lines = self.content.split(b"\n")
        middle = next(number for number, line in enumerate(lines) if _MIDDLE.fullmatch(line))
        end = next((number for number, line in enumerate(lines[:middle]) if _BASE.fullmatch(line)), middle)
        return _has(ours, lines[1:end]) and _has(theirs, lines[middle + 1 : -1])


def _has(text: bytes, lines: Sequence[bytes]) -> bool:
    part = b"".join(b"\n" + line for line in lines) + b"\n"
    return part in b"\n" + b"\n".join(_LINE_BREAK.split(text)) + b"\n"


def find_clashes(content: bytes) -> Iterator[Clash]:
    """Yield the clashes in a file's bytes."""
    if b"<<<<<<<" not in content:
        return
    lines = _LINE_BREAK.split(content.removeprefix(_BOM))
    fenced = list(_fenced_blocks(lines))
    for first, last in _stretches(lines):
        is_fenced = any(start < first and last < end for start, end in fenced)
        yield Clash(first + 1, b"\n".join(lines[first : last + 1]), is_fenced)


def _stretches(lines: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    start: int | None = None
    has_middle = False
    for number, line in enumerate(lines):
        if _OURS.fullmatch(line):
            start, has_middle = number, False
        elif start is not None and _MIDDLE.fullmatch(line):
            has_middle = True
        elif start is not None and has_middle and _THEIRS.fullmatch(line):
            yield start, number
            start = None


def _fenced_blocks(lines: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield the numbers of the two fence lines of each block that is closed."""
    opened: tuple[int, bytes] | None = None
    for number, line in enumerate(lines):
        found = _FENCE.fullmatch(line)
        if found is None:
            continue
        if opened is None:
            opened = number, found["fence"]
        elif found["fence"].startswith(opened[1]) and not found["rest"].strip():
            yield opened[0], number
            opened = None
