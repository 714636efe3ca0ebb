"""Tests of `gitmem.text_cut`."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from gitmem.text_cut import cut_notice, cut_to_tokens, longest_fitting, without_notice
from gitmem.token_estimate import estimate_tokens

texts = st.text(
    st.sampled_from("ab 员🎉\u0301\r\n\u200d7") | st.characters(exclude_categories=["Cs"]), min_size=1
)


def test_a_cut_says_how_much_is_missing_and_where_it_is() -> None:
    """A reader must see that there is more, and how to get at it."""
    text = "word " * 400
    shown = cut_to_tokens(text, 60, estimate_tokens, source_ref="message:m1")
    kept = without_notice(shown)
    assert text.startswith(kept)
    assert shown.endswith(
        f"...\n[cut: {len(kept)} of 2000 characters are shown; all of it: memory_get message:m1]"
    )
    assert estimate_tokens(shown) <= 60


def test_where_not_one_character_fits_there_is_nothing() -> None:
    """A notice alone says nothing."""
    assert cut_to_tokens("word " * 400, 3, estimate_tokens) == ""


@given(texts, st.integers(0, 60), st.integers(0, 60))
def test_a_larger_size_shows_no_less(text: str, one: int, other: int) -> None:
    """Each cut is the beginning of the next larger one, fits, and divides no character."""
    less, more = sorted((one, other))
    small, large = (cut_to_tokens(text, tokens, estimate_tokens) for tokens in (less, more))
    kept = [without_notice(shown) if shown else "" for shown in (small, large)]
    assert text.startswith(kept[1])
    assert kept[1].startswith(kept[0])
    assert estimate_tokens(small) <= less
    assert estimate_tokens(large) <= more
    ends = {0, *(match.end() for match in regex.finditer(r"\X", text))}
    assert {len(part) for part in kept} <= ends


@given(texts, st.integers(0, 40))
def test_the_longest_beginning_is_found(text: str, limit: int) -> None:
    """Found by halving, it is what a look at every boundary finds."""
    ends = [0, *(match.end() for match in regex.finditer(r"\X", text))]
    assert longest_fitting(text, lambda end: end <= limit) == max(end for end in ends[:-1] if end <= limit)


@pytest.mark.parametrize("shown", ["", "a", "a...", "a\n[cut: b"])
def test_a_notice_comes_off_again(shown: str) -> None:
    """What was kept is what stands before the last notice."""
    assert without_notice(shown + cut_notice(1, 2, None)) == shown
    assert without_notice(shown) == shown
