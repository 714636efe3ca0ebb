"""What ranking knows of a document besides its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.traits import ASKS, KEPT, MESSAGE, SHARE_SHIFT, TELLS_TIME, question_share, traits_of


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("message", "It works.", MESSAGE),
        ("message", "It works. Does it?", MESSAGE | ASKS | 500 << SHARE_SHIFT),
        ("message", "Yesterday it did.", MESSAGE | TELLS_TIME),
        ("note", "昨天去了公园。你呢？", KEPT | ASKS | TELLS_TIME | 250 << SHARE_SHIFT),
        ("tool_execution", "ls", 0),
        ("entry", "", KEPT),
    ],
)
def test_traits(kind: str, text: str, expected: int) -> None:
    """Bits for what a document is and holds, and above them its share of questions in thousandths."""
    assert traits_of(kind, text) == expected


@given(st.text())
def test_a_share_is_a_share(text: str) -> None:
    """Whatever is in a text."""
    assert 0.0 <= question_share(text) <= 1.0


@given(st.text(), st.sampled_from(["message", "note", "task"]))
def test_a_columns_number_holds_all_traits(kind: str, text: str) -> None:
    """Columns hold signed numbers of 64 bits."""
    assert 0 <= traits_of(text, kind) < 2**63
