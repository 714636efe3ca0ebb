"""The fixtures that keep tests away from this machine do so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fixtures import commit_all, fsck, git, head, make_repo, show


def test_the_home_directory_cannot_be_written() -> None:
    """A write to the home directory fails loudly, because a test that needs one is wrong."""
    with pytest.raises(NotADirectoryError):
        (Path.home() / "anything").write_text("x")
    with pytest.raises(NotADirectoryError):
        (Path.home() / ".config" / "gitmem").mkdir(parents=True)


def test_git_sees_no_configuration_of_this_machine(tmp_path: Path) -> None:
    """Git's global configuration is an empty real file, so that results do not depend on who runs tests."""
    assert Path(os.environ["GIT_CONFIG_GLOBAL"]).is_file()
    assert git("config", "--global", "--list", cwd=tmp_path) == ""
    assert git("config", "--list", cwd=tmp_path) == ""
    assert not [name for name in os.environ if name.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))]


def test_a_repository_of_a_test_is_an_ordinary_one(tmp_path: Path) -> None:
    """Commits of the fixtures are what plain git makes of them."""
    repo = make_repo(tmp_path / "repo")
    first = commit_all(repo, "first", {"notes/a.md": "A\n"}, when=1_700_000_000)
    assert head(repo) == first
    assert show(repo, "notes/a.md") == "A\n"
    assert git("log", "-1", "--format=%at %s", cwd=repo) == "1700000000 first"
    fsck(repo)
