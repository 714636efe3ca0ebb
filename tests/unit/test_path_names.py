"""Names of paths that no machine may write, and those that are only odd."""

from __future__ import annotations

import pytest

from gitmem.path_names import path_harm


@pytest.mark.parametrize(
    "path",
    [".git/hooks/post-checkout", "notes/.GIT/config", "notes/.git", "git~1/config", "notes/GIT~1/x",
     "notes/.git./x", "notes/.git /x", "notes/.git::$INDEX_ALLOCATION/x", "notes/.g\u200cit/config",
     "\ufeff.git/config", "notes\\.git\\config", "..\\x", "../x", "notes/../../x", "notes/./x", "/etc/x", "",
     "notes//x", "notes/", "C:/x", "c:\\x", "\\\\host\\x"],
)  # fmt: skip
def test_what_git_refuses_is_harmful(path: str) -> None:
    """Git checks no such path out, in whatever case or in the spelling of another file system."""
    assert path_harm(path) is not None


@pytest.mark.parametrize(
    "path",
    ["notes/a.md", ".gitattributes", ".gitignore", "notes/git.md", "notes/.github/x.md", "notes/git~10",
     "notes/a..b", "notes/...", "notes/C: plan.md", "notes/Caf\u00e9.md", "notes/a\tb", "notes/a\\b.md",
     "notes/\udcff.md", "notes/digits"],
)  # fmt: skip
def test_names_that_only_look_like_it(path: str) -> None:
    """Names that Git takes are left to the file systems that can hold them."""
    assert path_harm(path) is None
