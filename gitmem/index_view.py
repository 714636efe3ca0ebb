"""What one search sees: the index as its last commit left it, and the newest of what it does not cover."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass

from gitmem.authored_files import find_authored, read_authored
from gitmem.commit_times import CommitTimes
from gitmem.documents import Document
from gitmem.errors import GitmemError
from gitmem.index_backlog import (
    Backlog,
    ComparedSegments,
    compare_segments,
    covered_offset,
    documents_of,
    find_backlog,
)
from gitmem.index_batch import Sources, note_paths
from gitmem.index_trouble import IndexTrouble
from gitmem.layout import Layout
from gitmem.ledger import Ledger, Segment
from gitmem.ledger_line import STUB
from gitmem.manifest import EMPTY, Manifest
from gitmem.memory_part import MemoryPart
from gitmem.note_ids import NoteIds
from gitmem.repository import Repository
from gitmem.search_index import (
    IndexDamaged,
    IndexOutdated,
    IndexPart,
    IndexRefused,
    IndexSnapshot,
    SearchIndex,
)
from gitmem.unindexed import Unindexed, count_unindexed, read_unindexed


@dataclass(frozen=True, slots=True)
class IndexView:
    """Everything that one search sees, as of one moment.

    Attributes:
        parts: of the index, and last what is not indexed yet.
        backlog: what the index does not cover.
        is_there: whether there is an index that can be read.
        doubts: why not, and why it cannot be written, if so.
        astray: that the own turn line is not where gitmem left it, if so.
    """

    manifest: Manifest
    parts: Sequence[IndexPart]
    sources: Sources
    backlog: Backlog
    unindexed: Unindexed
    is_there: bool
    doubts: tuple[str, ...]
    astray: str | None = None

    def is_current(self, place: int, document: Document) -> bool:
        """Say whether a document of a part is still what its source says."""
        if place == len(self.parts) - 1:
            return True
        if document.record is not None and document.record in self.backlog.forgotten:
            return False
        if document.origin not in self.backlog.stale:
            return True
        if document.record is not None:
            return self._is_in_ledger(document)
        # What was read of changed files is in the part of what is not indexed.
        return document.origin not in self.unindexed.files and self._is_in_file(document)

    @property
    def quarantined(self) -> dict[str, str]:
        """Names of what cannot be found, indexed or not, and why."""
        manifest, stale = self.manifest, self.backlog.stale
        found = {
            name: why
            for path, mark in manifest.faulty_segments.items()
            if path not in self.backlog.gone_segments
            for name, why in mark.problems.items()
        }
        found |= {path: why for path, why in manifest.faulty_files.items() if path not in stale}
        return {**found, **(self.backlog.problems or {}), **self.unindexed.problems}

    def _is_in_ledger(self, document: Document) -> bool:
        """Say whether a record still stands in its segment; what moved to another one is new there."""
        segment = self.sources.ledger.segments().get(document.origin)
        if segment is None:
            return False
        try:
            content = self.sources.ledger.read_segment(segment)
        except GitmemError:
            return False
        if covered_offset(content, self.manifest.segments.get(document.origin)):
            return True
        before, found, _ = content.partition(f',"id":"{document.record}","turn"'.encode())
        return bool(found) and not before.endswith(STUB)

    def _is_in_file(self, document: Document) -> bool:
        sources = self.sources
        id_of = sources.note_ids.lookup(note_paths(sources))
        read = read_authored(sources.root, document.origin, id_of, sources.receipts)
        return read is not None and any(one.source_ref == document.source_ref for one in read.documents)


def _reason_of(ledger: Ledger) -> str | None:
    astray = ledger.lines.astray()
    return None if astray is None else astray.reason


class IndexViewer:
    """Looks at one index and its sources; safe to use from several threads.

    Args:
        repository: whose HEAD decides the ids of notes.
        ledger: its records.
        layout: its files.
        index: may be missing, behind or damaged.
        note_ids: gives notes their ids.
        times: tells when files were changed.
        trouble: why the index could not be written here, if so.
    """

    def __init__(
        self,
        repository: Repository,
        ledger: Ledger,
        layout: Layout,
        index: SearchIndex,
        *,
        note_ids: NoteIds,
        times: CommitTimes,
        trouble: IndexTrouble | None = None,
    ) -> None:
        self._repository = repository
        self._ledger = ledger
        self._root = layout.root
        self._index = index
        self._note_ids = note_ids
        self._times = times
        self._trouble = trouble or IndexTrouble()
        self._guard = threading.Lock()
        self._last: tuple[object, Unindexed] | None = None
        self._compared: tuple[Manifest, Mapping[str, Segment], ComparedSegments] | None = None

    def still(self) -> AbstractContextManager[None]:
        """Let one search see the lines of turns as they stand at one moment."""
        return self._ledger.still()

    def view(self, *, unindexed: bool = True) -> IndexView:
        """Return what there is.

        Args:
            unindexed: also read the newest of what the index does not cover.

        Raises:
            IndexDamaged: the index cannot be read.
        """
        try:
            return self._look(self._index.snapshot(), (), unindexed=unindexed)
        except IndexRefused as error:
            doubts = (str(error),)
        except OSError as error:
            doubts = (_unreadable(error),)
        return self._look(None, doubts, unindexed=unindexed)

    def view_beside(self, damage: IndexDamaged | OSError) -> IndexView:
        """Return what there is beside an index that cannot be read; what is newest is read in any case."""
        if isinstance(damage, OSError):
            return self._look(None, (_unreadable(damage),), unindexed=True)
        is_other = isinstance(damage, IndexOutdated)
        reason = "the index is of another layout" if is_other else "the index is damaged"
        return self._look(None, (f"{reason}, and is built anew: {damage}",), unindexed=True)

    def discard(self) -> None:
        """Throw a damaged index away, unless somebody is writing it just now; then he finds the damage."""
        with suppress(IndexDamaged, IndexRefused, OSError), self._index.writing() as writer:
            if writer is not None:
                writer.discard()

    def _look(self, snapshot: IndexSnapshot | None, doubts: tuple[str, ...], *, unindexed: bool) -> IndexView:
        sources = Sources(
            ledger=self._ledger,
            root=self._root,
            note_ids=self._note_ids,
            times=self._times,
            found=find_authored(self._root),
            receipts=self._ledger.receipts(),
            head=self._repository.head().commit,
            make=documents_of,
        )
        manifest = EMPTY if snapshot is None else snapshot.manifest
        compared = self._compare(manifest, self._ledger.segments())
        backlog = find_backlog(manifest, compared, sources.found, sources.receipts, self._root)
        newest = self._read_unindexed(sources, manifest, backlog, reads=unindexed)
        indexed = () if snapshot is None else snapshot.parts
        return IndexView(
            manifest=manifest,
            parts=(*indexed, newest.part),
            sources=sources,
            backlog=backlog,
            unindexed=newest,
            is_there=snapshot is not None,
            doubts=tuple(dict.fromkeys([*doubts, *self._trouble.reasons()])),
            astray=_reason_of(self._ledger),
        )

    def _compare(self, manifest: Manifest, segments: Mapping[str, Segment]) -> ComparedSegments:
        """Compare segments with what is covered, or return what that gave for the very same."""
        with self._guard:
            last = self._compared
        if last is not None and last[0] is manifest and last[1] is segments:
            return last[2]
        compared = compare_segments(manifest, segments)
        with self._guard:
            self._compared = (manifest, segments, compared)
        return compared

    def _read_unindexed(
        self, sources: Sources, manifest: Manifest, backlog: Backlog, *, reads: bool
    ) -> Unindexed:
        """Read what is not indexed, or return what was read of the very same for the search before."""
        spooled = list(self._ledger.spooled())
        if not reads:
            pending = count_unindexed(sources, manifest, backlog, spooled)
            return Unindexed(MemoryPart([]), pending, 0, frozenset())
        found = {} if sources.found is None else sources.found.files
        key = (
            manifest,
            backlog,
            sources.head,
            tuple(turn.path.name for turn in spooled),
            tuple((found[path].st_mtime_ns, found[path].st_ctime_ns) for path in backlog.new_files),
        )
        with self._guard:
            last = self._last
        if last is not None and last[0] == key and not backlog.new_files:
            return last[1]
        known = {} if last is None else last[1].lines
        newest = read_unindexed(sources, manifest, backlog, spooled, known)
        with self._guard:
            self._last = (key, newest)
        return newest


def _unreadable(error: OSError) -> str:
    return f"the index cannot be read: {error.strerror or error}"
