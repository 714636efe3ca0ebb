"""Tests of `gitmem.undo_rules`: what a file becomes when a change of it is taken back."""

from __future__ import annotations

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.entries import Entry, entry_id, format_store, parse_store
from gitmem.undo_rules import Overlap, Undone, steps_of, undo_entries, undo_file


def store(*texts: str) -> bytes:
    """Return a store's bytes."""
    return format_store([Entry(text, entry_id(text)) for text in texts]).encode()


def crlf(*texts: str) -> bytes:
    """Return the same as some editors write it."""
    return b"\xef\xbb\xbf" + store(*texts).replace(b"\n", b"\r\n")


def texts_of(content: bytes | None) -> list[str]:
    """Return the entries of a store."""
    return [entry.text for entry in parse_store((content or b"").decode())]


@pytest.mark.parametrize(
    ("before", "after", "now", "expected"),
    [
        (store("a"), store("a", "b"), store("a", "b", "c"), store("a", "c")),
        (store("a", "b"), store("b"), store("b", "c"), store("a", "b", "c")),
        (store("a", "b", "c"), store("a", "c"), store("x", "a", "c"), store("x", "a", "b", "c")),
        (store("a", "b"), store("a", "B"), store("B", "a"), store("b", "a")),
        (None, store("a"), store("a", "b"), store("b")),
        (store("a"), None, store("b"), store("a", "b")),
        (store("a", "b"), store("b"), store("a", "b"), store("a", "b")),
        (store("a", "b"), store("b", "a"), store("b", "a", "c"), store("b", "a", "c")),
        (store("a"), store("a", "b"), crlf("a", "b", "c"), crlf("a", "c")),
    ],
    ids=["added", "removed", "between", "replaced", "begun", "ended", "there", "moved", "CRLF"],
)  # fmt: skip
def test_entries(before: bytes | None, after: bytes | None, now: bytes, expected: bytes) -> None:
    """What came later stays, in its order."""
    assert undo_file(before, after, now, is_store=True) == Undone(expected)


def test_an_entry_that_was_rephrased_since_is_not_touched() -> None:
    """The later words stand on the change; both are shown, and nothing is done."""
    now = store("Staging listens on 2224", "other")
    undone = undo_file(
        store("Staging listens on 2222", "other"),
        store("Staging listens on 2223", "other"),
        now,
        is_store=True,
    )
    assert undone == Undone(now, (Overlap("Staging listens on 2224", "Staging listens on 2222"),))


def test_one_entry_of_a_change() -> None:
    """A commit may have changed many; only what concerns the one is taken back."""
    before, after = store("a", "b", "c"), store("A", "d", "c")
    assert undo_entries(before, after, after, only=entry_id("a")) == Undone(store("a", "d", "c"))
    assert undo_entries(before, after, after, only=entry_id("d")) == Undone(store("A", "b", "c"))
    assert undo_entries(before, after, after, only=entry_id("c")) == Undone(after)


@pytest.mark.parametrize(
    ("before", "after", "now", "expected"),
    [
        (b"1\n2\n3\n", b"1\n2b\n3\n", b"0\n1\n2b\n3\n", b"0\n1\n2\n3\n"),
        (b"1\n2\n3\n", b"1\n3\n", b"1\n3\n4\n", b"1\n2\n3\n4\n"),
        (None, b"1\n", b"1\n", None),
        (b"1\n", None, None, b"1\n"),
        (b"\x00\xff", b"\x00\xfe", b"\x00\xfe", b"\x00\xff"),
    ],
    ids=["line", "removed line", "new file", "removed file", "no text"],
)
def test_files(before: bytes | None, after: bytes | None, now: bytes | None, expected: bytes | None) -> None:
    """By line; a file that came with the change goes, one that went comes back as it was."""
    assert undo_file(before, after, now, is_store=False) == Undone(expected)


@pytest.mark.parametrize(
    ("before", "after", "now"),
    [
        (b"1\n2\n3\n", b"1\n2b\n3\n", b"1\n2c\n3\n"),
        (None, b"1\n", b"1\n2\n"),
        (b"1\n", None, b"2\n"),
        (b"1\n", b"2\n", None),
        (b"\xff1", b"\xff2", b"\xff3"),
    ],
    ids=["same line", "grown", "there again", "gone", "no text"],
)
def test_what_overlaps_is_left_alone(before: bytes | None, after: bytes | None, now: bytes | None) -> None:
    """No line of a later edit is lost by taking an earlier one back."""
    undone = undo_file(before, after, now, is_store=False)
    assert undone.content == now
    assert undone.overlaps


TEXTS = st.lists(st.sampled_from(["a", "b b", "c\nc", "d", "§ in it", "e"]), max_size=5, unique=True)


@given(TEXTS, TEXTS)
@settings(max_examples=examples(200))
def test_a_change_that_nothing_follows_is_taken_back_exactly(before: list[str], after: list[str]) -> None:
    """Whatever it was."""
    for is_store in (True, False):
        assert undo_file(store(*before), store(*after), store(*after), is_store=is_store) == Undone(
            store(*before)
        )


@given(TEXTS, TEXTS, TEXTS)
@settings(max_examples=examples(300))
def test_what_came_later_stays(before: list[str], after: list[str], now: list[str]) -> None:
    """An entry of now that the change did not bring is there still, and what it brought is gone."""
    undone = undo_file(store(*before), store(*after), store(*now), is_store=True)
    steps = steps_of(store(*before), store(*after))
    came = {one.text for _, one in steps if one is not None}
    if undone.overlaps:
        assert undone.content == store(*now)
        assert came - {*now}
    else:
        kept = texts_of(undone.content)
        assert {*now} - came <= {*kept}
        if now != after:  # else it is as it was, with the order that it had
            assert [text for text in kept if text in now] == [text for text in now if text in kept]
        assert {one.text for one, _ in steps if one is not None} <= {*kept}
