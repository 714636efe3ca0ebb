"""Files and trees that grow turn by turn are, after each turn, byte for byte what Git would make of them."""

from __future__ import annotations

import zlib

from hypothesis import given
from hypothesis import strategies as st

from gitmem.git_objects import make_object, make_tree
from gitmem.growing_file import GrowingFile, GrowingTree
from gitmem.repository import FILE_MODE, TREE_MODE, GitObject, TreeEntry

names = st.sampled_from(["a", "a.b", "a-b", "ab", "b", "z", "計"])
ids = st.integers(0, 5).map(lambda number: f"{number:040x}")
Edit = tuple[str, int, str, bool]
edits = st.lists(st.tuples(names, st.sampled_from([FILE_MODE, TREE_MODE]), ids, st.booleans()), max_size=25)


def check(made: GitObject, expected: GitObject) -> None:
    """Assert that an object and its stream say the same as Git's own."""
    assert (made.kind, made.content, made.id) == (expected.kind, expected.content, expected.id)
    assert made.deflated is not None
    assert zlib.decompress(made.deflated) == expected.content


@given(st.binary(max_size=50), st.lists(st.binary(max_size=200), max_size=12))
def test_a_file_is_whole_after_each_growth(start: bytes, parts: list[bytes]) -> None:
    """What was deflated before is never done again, and nothing is left out."""
    file = GrowingFile(start)
    content = start
    check(file.blob(), make_object("blob", content))
    for part in parts:
        file.extend(part)
        content += part
        check(file.blob(), make_object("blob", content))
        assert file.content == content


@given(st.lists(st.tuples(names, ids), max_size=5, unique_by=lambda pair: pair[0]), edits)
def test_a_tree_is_whole_after_each_edit(start: list[tuple[str, str]], steps: list[Edit]) -> None:
    """Entries change, come, go, and become folders; the order is Git's, in which `a.b` stands before `a/`."""
    entries = {name: TreeEntry(name, FILE_MODE, object_id) for name, object_id in start}
    tree = GrowingTree(make_tree(entries.values()).content)
    for name, mode, object_id, drops in steps:
        if drops:
            tree.drop(name)
            entries.pop(name, None)
        else:
            tree.put(name, mode, object_id)
            entries[name] = TreeEntry(name, mode, object_id)
        assert tree.get(name) == entries.get(name)
        expected = make_tree(entries.values())
        check(tree.tree(), expected)
        assert make_tree(tree.entries()) == expected


def test_a_large_file_grows_at_the_cost_of_its_tail() -> None:
    """A turn costs the same in a full segment as in an empty one: only what is new is deflated."""
    file = GrowingFile(b"x" * 60_000)
    before = len(file.blob().deflated or b"")
    file.extend(b"y")
    after = file.blob()
    assert len(after.deflated or b"") - before < 100
    assert after.content.endswith(b"xy")
