"""What goes to a remote: the lines of this repository, the branch, tags of episodes; nothing is forced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gitmem.branch_sync import BranchStep
from gitmem.errors import GitmemError, HeadMoved
from gitmem.git_state import short_name
from gitmem.layout import TURN_LINES, Layout
from gitmem.line_sync import line_names, prunable_lines, stand_of
from gitmem.remote_repository import RefOutcome, RefUpdate, RemoteRepository
from gitmem.repository import ABSENT, Repository
from gitmem.sync_intake import Intake
from gitmem.tag_sync import EPISODE_TAGS
from gitmem.transfer_walk import new_history
from gitmem.turn_line import TurnLine
from gitmem.writer import read_writer

#: Seconds to wait for the home's lock when a new writer is needed.
_LOCK_WAIT: Final = 5.0
_REMOTES: Final = "refs/remotes/"


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of what was sent.

    Attributes:
        turns: commits of turns that the remote got.
        commits: commits of the branch that it got.
        tags: names of tags that it got.
        pruned: lines that it let go.
        refused: updates that it did not take, and why.
        again: whether it moved meanwhile, so that it has to be looked at anew.
        because: what it said then.
    """

    turns: int = 0
    commits: int = 0
    tags: Sequence[str] = ()
    pruned: Sequence[str] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    again: bool = False
    because: str = ""


class SyncDelivery:
    """Sends what one remote lacks.

    Args:
        repository: the object store and refs.
        layout: says whose lines are here.
        line: of this work tree.
        remote: name of the remote.
        who: `Name <mail>` for reflogs.
        tips: returns commit by ref of all lines of this home that are known.
    """

    def __init__(
        self,
        repository: Repository,
        layout: Layout,
        line: TurnLine,
        *,
        remote: str,
        who: str,
        tips: Callable[[], Mapping[str, str]],
    ) -> None:
        self._repository = repository
        self._layout = layout
        self._line = line
        self._who = who
        self._tips = tips
        self._side = f"refs/remotes/{remote}/"

    def prepare_lines(self, lines: Mapping[str, str]) -> str | None:
        """Bring the lines here into a shape that the remote can take; return a new writer if one was needed.

        The own line begins anew where another copy of this folder has gone on under its name. Lines that no
        work tree here writes any more follow the remote's, and go where the own line contains them.
        """
        state, fresh = self._line.writer(), None
        for writer, tip in self._here().items():
            stand = stand_of(self._is_ancestor, tip, lines.get(writer), ())
            if state is not None and writer == state.writer:
                if stand in ("behind", "forked"):
                    ahead = lines[writer] if stand == "behind" else None
                    fresh = self._line.change_writer(tip, ahead, wait=_LOCK_WAIT)
            elif writer not in self._owned():
                self._tidy(writer, tip, lines[writer] if stand == "behind" else None)
        return fresh

    def updates(self, intake: Intake, step: BranchStep | None, now: float) -> list[RefUpdate]:
        """Return what is to be sent.

        Args:
            intake: what the remote has.
            step: what becomes of the branch; None leaves it alone.
            now: seconds since 1970.
        """
        found = [*self._line_updates(intake.lines)]
        found += [RefUpdate(name, None, value) for name, value in intake.tags.go.items()]
        if step is not None and step.goes:
            found.append(RefUpdate(step.branch, step.there, step.target))
        growing = [name.removeprefix(TURN_LINES) for name in (update.name for update in found)]
        kept = [*self._here(), *self._owned(), *growing]
        gone = prunable_lines(self._repository, intake.lines, kept, now)
        found += [RefUpdate(TURN_LINES + writer, intake.lines[writer], None) for writer in gone]
        return found

    def push(self, remote: RemoteRepository, updates: Sequence[RefUpdate], known: Sequence[str]) -> Delivery:
        """Send updates, and remember what the remote has now.

        Args:
            remote: opened for pushing.
            updates: at least one.
            known: commits that the remote had.

        Raises:
            RemoteError: it failed.
        """
        with closing(remote):
            outcomes = remote.push(updates)
        pairs = list(zip(updates, outcomes, strict=True))
        taken = [update for update, outcome in pairs if outcome.accepted]
        moved = [outcome for outcome in outcomes if outcome.code in ("fetch_first", "moved")]
        for update in taken:
            self._remember(update)
        return Delivery(
            turns=self.count([one for one in taken if one.name.startswith(TURN_LINES)], known),
            commits=self.count([one for one in taken if _is_branch(one.name)], known),
            tags=[one.name for one in taken if one.name.startswith(EPISODE_TAGS)],
            pruned=[one.name.removeprefix(TURN_LINES) for one in taken if one.new is None],
            refused=dict(_refusals(pairs)),
            again=bool(moved),
            because=next((f"{short_name(one.name)}: {one.reason}" for one in moved if one.reason), ""),
        )

    def count(self, updates: Sequence[RefUpdate], known: Sequence[str]) -> int:
        """Return how many commits updates bring."""
        tips = [update.new for update in updates if update.new is not None]
        return len(new_history(self._repository, tips, known).commits)

    def _line_updates(self, lines: Mapping[str, str]) -> Iterator[RefUpdate]:
        for writer, tip in {**self._from_elsewhere(), **self._here()}.items():
            there = lines.get(writer)
            others = [value for name, value in lines.items() if name != writer]
            if stand_of(self._is_ancestor, tip, there, others) in ("new", "ahead"):
                yield RefUpdate(TURN_LINES + writer, there, tip)

    def _tidy(self, writer: str, tip: str, ahead: str | None) -> None:
        """Let go of a line that nobody here writes, or let it follow the remote's."""
        state = self._line.writer()
        own = self._repository.read_ref(state.ref) if state is not None else None
        with suppress(GitmemError):
            if own is not None and self._is_ancestor(tip, own):
                self._repository.move_ref(
                    TURN_LINES + writer, old=tip, new=ABSENT, message="sync: contained", who=self._who
                )
            elif ahead is not None:
                self._repository.move_ref(
                    TURN_LINES + writer, old=tip, new=ahead, message="sync: forward", who=self._who
                )

    def _remember(self, update: RefUpdate) -> None:
        """Let the side ref say what the remote has now; tags have none."""
        if not update.name.startswith("refs/heads/"):
            return
        side = self._side + short_name(update.name)
        with suppress(HeadMoved):
            now = self._repository.read_ref(side)
            if now != update.new:
                new = update.new or ABSENT
                self._repository.move_ref(side, old=now or ABSENT, new=new, message="sync", who=self._who)

    def _here(self) -> Mapping[str, str]:
        return line_names(self._repository.list_refs(TURN_LINES))

    def _from_elsewhere(self) -> Mapping[str, str]:
        """Return tip by writer of lines that came from other remotes; this one is to lack no turn either."""
        tips = self._tips().items()
        others = [row for row in tips if row[0].startswith(_REMOTES) and not row[0].startswith(self._side)]
        return {name.rpartition("/")[2]: tip for name, tip in others}

    def _owned(self) -> set[str]:
        """Return the writers of all work trees of this repository."""
        folder = self._layout.common_dir / "gitmem"
        files: list[Path] = [folder / "main" / "writer.json", *folder.glob("worktrees/*/writer.json")]
        states = (read_writer(file) for file in files)
        return {state.writer for state in states if state is not None}

    def _is_ancestor(self, old: str, new: str) -> bool:
        try:
            return self._repository.is_ancestor(old, new)
        except GitmemError:
            return False


def _is_branch(name: str) -> bool:
    return name.startswith("refs/heads/") and not name.startswith(TURN_LINES)


def _refusals(pairs: Sequence[tuple[RefUpdate, RefOutcome]]) -> Iterator[tuple[str, str]]:
    """Yield what the remote did not take; a line that it keeps longer than it must is no matter."""
    for update, outcome in pairs:
        if outcome.code == "refused" and update.new is not None:
            yield update.name, outcome.reason
