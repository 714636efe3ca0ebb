"""Permissions under `core.sharedRepository`, as Git computes them."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from fixtures import git
from gitmem.shared_files import grant, shared_mode

FILE, FOLDER = stat.S_IFREG, stat.S_IFDIR


@pytest.mark.parametrize(
    ("mode", "setting", "expected"),
    [
        (FILE | 0o600, None, 0o600),
        (FILE | 0o600, "umask", 0o600),
        (FILE | 0o600, "false", 0o600),
        (FILE | 0o600, "group", 0o660),
        (FILE | 0o400, "group", 0o440),
        (FILE | 0o600, "True", 0o660),
        (FILE | 0o600, "everybody", 0o664),
        (FILE | 0o644, "0600", 0o600),
        (FILE | 0o444, "0640", 0o440),
        (FOLDER | 0o700, "group", 0o2770),
        (FOLDER | 0o755, "all", 0o2775),
        (FOLDER | 0o755, "nonsense", 0o755),
    ],
)
def test_modes(mode: int, setting: str | None, expected: int) -> None:
    """Words add rights, digits set them; what is read-only stays so; folders pass their group on."""
    assert shared_mode(mode, setting) == expected


@pytest.mark.parametrize("setting", ["group", "all", "0660", "0664"])
def test_git_gives_the_same(tmp_path: Path, setting: str) -> None:
    """A loose object's folder and file, and a ref, have the modes that git gives its own."""
    git("init", "-q", f"--shared={setting}", tmp_path / "repo", cwd=tmp_path)
    (tmp_path / "repo" / "a").write_text("a")
    name = git("hash-object", "-w", "a", cwd=tmp_path / "repo")
    git("tag", "t", name, cwd=tmp_path / "repo")
    dot_git = tmp_path / "repo" / ".git"
    own = tmp_path / "own"
    own.mkdir()
    (own / "object").touch(0o444)
    (own / "ref").touch(0o666)
    for path in (own, own / "object", own / "ref"):
        grant(path, setting)
    for mine, theirs in (
        (own, dot_git / "objects" / name[:2]),
        (own / "object", dot_git / "objects" / name[:2] / name[2:]),
        (own / "ref", dot_git / "refs" / "tags" / "t"),
    ):
        assert oct(mine.stat().st_mode) == oct(theirs.stat().st_mode)
