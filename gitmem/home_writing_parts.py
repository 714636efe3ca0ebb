"""The writing parts of an open home: turns, the operator's branch, and what follows a turn's commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gitmem import __version__
from gitmem.adoption import adopt_spools
from gitmem.authoring import Authoring
from gitmem.backends.dulwich_repository import DulwichRepository
from gitmem.branch_changes import Settled
from gitmem.closed_tree import close_file
from gitmem.commit_signing import is_signing
from gitmem.config import HomeConfig
from gitmem.episode_closing import EpisodeNotices
from gitmem.errors import ConflictError, GitmemError
from gitmem.file_writes import FileWrites
from gitmem.found_edits import refuse_found_secret
from gitmem.home_owner import HomeOwner
from gitmem.home_reading_parts import ReadingParts
from gitmem.identity import agent_identity, operator_identity
from gitmem.init import prepare_git
from gitmem.layout import Layout
from gitmem.memory_records import MemoryRecords
from gitmem.operator_branch import OperatorBranch
from gitmem.plan_notices import PlanNotices
from gitmem.plan_sight import PlanSight
from gitmem.proposals import ProposalFolder
from gitmem.records import Event
from gitmem.spool import Spool
from gitmem.turn import Turn
from gitmem.turn_line import TurnLine
from gitmem.turn_recorder import TurnRecorder
from gitmem.write_approval import WriteApproval

if TYPE_CHECKING:
    from gitmem.episodes import Episodes
    from gitmem.hook_files import HookFiles
    from gitmem.session_snapshot import SessionSnapshots
    from gitmem.status import Finding
    from gitmem.work import Work
    from gitmem.work_files import WorkFiles
    from gitmem.work_state import WorkReader

#: Seconds to wait for the home's lock before a sync.
_SETTLE_WAIT: Final = 2.0


class WritingParts(ReadingParts):
    """Wires what changes one home.

    Args:
        layout: its folders.
        config: its own facts.
        repository: its objects and refs.
        now: the wall clock, seconds since 1970.
        catches_up: whether a search lets the index catch up beside it.
    """

    def __init__(
        self,
        layout: Layout,
        config: HomeConfig,
        repository: DulwichRepository,
        now: Callable[[], float],
        *,
        catches_up: bool = False,
    ) -> None:
        super().__init__(layout, config, repository, now, catches_up=catches_up)
        self.agent = agent_identity(config.agent, config.home_id)
        self.spool = Spool(layout.spool)
        self.line = TurnLine(
            repository, layout, self.ledger, home_id=config.home_id, agent=self.agent, now=now
        )
        self._opened = _identity(layout.common_dir)
        self._settled: list[Settled] = []
        self._told: list[str] = []
        self._is_settling = False
        self.recorder = TurnRecorder(
            self.spool,
            self.line,
            now=now,
            on_files=self._commit_files,
            on_session=self._take_session,
            judge=_suspicions,
            on_committed=self._follow_turns,
        )

    @cached_property
    def work_state(self) -> WorkReader:
        """Reads work items, waits, tasks and focus."""
        from gitmem.work_state import WorkReader

        return WorkReader(self.repository, self.layout, self.ledger, self.now)

    @cached_property
    def work_files(self) -> WorkFiles:
        """Keeps the plans of work items in line."""
        from gitmem.plan_files import PlanFiles
        from gitmem.work_files import WorkFiles

        plans = PlanFiles(
            self.layout.root,
            lambda name: name in self.work_state.state().items,
            lambda blob: self.ledger.receipts().is_forgotten_blob(blob),
        )
        return WorkFiles(
            plans,
            notices=PlanNotices(self.layout),
            sight=self._plan_sight,
            reader=self.work_state,
            authoring=lambda: self.authoring,
            waiting=lambda: self.episodes.waiting_items(),  # noqa: PLW0108 - episodes are made from these
        )

    @cached_property
    def _plan_sight(self) -> PlanSight:
        return PlanSight(self.layout, self.repository)

    @cached_property
    def work(self) -> Work:
        """Changes of work items."""
        from gitmem.work import Work

        return Work(self.recorder, self.work_state, self.now)

    def settle_work(self, *, is_looking: bool = True) -> Sequence[str]:
        """Bring the plans of changed work items in line; return what people should know.

        Args:
            is_looking: those, too, whose files people committed.
        """
        if self._is_settling:  # what is recorded of it is a turn as well
            return ()
        told, self._told = self._told, []
        if PlanNotices(self.layout).exist() or (is_looking and self._plan_sight.is_changed()):
            self._is_settling = True
            try:
                told += self.work_files.settle(is_looking=is_looking)
                self.recorder.commit_waiting()  # the records of what was written
            finally:
                self._is_settling = False
        return told

    def work_findings(self) -> list[Finding]:
        """Bring plans in line, and return what a status says of them and of episodes."""
        from gitmem.work_status import work_findings

        told: Sequence[str] = ()
        with suppress(GitmemError, OSError):
            told = () if is_signing(self.repository.config) else self.settle_work()
        return work_findings(told, self.work_files.left(), self.episodes.waiting())

    @property
    def operator(self) -> str:
        """The operator's `Name <mail>` for commits that gitmem makes for them."""
        config = self.repository.config
        return operator_identity(config("user.name"), config("user.email"), self.config.home_id)

    @cached_property
    def hooks(self) -> HookFiles:
        """The Git hooks of this repository."""
        from gitmem.hook_files import HookFiles

        return HookFiles(self.layout, self.repository)

    @cached_property
    def episodes(self) -> Episodes:
        """Finished work."""
        from gitmem.episodes import Episodes

        return Episodes(
            self.layout,
            self.repository,
            self.ledger,
            branch=lambda: self.branch,
            agent=self.agent,
            writer=self.line.writer,
            now=self.now,
            moves=self.work_files.moves,
        )

    def settle_episodes(self) -> Sequence[str]:
        """Write the files of episodes that turns have finished; return what could not be done."""
        return self.episodes.settle() if EpisodeNotices(self.layout).read() else ()

    @cached_property
    def records(self) -> MemoryRecords:
        """The ledger's records of changes on the operator's branch."""
        return MemoryRecords(self.recorder, self.ledger, self.config.home_id)

    @cached_property
    def branch(self) -> OperatorBranch:
        """The operator's branch."""
        return OperatorBranch(
            self.repository,
            self.layout,
            home_id=self.config.home_id,
            agent=self.agent,
            operator=self.operator,
            now=self.now,
            branch=self.repository.config(self.layout.branch_setting),
            record=self.records.record,
            inspect=lambda path, edit, before: refuse_found_secret(path, edit, before, self.allowed),
            close=lambda path, content: close_file(path, content, self.ledger.receipts()),
        )

    @cached_property
    def writes(self) -> FileWrites:
        """Writing of notes and managed files."""
        return FileWrites(self.authoring, self.layout, lambda: self.repository.head().commit)

    @cached_property
    def authoring(self) -> Authoring:
        """The one way of every change to the operator's branch."""
        return Authoring(
            self.branch,
            self.records,
            agent=self.agent,
            operator=lambda: self.operator,
            setting=self.repository.config,
            approval=self.approval,
            read=self.read_file,
        )

    @cached_property
    def snapshots(self) -> SessionSnapshots:
        """What each session sees of the memory stores."""
        from gitmem.session_snapshot import SessionSnapshots

        return SessionSnapshots(
            self.layout,
            self.repository,
            self.ledger,
            self.sights,
            rules=__version__,
            judge=self.judge_entry,
            owner=HomeOwner(self.layout, self.repository.config),
            now=self.now,
        )

    @cached_property
    def proposals(self) -> ProposalFolder:
        """The changes that wait for an operator's word."""
        return ProposalFolder(self.layout)

    @cached_property
    def approval(self) -> WriteApproval:
        """What decides which changes wait for it."""
        return WriteApproval(self.proposals, self.repository.config, now=self.now)

    def _take_session(self, event: Event) -> Event:
        return self.snapshots.take_event(event)

    def _commit_files(self, paths: Sequence[str], turn: Turn) -> Sequence[str]:
        return self.writes.commit_files(paths, turn)

    def check_owner(self) -> None:
        """Refuse to write into another user's home, unless that is allowed."""
        HomeOwner(self.layout, self.repository.config).check()

    def apply_spool(self, *, wait: float) -> int:
        """Bring turns that others left in the spool to the turn line; return how many."""
        self.spool.close_dead(self.now())
        adopt_spools(self.layout, self.repository, now=self.now())
        count = len(self.line.commit_spooled(wait=wait).committed) if self.spool.finished() else 0
        # A signature may need a person at the keyboard, who only wanted to read; the next turn asks for it.
        if not is_signing(self.repository.config):
            self.settle_episodes()
        return count

    def put_line_back(self, *, wait: float) -> Sequence[str]:
        """Do what the next turn would where somebody moved the own line; return what was mended."""
        return () if self.ledger.lines.astray() is None else self.line.commit_spooled(wait=wait).warnings

    def settle_all(self) -> None:
        """Bring turns of the spool and pending writes where they belong, as far as nobody is in the way."""
        with suppress(ConflictError):
            self.put_line_back(wait=_SETTLE_WAIT)
            self.apply_spool(wait=_SETTLE_WAIT)
            self.line.settle()
        with suppress(ConflictError):
            self._settled += self.branch.settle()

    def take_settled(self) -> list[Settled]:
        """Return, once, the pending writes that were settled when the home was opened."""
        settled, self._settled = self._settled, []
        return settled

    def recover(self) -> None:
        """Do what the last process left undone; a home that cannot be written is still read."""
        for step in (self._prepare, self._settle_pending, self._commit_spooled, self._settle_work):
            with suppress(GitmemError, OSError):  # one that fails is no reason to leave out the others
                step()

    def _prepare(self) -> None:
        """Make a clone by plain git, which brings no settings and hooks, a whole home at its first open."""
        if self.repository.config(self.layout.branch_setting) is not None:
            return
        prepare_git(self.layout, self.repository)
        if not HomeOwner(self.layout, self.repository.config).is_other:
            with suppress(GitmemError, OSError):  # a home without hooks is a home all the same
                self.hooks.install()
        self.ledger_copy.reconcile(wait=_SETTLE_WAIT)

    def _settle_pending(self) -> None:
        # A signature may need a person at the keyboard, who only wanted to read; the next write asks for it.
        if self.layout.pending.is_dir() and not is_signing(self.repository.config):
            self._settled += self.branch.settle()

    def _follow_turns(self) -> Sequence[str]:
        """Write the files that turns ask for: an episode takes the plan of its work item along."""
        return [*self.settle_episodes(), *self.settle_work()]

    def _settle_work(self) -> None:
        # Who put back what somebody committed has to say so, and most who open a home say nothing of it.
        if not is_signing(self.repository.config):
            self._told = [*self.settle_work(is_looking=False)]

    def _commit_spooled(self) -> None:
        self.apply_spool(wait=0.0)

    def close(self) -> None:
        """Make the last turns durable on the turn line and release files."""
        if "background_indexing" in self.__dict__:
            self.background_indexing.stop()
        if _identity(self.layout.common_dir) == self._opened:  # a removed home must not come back by this
            with suppress(GitmemError, OSError):  # they stay in the spool, from which nothing is lost
                if self.layout.home_lock.exists():
                    self.line.settle()
            with suppress(OSError):
                self.ledger.lines.remember()
        if "index" in self.__dict__:
            self.index.close()
        self.ledger.close()
        self.repository.close()


def _suspicions(told: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterable[str]:
    from gitmem.recorded_threats import suspicions

    return suspicions(told)


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
