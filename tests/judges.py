"""A scanner for tests that have to do with where findings are shown, not with which there are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gitmem.findings import Finding


def find_words(text: str) -> Sequence[Finding]:
    """Refuse the word `poison`, and `bad` followed by `seed` with anything but letters between."""
    rules = (("poison", r"poison"), ("bad_seed", r"bad[^a-z]+seed"))
    return [
        Finding(rule, "all", "It is a word of this test.", *match.span())
        for rule, pattern in rules
        for match in re.finditer(pattern, text)
    ]


def find_nothing(text: str) -> Sequence[Finding]:
    """Refuse nothing."""
    return ()
