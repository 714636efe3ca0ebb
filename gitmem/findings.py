"""What the scanner found in a text."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

#: Hex digits of the mark by which an allow list names one text.
MARK_LENGTH: Final = 12


def text_mark(text: str) -> str:
    """Return the part of an allow list's entry that names one text."""
    return sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()[:MARK_LENGTH]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that stands against storing a text or showing it to a model.

    Attributes:
        rule: its id.
        scope: the narrowest scope that holds the rule.
        reason: one sentence for people; it repeats nothing of the text.
        start: offset in the text, as it was given, where the match begins.
        end: offset behind it.
    """

    rule: str
    scope: str
    reason: str
    start: int
    end: int
