"""Brings the index up to date: one idempotent step from (manifest, home) to the next commit, repeated.

The same step serves the watcher, a command, and building anew (which voids what the manifest says, while the
old documents stay until each is replaced). What is newest comes first, and between two commits it is looked
again, so that a new turn overtakes a long backlog.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from gitmem.authored_files import FOLDERS, find_authored
from gitmem.changes import Hints
from gitmem.commit_times import CommitTimes
from gitmem.index_backlog import (
    Backlog,
    compare_segments,
    documents_of,
    faulty_paths,
    find_backlog,
    void_marks,
)
from gitmem.index_batch import MakeDocuments, Sources, compose
from gitmem.index_trouble import IndexTrouble
from gitmem.layout import Layout
from gitmem.ledger import Ledger
from gitmem.manifest import Manifest, renewed
from gitmem.note_ids import NoteIds
from gitmem.repository import Repository
from gitmem.search_index import (
    IndexChange,
    IndexDamaged,
    IndexPart,
    IndexRefused,
    IndexSnapshot,
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
#: About a second's work; between two such others may index too.
SLICE: Final = Budget(seconds=1.0)


@dataclass(frozen=True, slots=True)
class CatchUp:
    """What one call did.

    Attributes:
        indexed: documents that were written, and what was removed.
        pending: segments and files that were left for the next call.
        sources: segments and files that there are.
        quarantined: names of what cannot be indexed; the manifest has the reasons.
        reasons: why it could not do its work, if so.
        busy: somebody else is indexing.
    """

    indexed: int = 0
    pending: int = 0
    quarantined: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    busy: bool = False
    sources: int = 0


class Indexer:
    """Catches up with one home.

    Args:
        repository: whose HEAD decides the ids of notes.
        ledger: where records come from.
        layout: where authored files are.
        note_ids: gives notes their ids.
        times: tells when files were changed.
        index: what is brought up to date.
        trouble: is told why the index cannot be written, and that it can again.
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
        times: CommitTimes,
        trouble: IndexTrouble | None = None,
        clock: Callable[[], float] = time.monotonic,
        make: MakeDocuments = documents_of,
    ) -> None:
        self._repository = repository
        self._ledger = ledger
        self._root = layout.root
        self._note_ids = note_ids
        self._times = times
        self._index = index
        self._trouble = trouble or IndexTrouble()
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

    def renew(self) -> CatchUp:
        """Have everything indexed anew by the calls of `catch_up` that follow, whoever makes them.

        What is indexed is searched until it is replaced. Where that is under way already, it goes on.
        """

        def renew(writer: IndexWriter) -> CatchUp:
            before = writer.snapshot().manifest
            after = renewed(before)
            if after != before:
                writer.commit(IndexChange(after, merge_limit=0))
            return CatchUp(pending=after.outdated, sources=after.renewing)

        return self._write(renew)

    def rebuild(self, progress: Callable[[CatchUp], object] | None = None) -> CatchUp:
        """Index everything anew, and return when that is done.

        Args:
            progress: is told about once a second how far it is.
        """
        done = self.renew()
        self._size = FIRST_BATCH
        total = 0
        while not done.reasons:
            done = self.catch_up(None, SLICE)
            total += done.indexed
            if progress is not None:
                progress(replace(done, indexed=total))
            if not done.pending:
                break
        return replace(done, indexed=total)

    def is_behind(self) -> bool:
        """Say whether there is work that no hint tells of: an index gone, damaged, old or to be renewed."""
        try:
            snapshot = self._index.snapshot()
        except (IndexDamaged, IndexRefused, OSError):
            return True
        if snapshot is None or not snapshot.manifest.complete or snapshot.manifest.outdated:
            return True
        compared = compare_segments(snapshot.manifest, self._ledger.segments())
        return bool(find_backlog(snapshot.manifest, compared, None, self._ledger.receipts(), self._root))

    def merge(self, most: int) -> CatchUp:
        """Put small parts of the index together; commits that had to be quick leave many.

        Args:
            most: documents that may be merged.
        """

        def merge(writer: IndexWriter) -> CatchUp:
            writer.commit(IndexChange(writer.snapshot().manifest, merge_limit=most))
            return CatchUp()

        return self._write(merge)

    def _write(self, work: Callable[[IndexWriter], CatchUp]) -> CatchUp:
        """Do something with a writer; begin with an empty index where that finds damage."""
        try:
            with self._trouble.noted(), self._index.writing() as writer:
                if writer is None:
                    return CatchUp(pending=1, busy=True, reasons=("another process is indexing",))
                try:
                    done = work(writer)
                except IndexDamaged:
                    writer.discard()
                    done = work(writer)
                self._trouble.reason = None
                return done
        except IndexDamaged as error:
            return CatchUp(pending=1, reasons=(f"the index is damaged, and is built anew: {error}",))
        except (IndexRefused, OSError):
            return CatchUp(pending=1, reasons=(self._trouble.reason or "the index cannot be written",))

    def _catch_up(self, writer: IndexWriter, hints: Hints | None, budget: Budget) -> CatchUp:
        end = None if budget.seconds is None else self._clock() + budget.seconds
        names = None if hints is None or hints.doubt else hints.again
        again = faulty_paths(writer.snapshot().manifest, names)
        indexed = 0
        while True:
            snapshot = writer.snapshot()
            sources = self._look(snapshot.manifest, hints)
            manifest, backlog = self._find_work(snapshot, sources, again)
            change, left = compose(
                sources, manifest, backlog, self._size, lambda: end is not None and self._clock() >= end
            )
            change = _renewal_ended(snapshot, change)
            done = len(change.add) + len(change.remove_origins) + len(change.remove_records)
            if done or change.manifest != snapshot.manifest:
                writer.commit(replace(change, merge_limit=budget.merged))
            indexed += done
            self._size = min(self._size * 2, LARGEST_BATCH) if left else FIRST_BATCH
            if not left or (end is not None and self._clock() >= end):
                after = change.manifest
                total = len({*after.segments, *after.files, *left})
                return CatchUp(indexed, len(left), tuple(after.quarantined), sources=total)
            again = again.intersection(left)

    def _find_work(
        self, snapshot: IndexSnapshot, sources: Sources, again: AbstractSet[str]
    ) -> tuple[Manifest, Backlog]:
        """Return what is covered, and what is not; segments with forgotten records are to be read anew."""
        segments = self._ledger.segments()

        def find(manifest: Manifest) -> Backlog:
            compared = compare_segments(manifest, segments, again)
            return find_backlog(manifest, compared, sources.found, sources.receipts, self._root, again=again)

        manifest = snapshot.manifest
        if not manifest.renewing:  # by a new program, else there is nothing outdated
            manifest = replace(manifest, renewing=manifest.outdated)
        backlog = find(manifest)
        if not backlog.forgotten:
            return manifest, backlog
        manifest = void_marks(manifest, _origins_of(backlog.forgotten, snapshot.parts))
        return manifest, find(manifest)

    def _look(self, manifest: Manifest, hints: Hints | None) -> Sources:
        return Sources(
            ledger=self._ledger,
            root=self._root,
            note_ids=self._note_ids,
            times=self._times,
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


def _renewal_ended(snapshot: IndexSnapshot, change: IndexChange) -> IndexChange:
    """When the last of it is made anew, note so, and remove what belongs to nothing that is covered."""
    manifest = change.manifest
    if not manifest.renewing or manifest.outdated:
        return change
    keys = {key_of(path) for path in (*manifest.segments, *manifest.files)} | set(
        map(key_of, change.remove_origins)
    )
    ghosts = {
        part.document(number).origin
        for part in snapshot.parts
        for number, key in enumerate(part.column("origin"))
        if key not in keys and number not in part.removed
    }
    return replace(
        change, manifest=replace(manifest, renewing=0), remove_origins=change.remove_origins | ghosts
    )


def _wants_files(manifest: Manifest, hints: Hints | None) -> bool:
    """Say whether files may have changed; listing thousands for every turn would cost more than the turn."""
    if hints is None or hints.doubt or hints.state or not manifest.complete or manifest.outdated:
        return True
    return any(path.split("/", 1)[0] in FOLDERS for path in (*hints.paths, *hints.again))
