"""The operator's branch between here and a remote: what HEAD's branch and the remote's are both to become.

Decided among objects alone, so that nothing here moves before the remote has taken it. A merge is a function
of the two commits: two machines that merge one pair make one commit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gitmem.branch_merge import conflict_of
from gitmem.commit_merge import make_merge_commit, merge_commits, merge_roots
from gitmem.config import parse_config
from gitmem.errors import NotAHome, OtherHome
from gitmem.forgotten import Receipts
from gitmem.git_state import read_git_state, short_name
from gitmem.layout import CONFIG_FILE, CONFLICTS, Layout
from gitmem.merge_bases import find_merge_bases
from gitmem.repository import TREE_MODE, GitObject, ObjectReader, Repository, read_path, walk_tree
from gitmem.subjects import KIND, parse_trailers
from gitmem.transfer_walk import WalkTooLong, new_history
from gitmem.tree_edit import find_file

#: Merges that are looked through to see whether nothing but merges differs.
_MOST_MERGES: Final = 100
_SHALLOW: Final = "the history here is cut off (shallow) before the two have anything in common"


@dataclass(frozen=True, slots=True)
class BranchStep:
    """What is to become of the branch.

    Attributes:
        branch: its full name.
        here: the commit that HEAD's branch is at.
        there: the commit that the remote has, None where it has none.
        target: the commit that both are to be at; None where the branch is left alone.
        objects: what is new for it.
        merges: whether the two had parted.
        conflicts: the copies that wait for the operator in the target, or where the branch is.
        equal: whether here and there hold the same, and only merges of gitmem's keep them apart.
        reason: why the branch is left alone.
        warnings: what a person should know of the merge.
    """

    branch: str
    here: str | None
    there: str | None
    target: str | None = None
    objects: Sequence[GitObject] = ()
    merges: bool = False
    conflicts: Sequence[Mapping[str, str]] = ()
    equal: bool = False
    reason: str | None = None
    warnings: Sequence[str] = ()

    @property
    def goes(self) -> bool:
        """Whether the remote's branch is to move."""
        return self.target is not None and self.target != self.there

    @property
    def comes(self) -> bool:
        """Whether HEAD's branch is to move."""
        return self.target is not None and self.target != self.here


class BranchSync:
    """Decides what becomes of the branch.

    Args:
        repository: the object store, refs and configuration.
        layout: folders.
        home_id: of this home; the remote's branch must be the same one.
        agent: `Name <mail>` of a commit that only takes out what was forgotten.
        receipts: returns those in force.
    """

    def __init__(
        self,
        repository: Repository,
        layout: Layout,
        *,
        home_id: str,
        agent: str,
        receipts: Callable[[], Receipts],
    ) -> None:
        self._repository = repository
        self._layout = layout
        self._home_id = home_id
        self._agent = agent
        self._receipts = receipts

    @property
    def name(self) -> str | None:
        """Full name of this home's branch; None for a home that has not chosen one."""
        setting = self._repository.config(self._layout.branch_setting)
        if setting is None:
            return self._repository.head().branch
        return setting if setting.startswith("refs/") else f"refs/heads/{setting}"

    def check_home(self, commit: str, remote: str) -> None:
        """Make sure that a commit of a remote's branch is of this home, and of a format that is known.

        Raises:
            NotAHome: it has no `gitmem.toml`.
            OtherHome: it is of another home.
            UnsupportedFormat: this program does not read its format.
        """
        tree = self._repository.read_commit(commit).tree
        file = find_file(self._repository, tree, CONFIG_FILE)
        if file is None or not file.is_regular:
            hint = "Sync with an empty bare repository, or with one that this home was pushed to."
            raise NotAHome(f"the remote {remote} is not an agent home: it has no {CONFIG_FILE}", hint=hint)
        config = parse_config(self._repository.read(file.id)[1])
        if config.home_id != self._home_id:
            raise OtherHome(
                f"the remote {remote} is another home, {config.home_id} of the agent {config.agent!r}",
                hint="Nothing was synced. Each home has a remote of its own.",
                homes=[self._home_id, config.home_id],
            )

    def plan(self, there: str | None) -> BranchStep:
        """Decide what becomes of the branch.

        Args:
            there: the commit that the remote has, which is in the own store; None where it has none.
        """
        name = self.name
        if name is None:
            return BranchStep("", None, there, reason="detached HEAD")
        state = read_git_state(self._layout, self._repository, name)
        here = state.head.commit
        step = BranchStep(name, here, there)
        if here is None:
            return replace(step, reason=f"the branch {short_name(name)} has no commit yet")
        if state.obstacle is not None:
            return replace(step, reason=state.obstacle, conflicts=self._conflicts(here))
        return self._towards(step, here, there)

    def _towards(self, step: BranchStep, here: str, there: str | None) -> BranchStep:
        """Decide between two commits, where nothing keeps the branch from moving."""
        if there is None or self._repository.is_ancestor(there, here):
            return self._closed(step, here)
        trees = [self._repository.read_commit(commit).tree for commit in (there, here)]
        twice = name_given_twice(self._repository, *trees)
        if twice is not None:
            reason = f"the remote's branch is damaged: a folder of it holds {twice} twice"
            return replace(step, reason=reason, conflicts=self._conflicts(here), warnings=[reason])
        if self._repository.is_ancestor(here, there):
            return self._closed(step, there)
        if self._is_equal(here, there):
            return replace(step, equal=True, conflicts=self._conflicts(here))
        return self._merge(step, here, there)

    def _is_equal(self, here: str, there: str) -> bool:
        """Say whether two commits that have parted hold the same and differ by merges of gitmem's alone.

        Machines that sync with several remotes would go on merging each other's merges for ever.
        """
        trees = {self._repository.read_commit(commit).tree for commit in (here, there)}
        if len(trees) > 1:
            return False
        try:
            parted = [
                commit
                for tip, known in ((here, there), (there, here))
                for commit in new_history(self._repository, [tip], [known], most=_MOST_MERGES).commits
            ]
        except WalkTooLong:
            return False
        return all(len(one.parents) > 1 and parse_trailers(one.message).get(KIND) == "sync" for one in parted)

    def _conflicts(self, commit: str) -> list[dict[str, str]]:
        """Return the conflict copies that a commit's tree holds."""
        entry = read_path(self._repository, self._repository.read_commit(commit).tree, CONFLICTS)
        if entry is None or entry.mode != TREE_MODE:
            return []
        paths = (path for path, _ in walk_tree(self._repository, entry.id, f"{CONFLICTS}/"))
        return [_conflict(conflict_of(path), path) for path in paths]

    def _merge(self, step: BranchStep, here: str, there: str) -> BranchStep:
        bases = find_merge_bases(self._repository.read_commit, [here], [there])
        if not bases and (self._layout.common_dir / "shallow").exists():
            return replace(step, reason=_SHALLOW, conflicts=self._conflicts(here))
        done = merge_commits(self._repository, here, there, receipts=self._receipts())
        warnings = [f"{path}: left out of the merge: {why}" for path, why in done.merge.refused.items()]
        warnings += [f"{path}: gave way to a file of that name" for path in done.merge.dropped]
        warnings += [f"one name on other machines: {', '.join(paths)}" for paths in done.merge.twins]
        if not bases:
            warnings.append("the two histories have nothing in common; their files were put together")
        open_copies = done.merge.conflicts.items()
        return replace(
            step,
            target=done.commit.id,
            objects=done.objects,
            merges=True,
            conflicts=[_conflict(path, copy) for path, copies in open_copies for copy in copies],
            warnings=warnings,
        )

    def _closed(self, step: BranchStep, tip: str) -> BranchStep:
        """Let the branch go to a commit, or one on top of it without what was forgotten."""
        commit = self._repository.read_commit(tip)
        done = merge_roots(self._repository, commit.tree, commit.tree, commit.tree, receipts=self._receipts())
        step = replace(step, target=tip, conflicts=self._conflicts(tip))
        if done.tree == commit.tree:
            return step
        fresh = make_merge_commit(done.tree, [commit], self._agent)
        return replace(step, target=fresh.id, objects=(*done.objects, fresh))


def name_given_twice(objects: ObjectReader, tree: str, known: str | None, path: str = "") -> str | None:
    """Return a path that a tree holds twice, which Git never writes and no disk can hold; None for none.

    Args:
        objects: holds the trees.
        tree: of a remote.
        known: a tree that is sound; folders that it has too are not read.
        path: of the tree, with a slash at its end.
    """
    if tree == known:
        return None
    before = () if known is None else objects.read_tree(known)
    sound = {entry.name: entry.id for entry in before if entry.mode == TREE_MODE}
    entries = objects.read_tree(tree)
    twice = next((name for name, count in Counter(one.name for one in entries).items() if count > 1), None)
    if twice is not None:
        return path + twice
    folders = (entry for entry in entries if entry.mode == TREE_MODE)
    found = (name_given_twice(objects, one.id, sound.get(one.name), f"{path}{one.name}/") for one in folders)
    return next((name for name in found if name is not None), None)


def _conflict(path: str, copy: str) -> dict[str, str]:
    return {"id": copy, "path": path, "copy": copy}
