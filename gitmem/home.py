"""The facade: opens an agent home and wires its parts; each command has a method here with the same words."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gitmem.backends.dulwich_repository import DulwichRepository, open_repository
from gitmem.config import HomeConfig, parse_config
from gitmem.errors import GitmemError, HomeLocked, NotAHome, UnsupportedFormat
from gitmem.identity import agent_identity, operator_identity
from gitmem.init import InitReport, init_home, prepare_git
from gitmem.layout import CONFIG_FILE, Layout, find_layout
from gitmem.ledger import Ledger
from gitmem.operator_branch import OperatorBranch
from gitmem.records import Receipt
from gitmem.spool import Spool
from gitmem.turn import Turn, TurnRecorder
from gitmem.turn_line import TurnLine


class AgentHome:
    """One agent home, open. A context manager; safe to use from several threads and processes at once.

    Use `AgentHome.open` or `AgentHome.init`.
    """

    def __init__(
        self, layout: Layout, config: HomeConfig, repository: DulwichRepository, now: Callable[[], float]
    ) -> None:
        self.layout = layout
        self.config = config
        self.repository = repository
        self._now = now
        self._agent = agent_identity(config.agent, config.home_id)
        self.ledger = Ledger(repository, layout, config.home_id)
        self.branch = OperatorBranch(
            repository,
            layout,
            home_id=config.home_id,
            agent=self._agent,
            operator=self.operator,
            now=now,
            branch=repository.config("gitmem.branch"),
        )
        self._spool = Spool(layout.spool)
        self._line = TurnLine(
            repository, layout, self.ledger, home_id=config.home_id, agent=self._agent, now=now
        )
        self._recorder = TurnRecorder(self._spool, self._line, now=now)

    @classmethod
    def init(
        cls, path: str | Path, agent: str | None = None, *, now: Callable[[], float] = time.time
    ) -> AgentHome:
        """Make `path` an agent home, adding only what is missing, and open it."""
        cls.create(path, agent, now=now)
        return cls.open(path, now=now)

    @staticmethod
    def create(
        path: str | Path, agent: str | None = None, *, now: Callable[[], float] = time.time
    ) -> InitReport:
        """Make `path` an agent home and say what was done."""
        return init_home(Path(path), agent=agent, now=now())

    @classmethod
    def open(cls, path: str | Path, *, now: Callable[[], float] = time.time) -> AgentHome:
        """Open the home at `path`, which is the folder that holds `gitmem.toml`.

        Raises:
            NotAHome: there is none.
            UnsupportedFormat: this program cannot read its format.
        """
        root = Path(path)
        config = _read_config(root)
        layout = find_layout(root)
        repository = open_repository(layout)
        kind = repository.object_format()
        if kind != "sha1":
            repository.close()
            raise UnsupportedFormat(
                f"unsupported Git repository format: {kind}", reason="git_format", format=kind
            )
        home = cls(layout, config, repository, now)
        home._recover()
        return home

    def __enter__(self) -> Self:
        """Return the home."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the home."""
        self.close()

    def close(self) -> None:
        """Make the last turns durable on the turn line and release files."""
        with suppress(GitmemError, OSError):  # they stay in the spool, from which nothing is lost
            self._line.settle()
        self.repository.close()

    @property
    def operator(self) -> str:
        """The operator's `Name <mail>` for commits that gitmem makes for them."""
        config = self.repository.config
        return operator_identity(config("user.name"), config("user.email"), self.config.home_id)

    def turn(
        self, session: str | None = None, *, workspace: str | None = None, work_item: str | None = None
    ) -> Turn:
        """Begin a turn; use it in a `with`, then read its `receipt`.

        Args:
            session: id of the conversation.
            workspace: id of where the work happens.
            work_item: id of what it is for.
        """
        return self._recorder.open(session=session, workspace=workspace, work_item=work_item)

    def record(self, events: Sequence[Mapping[str, Any]], **links: Any) -> Receipt:
        """Record a whole turn from JSON events; an invalid event refuses all of them."""
        return self._recorder.record(events, **links)

    def turn_open(self, **links: Any) -> str:
        """Begin a turn that several processes feed; return its id."""
        return self._recorder.open_held(**links)

    def turn_add(self, events: Sequence[Mapping[str, Any]], turn: str | None = None) -> list[dict[str, str]]:
        """Add events to a turn that several processes feed."""
        return self._recorder.add_held(turn, events)

    def turn_close(self, events: Sequence[Mapping[str, Any]] = (), turn: str | None = None) -> Receipt:
        """Finish a turn that several processes fed."""
        return self._recorder.close_held(turn, events)

    def apply_spool(self, *, wait: float = 0.0) -> int:
        """Bring turns that others left in the spool to the turn line; return how many.

        Raises:
            HomeLocked: another process holds the home's lock.
        """
        self._spool.close_dead(self._now())
        return len(self._line.commit_spooled(wait=wait).committed) if self._spool.finished() else 0

    def _recover(self) -> None:
        """Do what the last process left undone; a home that cannot be written is still read."""
        try:
            if self.repository.config("gitmem.branch") is None:
                prepare_git(self.layout, self.repository)
            self.apply_spool()
        except (HomeLocked, OSError):
            return


def _read_config(root: Path) -> HomeConfig:
    path = root / CONFIG_FILE
    if path.is_symlink():
        raise NotAHome(f"{CONFIG_FILE} is a link", hint="Replace it by the file.", path=str(root))
    try:
        return parse_config(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise NotAHome(
            f"not an agent home: {root}", hint="Make one with `gitmem init`.", path=str(root)
        ) from None
