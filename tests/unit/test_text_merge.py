"""Merging one file's text by line and by entry."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from gitmem.entries import format_store, make_entry, parse_store
from gitmem.text_merge import merge_stores, merge_text, wins

# Few distinct lines, so that random texts overlap, repeat and clash.
LINE = st.sampled_from(["", "a", "b", "c", "## h", "- x", "- y", "---", "id: 1", "<<<<<<<", "§"])
TEXT = st.lists(LINE, max_size=9).map(lambda lines: "".join(f"{line}\n" for line in lines).encode())
ENTRIES = st.lists(st.sampled_from(["a", "b", "c", "d", "e\nf", "e\ng", "h"]), max_size=6, unique=True)
STORE = ENTRIES.map(lambda texts: format_store([make_entry(text) for text in texts]))


def test_changes_of_different_lines_are_both_taken() -> None:
    """The everyday case: two people edit two places."""
    merged = merge_text(b"1\n2\n3\n4\n5\n", b"one\n2\n3\n4\n5\n", b"1\n2\n3\n4\nfive\n")
    assert (merged.text, merged.lost) == (b"one\n2\n3\n4\nfive\n", None)


def test_a_missing_last_line_feed_is_added_and_is_no_change() -> None:
    """Editors differ in the last line feed; a merge must not clash over it."""
    merged = merge_text(b"1\n2", b"1\n2\n", b"1\n2\n3")
    assert (merged.text, merged.lost) == (b"1\n2\n3\n", None)


def test_two_insertions_at_one_place_both_stand() -> None:
    """Two lines added at the end of a list are both kept, the bytewise smaller first, whoever merges."""
    for sides in ((b"list\nx\n", b"list\ny\n"), (b"list\ny\n", b"list\nx\n")):
        merged = merge_text(b"list\n", *sides)
        assert (merged.text, merged.lost) == (b"list\nx\ny\n", None)


def test_insertions_share_their_first_and_last_lines() -> None:
    """Two sections added with the same heading and the same closing line get one of each."""
    one, two = b"t\n\n## New\n- x\n\nend\n", b"t\n\n## New\n- y\n\nend\n"
    assert merge_text(b"t\n", one, two).text == b"t\n\n## New\n- x\n- y\n\nend\n"


def test_insertions_that_say_partly_the_same_clash() -> None:
    """A line told on both sides in different surroundings would stand twice."""
    merged = merge_text(b"t\n", b"t\na\nsame\nb\n", b"t\nc\nsame\nd\n")
    assert merged.lost is not None
    assert {merged.text, merged.lost} == {b"t\na\nsame\nb\n", b"t\nc\nsame\nd\n"}


def test_insertions_inside_front_matter_clash() -> None:
    """Two keys added to front matter may be one key twice; that is for a person."""
    base = b"---\nid: 1\n---\ntext\n"
    merged = merge_text(base, b"---\nid: 1\ntitle: a\n---\ntext\n", b"---\nid: 1\ntitle: b\n---\ntext\n")
    assert merged.lost is not None
    added = merge_text(b"text\n", b"---\nid: 1\n---\ntext\n", b"---\nid: 2\n---\ntext\n")
    assert added.lost is not None


def test_a_clash_keeps_the_clean_changes_in_both_texts() -> None:
    """Live text and copy both hold the clean changes; they differ in the lines that clash."""
    base = b"1\n2\n3\n4\n5\n6\n7\n"
    one, two = b"one\n2\n3\nA\n5\n6\n7\n", b"1\n2\n3\nB\n5\n6\nseven\n"
    merged = merge_text(base, one, two)
    live, lost = (b"A", b"B") if wins(one, two) else (b"B", b"A")
    assert merged.text == b"one\n2\n3\n" + live + b"\n5\n6\nseven\n"
    assert merged.lost == b"one\n2\n3\n" + lost + b"\n5\n6\nseven\n"


@given(TEXT, TEXT, TEXT)
def test_line_merge_laws(base: bytes, one: bytes, two: bytes) -> None:
    """Symmetric, nobody's new line is lost, no line is made up, an unchanged side has no say."""
    merged = merge_text(base, one, two)
    assert merged == merge_text(base, two, one)
    kept = set((merged.text + (merged.lost or b"")).split(b"\n"))
    assert (set(one.split(b"\n")) | set(two.split(b"\n"))) - set(base.split(b"\n")) <= kept
    assert kept <= set(base.split(b"\n")) | set(one.split(b"\n")) | set(two.split(b"\n"))
    assert merge_text(base, one, one).text == one
    assert merge_text(base, base, two).text == two
    assert merge_text(base, base, two).lost is None


@given(TEXT, TEXT, TEXT)
def test_merging_again_changes_nothing(base: bytes, one: bytes, two: bytes) -> None:
    """A clean merge that is applied twice (a kill came before it was noted) stands as it is."""
    merged = merge_text(base, one, two)
    if merged.lost is None:
        again = merge_text(base, merged.text, two)
        if again.lost is None:
            assert sorted(again.text.split(b"\n")) == sorted(merged.text.split(b"\n"))


def test_entries_added_removed_and_replaced() -> None:
    """Removals and additions of both sides count; an entry replaced on both sides becomes two."""
    base = "a\n§\nb\n§\nc\n"
    assert merge_stores(base, "a\n§\nb\n§\nc\n§\nx\n", "b\n§\nc\n") == "b\n§\nc\n§\nx\n"
    assert merge_stores(base, "a\n§\nb1\n§\nc\n", "a\n§\nb2\n§\nc\n") == "a\n§\nb1\n§\nb2\n§\nc\n"
    assert merge_stores("", "x\n", "y\n") == "x\n§\ny\n"
    assert merge_stores("a\n", "", "a\n§\nb\n") == "b\n"


def test_single_entries_merge_as_text() -> None:
    """Where a store is one text, as memory files written by people are, its lines are merged."""
    assert merge_stores("1\n2\n3\n", "one\n2\n3\n", "1\n2\nthree\n") == "one\n2\nthree\n"
    assert merge_stores("1\n", "one\n", "uno\n") == "one\n§\nuno\n"


@given(STORE, STORE, STORE)
def test_store_merge_laws(base: str, one: str, two: str) -> None:
    """Symmetric, idempotent; an entry lives if a side added it or nobody removed it (single texts aside)."""
    merged = merge_stores(base, one, two)
    assert merged == merge_stores(base, two, one)
    assert merge_stores(base, merged, two) == merged
    old, first, second, new = (
        {entry.text for entry in parse_store(text)} for text in (base, one, two, merged)
    )
    if not len(old) == len(first) == len(second) == 1:
        assert new == (old & first & second) | (first - old) | (second - old)


def test_the_largest_texts_merge_in_bounded_time() -> None:
    """5,000 lines in the worst order are the most that is merged by line."""
    lines = [b"line %d\n" % number for number in range(5000)]
    blank = [b"\n" if number % 2 else b"line %d\n" % number for number in range(5000)]
    started = time.process_time()
    merge_text(b"".join(lines), b"".join(lines[::-1]), b"".join(lines[1:]))
    merge_text(b"".join(blank), b"".join(blank[::-1]), b"".join(blank[1:]))
    assert time.process_time() - started < 5


def test_large_stores_merge_in_bounded_time() -> None:
    """A remote may send a store of any size; ten times the entries take ten times as long."""
    base = "\n§\n".join(f"entry {number}" for number in range(50_000))
    started = time.process_time()
    assert merge_stores(base, f"{base}\n§\nx", f"{base}\n§\ny").endswith("\n§\nx\n§\ny\n")
    assert time.process_time() - started < 5


def test_a_byte_order_mark_is_merged_like_the_rest() -> None:
    """Whoever added it or took it away has it so, on whichever side."""
    for base, one, two, merged in (
        ("\ufeffa", "\ufeffa\n§\nb", "\ufeffa", "\ufeffa\n§\nb\n"),
        ("a", "\ufeffa", "a\n§\nb", "\ufeffa\n§\nb\n"),
        ("\ufeffa", "a", "\ufeffb", "b\n"),
    ):
        assert merge_stores(base, one, two) == merge_stores(base, two, one) == merged
