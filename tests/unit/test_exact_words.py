"""Whether a text holds the very words that were typed."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.exact_words import exact_words, holds_all


@pytest.mark.parametrize(
    ("query", "text", "holds"),
    [
        ("ADR-016", "see ADR-016.", True),
        ("adr-016", "see ADR-016, twice", True),
        ("ADR-016", "see ADR-016-b", False),
        ("ADR-016", "see ADR 016", False),
        ("main.py", "open main.py", True),
        ("main.py", "open src/main.py", False),
        ("C++", "write C++.", True),
        ("C", "write C++", False),
        ("cafe", "a café", False),
        ("café", unicodedata.normalize("NFD", "a CAFÉ"), True),
        ("strasse", "Straße", False),
        ("file", "ﬁle", False),
        ("tool", "tools", False),
        ("记忆", "他的记忆力", True),
        ("staging, port?", "the staging (port)", True),
        ("staging port", "staging", False),
        ("v2.3.1", "at v2.3.1!", True),
        ("v2.3.1", "at v2.3.10 and v2.3.1-rc1", False),
        ("👍", "good 👍", True),
        ("👍", "good 👍🏽", False),
        ("👍🏽", "good👍🏽", True),
        ("👧", "👩\u200d👧", False),
        ("🇩🇪", "in 🇩🇪.", True),
    ],
)
def test_words(query: str, text: str, holds: bool) -> None:
    """Accents, joints and endings count; case and punctuation around a word do not."""
    assert holds_all(text, exact_words(query)) == holds


def test_a_long_question_is_no_name() -> None:
    """Nobody looks a sentence up; it has no exact form."""
    assert exact_words("one two three four five six seven eight nine") == ()


@given(st.text(max_size=200), st.text(max_size=200))
def test_never_fails(query: str, text: str) -> None:
    """Any query is compared with any text."""
    assert holds_all(text, exact_words(query)) in (True, False)
