"""How many of what, in words: `1 turn`, `2 turns`."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number and what is counted, in the singular where it is one.

    Args:
        count: how many.
        noun: what one of them is called.
        plural: what several are called; by default with an `s`.
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
