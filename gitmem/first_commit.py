"""Since which commit of a line something is so: found by halving, reading few of its trees."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from gitmem.errors import GitmemError
from gitmem.repository import TREE_MODE, Repository, TreeEntry, read_path


class FirstCommits:
    """Looks through the first parents of commits.

    Args:
        repository: their objects.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._lines: dict[str, list[str]] = {}

    def find(
        self, tip: str, path: str, is_so: Callable[[bytes | None], bool], until: str | None = None
    ) -> str | None:
        """Return the first commit in which a file is so; None if it is not so in the last one.

        What is so is taken to stay so from then on, as it does on a line that only grows.

        Args:
            tip: the last commit.
            path: of the file in its tree.
            is_so: judges a version of it; None where there is no file.
            until: the oldest commit to look at; default the line's first one.
        """
        return self._find(tip, until, lambda commit: is_so(self.content(commit, path)))

    def find_entry(self, tip: str, path: str, is_so: Callable[[TreeEntry | None], bool]) -> str | None:
        """Return the first commit in which the entry of a tree is so; None if it is not so in the last one.

        Args:
            tip: the last commit.
            path: of the entry in its tree.
            is_so: judges it; None where there is none.
        """
        return self._find(tip, None, lambda commit: is_so(self._entry(commit, path)))

    def _find(self, tip: str, until: str | None, is_so: Callable[[str], bool]) -> str | None:
        with suppress(GitmemError):
            if is_so(tip):
                return _halve(self._line(tip, until), is_so)
        return None

    def content(self, commit: str, path: str) -> bytes | None:
        """Return a file of a commit, None where there is none.

        Raises:
            ObjectMissing: it cannot be read.
        """
        entry = self._entry(commit, path)
        return None if entry is None or entry.mode == TREE_MODE else self._repository.read(entry.id)[1]

    def _entry(self, commit: str, path: str) -> TreeEntry | None:
        return read_path(self._repository, self._repository.read_commit(commit).tree, path)

    def _line(self, tip: str, until: str | None) -> list[str]:
        """Return a commit and its first parents, newest first."""
        known = self._lines.get(tip)
        if known is None:
            known = self._lines[tip] = [commit.id for commit in self._repository.walk_first_parents(tip)]
        return known[: known.index(until) + 1] if until in known else known


def _halve(commits: list[str], is_so: Callable[[str], bool]) -> str:
    so, not_so = 0, len(commits)
    while not_so - so > 1:
        middle = (so + not_so) // 2
        if is_so(commits[middle]):
            so = middle
        else:
            not_so = middle
    return commits[so]
