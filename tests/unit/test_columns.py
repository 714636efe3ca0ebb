"""Columns on a terminal, in any script."""

from __future__ import annotations

import pytest

from gitmem.cli.columns import cut, fill, width_of


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("支付网关", 8), ("e\u0301", 1), ("ｗide", 5), ("a\u200db", 2)]
)
def test_width_is_counted_in_cells(text: str, width: int) -> None:
    """A Chinese character takes two, an accent and a joiner none."""
    assert width_of(text) == width


def test_columns_are_straight() -> None:
    """Names of every script end in one column."""
    assert [width_of(fill(name, 6)) for name in ("", "aria", "陈伟")] == [6, 6, 6]
    assert fill("Olivia Brandt", 6) == "Olivia Brandt"


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("aria", 4, "aria"),
        ("aria", 3, "ar…"),
        ("支付网关", 5, "支付…"),
        ("支付网关", 4, "支…"),
        ("a bcd", 3, "a…"),
    ],
)
def test_what_is_missing_is_marked(text: str, width: int, shown: str) -> None:
    """No line is wider than its column."""
    assert cut(text, width) == shown
    assert width_of(shown) <= width
