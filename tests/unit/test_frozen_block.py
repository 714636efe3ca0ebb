"""Tests of `gitmem.frozen_block`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.frozen_block import (
    FrozenBlock,
    FrozenStore,
    StoreChange,
    compare_entries,
    decode_block,
    encode_block,
    snapshot_field,
)

BLOCK = FrozenBlock(
    session="s1",
    frozen_at="2026-03-02T09:00:00.000Z",
    event="ses_0123456789abcde",
    commit="a" * 40,
    stores={"memory": FrozenStore("b" * 40, ("x" * 64,)), "user": FrozenStore()},
    rules="1",
    text="MEMORY 好 \ud800",
)


def test_a_block_survives_its_file() -> None:
    """Another process reads the same text, whatever characters are in it."""
    assert decode_block(encode_block(BLOCK)) == BLOCK


@given(st.integers(0, 400), st.integers(1, 255))
def test_a_damaged_file_is_none(at: int, flip: int) -> None:
    """A text that is not the one that was frozen must not reach the prompt."""
    content = bytearray(encode_block(BLOCK))
    content[at % len(content)] ^= flip
    assert decode_block(bytes(content)) is None
    assert decode_block(encode_block(BLOCK)[: at % len(content)]) is None


def test_the_record_names_commit_and_blobs() -> None:
    """From these the text can be rendered again."""
    assert snapshot_field(BLOCK) == {"commit": "a" * 40, "memory": "b" * 40, "user": None}


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("ab", "ab", StoreChange()),
        ("ab", "abc", StoreChange(added=1)),
        ("ab", "b", StoreChange(removed=1)),
        ("abc", "axc", StoreChange(replaced=1)),
        ("abc", "axyc", StoreChange(replaced=1, added=1)),
        ("abcd", "ax", StoreChange(replaced=1, removed=2)),
        ("", "ab", StoreChange(added=2)),
        ("ab", "", StoreChange(removed=2)),
    ],
)
def test_changes_are_counted_in_entries(before: str, after: str, change: StoreChange) -> None:
    """An entry that stands where another stood has replaced it."""
    assert compare_entries(before, after) == change
    assert change.is_empty == (before == after)
