"""Decoded postings within a bound of memory."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.postings_cache import DEFAULT_BYTES, Postings, PostingsCache, cache_bytes


def postings(length: int) -> Postings:
    """Return postings of so many documents."""
    return array("I", range(length)), array("f", [1.0] * length)


def test_what_was_not_asked_for_longest_goes_first() -> None:
    """The words of the last questions stay."""
    cache = PostingsCache(limit=3000)
    for name in "abc":
        cache.add(name, postings(50))
    assert cache.get("a") is not None
    cache.add("d", postings(50))
    assert [name for name in "abcd" if cache.get(name)] == ["a", "c", "d"]


def test_what_is_larger_than_all_room_is_not_kept() -> None:
    """One common word must not empty the cache of all others."""
    cache = PostingsCache(limit=3000)
    cache.add("small", postings(10))
    cache.add("large", postings(1000))
    assert cache.get("large") is None
    assert cache.get("small") is not None


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 200))), st.integers(0, 5000))
def test_the_bound_holds(added: list[tuple[int, int]], limit: int) -> None:
    """Whatever is added in whatever order."""
    cache = PostingsCache(limit)
    for name, length in added:
        cache.add(name, postings(length))
        assert 0 <= cache.used <= limit
    cache.clear()
    assert cache.used == 0


@pytest.mark.parametrize(
    ("setting", "expected"),
    [(None, DEFAULT_BYTES), ("", DEFAULT_BYTES), ("16", 16 << 20), ("0", 0), ("-1", DEFAULT_BYTES),
     ("1e3", DEFAULT_BYTES), ("9" * 5000, DEFAULT_BYTES), ("٣", DEFAULT_BYTES)],
)  # fmt: skip
def test_the_bound_is_a_setting(setting: str | None, expected: int) -> None:
    """In MiB; what was written by hand into Git's configuration and is none leaves the default."""
    assert cache_bytes(setting) == expected
