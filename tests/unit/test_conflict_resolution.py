"""What ending a conflict does to a tree."""

from __future__ import annotations

import pytest
from trees import Blobs, Files

from gitmem.branch_merge import conflict_path
from gitmem.conflict_copies import list_conflicts
from gitmem.conflict_resolution import Resolution, resolve_conflict
from gitmem.errors import AmbiguousMatch, NotFound, ProtectedPath, RefusedError
from gitmem.repository import EXECUTABLE_MODE, LINK_MODE
from gitmem.tree_edit import TreeFile

ONE, TWO = (conflict_path("notes/a.md", text) for text in (b"one\n", b"two\n"))


@pytest.fixture
def blobs() -> Blobs:
    """Contents of trees."""
    return Blobs()


@pytest.fixture
def tree(blobs: Blobs) -> dict[str, TreeFile]:
    """A note with two copies, and another conflict."""
    other = conflict_path("notes/b.md", b"b\n")
    return blobs.tree({"notes/a.md": "live\n", ONE: "one\n", TWO: "two\n", "notes/b.md": "B\n", other: "b\n"})


def resolve(
    blobs: Blobs, tree: Files, keep: str, path: str = "notes/a.md", edited: bytes | None = None
) -> Resolution:
    """End a conflict; ids are minted as `minted`."""
    return resolve_conflict(tree, path, keep, blobs.read, mint_id=lambda: "minted", edited=edited)


def after(blobs: Blobs, tree: Files, done: Resolution) -> dict[str, str]:
    """Return what the tree says once a resolution is committed."""
    for content in done.made.values():
        blobs.put(content)
    return blobs.texts({p: f for p, f in {**tree, **done.files}.items() if f is not None})


def test_live_stays_and_all_copies_of_the_path_go(blobs: Blobs, tree: Files) -> None:
    """Other conflicts stay open."""
    done = resolve(blobs, tree, "live")
    said = after(blobs, tree, done)
    assert said["notes/a.md"] == "live\n"
    assert [*list_conflicts(said)] == ["notes/b.md"]
    assert (done.live, done.notes, done.made) == ("notes/a.md", (), {})


@pytest.mark.parametrize("keep", [ONE, ONE.rpartition("/")[2], ONE.rpartition("/")[2][:6]])
def test_a_copy_becomes_the_live_text(blobs: Blobs, tree: Files, keep: str) -> None:
    """Named by its path, its name, or the beginning of that; the file keeps its mode."""
    script = {**tree, "notes/a.md": TreeFile(EXECUTABLE_MODE, tree["notes/a.md"].id)}
    done = resolve(blobs, script, keep)
    assert done.files["notes/a.md"] == TreeFile(EXECUTABLE_MODE, tree[ONE].id)
    assert after(blobs, tree, done)["notes/a.md"] == "one\n"
    assert [*list_conflicts(after(blobs, tree, done))] == ["notes/b.md"]


def test_the_edited_text_is_what_the_file_holds_now(blobs: Blobs, tree: Files) -> None:
    """A person has joined the texts in the file, or removed it."""
    assert after(blobs, tree, resolve(blobs, tree, "edited", edited=b"joined\n"))["notes/a.md"] == "joined\n"
    assert "notes/a.md" not in after(blobs, tree, resolve(blobs, tree, "edited"))


def test_both_makes_notes_of_the_copies(blobs: Blobs, tree: Files) -> None:
    """Each stands beside the live one under a free name; an id is never shared."""
    copy = conflict_path("notes/a.md", b"---\nid: same\n---\nx\n")
    stem = f"notes/a-{copy.rpartition('/')[2]}"
    start = {**tree, **blobs.tree({copy: "---\nid: same\n---\nx\n", stem: "taken\n"})}
    done = resolve(blobs, start, "both")
    said = after(blobs, start, done)
    assert said[stem] == "taken\n"
    assert said[stem.replace(".md", "-2.md")] == "---\nid: minted\n---\nx\n"
    assert {said[path] for path in done.notes} == {"one\n", "two\n", "---\nid: minted\n---\nx\n"}
    assert said["notes/a.md"] == "live\n"


def test_an_episode_is_never_replaced(blobs: Blobs) -> None:
    """A copy of one goes, or stands beside it with the id that it has; the text of the archive stays."""
    path, text = "episodes/2026-01/02-x-0a1b.md", "---\nid: ep_2\n---\n"
    copy = conflict_path(path, text.encode())
    tree = blobs.tree({path: "was\n", copy: text})
    assert after(blobs, tree, resolve(blobs, tree, "live", path)) == {path: "was\n"}
    said = after(blobs, tree, resolve(blobs, tree, "both", path))
    assert sorted(said.values()) == [text, "was\n"]
    for keep in (copy, "edited"):
        with pytest.raises(ProtectedPath, match="never changes"):
            resolve(blobs, tree, keep, path, b"new\n")


def test_a_text_does_not_go_where_something_else_is(blobs: Blobs) -> None:
    """A folder in its place, a file in its folder's, or a link among the copies: refused, and said."""
    copy = conflict_path("notes/a", b"x\n")
    folder = blobs.tree({"notes/a/b.md": "b\n", copy: "x\n"})
    with pytest.raises(ProtectedPath, match="is a folder now"):
        resolve(blobs, folder, copy, "notes/a")
    assert after(blobs, folder, resolve(blobs, folder, "live", "notes/a")) == {"notes/a/b.md": "b\n"}
    below = conflict_path("notes/a/b.md", b"x\n")
    with pytest.raises(ProtectedPath, match="is a file now"):
        resolve(blobs, blobs.tree({"notes/a": "file\n", below: "x\n"}), below, "notes/a/b.md")
    link = {copy: TreeFile(LINK_MODE, blobs.put("/etc/passwd"))}
    with pytest.raises(ProtectedPath, match="is a link"):
        resolve(blobs, link, copy, "notes/a")


def test_what_is_not_there_is_said(blobs: Blobs, tree: Files) -> None:
    """No conflict, no such copy, two that fit, or a file that is no note."""
    with pytest.raises(NotFound, match="no open conflict"):
        resolve(blobs, tree, "live", "notes/c.md")
    with pytest.raises(NotFound, match="no copy is called"):
        resolve(blobs, tree, "zz")
    twins = blobs.tree({"conflicts/notes/a.md/ab1.md": "1\n", "conflicts/notes/a.md/ab2.md": "2\n"})
    with pytest.raises(AmbiguousMatch):
        resolve(blobs, twins, "ab")
    config = blobs.tree({"gitmem.toml": "a\n", conflict_path("gitmem.toml", b"b\n"): "b\n"})
    with pytest.raises(RefusedError, match="no note"):
        resolve(blobs, config, "both", "gitmem.toml")
