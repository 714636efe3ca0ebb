"""Which versions a path had: in whatever history is here, through exact moves, never of another file."""

from __future__ import annotations

from pathlib import Path

from fixtures import commit_all, git, make_repo, write_files
from gitmem.backends.dulwich_repository import open_repository
from gitmem.file_versions import FileVersions, read_versions
from gitmem.git_objects import hash_object
from gitmem.layout import find_layout


def versions(root: Path) -> FileVersions:
    """Read the versions of all files of a repository."""
    return read_versions(open_repository(find_layout(root)), lambda _: True)


def blob(text: str) -> str:
    """Return a text's blob id."""
    return hash_object("blob", text.encode())


def test_through_moves_and_branches(tmp_path: Path) -> None:
    """Edits, exact moves, and a commit that only a tag reaches: all of them count."""
    root = make_repo(tmp_path / "repo")
    for number, (path, text) in enumerate(
        [("a.md", "one"), ("a.md", "two"), ("b.md", "two"), ("b.md", "three")]
    ):
        if path == "b.md" and (root / "a.md").exists():
            (root / "a.md").unlink()
        write_files(root, {path: text, "other.md": "other"})
        commit_all(root, f"commit {number}")
    git("checkout", "-q", "-b", "side", "HEAD~1", cwd=root)
    write_files(root, {"b.md": "side"})
    commit_all(root, "side")
    git("tag", "-a", "-m", "kept", "kept", cwd=root)
    git("checkout", "-q", "main", cwd=root)
    git("branch", "-q", "-D", "side", cwd=root)
    found = versions(root).of("b.md")
    assert set(found) == {blob(text) for text in ("one", "two", "three", "side")}
    assert found[blob("one")] == "a.md"


def test_turn_lines_are_no_files(tmp_path: Path) -> None:
    """The ledger's trees are not looked through: a large home has as many commits there as turns."""
    root = make_repo(tmp_path / "repo")
    write_files(root, {"a.md": "one"})
    commit_all(root, "one")
    git("branch", "gitmem/turns/w0123abcd", cwd=root)
    git("checkout", "-q", "gitmem/turns/w0123abcd", cwd=root)
    write_files(root, {"a.md": "of a line"})
    commit_all(root, "turn")
    git("checkout", "-q", "main", cwd=root)
    assert set(versions(root).of("a.md")) == {blob("one")}
