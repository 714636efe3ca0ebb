"""The repository on disk keeps the contract, in every shape in which Git lays one out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.repository_contract import RepositoryContract
from fixtures import git, make_repo
from gitmem.backends.dulwich_repository import DulwichRepository, init_repository, open_repository
from gitmem.layout import find_layout


def opened(root: Path) -> Iterator[DulwichRepository]:
    """Open the repository and close it at the end."""
    repository = open_repository(find_layout(root))
    yield repository
    repository.close()


class TestOwnInit(RepositoryContract):
    """A repository that gitmem made without git."""

    @pytest.fixture
    def repository(self, tmp_path: Path) -> Iterator[DulwichRepository]:
        """A fresh one."""
        init_repository(tmp_path / "home")
        yield from opened(tmp_path / "home")


class TestSeparateGitDir(RepositoryContract):
    """A work tree whose `.git` is a file."""

    @pytest.fixture
    def repository(self, tmp_path: Path) -> Iterator[DulwichRepository]:
        """A fresh one."""
        git(
            "init",
            "-q",
            "-b",
            "main",
            "--separate-git-dir",
            tmp_path / "elsewhere",
            tmp_path / "home",
            cwd=tmp_path,
        )
        yield from opened(tmp_path / "home")


class TestSharedRepository(RepositoryContract):
    """A repository that a group writes to, beside an alternate object store."""

    @pytest.fixture
    def repository(self, tmp_path: Path) -> Iterator[DulwichRepository]:
        """A fresh one."""
        other = make_repo(tmp_path / "other")
        git("init", "-q", "-b", "main", "--shared=group", tmp_path / "home", cwd=tmp_path)
        alternates = tmp_path / "home" / ".git" / "objects" / "info" / "alternates"
        alternates.write_text(f"{other / '.git' / 'objects'}\n")
        yield from opened(tmp_path / "home")
