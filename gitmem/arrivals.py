"""What came into the operator's branch from elsewhere: told by commits, refs of remotes, and Git's reflogs.

A merge of gitmem is the same on every machine, so its first parent says nothing of who was here. Git's own
log of where HEAD and the branch went does: a commit that was made here stands in it, with the word of what
made it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.curated import STORES
from gitmem.errors import GitmemError
from gitmem.layout import Layout
from gitmem.repository import (
    EXECUTABLE_MODE,
    FILE_MODE,
    TREE_MODE,
    Repository,
    TreeEntry,
    read_path,
    walk_tree,
)

_REMOTES: Final = "refs/remotes/"
#: What Git, and gitmem in its words, say of a commit that was made in this work tree.
_MADE: Final = re.compile(
    r"commit(?: \((?:initial|amend|merge|cherry-pick)\))?:|cherry-pick\b|revert\b|am\b|rebase(?: -i)?:"
    r"|(?:rebase|pull)\b[^:]*\((?:pick|reword|edit|squash|fixup|continue)\):"
)
_LINE: Final = re.compile(r"([0-9a-f]{40}) ([0-9a-f]{40}) [^\t]*\t?(.*)")

#: Says whether a version of a file has something; None where there is no file.
Has = Callable[[bytes | None], bool]


class Arrivals:
    """Says what came from elsewhere. Safe in threads.

    Args:
        repository: commits and refs.
        layout: where the reflogs are.
    """

    def __init__(self, repository: Repository, layout: Layout) -> None:
        self._repository = repository
        self._layout = layout
        self._possible: tuple[object, bool] = (None, False)

    def is_possible(self) -> bool:
        """Say whether anything ever came from elsewhere: where nothing did, no text need be looked at."""
        head, refs = self._repository.head(), self._repository.list_refs(_REMOTES)
        key = (head, tuple(refs.items()))
        if self._possible[0] != key:
            self._possible = (key, _Evidence(self._repository, self._layout).is_anything)
        return self._possible[1]

    def has_come(self, path: str, has: Has) -> bool | None:
        """Say whether what a file has came with commits of others only.

        Args:
            path: of the file.
            has: recognises it in a version of the file.

        Returns:
            None where the branch does not have it: then it is an edit that was not committed yet.
        """
        head = self._repository.head().commit
        known: dict[tuple[str, str], bool] = {}

        def is_in(entry: TreeEntry | None) -> bool:
            if entry is None or entry.mode not in (FILE_MODE, EXECUTABLE_MODE):
                return has(None)
            if (path, entry.id) not in known:
                known[path, entry.id] = has(self._repository.read(entry.id)[1])
            return known[path, entry.id]

        with suppress(GitmemError):
            if head is None or not is_in(self._entry(head, path)):
                return None
            evidence = _Evidence(self._repository, self._layout)
            if evidence.is_all_from_elsewhere(head):
                return True
            first = self._first(head, path, is_in)
            return evidence.is_anything and not any(map(evidence.was_made_here, first))
        return True  # a history that cannot be read vouches for nothing

    def _first(self, head: str, path: str, is_in: Callable[[TreeEntry | None], bool]) -> Iterator[str]:
        """Yield the commits that no parent of has it."""
        waiting, seen = [(head, path)], {(head, path)}
        while waiting:
            commit, place = waiting.pop()
            before = self._before(commit, place, is_in)
            if not before:
                yield commit
            fresh = [one for one in before if one not in seen]
            seen.update(fresh)
            waiting += fresh

    def _before(
        self, commit: str, path: str, is_in: Callable[[TreeEntry | None], bool]
    ) -> list[tuple[str, str]]:
        """Return the parents that have it, each with where."""
        parents = self._repository.read_commit(commit).parents
        found = [(one, path) for one in parents if is_in(self._entry(one, path))]
        return found or [
            (one, place)
            for one in parents
            for place in self._elsewhere(one, commit, path)
            if is_in(self._entry(one, place))
        ]

    def _elsewhere(self, parent: str, commit: str, path: str) -> Iterator[str]:
        """Yield where a parent may have it under another name: the other store, or a file that has gone."""
        if path in STORES.values():
            yield from (other for other in STORES.values() if other != path)
            return
        now, before = self._folder(commit, path), self._folder(parent, path)
        # What has gone there may have come here, with words changed on the way.
        yield from (place for place in before if place not in now)

    def _folder(self, commit: str, path: str) -> list[str]:
        """Return the paths of all files in a path's top folder."""
        folder = path.partition("/")[0]
        root = read_path(self._repository, self._repository.read_commit(commit).tree, folder)
        if root is None or root.mode != TREE_MODE:
            return []
        return [place for place, _ in walk_tree(self._repository, root.id, f"{folder}/")]

    def _entry(self, commit: str, path: str) -> TreeEntry | None:
        return read_path(self._repository, self._repository.read_commit(commit).tree, path)


class _Evidence:
    """What there is to tell by whether commits were made here."""

    def __init__(self, repository: Repository, layout: Layout) -> None:
        self._repository = repository
        refs = repository.list_refs(_REMOTES)
        self._tips = [tip for name, tip in refs.items() if "/gitmem/turns/" not in name]
        branch = repository.head().branch
        steps = [*_steps(layout.git_dir / "logs" / "HEAD")]
        self._steps = [*_steps(layout.common_dir / "logs" / branch)] if branch else steps
        # Other work trees have their own HEAD, and their branches' logs lie here.
        others = (step for log in _branch_logs(layout) for step in _steps(log))
        self._made = {new for new, word in (*steps, *others) if _MADE.match(word)}

    @property
    def is_anything(self) -> bool:
        """Whether anything ever came from elsewhere."""
        return bool(self._tips) or any(not _MADE.match(word) for _, word in self._steps)

    def is_all_from_elsewhere(self, head: str) -> bool:
        """Say whether nothing up to a commit was made here, as in a fresh clone."""
        return not self._made and any(self._is_ancestor(head, tip) for tip in self._tips)

    def was_made_here(self, commit: str) -> bool:
        """Say whether a commit was made here."""
        if commit in self._made:
            return True
        if any(self._is_ancestor(commit, tip) for tip in self._tips):
            return False
        return not self._came_by_a_step(commit)

    def _came_by_a_step(self, commit: str) -> bool:
        """Say whether the branch got a commit by another way than by being made: found by halving."""
        low, high = 0, len(self._steps)
        while low < high:
            middle = (low + high) // 2
            if self._is_ancestor(commit, self._steps[middle][0]):
                high = middle
            else:
                low = middle + 1
        return low < len(self._steps) and not _MADE.match(self._steps[low][1])

    def _is_ancestor(self, old: str, new: str) -> bool:
        with suppress(GitmemError):
            return self._repository.is_ancestor(old, new)
        return False


def _branch_logs(layout: Layout) -> Iterator[Path]:
    """Yield the reflogs of all branches but the turn lines."""
    folder = layout.common_dir / "logs" / "refs" / "heads"
    for path in folder.rglob("*"):
        if path.is_file() and not path.relative_to(folder).as_posix().startswith("gitmem/"):
            yield path


def _steps(log: Path) -> Iterator[tuple[str, str]]:
    """Yield where a ref went, the oldest first, each with what Git says of how."""
    with suppress(OSError):
        for line in log.read_bytes().decode("utf-8", "replace").split("\n"):
            found = _LINE.fullmatch(line)
            if found is not None:
                yield found[2], found[3]
