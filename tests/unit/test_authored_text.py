"""Authored files as text: encodings, line endings, what may be shown on one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.authored_text import Problem, decode_text, line_at, newline_of, one_line, shorten


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("# Notiz".encode("utf-16"), "UTF-16 LE"),
        (b"\xfe\xff" + "# Notiz".encode("utf-16-be"), "UTF-16 BE"),
        ("title: x".encode("utf-16-le"), "UTF-16 LE"),
        ("title: x".encode("utf-16-be"), "UTF-16 BE"),
        ("title: x".encode("utf-32"), "UTF-32 LE"),
    ],
)
def test_other_encodings_are_named(content, name):
    """A file of a Windows editor is reported, not indexed as garbage (OPEN-FM-04)."""
    problem = decode_text(content)
    assert isinstance(problem, Problem)
    assert name in problem.reason


def test_bytes_that_are_not_utf8_are_named_with_their_line():
    """The operator finds the place (holon N19)."""
    assert str(decode_text(b"ok\r\nna\xefve\n")) == "line 2: not UTF-8 (byte 0xEF)"


@given(st.binary(max_size=200))
def test_any_bytes_are_text_that_encodes_back_or_a_problem(content):
    """Reading never raises and never changes a byte."""
    text = decode_text(content)
    assert isinstance(text, Problem) or text.encode("utf-8") == content


def test_line_ending_of_a_mixed_text_is_the_more_frequent():
    """A file is not turned over for one stray line."""
    assert newline_of("a\r\nb\nc\n") == "\n"
    assert newline_of("a\r\nb\r\nc\n") == "\r\n"
    assert newline_of("") == "\n"


def test_lines_are_counted_by_any_line_ending():
    """A problem's line is the one that an editor shows."""
    assert [line_at("a\r\nb\rc\nd", offset) for offset in (0, 3, 5, 7)] == [1, 2, 3, 4]


def test_one_line_cannot_forge_a_second_or_reorder_the_first():
    """A title is shown as one line of plain text, whatever it holds."""
    assert one_line("a\n## b\u2028c\x1b[31m\u202ed\x00 ") == "a ## b c[31md"


def test_cut_text_says_so_and_keeps_the_limit():
    """Limits are code points: one less, and an ellipsis (holon 7)."""
    assert shorten("é中🎉x", 4) == "é中🎉x"
    assert shorten("é中🎉xy", 4) == "é中🎉…"
