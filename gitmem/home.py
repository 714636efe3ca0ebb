"""The facade: opens an agent home and wires its parts; each command has a method here with the same words."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from gitmem.authoring import Author, Authoring, Provenance, WriteReply
from gitmem.backends.dulwich_repository import DulwichRepository, open_repository
from gitmem.branch_changes import PathChange
from gitmem.config import HomeConfig, parse_config
from gitmem.disk_copy import DiskCopy
from gitmem.errors import GitmemError, NotAHome, UnsupportedFormat
from gitmem.git_objects import hash_object
from gitmem.home_owner import HomeOwner
from gitmem.identity import agent_identity, operator_identity
from gitmem.init import InitReport, init_home, prepare_git
from gitmem.layout import CONFIG_FILE, Layout, find_layout, is_managed
from gitmem.ledger import Ledger
from gitmem.memory_records import MemoryRecords
from gitmem.operator_branch import OperatorBranch
from gitmem.records import Receipt
from gitmem.spool import Spool
from gitmem.subjects import note_subject
from gitmem.tree_files import ManagedFile, read_managed
from gitmem.turn import Turn, TurnRecorder
from gitmem.turn_line import TurnLine

if TYPE_CHECKING:
    from gitmem.changes import Hints
    from gitmem.curated import NoteList
    from gitmem.history import LogPage
    from gitmem.importers.jsonl import ImportReport
    from gitmem.indexer import CatchUp, Indexer
    from gitmem.machine_settings import MachineSettings
    from gitmem.memory_get import Memory
    from gitmem.note_text import Note
    from gitmem.notes import NotePlan, Notes
    from gitmem.search import Search, SearchReply
    from gitmem.shown import Shown
    from gitmem.status import Status


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
        self._spool = Spool(layout.spool)
        self._line = TurnLine(
            repository, layout, self.ledger, home_id=config.home_id, agent=self._agent, now=now
        )
        self._recorder = TurnRecorder(self._spool, self._line, now=now, on_files=self._commit_files)
        self._records = MemoryRecords(self._recorder, self.ledger, config.home_id)
        self.branch = OperatorBranch(
            repository,
            layout,
            home_id=config.home_id,
            agent=self._agent,
            operator=self.operator,
            now=now,
            branch=repository.config("gitmem.branch"),
            record=self._records.record,
        )
        self._authoring = Authoring(
            self.branch, self._records, agent=self._agent, operator=lambda: self.operator
        )

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
        with suppress(OSError):
            self.ledger.lines.remember()
        if "search_index" in self.__dict__:
            self.search_index.close()
        self.repository.close()

    @property
    def operator(self) -> str:
        """The operator's `Name <mail>` for commits that gitmem makes for them."""
        config = self.repository.config
        return operator_identity(config("user.name"), config("user.email"), self.config.home_id)

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
        self._check_owner()
        return self._recorder.open(session=session, workspace=workspace, work_item=work_item)

    def record(self, events: Sequence[Mapping[str, Any]], **links: Any) -> Receipt:
        """Record a whole turn from JSON events; an invalid event refuses all of them."""
        self._check_owner()
        return self._recorder.record(events, **links)

    def turn_open(self, **links: Any) -> str:
        """Begin a turn that several processes feed; return its id."""
        self._check_owner()
        return self._recorder.open_held(**links)

    def turn_add(self, events: Sequence[Mapping[str, Any]], turn: str | None = None) -> list[dict[str, str]]:
        """Add events to a turn that several processes feed."""
        return self._recorder.add_held(turn, events)

    def turn_close(self, events: Sequence[Mapping[str, Any]] = (), turn: str | None = None) -> Receipt:
        """Finish a turn that several processes fed."""
        return self._recorder.close_held(turn, events)

    def import_jsonl(
        self, path: str | Path, *, dry_run: bool = False, progress: Callable[[int], None] = lambda _: None
    ) -> ImportReport:
        """Import JSON lines as turns; what was imported before is left alone."""
        from gitmem.importers.jsonl import import_jsonl

        self._check_owner()
        with Path(path).open("rb") as lines:
            return import_jsonl(
                lines,
                self._recorder,
                known=self.ledger.record_ids,
                forgotten=self.ledger.receipts().records,
                dry_run=dry_run,
                progress=progress,
            )

    # What people and the agent write: notes and memory

    def notes(self) -> NoteList:
        """Return all notes."""
        return self._notes.list()

    def catalog(self) -> str:
        """Return the notes catalog, as the agent sees it."""
        return self._notes.catalog(limit=self.config.catalog_notes, max_chars=self.config.catalog_chars)

    def note_show(self, note: str) -> Note:
        """Return the note that a path, ref or id names."""
        return self._notes.find(note)

    def note_add(
        self,
        path: str | None = None,
        *,
        content: str = "",
        title: str | None = None,
        tags: Sequence[str] = (),
        **cause: Any,
    ) -> WriteReply:
        """Add a note.

        Args:
            path: below `notes/`; without it the name comes from the title.
            content: its text.
            title: its title; default its first heading.
            tags: its tags.
            cause: `session`, `turn`, `source`, `reason`, and `by` (`agent` or `operator`).
        """
        plan = self._notes.plan_add(content, path=path, title=title, tags=tags)
        return self._write_note(plan, **cause)

    def note_edit(
        self,
        note: str,
        *,
        content: str | None = None,
        title: str | None = None,
        tags: Sequence[str] | None = None,
        **cause: Any,
    ) -> WriteReply:
        """Change a note's text, title or tags; what is not named stays."""
        plan = self._notes.plan_edit(note, content=content, title=title, tags=tags)
        return self._write_note(plan, **cause)

    def note_append(self, note: str, content: str, **cause: Any) -> WriteReply:
        """Add text at a note's end."""
        return self._write_note(self._notes.plan_append(note, content), **cause)

    def note_move(self, note: str, target: str, **cause: Any) -> WriteReply:
        """Give a note another path; it stays the same note."""
        return self._write_note(self._notes.plan_move(note, target), **cause)

    def note_remove(self, note: str, **cause: Any) -> WriteReply:
        """Remove a note; its history keeps it."""
        return self._write_note(self._notes.plan_remove(note), **cause)

    def commit(self, paths: Sequence[str] = (), *, message: str | None = None) -> Any:
        """Commit the operator's edits of managed files, and writes that had to wait."""
        from gitmem.commit_found import commit_found

        self._check_owner()
        return commit_found(self.branch, self.layout, paths, message=message)

    # Reading

    def search(self, query: str, **options: Any) -> SearchReply:
        """Search everything that was said, run and noted; options as on the command line."""
        return self._search.search(query, **options)

    def get(self, ref: str, *, offset: int = 0, max_chars: int = 12_000) -> Memory:
        """Return what a source ref names."""
        return self._search.get(ref, offset=offset, max_chars=max_chars)

    def show(self, what: str) -> Shown:
        """Return what a ref, commit, turn or path names, told for people."""
        from gitmem.shown import Shower

        whole = 50_000
        return Shower(self.repository, self.ledger, lambda ref: self.get(ref, max_chars=whole)).show(what)

    def log(
        self, path: str | None = None, *, cursor: str | None = None, limit: int = 50, **query: Any
    ) -> LogPage:
        """Return what happened, newest first; options as on the command line, times in seconds since 1970."""
        from gitmem.history import History, LogQuery, skip_of

        if path is not None and path.startswith("note:"):
            path = self.note_show(path).path
        history = History(self.repository, self.ledger, self.config.home_id, self.config.agent)
        return history.log(LogQuery(path=path, skip=skip_of(cursor), limit=limit, **query))

    # Care

    def status(self) -> Status:
        """Return whether all is well."""
        from gitmem.status import turn_facts
        from gitmem.status_report import StatusParts, collect_status

        writer = self._line.writer()
        return collect_status(
            StatusParts(
                self.layout,
                self.config,
                self.repository,
                self.branch,
                turn_facts(self.repository, self.ledger, writer.ref if writer else None, self.layout.spool),
                self._search.index_status(),
                self.notes(),
                self.repository.config("gitmem.branch"),
                self._now(),
            )
        )

    def catch_up(self, hints: Hints | None = None, *, seconds: float | None = None) -> CatchUp:
        """Bring the search index up to date.

        Args:
            hints: where something may have changed; None looks everywhere.
            seconds: after so long the rest is left for another call; None leaves nothing.
        """
        from gitmem.indexer import Budget

        return self._indexer.catch_up(hints, Budget(seconds=seconds))

    def reindex(self) -> CatchUp:
        """Build the search index anew."""
        return self._indexer.rebuild()

    def apply_spool(self, *, wait: float = 0.0) -> int:
        """Bring turns that others left in the spool to the turn line; return how many.

        Raises:
            HomeLocked: another process holds the home's lock.
        """
        self._spool.close_dead(self._now())
        return len(self._line.commit_spooled(wait=wait).committed) if self._spool.finished() else 0

    def restore_ledger_copy(self) -> Sequence[str]:
        """Make `ledger/` on disk equal to the turn lines; return where foreign bytes were set aside."""
        from gitmem.ledger_copy import LedgerCopy

        if self._copy is None:
            self._copy = LedgerCopy(self.ledger, DiskCopy(self.repository, self.layout), self.layout)
        return self._copy.reconcile()

    _copy: Any = None

    @cached_property
    def settings(self) -> MachineSettings:
        """The settings of this machine."""
        from gitmem.machine_settings import MachineSettings

        return MachineSettings(self.repository, self.config)

    def config_get(self, key: str) -> Any:
        """Return a setting."""
        return self.settings.get(key)

    def config_set(self, key: str, value: str) -> None:
        """Change a setting of this machine."""
        self.settings.set(key, value)

    def config_list(self) -> Any:
        """Return all settings."""
        return self.settings.list()

    # Wiring

    @cached_property
    def _notes(self) -> Notes:
        from gitmem.notes import Notes

        return Notes(self.repository, self.layout)

    @cached_property
    def search_index(self) -> Any:
        """The search index."""
        from gitmem.backends.whoosh_index import WhooshIndex

        return WhooshIndex(self.layout.index)

    @cached_property
    def _indexer(self) -> Indexer:
        from gitmem.indexer import Indexer
        from gitmem.note_ids import NoteIds

        ids = NoteIds(self.repository, self.layout)
        return Indexer(self.repository, self.ledger, self.layout, ids, self.search_index)

    @cached_property
    def _search(self) -> Search:
        from gitmem.memory_get import MemoryReader
        from gitmem.note_ids import NoteIds
        from gitmem.search import Search

        return Search(
            self.repository,
            self.ledger,
            self.layout,
            self.search_index,
            note_ids=NoteIds(self.repository, self.layout),
            reader=MemoryReader(self.ledger, self.layout, self._notes, self.config.home_id),
        )

    def _write_note(
        self,
        plan: NotePlan,
        *,
        by: Author = "agent",
        session: str | None = None,
        turn: Turn | str | None = None,
        source: str | None = None,
        reason: str | None = None,
    ) -> WriteReply:
        cause = Provenance(by, session, turn, source, reason)
        if not plan.changes:
            head = self.repository.head().commit
            return WriteReply(head, None, plan.source_ref, plan.path, unchanged=True)
        target = plan.path if plan.moved_from else None
        reply = self._authoring.write(
            plan.changes,
            kind="note",
            action=plan.action,
            subject=note_subject(plan.action, plan.moved_from or plan.path, target),
            source_ref=plan.source_ref,
            by=cause,
        )
        self._recorder.commit_waiting()
        return reply

    def _commit_files(self, paths: Sequence[str], turn: str) -> Sequence[str]:
        """Commit as the agent what a turn says that it changed with its own tools; return what cannot be."""
        warnings = []
        for path in dict.fromkeys(paths):
            try:
                reason = self._commit_file(path, turn)
            except (GitmemError, OSError) as error:
                reason = str(error)
            if reason:
                warnings.append(f"{path[:200]}: {reason}")
        return warnings

    def _commit_file(self, path: str, turn: str) -> str | None:
        if not is_managed(path):
            return None  # a file of the workspace; the record of it is all there is to keep
        found = read_managed(self.layout.root, path)
        if found is not None and not isinstance(found, ManagedFile):
            return found.reason
        content = None if found is None else found.content
        base = None if content is None else hash_object("blob", content)
        reply = self._authoring.write(
            [PathChange(path, base, content)],
            kind="file",
            action="edit",
            subject=note_subject("edit", path),
            source_ref=None,
            by=Provenance("agent", turn=turn),
        )
        return reply.reason

    def _check_owner(self) -> None:
        HomeOwner(self.layout, self.repository.config).check()

    def _recover(self) -> None:
        """Do what the last process left undone; a home that cannot be written is still read."""
        with suppress(GitmemError, OSError):
            if self.repository.config("gitmem.branch") is None:
                prepare_git(self.layout, self.repository)
            self.branch.settle()
            self.apply_spool()


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
