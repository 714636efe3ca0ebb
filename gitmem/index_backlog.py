"""What an index does not cover yet: its manifest compared with the ledger and the files, newest first."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal

from gitmem.authored_files import FoundAuthored, is_unchanged
from gitmem.documents import CUT, Document, is_cut, record_documents
from gitmem.errors import GitmemError
from gitmem.forgotten import Receipts
from gitmem.layout import LEDGER
from gitmem.ledger import Ledger, Segment
from gitmem.long_text import needs_blob
from gitmem.manifest import MADE_BY, FileMark, Manifest, SegmentMark
from gitmem.records import Record

_State = Literal["new", "outdated", "again", "read"]
#: How the names of segments and of their lines begin, unlike refs of records.
_IN_LEDGER: Final = f"{LEDGER}/"


@dataclass(frozen=True)  # without slots: what follows from it is kept with it
class Backlog:
    """What is left to do.

    Attributes:
        segments: new or changed ones, the newest first; behind them those that are made anew or tried again.
        gone_segments: paths of segments that no line has any more.
        files: paths of new or changed files, those written last first; then as above.
        gone_files: paths of files that are no longer there.
        outdated: paths of segments and files that are as they were indexed, but by another program or to be
            made anew; what is indexed of them serves until then.
        again: paths of such that are as they were indexed, of which something could not be.
        problems: paths of files that cannot be read, and why; only those that the manifest does not name.
        forgotten: ids of records whose receipts were not honoured yet.
    """

    segments: tuple[Segment, ...] = ()
    gone_segments: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    gone_files: tuple[str, ...] = ()
    outdated: frozenset[str] = frozenset()
    again: frozenset[str] = frozenset()
    problems: Mapping[str, str] | None = None
    forgotten: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(
            self.segments
            or self.gone_segments
            or self.files
            or self.gone_files
            or self.problems
            or self.forgotten
        )

    @cached_property
    def unchanged(self) -> frozenset[str]:
        """Paths of which what is indexed is still so."""
        return self.outdated | self.again

    @cached_property
    def new_segments(self) -> list[Segment]:
        """Segments of which something is not indexed, the newest first."""
        return [segment for segment in self.segments if segment.path not in self.unchanged]

    @cached_property
    def new_files(self) -> list[str]:
        """Paths of files that are not indexed as they are, those written last first."""
        return [path for path in self.files if path not in self.unchanged]

    def gone(self, manifest: Manifest) -> list[str]:
        """Return the paths and records of which an index holds something that has to go."""
        marks = {path: manifest.files.get(path) for path in self.problems or {}}
        unreadable = [path for path, mark in marks.items() if mark is not None and mark.problem is None]
        return [*self.gone_segments, *self.gone_files, *unreadable, *self.forgotten]

    @cached_property
    def stale(self) -> frozenset[str]:
        """Origins of which the index may hold what is no longer so."""
        new = [segment.path for segment in self.new_segments]
        return frozenset(
            [*new, *self.new_files, *self.gone_segments, *self.gone_files, *(self.problems or {})]
        )


@dataclass(frozen=True, slots=True)
class ComparedSegments:
    """The segments of the ledger beside what is covered of them; the attributes are those of `Backlog`."""

    segments: tuple[Segment, ...]
    gone_segments: tuple[str, ...]
    outdated: frozenset[str]
    again: frozenset[str]


def compare_segments(
    manifest: Manifest, segments: Mapping[str, Segment], again: AbstractSet[str] = frozenset()
) -> ComparedSegments:
    """Compare what is covered of the ledger with what there is.

    Args:
        manifest: of the index.
        segments: of the ledger, by path.
        again: paths of segments to try again though nothing about them seems to have changed.
    """
    states = {path: _state_of(manifest.segments.get(path), s, again) for path, s in segments.items()}
    chosen = [segment for path, segment in segments.items() if states[path] != "read"]
    chosen.sort(key=_newest_first, reverse=True)
    chosen.sort(key=lambda segment: states[segment.path] != "new")
    return ComparedSegments(
        segments=tuple(chosen),
        gone_segments=tuple(path for path in manifest.segments if path not in segments),
        outdated=frozenset(path for path, state in states.items() if state == "outdated"),
        again=frozenset(path for path, state in states.items() if state == "again"),
    )


def find_backlog(
    manifest: Manifest,
    compared: ComparedSegments,
    found: FoundAuthored | None,
    receipts: Receipts,
    root: Path,
    *,
    again: AbstractSet[str] = frozenset(),
) -> Backlog:
    """Compare what is covered with what there is.

    Args:
        manifest: of the index.
        compared: what `compare_segments` gave.
        found: the authored files; None leaves them out.
        receipts: in force now.
        root: the work tree, for files whose stat alone does not say whether they changed.
        again: paths of files to try again though nothing about them seems to have changed.
    """
    states: dict[str, _State] = {}
    paths: list[str] = []
    gone_files: tuple[str, ...] = ()
    problems: dict[str, str] = {}
    if found is not None:
        states = _file_states(manifest, found, receipts, root, again)
        paths = sorted(states, key=lambda path: found.files[path].st_mtime_ns, reverse=True)
        paths.sort(key=lambda path: states[path] != "new")
        gone_files = tuple(p for p in manifest.files if p not in found.files and p not in found.problems)
        problems = {path: why for path, why in found.problems.items() if not _is_named(manifest, path, why)}
    return Backlog(
        segments=compared.segments,
        gone_segments=compared.gone_segments,
        files=tuple(paths),
        gone_files=gone_files,
        outdated=compared.outdated | {path for path, state in states.items() if state == "outdated"},
        again=compared.again | {path for path, state in states.items() if state == "again"},
        problems=problems,
        forgotten=receipts.records - manifest.forgotten,
    )


def void_marks(manifest: Manifest, paths: Iterable[str]) -> Manifest:
    """Return a manifest in which some segments have to be read anew; their documents stay until they are.

    A record that was forgotten leaves a line behind that may still say which snapshot of an object is older.
    """
    void = {path: SegmentMark((), 0, "", 0) for path in paths if path in manifest.segments}
    return replace(manifest, segments={**manifest.segments, **void})


def faulty_paths(manifest: Manifest, names: AbstractSet[str] | None) -> frozenset[str]:
    """Return the segments and files of which something could not be indexed.

    Args:
        manifest: of the index.
        names: of the things, as `Manifest.quarantined` has them; None are all.
    """
    files = {path for path, mark in manifest.files.items() if mark.problem is not None}
    if names is None:
        return frozenset(files.union(path for path, mark in manifest.segments.items() if tried_again(mark)))
    touched = {path for path, mark in manifest.segments.items() if names & tried_again(mark)}
    return frozenset(touched | (files & names))


def tried_again(mark: SegmentMark) -> frozenset[str]:
    """Return the names of what of a segment may be indexed another time; a text stays as long as it is."""
    return frozenset(name for name, why in mark.problems.items() if why != CUT)


def closing_digest(receipts: Receipts) -> str:
    """Return a digest of the receipts that decide what is read of authored files."""
    if not receipts.entries and not receipts.blobs:
        return ""
    text = "\n".join([*sorted(receipts.entries), "", *sorted(receipts.blobs)])
    return hashlib.sha256(text.encode()).hexdigest()


def resume_offset(content: bytes, mark: SegmentMark | None) -> int:
    """Return from where a segment is read on; 0 if it is to be read anew.

    A line that was bad, and a version of the segment that was missing, may have come right in the meantime.
    """
    if mark is None or mark.made_by != MADE_BY or any(name.startswith(_IN_LEDGER) for name in mark.problems):
        return 0
    return covered_offset(content, mark)


def covered_offset(content: bytes, mark: SegmentMark | None) -> int:
    """Return up to where what is indexed of a segment is still so; 0 if that cannot be told.

    An offset holds only if all that stands before it is still what was read. The hash of the last line would
    not do: what was damaged in the middle leaves it as it is.
    """
    if mark is None or not 0 < mark.offset <= len(content):
        return 0
    return mark.offset if digest_before(content, mark.offset) == mark.before else 0


def digest_before(content: bytes, end: int) -> str:
    """Return the hash of a segment up to an offset; empty at its start."""
    return sha256(memoryview(content)[:end]).hexdigest() if end else ""


@dataclass(frozen=True, slots=True)
class Made:
    """The documents of a record.

    Attributes:
        lacks: why they are not all that there should be.
        is_brief: whether a long text was left as the line has it, as was asked for.
    """

    documents: list[Document]
    lacks: str | None = None
    is_brief: bool = False


def documents_of(ledger: Ledger, record: Record, origin: str, *, longest: int | None = None) -> Made:
    """Return the documents of a record, its long texts read back.

    Args:
        ledger: where its long texts are.
        record: as its line has it.
        origin: its segment.
        longest: leave long texts of more bytes as the line has them, that is, head and tail only.
    """
    if not needs_blob(record.body) or not is_searched(record):
        return _whole(record, origin)
    if longest is not None and record.body["blob"]["bytes"] > longest:
        return Made(record_documents(record, origin), is_brief=True)
    try:
        body: Mapping[str, Any] = ledger.full_body(record)
    except GitmemError as error:  # head and tail are better than nothing
        return Made(record_documents(record, origin), f"only its beginning and end: {error.message}")
    return _whole(replace(record, body=body), origin)


def _whole(record: Record, origin: str) -> Made:
    documents = record_documents(record, origin)
    return Made(documents, CUT if is_cut(record, documents) else None)


def is_searched(record: Record) -> bool:
    """Say whether any of the long texts that a record has is searched; a tool's output is not."""
    return record.kind != "tool_execution" or "input" in record.body["blob"]["fields"]


def _state_of(mark: SegmentMark | None, segment: Segment, again: AbstractSet[str]) -> _State:
    if mark is None or mark.blobs != segment.blobs:
        return "new"
    if mark.made_by != MADE_BY:
        return "outdated"
    return "again" if mark.problems and segment.path in again else "read"


def _newest_first(segment: Segment) -> tuple[str, int, str]:
    return segment.path.rsplit("/", 1)[0], segment.number, segment.writer


def _file_states(
    manifest: Manifest, found: FoundAuthored, receipts: Receipts, root: Path, again: AbstractSet[str]
) -> dict[str, _State]:
    """Return what has to be done for which files."""
    if closing_digest(receipts) != manifest.closed_under:
        return dict.fromkeys(found.files, "new")
    states: dict[str, _State] = {}
    for path, stat in found.files.items():
        mark = manifest.files.get(path)
        if mark is None or not is_unchanged(root, path, stat, mark):
            states[path] = "new"
        elif mark.made_by != MADE_BY:
            states[path] = "outdated"
        elif mark.problem is not None and not mark.digest and path in again:
            states[path] = "again"
    return states


def _is_named(manifest: Manifest, path: str, reason: str) -> bool:
    mark: FileMark | None = manifest.files.get(path)
    return mark is not None and mark.problem == reason
