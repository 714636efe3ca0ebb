"""Which text of one path lives after a merge, and which becomes a conflict copy."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitmem.branch_merge import PathMerge, conflict_of, conflict_path, merge_path
from gitmem.git_objects import hash_object

PATHS = st.sampled_from(
    ["notes/a.md", "memory/self.md", "memory/MEMORY.md", "gitmem.toml", "episodes/2026-01/x.md",
     "conflicts/notes/a.md/0123456789ab.md"]
)  # fmt: skip
LINES = st.lists(st.sampled_from(["", "a", "b = 1", "b = 2", "c = 3", "§"]), max_size=5)
CONTENT = st.none() | st.binary(max_size=4) | LINES.map(lambda rows: "".join(f"{r}\n" for r in rows).encode())


def test_one_side_changed() -> None:
    """The side that changed has its way, deleting included."""
    assert merge_path("notes/a.md", b"1\n", b"1\n", b"2\n") == PathMerge(b"2\n")
    assert merge_path("notes/a.md", b"1\n", b"2\n", b"1\n") == PathMerge(b"2\n")
    assert merge_path("notes/a.md", b"1\n", None, b"1\n") == PathMerge(None)
    assert merge_path("notes/a.md", None, None, b"1\n") == PathMerge(b"1\n")


def test_an_edit_beats_a_delete() -> None:
    """Deleted here and edited there: the edit stays, and the caller can say so."""
    assert merge_path("notes/a.md", b"1\n", None, b"2\n") == PathMerge(b"2\n", revived=True)
    assert merge_path("notes/a.md", b"1\n", b"2\n", None) == PathMerge(b"2\n", revived=True)


def test_a_clash_leaves_one_live_text_and_one_copy() -> None:
    """The larger Git blob id lives, the other is kept whole under `conflicts/`."""
    one, two = b"A\n", b"B\n"
    merged = merge_path("notes/a.md", b"1\n", one, two)
    live, lost = (one, two) if hash_object("blob", one) > hash_object("blob", two) else (two, one)
    name = hashlib.sha256(lost).hexdigest()[:12]
    assert merged == PathMerge(live, {f"conflicts/notes/a.md/{name}.md": lost})
    assert conflict_of(next(iter(merged.copies))) == "notes/a.md"


@pytest.mark.parametrize(
    ("base", "one", "two"),
    [(None, b"a\n", b"b\n"), (b"\xff", b"\xff1", b"\xff2"), (b"x\n", b"1\n" * 5001, b"2\n"),
     (b"x\n", b"y" * (1 << 20) + b"\n", b"2\n")],
)  # fmt: skip
def test_whole_files_where_lines_cannot_be_merged(base: bytes | None, one: bytes, two: bytes) -> None:
    """Without a base, not UTF-8, or too large: one file lives, the other is the copy, byte for byte."""
    merged = merge_path("notes/a.bin", base, one, two)
    assert {merged.live, *merged.copies.values()} == {one, two}
    assert all(path.endswith(".bin") for path in merged.copies)


def test_stores_never_clash() -> None:
    """A memory store merges by entry, also where both sides began it."""
    merged = merge_path("memory/MEMORY.md", None, b"x\n", b"y\n")
    assert merged == PathMerge("x\n§\ny\n".encode())
    assert merge_path("memory/MEMORY.md", b"a\n", b"\xff", b"b\n").copies


def test_episodes_never_change_and_never_go() -> None:
    """An episode is what it was when it was written, whatever either side did to it."""
    path = "episodes/2026-01/x.md"
    assert merge_path(path, b"1\n", None, b"1\n") == PathMerge(b"1\n")
    assert merge_path(path, b"1\n", None, None) == PathMerge(b"1\n")
    assert merge_path(path, b"1\n", None, b"1\n") == PathMerge(b"1\n")
    assert merge_path(path, b"1\n", b"stub\n", b"stub\n") == PathMerge(b"stub\n")
    assert merge_path(path, None, None, b"1\n") == PathMerge(b"1\n")
    assert len(merge_path(path, None, b"1\n", b"2\n").copies) == 1


def test_an_edit_of_an_episode_is_a_copy() -> None:
    """The episode stays as it was, and what somebody wrote into it is listed, not lost."""
    path = "episodes/2026-01/x.md"
    merged = merge_path(path, b"1\n", b"2\n", b"1\n")
    assert merged == PathMerge(b"1\n", {conflict_path(path, b"2\n"): b"2\n"})
    assert len(merge_path(path, b"1\n", b"2\n", b"3\n").copies) == 2


def test_configuration_counts_only_whole() -> None:
    """A merged gitmem.toml is taken if it parses and each value is some side's; else one file wins whole."""
    base = b"a = 1\nb = 2\n\nc = 3\n"
    clean = merge_path("gitmem.toml", base, b"a = 9\nb = 2\n\nc = 3\n", b"a = 1\nb = 2\n\nc = 4\n")
    assert clean == PathMerge(b"a = 9\nb = 2\n\nc = 4\n")
    twice = merge_path("gitmem.toml", b"a = 1\n", b"a = 1\nb = 2\n", b"a = 1\nb = 3\n")
    assert {twice.live, *twice.copies.values()} == {b"a = 1\nb = 2\n", b"a = 1\nb = 3\n"}
    broken = merge_path("gitmem.toml", b"a = 1\n\n\nx = 1\n", b"a = [1,\n\n\nx = 1\n", b"a = 1\n\n\nx = 2\n")
    assert {broken.live, *broken.copies.values()} == {b"a = [1,\n\n\nx = 1\n", b"a = 1\n\n\nx = 2\n"}


def test_copies_are_a_set_of_texts() -> None:
    """A copy edited on both sides becomes two copies, named by their texts; none is merged."""
    copy = conflict_path("notes/a.md", b"old\n")
    merged = merge_path(copy, b"old\n", b"1\n", b"2\n")
    assert merged.live is None
    assert merged.copies == {conflict_path("notes/a.md", text): text for text in (b"1\n", b"2\n")}
    assert merge_path(copy, b"old\n", None, b"old\n") == PathMerge(None)
    assert merge_path(copy, b"old\n", None, b"1\n").copies == {conflict_path("notes/a.md", b"1\n"): b"1\n"}


@given(PATHS, CONTENT, CONTENT, CONTENT)
@example("gitmem.toml", b"a = 1\n", b"a = 1\nb = 2\n", b"a = 1\nb = 2\n")
def test_laws(path: str, base: bytes | None, one: bytes | None, two: bytes | None) -> None:
    """Symmetric, no new line lost, no conflict marker, and sides that agree are obeyed."""
    merged = merge_path(path, base, one, two)
    assert merged == merge_path(path, base, two, one)
    texts = [text for text in (merged.live, *merged.copies.values()) if text is not None]
    kept = words(*texts)
    for side in (one, two):
        assert words(side) - words(base) - {"§"} <= kept
    if one is not None or not path.startswith("episodes/"):
        assert merge_path(path, base, one, one) == PathMerge(one)
    assert not any(b"<<<<<<<" in text or b">>>>>>>" in text for text in texts)
    for name, text in merged.copies.items():
        assert name == conflict_path(conflict_of(name), text)


def words(*texts: bytes | None) -> set[str]:
    """Return the lines that say something, as a reader sees them."""
    lines = "\n".join((text or b"").decode("utf-8", "surrogateescape") for text in texts)
    return set(lines.split())
