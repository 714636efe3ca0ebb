"""What the scanner found in a text."""

from __future__ import annotations

from dataclasses import dataclass


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
