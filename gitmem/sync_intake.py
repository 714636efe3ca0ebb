"""What comes from a remote: its lines, its branch and its tags, fetched beside what is here, then judged.

Nothing of it is taken over blindly: a line only grows, a tag is only made, and where the branch is of another
home nothing moves at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Final

from gitmem.branch_sync import BranchSync
from gitmem.errors import GitmemError, HeadMoved, NotAHome
from gitmem.git_state import short_name
from gitmem.layout import TURN_LINES
from gitmem.line_sync import Incoming, judge_incoming, line_names
from gitmem.remote_repository import RemoteRefs, RemoteRepository
from gitmem.repository import ABSENT, Repository
from gitmem.tag_sync import EPISODE_TAGS, TagPlan, plan_tags, tag_names
from gitmem.transfer_walk import new_history

_HEADS: Final = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Intake:
    """What a remote has, and what of it came.

    Attributes:
        refs: as the remote showed them.
        branch: the commit that its branch is at, None where it has none.
        lines: value by writer of its turn lines, as far as they are of this home.
        incoming: what was decided of them.
        tags: what was decided of the tags.
        turns: how many commits of turns came.
        commits: how many commits of the branch came.
        warnings: what was found out of place.
    """

    refs: RemoteRefs
    branch: str | None
    lines: Mapping[str, str]
    incoming: Incoming
    tags: TagPlan
    turns: int = 0
    commits: int = 0
    warnings: Sequence[str] = field(default_factory=list)

    @property
    def known(self) -> list[str]:
        """Commits that the remote has, whatever branch of its they stand on."""
        return [value for name, value in self.refs.refs.items() if name.startswith(_HEADS)]


class SyncIntake:
    """Takes in what one remote has.

    Args:
        repository: the object store and refs.
        branch: says which branch it is, and whether a commit is of this home.
        home_id: of this home.
        remote: name of the remote.
        who: `Name <mail>` for reflogs.
        dry_run: fetch objects, but move no ref.
    """

    def __init__(
        self,
        repository: Repository,
        branch: BranchSync,
        *,
        home_id: str,
        remote: str,
        who: str,
        dry_run: bool,
    ) -> None:
        self._repository = repository
        self._branch = branch
        self._home_id = home_id
        self._remote = remote
        self._who = who
        self._dry_run = dry_run
        self._side = f"refs/remotes/{remote}/"

    def take(self, remote: RemoteRepository) -> Intake:
        """Fetch what is new, judge it and take it over.

        Raises:
            HomeError: the remote is another home, or none; nothing was moved.
            RemoteError: it failed.
        """
        with closing(remote):
            refs = remote.refs((_HEADS, EPISODE_TAGS))
            known = self._known()
            wants = list(dict.fromkeys(value for value in self._wanted(refs) if value not in known.values()))
            with remote.fetch(wants, self._haves(known)) if wants else nullcontext():
                return self._judge(refs, known)

    def _known(self) -> dict[str, str]:
        """Return the refs that hold what both may have."""
        own = self._branch.name
        tip = None if own is None else self._repository.read_ref(own)
        found = {} if own is None or tip is None else {own: tip}
        for prefix in (TURN_LINES, self._side, EPISODE_TAGS):
            found.update(self._repository.list_refs(prefix))
        return found

    def _wanted(self, refs: RemoteRefs) -> Iterator[str]:
        yield from line_names(refs.refs).values()
        branch = refs.refs.get(self._branch.name or "")
        if branch is not None:
            yield branch
        yield from tag_names(refs.refs).values()

    def _haves(self, known: Mapping[str, str]) -> list[str]:
        """Return commits that the remote probably has, the newest first."""
        times: dict[str, int] = {}
        for name, value in known.items():
            if not name.startswith(EPISODE_TAGS):
                with suppress(GitmemError):
                    times[value] = self._repository.read_commit(value).commit_time
        return sorted(times, key=lambda value: times[value], reverse=True)

    def _judge(self, refs: RemoteRefs, known: Mapping[str, str]) -> Intake:
        branch = refs.refs.get(self._branch.name or "")
        lines = line_names(refs.refs)
        if branch is not None and branch != known.get(self._side_of_branch() or ""):
            self._branch.check_home(branch, self._remote)
        here = line_names(known, f"{self._side}gitmem/turns/")
        incoming = judge_incoming(self._repository, self._home_id, lines, here)
        ours = {name: tip for name, tip in lines.items() if f"gitmem/turns/{name}" not in incoming.ignored}
        if branch is None and not ours:
            self._refuse_stranger(refs)
        tags = plan_tags(self._repository, tag_names(known), tag_names(refs.refs))
        before = [value for name, value in known.items() if not name.startswith(EPISODE_TAGS)]
        warnings: list[str] = []
        if not self._dry_run:
            warnings += self._move_lines(incoming, ours, here)
            warnings += self._move_branch(branch)
            tags = self._make_tags(tags)
        moved = [new for _, new in incoming.moves.values()]
        return Intake(
            refs,
            branch,
            ours,
            incoming,
            tags,
            turns=self._count(moved, before),
            commits=self._count([branch] if branch else [], before),
            warnings=warnings,
        )

    def _refuse_stranger(self, refs: RemoteRefs) -> None:
        others = sorted(name for name in refs.refs if name.startswith(_HEADS))
        if others:
            name = short_name(self._branch.name or "")
            raise NotAHome(
                f"the remote {self._remote} is not this home: it has neither a branch {name} nor turn lines",
                hint="Sync with an empty bare repository, or with one that this home was pushed to.",
                branches=others[:20],
            )

    def _move_lines(
        self, incoming: Incoming, lines: Mapping[str, str], here: Mapping[str, str]
    ) -> Iterator[str]:
        for writer, (old, new) in incoming.moves.items():
            self._move(f"{self._side}gitmem/turns/{writer}", old, new)
        for writer, tip in here.items():
            if writer in lines or f"gitmem/turns/{writer}" in incoming.ignored:
                continue
            if any(self._repository.is_ancestor(tip, other) for other in lines.values()):
                self._move(f"{self._side}gitmem/turns/{writer}", tip, None)
            else:
                yield f"the remote no longer has the turn line {writer}; it is kept as it was last known"

    def _move_branch(self, there: str | None) -> Iterator[str]:
        ref = self._side_of_branch()
        if there is None or ref is None:
            return
        old = self._repository.read_ref(ref)
        if old is not None and old != there and not self._is_ancestor(old, there):
            yield f"the remote's branch was rewritten: {there} does not follow {old}"
        self._move(ref, old, there)

    def _make_tags(self, plan: TagPlan) -> TagPlan:
        refused = dict(plan.refused)
        for name, value in plan.come.items():
            try:
                self._repository.move_ref(name, old=ABSENT, new=value, message="sync", who=self._who)
            except GitmemError as error:
                refused[name] = error.message
        come = {name: value for name, value in plan.come.items() if name not in refused}
        return TagPlan(come, plan.go, plan.moved, refused)

    def _move(self, ref: str, old: str | None, new: str | None) -> None:
        if old != new:
            with suppress(HeadMoved):  # an operator's fetch brought it meanwhile
                self._repository.move_ref(
                    ref, old=old or ABSENT, new=new or ABSENT, message="sync", who=self._who
                )

    def _side_of_branch(self) -> str | None:
        name = self._branch.name
        return None if name is None else self._side + short_name(name)

    def _is_ancestor(self, old: str, new: str) -> bool:
        try:
            return self._repository.is_ancestor(old, new)
        except GitmemError:
            return False

    def _count(self, tips: Sequence[str], known: Sequence[str]) -> int:
        return len(new_history(self._repository, tips, known).commits)
