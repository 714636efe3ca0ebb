"""Cursors: a place in an order as opaque text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import UsageError
from gitmem.search_reply import format_cursor, parse_cursor

NUMBERS = st.floats(allow_nan=False)


@given(st.tuples(st.sampled_from([0, 1]), NUMBERS, NUMBERS, st.text()))
def test_round_trip(place: tuple[int, float, float, str]) -> None:
    """A cursor stands for its place exactly, and is safe in an address or on a command line."""
    text = format_cursor(place, "newest")
    assert parse_cursor(text, "newest") == place
    assert text.isascii()
    assert not set(text) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


@given(st.text(max_size=40))
def test_anything_else_is_no_cursor(text: str) -> None:
    """A mangled cursor is a wrong call, never another error."""
    with pytest.raises(UsageError):
        parse_cursor(text, "newest")


def test_a_cursor_belongs_to_its_order() -> None:
    """Going on in another order would skip hits."""
    with pytest.raises(UsageError, match="newest"):
        parse_cursor(format_cursor((0, 1.0, 2.0, "x"), "newest"), "relevance")
