"""Columns on a terminal: text in any script, filled up or cut to a width in cells."""

from __future__ import annotations

import unicodedata


def width_of(text: str) -> int:
    """Return how many cells of a terminal a text takes: a Chinese character takes two, an accent none."""
    return sum(map(_cells, text))


def fill(text: str, width: int) -> str:
    """Return a text filled up with spaces to a width; one that is wider stays as it is."""
    return text + " " * (width - width_of(text))


def cut(text: str, width: int) -> str:
    """Return a text cut to a width, with an ellipsis where something is missing."""
    if width_of(text) <= width:
        return text
    kept, used = "", 1
    for character in text:
        used += _cells(character)
        if used > width:
            break
        kept += character
    return kept.rstrip() + "…"


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Cf", "Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
