"""Trees with a few files changed, judged by git itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import commit_all, fsck, git, layout_of, make_repo
from gitmem import tree_edit
from gitmem.backends.dulwich_repository import open_repository
from gitmem.errors import ProtectedPath
from gitmem.git_objects import make_object, parse_tree
from gitmem.repository import FILE_MODE, LINK_MODE, TREE_MODE, GitObject, ObjectKind, TreeEntry, walk_tree
from gitmem.tree_edit import TreeFile, TreeLookup, edit_tree

NAMES = ("a", "a-b", "a.md", "a/b", "a/b.md", "a0", "b/c/d", "b/c.md", "z")


class Objects:
    """Trees in memory."""

    def __init__(self) -> None:
        self.known: dict[str, GitObject] = {}
        self.reads = 0

    def read(self, object_id: str) -> tuple[ObjectKind, bytes]:
        """Return a tree."""
        self.reads += 1
        return "tree", self.known[object_id].content

    def read_tree(self, tree_id: str) -> list[TreeEntry]:
        """Return a tree's entries."""
        return parse_tree(self.known[tree_id].content)

    def read_commit(self, commit_id: str) -> None:
        """Not used."""

    def contains(self, object_id: str) -> bool:
        """Not used."""
        return object_id in self.known


FILES = st.dictionaries(st.sampled_from(NAMES), st.none() | st.sampled_from(["1", "2"]), max_size=6)


@given(st.lists(FILES, max_size=4))
def test_editing_again_and_again_equals_writing_at_once(rounds: list[dict[str, str | None]]) -> None:
    """However a tree came to be, it is the tree of its files, as Git orders it, without empty folders."""
    objects = Objects()
    root: str | None = None
    model: dict[str, TreeFile] = {}
    for changes in rounds:
        files = {
            path: None if text is None else TreeFile(FILE_MODE, make_object("blob", text.encode()).id)
            for path, text in changes.items()
        }
        after = {path: file for path, file in {**model, **files}.items() if file is not None}
        if any(other.startswith(path + "/") for path in after for other in after):
            with pytest.raises(ProtectedPath):
                edit_tree(objects, root, files)  # type: ignore[arg-type]
            return
        root, written = edit_tree(objects, root, files)  # type: ignore[arg-type]
        objects.known.update({tree.id: tree for tree in written})
        model = after
        found = {p: TreeFile(e.mode, e.id) for p, e in walk_tree(objects, root)}  # type: ignore[arg-type]
        assert found == model
    if root is not None:
        assert edit_tree(Objects(), None, model)[0] == root  # type: ignore[arg-type]


def test_git_takes_the_trees(tmp_path: Path) -> None:
    """Modes, links and foreign names of other entries stay; git finds the trees well formed."""
    repo = make_repo(tmp_path / "home")
    (repo / "link").symlink_to("nowhere")
    commit_all(
        repo,
        files={"notes/a.md": "a", "notes.md": "n", "run.sh": "#!/bin/sh", b"caf\xe9".decode("latin-1"): "x"},
    )
    repository = open_repository(layout_of(repo))
    tree = git("rev-parse", "HEAD^{tree}", cwd=repo)
    blob = git("hash-object", "-w", "--stdin", stdin="new", cwd=repo)
    root, written = edit_tree(
        repository,
        tree,
        {"notes/b.md": TreeFile(FILE_MODE, blob), "notes/a.md": None, "x/y": TreeFile(0o100755, blob)},
    )
    with repository.write_pack(written):
        pass
    git("update-ref", "refs/heads/edited", git("commit-tree", "-m", "x", root, cwd=repo), cwd=repo)
    fsck(repo)
    changed = git("diff-tree", "-r", "--no-renames", "--name-status", tree, root, cwd=repo).split("\n")
    assert changed == ["D\tnotes/a.md", "A\tnotes/b.md", "A\tx/y"]
    repository.close()


def test_what_stands_in_the_way() -> None:
    """A link is replaced as a file is; a folder never is."""
    objects = Objects()
    link = TreeFile(LINK_MODE, "1" * 40)
    root, written = edit_tree(objects, None, {"a/b": link, "l": link})  # type: ignore[arg-type]
    objects.known.update({tree.id: tree for tree in written})
    with pytest.raises(ProtectedPath, match="a is a folder"):
        edit_tree(objects, root, {"a": link})  # type: ignore[arg-type]
    with pytest.raises(ProtectedPath, match="l is a file"):
        edit_tree(objects, root, {"l/x": link})  # type: ignore[arg-type]
    same, _ = edit_tree(objects, root, {"l/x": None, "q/r": None})  # type: ignore[arg-type]
    assert same == root
    assert TREE_MODE == 0o040000


def test_each_folder_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder's entries are decoded once for all its files, lest a home of many notes takes its square."""
    decoded = 0
    entries = tree_edit._entries

    def counted(content: bytes) -> Iterator[re.Match[bytes]]:
        nonlocal decoded
        for entry in entries(content):
            decoded += 1
            yield entry

    monkeypatch.setattr(tree_edit, "_entries", counted)
    objects = Objects()
    blob = make_object("blob", b"1").id
    model: dict[str, TreeFile | None] = {f"notes/d/n{i}.md": TreeFile(FILE_MODE, blob) for i in range(500)}
    root, written = edit_tree(objects, None, model)
    objects.known.update({tree.id: tree for tree in written})
    lookup = TreeLookup(objects, root)
    assert [lookup.find(path) for path in model] == list(model.values())
    assert lookup.find("notes/d/none.md") is None
    assert (objects.reads, decoded) == (3, len(model) + 2)
    objects.reads = decoded = 0
    other = TreeFile(FILE_MODE, make_object("blob", b"2").id)
    changed, _ = edit_tree(objects, root, dict.fromkeys(model, other))
    assert changed == edit_tree(Objects(), None, dict.fromkeys(model, other))[0]
    assert objects.reads == 3
    assert decoded < 2 * len(model)
