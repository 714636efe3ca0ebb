"""Which plans the operator's branch has otherwise than when they were looked at last: commits made by hand.

Two trees are compared from the top, so that nothing is read while no plan was changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gitmem.durable_file import write_file
from gitmem.errors import GitmemError
from gitmem.layout import Layout
from gitmem.repository import Commit, Repository, read_path
from gitmem.subjects import KIND, parse_trailers
from gitmem.tree_changes import changed_paths
from gitmem.work_paths import FOLDER, is_plan_path

#: Kinds of commits by which gitmem writes plans.
_OWN: Final = ("work", "episode")
#: How many commits are looked through for the one that brought a plan.
_WITHIN: Final = 500
_NAME: Final = "plan-sight"


@dataclass(frozen=True, slots=True)
class SeenPlan:
    """A plan that the branch has otherwise now.

    Attributes:
        blob: id of what the branch has.
    """

    path: str
    blob: str


@dataclass(frozen=True, slots=True)
class _Sight:
    """Where the branch stood.

    Attributes:
        tree: id of the folder of plans; empty where there was none.
    """

    commit: str
    tree: str


class PlanSight:
    """Remembers which plans of the branch were looked at; losing that loses only what changed since.

    Args:
        layout: where it is kept.
        repository: where the branch is.
    """

    def __init__(self, layout: Layout, repository: Repository) -> None:
        self._file = layout.private / _NAME
        self._setting = layout.branch_setting
        self._repository = repository
        self._known: _Sight | None = None
        self._now: _Sight | None = None

    def is_changed(self) -> bool:
        """Say whether a plan may be another one; False while HEAD is not on the home's branch."""
        try:
            self._now = self._look()
        except GitmemError:  # of a damaged repository others tell
            self._now = None
        if self._now is None:
            return False
        known = self._known = self._known or self._read()
        if known is None:  # the first look: what was before is nobody's edit
            self.done()
        elif known.tree == self._now.tree:
            self._known = self._now
        return known is not None and known.tree != self._now.tree

    def changed(self) -> list[SeenPlan]:
        """Return the plans that came to the branch or were changed there, as `is_changed` saw it."""
        if self._now is None or self._known is None or self._now.tree == self._known.tree:
            return []
        old, new = self._known.tree or None, self._now.tree or None
        if old is not None and not self._repository.contains(old):
            old = None  # a history that was thrown away; all are looked at
        changes = changed_paths(self._repository, old, new, f"{FOLDER}/")
        return [
            SeenPlan(change.path, change.new.id)
            for change in changes
            if change.new is not None and is_plan_path(change.path)
        ]

    def is_own(self, plan: SeenPlan) -> bool:
        """Say whether a commit of gitmem's, perhaps of another machine, brought a plan as it is."""
        return any(self._brings(commit, plan) for commit in self._since())

    def written_since(self, path: str, since: str) -> Iterator[bytes]:
        """Yield what gitmem's own commits made of a plan since HEAD named a commit, the last one first."""
        head = self._repository.head().commit
        for count, commit in enumerate(self._repository.walk_first_parents(head) if head else ()):
            if commit.id == since or count >= _WITHIN:
                return
            entry = read_path(self._repository, commit.tree, path)
            if entry is not None and self._brings(commit, SeenPlan(path, entry.id)):
                yield self._repository.read(entry.id)[1]

    def done(self) -> None:
        """Take what was seen for known."""
        if self._now is not None and self._now != self._known:
            write_file(self._file, f"{self._now.commit} {self._now.tree}\n".encode(), durable=False)
            self._known = self._now

    def _look(self) -> _Sight | None:
        head = self._repository.head()
        branch = self._repository.config(self._setting)
        if head.commit is None or head.branch is None or branch is None:
            return None
        if head.branch not in (branch, f"refs/heads/{branch}"):
            return None
        if self._known is not None and self._known.commit == head.commit:
            return self._known
        entry = read_path(self._repository, self._repository.read_commit(head.commit).tree, FOLDER)
        return _Sight(head.commit, entry.id if entry is not None else "")

    def _read(self) -> _Sight | None:
        try:
            commit, _, tree = self._file.read_text("ascii").rstrip("\n").partition(" ")
        except (OSError, ValueError):
            return None
        return _Sight(commit, tree)

    def _since(self) -> Iterator[Commit]:
        """Yield the commits that the branch has got since it was looked at."""
        assert self._now is not None
        assert self._known is not None
        waiting, seen = [self._now.commit], {self._known.commit}
        while waiting and len(seen) < _WITHIN:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                commit = self._repository.read_commit(name)
                waiting += commit.parents
                yield commit

    def _brings(self, commit: Commit, plan: SeenPlan) -> bool:
        if parse_trailers(commit.message).get(KIND) not in _OWN:
            return False
        before = self._repository.read_commit(commit.parents[0]).tree if commit.parents else None
        return self._has(commit.tree, plan) and (before is None or not self._has(before, plan))

    def _has(self, tree: str, plan: SeenPlan) -> bool:
        entry = read_path(self._repository, tree, plan.path)
        return entry is not None and entry.id == plan.blob
