"""Brings the index up to date: one idempotent step from (manifest, home) to the next commit, repeated.

The same step serves the watcher, a command, and building anew (which starts from an empty manifest). What is
newest comes first, and between two commits it is looked again, so that a new turn overtakes a long backlog.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from gitmem.authored_files import FOLDERS, find_authored
from gitmem.changes import Hints
from gitmem.index_backlog import Backlog, documents_of, find_backlog, void_marks
from gitmem.index_batch import MakeDocuments, Sources, compose
from gitmem.layout import Layout
from gitmem.ledger import Ledger
from gitmem.manifest import Manifest
from gitmem.note_ids import NoteIds
from gitmem.repository import Repository
from gitmem.search_index import (
    IndexChange,
    IndexDamaged,
    IndexPart,
    IndexRefused,
    IndexWriter,
    SearchIndex,
    key_of,
)

#: Documents of the first commit after a pause: small, so that what is newest is found soon; then it doubles.
FIRST_BATCH: Final = 256
LARGEST_BATCH: Final = 8192


@dataclass(frozen=True, slots=True)
class Budget:
    """How much one call may do.

    Attributes:
        seconds: it ends with the first commit after so long; None goes on until nothing is left.
        merged: documents that one commit may merge; the default is about a second's work.
    """

    seconds: float | None = None
    merged: int = 16_384


#: Everything that is left.
ALL: Final = Budget()


@dataclass(frozen=True, slots=True)
class CatchUp:
    """What one call did.

    Attributes:
        indexed: documents that were written, and what was removed.
        pending: segments and files that were left for the next call.
        quarantined: names of what cannot be indexed; the manifest has the reasons.
        reasons: why it could not do its work, if so.
        busy: somebody else is indexing.
    """

    indexed: int = 0
    pending: int = 0
    quarantined: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    busy: bool = False


class Indexer:
    """Catches up with one home.

    Args:
        repository: whose HEAD decides the ids of notes.
        ledger: where records come from.
        layout: where authored files are.
        note_ids: gives notes their ids.
        index: what is brought up to date.
        clock: monotonic seconds.
        make: returns the documents of a record; tests put a failing one in its place.
    """

    def __init__(
        self,
        repository: Repository,
        ledger: Ledger,
        layout: Layout,
        note_ids: NoteIds,
        index: SearchIndex,
        *,
        clock: Callable[[], float] = time.monotonic,
        make: MakeDocuments = documents_of,
    ) -> None:
        self._repository = repository
        self._ledger = ledger
        self._root = layout.root
        self._note_ids = note_ids
        self._index = index
        self._clock = clock
        self._make = make
        self._size = FIRST_BATCH

    def catch_up(self, hints: Hints | None = None, budget: Budget = ALL) -> CatchUp:
        """Index what is new or changed, and remove what is gone.

        Safe to call at any time, from any process, also twice: whoever comes second finds nothing to do. An
        index that cannot be written is a reason in the result, never an error.

        Args:
            hints: where something may have changed; None looks everywhere.
            budget: how much to do.
        """
        return self._write(lambda writer: self._catch_up(writer, hints, budget))

    def rebuild(self, progress: Callable[[CatchUp], object] | None = None) -> CatchUp:
        """Throw the index away and build it anew.

        Args:
            progress: is told about once a second how far it is.
        """

        def build(writer: IndexWriter) -> CatchUp:
            writer.discard()
            self._size = FIRST_BATCH
            total = 0
            while True:
                done = self._catch_up(writer, None, Budget(seconds=1.0))
                total += done.indexed
                if progress is not None:
                    progress(replace(done, indexed=total))
                if not done.pending or done.reasons:
                    return replace(done, indexed=total)

        return self._write(build)

    def merge(self, most: int) -> CatchUp:
        """Put small parts of the index together; commits that had to be quick leave many.

        Args:
            most: documents that may be merged.
        """

        def merge(writer: IndexWriter) -> CatchUp:
            try:
                writer.commit(IndexChange(writer.snapshot().manifest, merge_limit=most))
            except IndexDamaged as error:
                writer.discard()
                return CatchUp(pending=1, reasons=(f"the index was damaged and is built anew: {error}",))
            return CatchUp()

        return self._write(merge)

    def _write(self, work: Callable[[IndexWriter], CatchUp]) -> CatchUp:
        try:
            with self._index.writing() as writer:
                if writer is None:
                    return CatchUp(pending=1, busy=True, reasons=("another process is indexing",))
                return work(writer)
        except IndexRefused as error:
            return CatchUp(pending=1, reasons=(str(error),))
        except OSError as error:
            return CatchUp(pending=1, reasons=(f"the index cannot be written: {error.strerror or error}",))

    def _catch_up(self, writer: IndexWriter, hints: Hints | None, budget: Budget) -> CatchUp:
        try:
            return self._commit_batches(writer, hints, budget)
        except IndexDamaged as error:
            writer.discard()
            return CatchUp(pending=1, reasons=(f"the index was damaged and is built anew: {error}",))

    def _commit_batches(self, writer: IndexWriter, hints: Hints | None, budget: Budget) -> CatchUp:
        end = None if budget.seconds is None else self._clock() + budget.seconds
        retry = hints is None or bool(hints.doubt)
        indexed = 0
        while True:
            covered = writer.snapshot().manifest
            sources = self._look(covered, hints)
            manifest, backlog = self._find_work(writer, sources, retry=retry)
            change, left = compose(
                sources, manifest, backlog, self._size, lambda: end is not None and self._clock() >= end
            )
            done = len(change.add) + len(change.remove_origins) + len(change.remove_records)
            if done or change.manifest != covered:
                writer.commit(replace(change, merge_limit=budget.merged))
            indexed += done
            self._size = min(self._size * 2, LARGEST_BATCH) if left else FIRST_BATCH
            if not left or (end is not None and self._clock() >= end):
                return CatchUp(indexed, left, tuple(change.manifest.quarantined))
            retry = False

    def _find_work(self, writer: IndexWriter, sources: Sources, *, retry: bool) -> tuple[Manifest, Backlog]:
        """Return what is covered, and what is not; segments with forgotten records are to be read anew."""
        snapshot = writer.snapshot()
        find = partial(
            find_backlog,
            segments=self._ledger.segments(),
            found=sources.found,
            receipts=sources.receipts,
            root=self._root,
            retry=retry,
        )
        backlog = find(snapshot.manifest)
        if not backlog.forgotten:
            return snapshot.manifest, backlog
        manifest = void_marks(snapshot.manifest, _origins_of(backlog.forgotten, snapshot.parts))
        return manifest, find(manifest)

    def _look(self, manifest: Manifest, hints: Hints | None) -> Sources:
        return Sources(
            ledger=self._ledger,
            root=self._root,
            note_ids=self._note_ids,
            found=find_authored(self._root) if _wants_files(manifest, hints) else None,
            receipts=self._ledger.receipts(),
            head=self._repository.head().commit,
            make=self._make,
        )


def _origins_of(records: Iterable[str], parts: Sequence[IndexPart]) -> set[str]:
    """Return the segments from which the index holds any of some records."""
    keys = set(map(key_of, records))
    return {
        part.document(number).origin
        for part in parts
        for number, key in enumerate(part.column("record"))
        if key in keys and number not in part.removed
    }


def _wants_files(manifest: Manifest, hints: Hints | None) -> bool:
    """Say whether files may have changed; listing thousands for every turn would cost more than the turn."""
    if hints is None or hints.doubt or hints.state or not manifest.complete:
        return True
    return any(path.split("/", 1)[0] in FOLDERS for path in hints.paths)
