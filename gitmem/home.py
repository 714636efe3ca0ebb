"""The facade: opens an agent home; each command has a method here with the same words."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from gitmem.backends.dulwich_repository import open_repository
from gitmem.config import HomeConfig, parse_config
from gitmem.errors import NotAHome, UnsupportedFormat
from gitmem.home_context import HomeContext
from gitmem.home_editing import HomeEditing
from gitmem.home_episodes import HomeEpisodes
from gitmem.home_forget import HomeForget
from gitmem.home_history import HomeHistory
from gitmem.home_index import HomeIndex
from gitmem.home_judging import HomeJudging
from gitmem.home_machine import HomeMachine
from gitmem.home_memory import HomeMemory
from gitmem.home_notes import HomeNotes
from gitmem.home_parts import HomeParts
from gitmem.home_quarantine import HomeQuarantine
from gitmem.home_session_search import HomeSessionSearch
from gitmem.home_sessions import HomeSessions
from gitmem.home_sync import HomeSync
from gitmem.home_tools import HomeTools
from gitmem.home_verify import HomeVerify
from gitmem.home_work import HomeWork
from gitmem.init import InitReport, check_git_format, init_home
from gitmem.layout import CONFIG_FILE, Layout, find_layout
from gitmem.ledger import Ledger
from gitmem.operator_branch import OperatorBranch
from gitmem.records import Receipt
from gitmem.turn import Turn

if TYPE_CHECKING:
    from gitmem.agent_sight import Reader
    from gitmem.history import LogPage
    from gitmem.importers.jsonl import ImportReport
    from gitmem.memory_get import Memory
    from gitmem.search import SearchReply
    from gitmem.shown import Shown
    from gitmem.status import Status

#: The most that one `get` returns; `show` wants as much as there is.
_WHOLE = 50_000


class AgentHome(
    HomeContext,
    HomeEpisodes,
    HomeMemory,
    HomeEditing,
    HomeForget,
    HomeHistory,
    HomeIndex,
    HomeJudging,
    HomeMachine,
    HomeNotes,
    HomeQuarantine,
    HomeSessions,
    HomeSessionSearch,
    HomeSync,
    HomeTools,
    HomeVerify,
    HomeWork,
):
    """One agent home, open. A context manager; safe to use from several threads and processes at once.

    Use `AgentHome.open` or `AgentHome.init`.

    Attributes:
        layout: its folders.
        config: its own facts.
        ledger: reads its records.
    """

    def __init__(self, parts: HomeParts) -> None:
        self._parts = parts
        self.layout: Layout = parts.layout
        self.config: HomeConfig = parts.config
        self.ledger: Ledger = parts.ledger

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
        return init_home(Path(path), agent=agent, now=now(), hooks=True)

    @classmethod
    def clone(
        cls,
        url: str,
        path: str | Path,
        *,
        timeout: float | None = None,
        now: Callable[[], float] = time.time,
    ) -> AgentHome:
        """Clone a home into a new folder, with turns, files and tags of episodes, and open it.

        Raises:
            NotAHome: there is no home under that path or URL; nothing was made.
            RefusedError: something is at the path.
            RemoteError: the remote failed or took too long; nothing was made.
        """
        from gitmem.clone import clone_home

        clone_home(url, Path(path), timeout=timeout)
        return cls.open(path, now=now)

    @classmethod
    def open(
        cls, path: str | Path, *, now: Callable[[], float] = time.time, catches_up: bool = True
    ) -> AgentHome:
        """Open the home at `path`, which is the folder that holds `gitmem.toml`.

        Args:
            path: of the home.
            now: the wall clock, seconds since 1970.
            catches_up: whether a search that finds the index behind lets it catch up in a thread, where no
                watcher does.

        Raises:
            NotAHome: there is none.
            UnsupportedFormat: this program cannot read its format.
        """
        root = Path(path)
        config = _read_config(root)
        layout = find_layout(root)
        repository = open_repository(layout)
        try:
            check_git_format(repository)
        except UnsupportedFormat:
            repository.close()
            raise
        parts = HomeParts(layout, config, repository, now, catches_up=catches_up)
        parts.recover()
        return cls(parts)

    def __enter__(self) -> Self:
        """Return the home."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the home."""
        self.close()

    def close(self) -> None:
        """Make the last turns durable on the turn line and release files; indexing ends with its slice."""
        self._parts.close()

    @property
    def operator(self) -> str:
        """The operator's `Name <mail>` for commits that gitmem makes for them."""
        return self._parts.operator

    @property
    def branch(self) -> OperatorBranch:
        """The operator's branch, as gitmem commits to it."""
        return self._parts.branch

    # What happens: turns

    def turn(
        self, session: str | None = None, *, workspace: str | None = None, work_item: str | None = None
    ) -> Turn:
        """Begin a turn; use it in a `with`, then read its `receipt`.

        Args:
            session: id of the conversation.
            workspace: id of where the work happens.
            work_item: id of what it is for.
        """
        self._parts.check_owner()
        self._begin_turn(session)
        return self._parts.recorder.open(session=session, workspace=workspace, work_item=work_item)

    def record(self, events: Sequence[Mapping[str, Any]], **links: Any) -> Receipt:
        """Record a whole turn from JSON events; an invalid event refuses all of them."""
        self._parts.check_owner()
        reply = self._parts.recorder.record(events, **links)
        self._begin_turn(links.get("session"))
        return reply

    def turn_open(self, **links: Any) -> str:
        """Begin a turn that several processes feed; return its id."""
        self._parts.check_owner()
        return self._parts.recorder.open_held(**links)

    def turn_add(self, events: Sequence[Mapping[str, Any]], turn: str | None = None) -> list[dict[str, str]]:
        """Add events to a turn that several processes feed."""
        return self._parts.recorder.add_held(turn, events)

    def turn_close(self, events: Sequence[Mapping[str, Any]] = (), turn: str | None = None) -> Receipt:
        """Finish a turn that several processes fed."""
        return self._parts.recorder.close_held(turn, events)

    def import_jsonl(
        self, path: str | Path, *, dry_run: bool = False, progress: Callable[[int], None] = lambda _: None
    ) -> ImportReport:
        """Import JSON lines as turns; what was imported before is left alone."""
        from gitmem.importers.jsonl import import_jsonl

        self._parts.check_owner()
        with Path(path).open("rb") as lines:
            return import_jsonl(
                lines,
                self._parts.recorder,
                known=self.ledger.record_ids,
                forgotten=self.ledger.receipts().records,
                dry_run=dry_run,
                progress=progress,
            )

    # Reading

    def search(self, query: object, *, by: Reader = "agent", **options: Any) -> SearchReply:
        """Search everything that was said, run and noted; options as on the command line.

        Args:
            query: what to look for; anything else than text is looked for as its JSON.
            by: who reads: from an `agent`, what the scanner refuses of memory and notes is withheld.
            options: as on the command line, `kind` as one or several; `since` and `until` as words, or in
                seconds since 1970.

        Raises:
            UsageError: the query is blank, there is no such option, or what it says has no meaning.
        """
        from gitmem.search_reply import read_times

        return self._parts.search.search(query, by=by, **read_times(options, self._parts.now()))

    def get(self, ref: str, *, offset: int = 0, max_chars: int = 12_000, by: Reader = "agent") -> Memory:
        """Return what a source ref names.

        Args:
            ref: of it.
            offset: of the first character.
            max_chars: how many at most.
            by: who reads: from an `agent`, what the scanner refuses of memory and notes is withheld.
        """
        return self._parts.search.get(ref, offset=offset, max_chars=max_chars, by=by)

    def show(self, what: str) -> Shown:
        """Return what a ref, commit, turn or path names, told for people."""
        from gitmem.shown import Shower

        def whole(ref: str) -> Memory:
            return self.get(ref, max_chars=_WHOLE, by="operator")

        judged = self._parts.judgements.of
        return Shower(self._parts.repository, self.ledger, whole, judged).show(what)

    def log(
        self, path: str | None = None, *, cursor: str | None = None, limit: int = 50, **query: Any
    ) -> LogPage:
        """Return what happened, newest first; options as on the command line, times in seconds since 1970."""
        from gitmem.history import LogQuery, skip_of

        if path is not None and path.startswith("note:"):
            path = self.note_show(path).path
        return self._parts.history.log(LogQuery(path=path, skip=skip_of(cursor), limit=limit, **query))

    # Care

    def status(self) -> Status:
        """Return whether all is well."""
        from gitmem.commit_found import uncommitted
        from gitmem.json_view import to_json
        from gitmem.memory_status import memory_status
        from gitmem.quarantine import STATUS_SECONDS
        from gitmem.status import turn_facts
        from gitmem.status_report import StatusParts, collect_status

        parts = self._parts
        writer = parts.line.writer()
        own = writer.ref if writer else None
        notes = self.notes()
        work = parts.work_findings()
        return collect_status(
            StatusParts(
                layout=parts.layout,
                config=parts.config,
                repository=parts.repository,
                branch=parts.branch,
                turns=turn_facts(parts.repository, parts.ledger, own, parts.layout.spool, parts.now()),
                index=to_json(parts.search.index_status()),
                notes=notes,
                withheld=self.withheld_notes(notes),
                edits=uncommitted(parts.branch, parts.layout),
                memory=memory_status(
                    parts.sights,
                    parts.snapshots,
                    self.prose_sections(),
                    parts.refused_facts.since_last_success(),
                ),
                work=work,
                proposals=self.proposals(),
                damaged_proposals=self.damaged_proposals(),
                pinned=parts.repository.config(parts.layout.branch_setting),
                remotes=parts.remote_standings(),
                quarantine=parts.quarantine.list(STATUS_SECONDS),
                now=parts.now(),
            )
        )

    def apply_spool(self, *, wait: float = 0.0) -> int:
        """Bring turns that others left in the spool to the turn line; return how many.

        Raises:
            HomeLocked: another process holds the home's lock.
        """
        return self._parts.apply_spool(wait=wait)

    def put_line_back(self) -> Sequence[str]:
        """Put the own turn line back where somebody else moved or deleted it; return what was done, in words.

        Raises:
            HomeLocked: another process holds the home's lock.
        """
        return self._parts.put_line_back(wait=0.0)

    def restore_ledger_copy(self) -> Sequence[str]:
        """Make `ledger/` on disk equal to the turn lines; return where foreign bytes were set aside."""
        return self._parts.ledger_copy.reconcile()


def _read_config(root: Path) -> HomeConfig:
    if "\0" in str(root):
        raise NotAHome("not an agent home: a path holds no NUL")
    path = root / CONFIG_FILE
    if path.is_symlink():
        raise NotAHome(f"{CONFIG_FILE} is a link", hint="Replace it by the file.", path=str(root))
    try:
        return parse_config(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise NotAHome(
            f"not an agent home: {root}", hint="Make one with `gitmem init`.", path=str(root)
        ) from None
