"""Files and trees that grow turn by turn are, after each turn, byte for byte what Git would make of them."""

from __future__ import annotations

import zlib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from fixtures import fsck, git, make_repo
from gitmem.backends.dulwich_repository import open_repository
from gitmem.git_objects import make_object, make_tree
from gitmem.growing_file import GrowingFile, GrowingTree
from gitmem.layout import find_layout
from gitmem.repository import FILE_MODE, TREE_MODE, GitObject, TreeEntry

names = st.sampled_from(["a", "a.b", "a-b", "ab", "b", "z", "計"])
ids = st.integers(0, 5).map(lambda number: f"{number:040x}")
Edit = tuple[str, int, str, bool]
edits = st.lists(st.tuples(names, st.sampled_from([FILE_MODE, TREE_MODE]), ids, st.booleans()), max_size=25)


def check(made: GitObject, expected: GitObject) -> None:
    """Assert that an object and its stream say the same as Git's own."""
    assert (made.kind, made.content, made.id) == (expected.kind, expected.content, expected.id)
    assert made.deflated is None or zlib.decompress(made.deflated) == expected.content


@given(st.binary(max_size=50), st.lists(st.binary(max_size=200), max_size=12))
def test_a_file_is_whole_after_each_growth(start: bytes, parts: list[bytes]) -> None:
    """What was deflated before is never done again, and nothing is left out; git reads what it makes."""
    file = GrowingFile(start)
    content = start
    check(file.blob(), make_object("blob", content))
    for part in parts:
        file.extend(part)
        content += part
        check(file.blob(), make_object("blob", content))
        assert file.content == content


@given(st.lists(st.tuples(names, ids), max_size=5, unique_by=lambda pair: pair[0]), st.booleans(), edits)
def test_a_tree_is_whole_after_each_edit(
    start: list[tuple[str, str]], is_large: bool, steps: list[Edit]
) -> None:
    """Entries change, come, go, and become folders; the order is Git's, in which `a.b` stands before `a/`."""
    more = [(f"m{number:03}", f"{number:040x}") for number in range(140 if is_large else 0)]
    entries = {name: TreeEntry(name, FILE_MODE, object_id) for name, object_id in [*start, *more]}
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
        assert (tree.tree().deflated is not None) is is_large
        assert make_tree(tree.entries()) == expected


def test_a_tree_that_grows_large_is_whole_on_the_way(tmp_path: Path) -> None:
    """A busy day begins small; git takes every object as it is."""
    tree, file = GrowingTree(), GrowingFile()
    entries: dict[str, TreeEntry] = {}
    repository = open_repository(find_layout(make_repo(tmp_path / "repo")))
    objects = []
    for number in range(150):
        file.extend(b"%d\n" % number)
        objects.append(file.blob())
        tree.put(f"{number:03}", FILE_MODE, file.blob().id)
        entries[f"{number:03}"] = TreeEntry(f"{number:03}", FILE_MODE, file.blob().id)
        check(tree.tree(), make_tree(entries.values()))
        objects.append(tree.tree())
    with repository.write_pack(objects):
        pass
    fsck(tmp_path / "repo")
    assert git("cat-file", "-p", file.blob().id, cwd=tmp_path / "repo").split("\n") == [
        str(n) for n in range(150)
    ]


def test_a_large_file_grows_at_the_cost_of_its_tail() -> None:
    """A turn costs the same in a full segment as in an empty one: only what is new is deflated."""
    file = GrowingFile(b"x" * 60_000)
    before = len(file.blob().deflated or b"")
    file.extend(b"y")
    after = file.blob()
    assert len(after.deflated or b"") - before < 100
    assert after.content.endswith(b"xy")
