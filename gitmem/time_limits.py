"""The times between which a search looks: points in time, or what a question would name them by.

`last week` begins at its first second where something is asked for since then, and ends at its last one where
it is asked for until then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from gitmem.asked_dates import AskedDate, find_dates
from gitmem.date_pieces import find_pieces
from gitmem.errors import UsageError
from gitmem.times import parse_until, parse_when

#: A time may be made of so many pieces.
_MOST_PIECES: Final = 8
#: What may stand beside the pieces of a time; anything else was meant to say something.
_BESIDE: Final = re.compile(
    r"(?:[\s,，、~–—-]|\b(?:since|after|before|until|till|by|in|on|the|of|between|and|from|to|through)\b"
    r"|[从從在到至和与與的]|以来|以來|之间|之間|之前|以前|之后|以后|之後|以後)*",
    re.IGNORECASE,
)
_HINT: Final = "Use 2026-11-30, 2026-11, 2026-11-30T09:15Z, '2 days ago', yesterday, 'last week', 'May 2026'."


def read_since(text: str, now: float) -> float:
    """Return the first point in time of what a person names, as seconds since 1970.

    Args:
        text: as `parse_when` takes it, or a day, week, month or year as a question may name it.
        now: seconds since 1970; days are UTC days.

    Raises:
        UsageError: the words are no time.
    """
    try:
        return parse_when(text, now)
    except UsageError as error:
        return float(min(one.start for one in _named(text, now, error)))


def read_until(text: str, now: float) -> float:
    """Return the last point in time of what a person names; see `read_since`."""
    try:
        return parse_until(text, now)
    except UsageError as error:
        return max(one.end for one in _named(text, now, error)) - 0.001


def _named(text: str, now: float, error: UsageError) -> Sequence[AskedDate]:
    today = datetime.fromtimestamp(now, UTC).date()
    # A month or a year alone is one here, where nothing else is asked for.
    for words in (text, f"in {text}"):
        found = find_dates(words, now)
        if found is None:
            continue
        rest, at = [], 0
        for piece in find_pieces(words, today, _MOST_PIECES):
            rest.append(words[at : piece.start])
            at = max(at, piece.end)
        if _BESIDE.fullmatch(" ".join([*rest, words[at:]])):
            return found.dates
    raise UsageError(error.message, hint=_HINT) from error
