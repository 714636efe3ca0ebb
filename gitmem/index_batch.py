"""One commit of the index put together: the newest of what is not covered, and the manifest behind it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

from gitmem.authored_files import FoundAuthored, mark_of_problem, read_authored
from gitmem.authored_times import UNKNOWN, AuthoredTimes
from gitmem.catalog import path_order
from gitmem.commit_times import CommitTimes
from gitmem.curated import is_note_path, own_id
from gitmem.documents import Document, analyze
from gitmem.errors import GitmemError
from gitmem.forgotten import Receipts
from gitmem.index_backlog import Backlog, Made, closing_digest, digest_before, resume_offset, tried_again
from gitmem.layout import NOTES
from gitmem.ledger import Ledger, Segment
from gitmem.ledger_format import BadLine, read_records
from gitmem.manifest import FileMark, Manifest, SegmentMark
from gitmem.note_ids import NoteIds
from gitmem.records import Record
from gitmem.search_index import IndexChange, Indexed

_NOTES: Final = f"{NOTES}/"


class MakeDocuments(Protocol):
    """Returns the documents of a record."""

    def __call__(self, ledger: Ledger, record: Record, origin: str) -> Made:
        """Return the documents of a record of a segment."""
        ...


@dataclass(frozen=True, slots=True)
class Sources:
    """Where documents come from, as all of it stands now.

    Attributes:
        root: the work tree.
        found: its authored files; None leaves them out.
        times: tells when files were changed.
        head: the commit of HEAD, on which ids of notes and times depend.
        make: returns the documents of a record.
    """

    ledger: Ledger
    root: Path
    note_ids: NoteIds
    times: CommitTimes
    found: FoundAuthored | None
    receipts: Receipts
    head: str | None
    make: MakeDocuments


@dataclass(slots=True)
class Batch:
    """A commit that is being put together.

    Attributes:
        segments, files: the marks of the manifest to be.
        origins: what is removed before the documents are added.
        has_notes: whether notes came, changed or went.
        times: by which files are dated.
    """

    segments: dict[str, SegmentMark]
    files: dict[str, FileMark]
    origins: set[str] = field(default_factory=set)
    documents: list[Indexed] = field(default_factory=list)
    has_notes: bool = False
    times: AuthoredTimes = UNKNOWN

    def drop(self, path: str) -> None:
        """Remove what the index holds of an origin, if it holds any."""
        self.has_notes |= is_note_path(path)
        if path in self.segments or path in self.files:
            self.origins.add(path)

    def add(self, documents: list[Indexed]) -> None:
        """Add documents, analysed."""
        self.documents += documents


def analyzed(documents: Iterable[Document]) -> list[Indexed]:
    """Return documents with their terms."""
    return [Indexed(document, analyze(document)) for document in documents]


def compose(
    sources: Sources, manifest: Manifest, backlog: Backlog, limit: int, is_late: Callable[[], bool]
) -> tuple[IndexChange, tuple[str, ...]]:
    """Return the next commit, and the paths of the segments and files that it leaves.

    Args:
        sources: where documents come from.
        manifest: of the index as it stands.
        backlog: what it does not cover.
        limit: about how many documents to add.
        is_late: whether to end with what there is; asked between two origins.
    """
    batch = Batch(dict(manifest.segments), dict(manifest.files))
    for path in (*backlog.gone_segments, *backlog.gone_files, *(backlog.problems or {})):
        batch.drop(path)
        batch.segments.pop(path, None)
        batch.files.pop(path, None)
    batch.files.update((path, mark_of_problem(why)) for path, why in (backlog.problems or {}).items())
    times = sources.times.at(sources.head, is_late) if sources.found is not None else None
    batch.times = times or UNKNOWN
    # Half for what people write, so that neither a checkout nor an import keeps the other waiting.
    files_left = _take_files(sources, backlog, batch, limit // 2, is_late)
    segments_left = _take_segments(sources, backlog, batch, limit, is_late)
    has_files = sources.found is not None and not files_left
    undated = _date_files(sources, manifest, batch, limit, is_late) if has_files else ()
    after = replace(
        manifest,
        segments=batch.segments,
        # Settled when the last file is read; until then nobody may take the ids for settled.
        notes_of=_settle_ids(sources, manifest, batch) if has_files else _unsettled(manifest, batch),
        files=batch.files,
        times_of=_times_of(sources, manifest, batch, is_settled=has_files and not undated),
        forgotten=manifest.forgotten | backlog.forgotten,
        closed_under=closing_digest(sources.receipts) if has_files else manifest.closed_under,
        complete=manifest.complete or (has_files and not segments_left),
    )
    change = IndexChange(
        manifest=after,
        remove_origins=batch.origins,
        remove_records=backlog.forgotten,
        add=batch.documents,
        erase=bool(backlog.forgotten) or after.closed_under != manifest.closed_under,
    )
    return change, (*files_left, *undated, *segments_left)


def _times_of(sources: Sources, manifest: Manifest, batch: Batch, *, is_settled: bool) -> str:
    if sources.found is None:
        return manifest.times_of
    return batch.times.digest if is_settled else ""


def _date_files(
    sources: Sources, manifest: Manifest, batch: Batch, limit: int, is_late: Callable[[], bool]
) -> tuple[str, ...]:
    """Read files again that history dates otherwise than they were; return the paths that are left."""
    times = batch.times
    marks = {path: mark for path, mark in batch.files.items() if mark.problem is None}
    if times is UNKNOWN:  # history was not read to its end yet
        return tuple(marks)
    if times.digest == manifest.times_of:
        return ()
    wrong = [p for p, mark in marks.items() if mark.dated != times.mark_of(p, mark.blobs, mark.mtime_ns)]
    id_of = sources.note_ids.lookup(note_paths(sources))
    for done, path in enumerate(wrong):
        if done and (len(batch.documents) >= limit or is_late()):
            return tuple(wrong[done:])
        _take_file(sources, batch, path, id_of, marks[path].note_id)
    return ()


def _unsettled(manifest: Manifest, batch: Batch) -> str:
    return "" if batch.has_notes else manifest.notes_of


def _take_files(
    sources: Sources, backlog: Backlog, batch: Batch, limit: int, is_late: Callable[[], bool]
) -> tuple[str, ...]:
    """Read changed files until the batch is full; return the paths that are left."""
    id_of = sources.note_ids.lookup(note_paths(sources))
    for done, path in enumerate(backlog.files):
        if done and (len(batch.documents) >= limit or is_late()):
            return backlog.files[done:]
        _take_file(sources, batch, path, id_of)
    return ()


def _take_file(
    sources: Sources, batch: Batch, path: str, id_of: Callable[[str], str], note_id: str | None = None
) -> None:
    assert sources.found is not None
    read = read_authored(sources.root, path, id_of, sources.receipts, note_id=note_id, times=batch.times)
    before = batch.files.get(path)
    if read is None:  # gone since it was listed
        batch.drop(path)
        batch.files.pop(path, None)
        return
    mark = read.mark
    if mark.problem is not None and not mark.digest:
        found = sources.found.files[path]
        mark = replace(mark, size=found.st_size, mtime_ns=found.st_mtime_ns, ctime_ns=found.st_ctime_ns)
    if before is None or _content_of(before) != _content_of(mark):
        batch.drop(path)
        batch.add(analyzed(read.documents))
    batch.files[path] = mark


def _content_of(mark: FileMark) -> tuple[object, ...]:
    """Return what decides a file's documents; its other times do not."""
    return mark.digest, mark.dated, mark.problem, mark.note_id, mark.made_by


def _take_segments(
    sources: Sources, backlog: Backlog, batch: Batch, limit: int, is_late: Callable[[], bool]
) -> tuple[str, ...]:
    """Read new lines until the batch is full; return the paths of the segments that are left."""
    for done, segment in enumerate(backlog.segments):
        if done and (len(batch.documents) >= limit or is_late()):
            return tuple(left.path for left in backlog.segments[done:])
        _take_segment(sources, batch, segment, again=segment.path in backlog.again)
    return ()


def _take_segment(sources: Sources, batch: Batch, segment: Segment, *, again: bool) -> None:
    path = segment.path
    mark = batch.segments.get(path)
    try:
        content = sources.ledger.read_segment(segment)
    except GitmemError as error:
        unread = SegmentMark(segment.blobs, 0, "", 0, {path: error.message})
        if mark != unread:
            batch.drop(path)
        batch.segments[path] = unread
        return
    if again and mark is not None and not _is_mended(sources, segment, mark, content):
        return
    start = 0 if again else resume_offset(content, mark)
    if mark is None or start == 0:
        mark = SegmentMark(segment.blobs, 0, "", 0)
        batch.drop(path)
    problems = {**mark.problems, **_lacking(sources, segment)}
    count = 0
    lines_before = content.count(b"\n", 0, start)
    for item in read_records(content[start:]):
        if isinstance(item, BadLine):
            problems[f"{path}:{lines_before + item.number}"] = item.reason
            continue
        count += 1
        documents, problem = _make(sources, item, path)
        batch.add(documents)
        if problem is not None:
            problems[item.source_ref] = problem
    end = content.rfind(b"\n") + 1
    batch.segments[path] = SegmentMark(
        segment.blobs, end, digest_before(content, end), mark.count + count, problems
    )


def _make(sources: Sources, record: Record, path: str) -> tuple[list[Indexed], str | None]:
    """Return a record's documents, analysed, and why they are not all that there should be."""
    try:
        made = sources.make(sources.ledger, record, path)
        return analyzed(made.documents), made.lacks
    except Exception as error:  # noqa: BLE001 - one record's fault costs only itself
        return [], f"{type(error).__name__}: {error}"


def _lacking(sources: Sources, segment: Segment) -> dict[str, str]:
    """Name a segment of which one version could be read and another could not."""
    damaged = sources.ledger.damaged()
    reasons = [damaged[blob] for blob in segment.blobs if blob in damaged]
    return {segment.path: f"not all of it: {reasons[0]}"} if reasons else {}


def _is_mended(sources: Sources, segment: Segment, mark: SegmentMark, content: bytes) -> bool:
    """Say whether anything works now that could not be indexed when a segment was read."""
    if segment.path in mark.problems and not (mark.offset and _lacking(sources, segment)):
        return True
    names = tried_again(mark)
    return any(
        _make(sources, item, segment.path)[1] is None
        for item in read_records(content)
        if not isinstance(item, BadLine) and item.source_ref in names
    )


def _settle_ids(sources: Sources, manifest: Manifest, batch: Batch) -> str:
    """Give each note the id that the list of all notes gives it; return what that was decided by."""
    paths = note_paths(sources)
    digest = notes_digest(sources)
    if digest == manifest.notes_of and not batch.has_notes:
        return digest
    id_of = sources.note_ids.lookup(paths)
    for path, note_id in _assign_ids(paths, batch.files, id_of).items():
        if batch.files[path].note_id != note_id:
            batch.documents = [item for item in batch.documents if item.document.origin != path]
            _take_file(sources, batch, path, id_of, note_id)
    return digest


def notes_digest(sources: Sources) -> str:
    """Return a digest of what the ids of notes depend on, beside the notes' own text."""
    text = "\0".join([str(sources.head), *note_paths(sources)])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _assign_ids(
    paths: list[str], files: Mapping[str, FileMark], id_of: Callable[[str], str]
) -> dict[str, str]:
    owners: dict[str, str] = {}
    for path in sorted(paths, key=path_order):
        mark = files.get(path)
        if mark is not None and mark.note_id is not None:
            owners[own_id(mark.declared or id_of(path), path, owners, id_of)] = path
    return {path: note_id for note_id, path in owners.items()}


def note_paths(sources: Sources) -> list[str]:
    """Return the paths of all notes, sorted."""
    files = () if sources.found is None else sources.found.files
    return sorted(path for path in files if path.startswith(_NOTES) and is_note_path(path))
