"""Where a page ended, as opaque text: of one question, and true whatever is written meanwhile."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import UsageError
from gitmem.search_cursor import MOST_SHOWN, Cursor, format_cursor, next_cursor, parse_cursor, sign_of

NUMBERS = st.floats(allow_nan=False)
SIGN = sign_of("staging port", "newest", advanced=False)
PLACE = (0, 1.0, 2.0, "message:x")


@given(st.tuples(st.sampled_from([0, 1]), NUMBERS, NUMBERS, st.text()), st.lists(st.text(), max_size=20))
def test_round_trip(place: tuple[int, float, float, str], refs: list[str]) -> None:
    """A cursor stands for its place exactly, and is safe in an address or on a command line."""
    cursor = next_cursor(None, SIGN, place, refs)
    text = format_cursor(cursor)
    assert parse_cursor(text, SIGN) == cursor
    assert text.isascii()
    assert not set(text) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


@given(st.text(max_size=40))
def test_anything_else_is_no_cursor(text: str) -> None:
    """A mangled cursor is a wrong call, never another error."""
    with pytest.raises(UsageError):
        parse_cursor(text, SIGN)


@pytest.mark.parametrize(
    "other",
    [
        sign_of("staging port", "relevance", advanced=False),
        sign_of("staging", "newest", advanced=False),
        sign_of("staging port", "newest", advanced=True),
    ],
)
def test_a_cursor_belongs_to_its_question(other: str) -> None:
    """Going on with another question or order would skip hits and repeat others."""
    with pytest.raises(UsageError, match="another search"):
        parse_cursor(format_cursor(Cursor(SIGN, PLACE)), other)


def test_hits_of_earlier_pages_are_known_by_their_refs() -> None:
    """A turn that is written between two pages moves all scores a little."""
    cursor = next_cursor(None, SIGN, PLACE, ["message:x", "message:y"])
    assert not cursor.is_behind((0, 9.0, 9.0, "message:y"), "message:y")
    assert cursor.is_behind((0, 0.0, 0.0, "message:z"), "message:z")


def test_behind_many_pages_the_place_decides() -> None:
    """A cursor stays short."""
    cursor = None
    for page in range(MOST_SHOWN // 50 + 1):
        cursor = next_cursor(cursor, SIGN, PLACE, [f"message:{page}-{hit}" for hit in range(50)])
        assert len(format_cursor(cursor)) < 6000
    assert cursor is not None
    assert cursor.shown == b""
    assert not cursor.is_behind((0, 1.0, 1.0, "a"), "a")
    assert next_cursor(cursor, SIGN, (0, 5.0, 0.0, "b"), ["b"]).shown == b""
