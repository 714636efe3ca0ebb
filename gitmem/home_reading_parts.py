"""The reading parts of an open home: what finds, judges and shows; each is made when first needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from gitmem.backends.dulwich_repository import DulwichRepository
from gitmem.config import HomeConfig
from gitmem.errors import ProtectedPath
from gitmem.findings import ALLOW_SETTING, split_allowed
from gitmem.layout import Layout
from gitmem.ledger import Ledger
from gitmem.tree_files import ManagedFile, read_managed

if TYPE_CHECKING:
    from gitmem.agent_sight import AgentSight
    from gitmem.chosen_index import ChosenIndex
    from gitmem.commit_times import CommitTimes
    from gitmem.findings import Finding
    from gitmem.held_files import HeldFiles
    from gitmem.held_records import HeldRecords
    from gitmem.history import History
    from gitmem.index_runs import BackgroundIndexing
    from gitmem.index_trouble import IndexTrouble
    from gitmem.indexer import Indexer
    from gitmem.judgements import Judgements
    from gitmem.ledger_copy import LedgerCopy
    from gitmem.machine_settings import MachineSettings
    from gitmem.note_ids import NoteIds
    from gitmem.notes import Notes
    from gitmem.quarantine import Quarantine
    from gitmem.quarantine_file import NamedItems, QuarantineFile
    from gitmem.quarantine_marks import MarkedQuarantine
    from gitmem.scanner import Scan
    from gitmem.search import Search
    from gitmem.store_sight import StoreSights


class ReadingParts:
    """Wires what reads one home.

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
        self.layout = layout
        self.config = config
        self.repository = repository
        self.now = now
        self._catches_up = catches_up
        self.ledger = Ledger(repository, layout, config.home_id)

    @property
    def allowed(self) -> frozenset[str]:
        """This machine's exceptions for the scanner."""
        return split_allowed(self.repository.config(ALLOW_SETTING))

    def scan(self, text: str) -> Scan:
        """Judge a text for a prompt, by the rules and with what this machine allows."""
        from gitmem.scanner import scan

        return scan(text, allowed=self.allowed)

    def judge(self, text: str) -> Sequence[Finding]:
        """Return what of a text must not reach a prompt; nothing of what an operator let through."""
        return () if self.quarantine_file.lets(text) else self.scan(text).findings

    def judge_entry(self, text: str) -> Sequence[Finding]:
        """Return what of an entry must not reach a prompt, its length too where it came by sync."""
        from gitmem.findings import Finding

        found = self.judge(text)
        over = () if found else self.quarantine.over_limit(text)
        return found or [Finding(rule, "strict", "It came by sync.", 0, len(text)) for rule in over]

    @cached_property
    def sight(self) -> AgentSight:
        """What an agent may see of curated memory."""
        from gitmem.agent_sight import AgentSight

        return AgentSight(self._judge_in, self.quarantine)

    def _judge_in(self, text: str, scope: str) -> Sequence[Finding]:
        return () if self.quarantine_file.lets(text) else self._scan_in(text, scope)

    def _scan_in(self, text: str, scope: str) -> Sequence[Finding]:
        from gitmem.scanner import scan

        return scan(text, scope, self.allowed).findings

    @cached_property
    def quarantine_file(self) -> QuarantineFile:
        """What this machine remembers of quarantine."""
        from gitmem.quarantine_file import QuarantineFile

        return QuarantineFile(self.layout)

    @cached_property
    def quarantine(self) -> Quarantine:
        """What came by sync and is kept from the agent."""
        from gitmem.quarantine import Quarantine

        return Quarantine(*self._quarantine_parts)

    @cached_property
    def marked_quarantine(self) -> MarkedQuarantine:
        """The same, as an operator's context has it."""
        from gitmem.quarantine_marks import MarkedQuarantine

        return MarkedQuarantine(*self._quarantine_parts)

    @cached_property
    def _quarantine_parts(self) -> tuple[HeldRecords, HeldFiles, QuarantineFile, NamedItems]:
        from gitmem.held_files import HeldFiles
        from gitmem.held_records import HeldRecords
        from gitmem.quarantine_file import NamedItems

        files = HeldFiles(
            self.layout,
            self.repository,
            config=self.config,
            file=self.quarantine_file,
            judge=self._scan_in,
            allowed=lambda: self.allowed,
            note_ref=self._note_ref,
        )
        records = HeldRecords(self.layout, self.ledger, self._scan_in, lambda: self.allowed)
        return records, files, self.quarantine_file, NamedItems(self.layout)

    def _note_ref(self, path: str) -> str:
        from gitmem.errors import GitmemError
        from gitmem.memory_files import file_id

        try:
            return self.notes.find(path).source_ref
        except GitmemError:  # the branch has it, the disk does not, or it cannot be read
            return f"file:{file_id(path)}"

    @cached_property
    def judgements(self) -> Judgements:
        """What was retracted and rejected."""
        from gitmem.judgements import Judgements

        return Judgements(self.ledger, self.layout)

    @cached_property
    def sights(self) -> StoreSights:
        """The memory stores as prompts are made from them."""
        from gitmem.store_sight import StoreSights

        return StoreSights(self.layout, self.config, self.ledger.receipts, self.judge_entry)

    @cached_property
    def notes(self) -> Notes:
        """The notes as they are on disk."""
        from gitmem.notes import Notes
        from gitmem.search_index import file_marks

        return Notes(self.repository, self.layout, lambda: file_marks(self.index), self.ledger.receipts)

    @cached_property
    def note_ids(self) -> NoteIds:
        """The ids of notes that have none in their front matter."""
        from gitmem.note_ids import NoteIds

        return NoteIds(self.repository, self.layout)

    @cached_property
    def commit_times(self) -> CommitTimes:
        """When files were changed."""
        from gitmem.commit_times import CommitTimes

        return CommitTimes(self.repository, self.layout)

    @cached_property
    def index(self) -> ChosenIndex:
        """The search index."""
        from gitmem.chosen_index import ENGINE_SETTING, ChosenIndex
        from gitmem.postings_cache import CACHE_SETTING, cache_bytes

        config = self.repository.config
        return ChosenIndex(
            lambda: config(ENGINE_SETTING),
            self.layout.indexes,
            lambda: cache_bytes(config(CACHE_SETTING)) // 2,
        )

    @cached_property
    def indexer(self) -> Indexer:
        """What brings the index up to date."""
        from gitmem.indexer import Indexer

        return Indexer(
            self.repository,
            self.ledger,
            self.layout,
            self.note_ids,
            self.index,
            times=self.commit_times,
            trouble=self.index_trouble,
        )

    @cached_property
    def index_trouble(self) -> IndexTrouble:
        """What is wrong with the search index, beside what is in it."""
        from gitmem.index_trouble import IndexTrouble

        return IndexTrouble(self.index.doubt)

    @cached_property
    def background_indexing(self) -> BackgroundIndexing:
        """What brings the index up to date beside the work of this home."""
        from gitmem.index_runs import SMALL_SLICE, BackgroundIndexing

        return BackgroundIndexing(
            lambda: self.indexer.catch_up(None, SMALL_SLICE),
            is_wanted=self._is_indexing_wanted,
            trouble=self.index_trouble,
        )

    def _is_indexing_wanted(self) -> bool:
        """Say whether this home's index may be written here, and no watcher does."""
        from gitmem.home_owner import HomeOwner
        from gitmem.watch_state import is_watched

        layout = self.layout
        try:
            HomeOwner(layout, self.repository.config).check()
        except (ProtectedPath, OSError):  # somebody else's, or gone
            return False
        return os.access(layout.git_dir, os.W_OK | os.X_OK) and not is_watched(layout)

    def _let_catch_up(self) -> None:
        if self._catches_up:
            self.background_indexing.ask()

    @cached_property
    def search(self) -> Search:
        """Searching and reading."""
        from gitmem.gone_entries import GoneEntries
        from gitmem.index_view import IndexViewer
        from gitmem.memory_get import MemoryReader
        from gitmem.postings_cache import CACHE_SETTING, cache_bytes
        from gitmem.search import Search

        return Search(
            IndexViewer(
                self.repository,
                self.ledger,
                self.layout,
                self.index,
                note_ids=self.note_ids,
                times=self.commit_times,
                trouble=self.index_trouble,
            ),
            reader=MemoryReader(
                self.ledger,
                self.layout,
                self.notes,
                self.config.home_id,
                self.judgements.of,
                sight=self.sight,
                quarantine=self.quarantine,
                gone=GoneEntries(self.repository, self.ledger, self.judgements.of),
                times=self.commit_times.now,
            ),
            judgements=self.judgements,
            sight=self.sight,
            quarantine=self.quarantine,
            now=self.now,
            lacking=self._let_catch_up,
            room=lambda: cache_bytes(self.repository.config(CACHE_SETTING)) // 2,
        )

    @cached_property
    def history(self) -> History:
        """The audit trail."""
        from gitmem.history import History

        return History(self.repository, self.ledger, self.config.home_id, self.config.agent)

    @cached_property
    def settings(self) -> MachineSettings:
        """The settings of this machine."""
        from gitmem.machine_settings import MachineSettings

        return MachineSettings(self.repository, self.config, self.layout)

    @cached_property
    def ledger_copy(self) -> LedgerCopy:
        """The ledger's copy on disk."""
        from gitmem.disk_copy import DiskCopy
        from gitmem.ledger_copy import LedgerCopy

        disk = DiskCopy(self.repository, self.layout, self.ledger.receipts)
        return LedgerCopy(self.ledger, disk, self.layout)

    def read_file(self, path: str) -> bytes | None:
        """Return a managed file's bytes; None where there is none, or none that can be read."""
        found = read_managed(self.layout.root, path)
        return found.content if isinstance(found, ManagedFile) else None
