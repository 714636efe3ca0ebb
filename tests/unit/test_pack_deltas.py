"""Deltas of lines and of entries: what they make of their base is the object, byte for byte."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from gitmem.git_objects import make_object, make_tree
from gitmem.git_transport.pack_stream import apply_delta
from gitmem.loose_objects import LooseObject
from gitmem.pack_deltas import by_start, chain_heights, pieces_of, with_deltas
from gitmem.pack_format import delta_of_pieces, inflate, parse_entry
from gitmem.repository import FILE_MODE, TreeEntry

LINES = st.lists(st.sampled_from([b"one\n", b"two\n", b"three\n", b"\n", b"\0\n"]), max_size=12)


@given(LINES, LINES, st.sampled_from([b"", b"no end", b"one"]))
def test_pieces_put_together_are_the_content(one: list[bytes], other: list[bytes], end: bytes) -> None:
    """Whatever was inserted, removed, moved or repeated: Git applies the same."""
    base, content = b"".join(one), b"".join(other) + end
    entry = delta_of_pieces("12" * 20, len(content), "34" * 20, len(base), pieces_of(content, base, "blob"))
    delta = inflate(entry.raw, parse_entry(entry.raw))
    assert apply_delta(base, delta, 1 << 20) == content


def test_a_folder_that_changed_in_two_places_is_a_small_delta() -> None:
    """One entry changed, another added elsewhere: what most commits of notes do to their folder."""
    rows = [TreeEntry(f"note-{n:03}.md", FILE_MODE, os.urandom(20).hex()) for n in range(200)]
    old = make_tree(rows)
    rows[20] = TreeEntry(rows[20].name, FILE_MODE, os.urandom(20).hex())
    rows.append(TreeEntry("zebra.md", FILE_MODE, os.urandom(20).hex()))
    new = make_tree(rows)
    items = [LooseObject(one.id, "tree", one.content) for one in (old, new)]
    entries = {entry.id: entry.raw for entry in with_deltas(by_start(items))}
    assert parse_entry(entries[new.id]).kind == "tree"
    assert parse_entry(entries[old.id]).base == new.id
    assert len(entries[old.id]) < 120


def test_files_that_only_start_alike_stay_whole() -> None:
    """A delta that saves nothing is not made."""
    items = []
    for number in range(5):
        item = make_object("blob", b"x" * 64 + os.urandom(600 + number).hex().encode())
        items.append(LooseObject(item.id, "blob", item.content))
    assert len([*by_start(items)]) == 1
    assert {parse_entry(entry.raw).kind for entry in with_deltas(by_start(items))} == {"blob"}


def test_heights_are_those_of_the_longest_chain() -> None:
    """Several chains may end in one object."""
    assert chain_heights({}) == {}
    assert chain_heights({"b": "a", "c": "b", "d": "a", "y": "x"}) == {"a": 2, "x": 1}
    assert chain_heights({"d": "c", "c": "b", "b": "a"}) == {"a": 3}
