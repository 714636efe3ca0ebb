"""A scanner for tests that have to do with where findings are shown, not with which there are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class WordHit:
    """A word that must not be there."""

    rule: str
    start: int
    end: int


def find_words(text: str) -> Sequence[WordHit]:
    """Refuse the word `poison`, and `bad` followed by `seed` with anything but letters between."""
    rules = (("poison", r"poison"), ("bad_seed", r"bad[^a-z]+seed"))
    return [WordHit(rule, *match.span()) for rule, pattern in rules for match in re.finditer(pattern, text)]


def find_nothing(text: str) -> Sequence[WordHit]:
    """Refuse nothing."""
    return ()
