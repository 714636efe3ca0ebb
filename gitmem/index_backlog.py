"""What an index does not cover yet: its manifest compared with the ledger and the files, newest first."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from gitmem.authored_files import FoundAuthored, is_same
from gitmem.documents import Document, record_documents
from gitmem.errors import GitmemError
from gitmem.forgotten import Receipts
from gitmem.ledger import Ledger, Segment
from gitmem.ledger_format import BadLine, parse_line
from gitmem.long_text import needs_blob
from gitmem.manifest import MADE_BY, FileMark, Manifest, SegmentMark
from gitmem.records import Record


@dataclass(frozen=True, slots=True)
class Backlog:
    """What is left to do.

    Attributes:
        segments: new or changed ones, the newest first.
        gone_segments: paths of segments that no line has any more.
        files: paths of new or changed files, those written last first.
        gone_files: paths of files that are no longer there.
        problems: paths of files that cannot be read, and why; only those that the manifest does not name.
        forgotten: ids of records whose receipts were not honoured yet.
    """

    segments: tuple[Segment, ...] = ()
    gone_segments: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    gone_files: tuple[str, ...] = ()
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

    @property
    def stale(self) -> frozenset[str]:
        """Origins of which the index may hold what is no longer so."""
        return frozenset(
            [segment.path for segment in self.segments]
            + [*self.gone_segments, *self.files, *self.gone_files, *(self.problems or {})]
        )


def find_backlog(
    manifest: Manifest,
    segments: Mapping[str, Segment],
    found: FoundAuthored | None,
    receipts: Receipts,
    root: Path,
    *,
    retry: bool = False,
) -> Backlog:
    """Compare what is covered with what there is.

    Args:
        manifest: of the index.
        segments: of the ledger, by path.
        found: the authored files; None leaves them out.
        receipts: in force now.
        root: the work tree, for files whose stat alone does not say whether they changed.
        retry: also what could not be read before, though nothing about it seems to have changed.
    """
    changed = [s for path, s in segments.items() if not _is_read(manifest.segments.get(path), s, retry=retry)]
    gone = tuple(path for path in manifest.segments if path not in segments)
    files: tuple[str, ...] = ()
    gone_files: tuple[str, ...] = ()
    problems: dict[str, str] = {}
    if found is not None:
        files = _changed_files(manifest, found, receipts, root, retry=retry)
        gone_files = tuple(p for p in manifest.files if p not in found.files and p not in found.problems)
        problems = {path: why for path, why in found.problems.items() if not _is_named(manifest, path, why)}
    return Backlog(
        segments=tuple(sorted(changed, key=_newest_first, reverse=True)),
        gone_segments=gone,
        files=files,
        gone_files=gone_files,
        problems=problems,
        forgotten=receipts.records - manifest.forgotten,
    )


def void_marks(manifest: Manifest, paths: Iterable[str]) -> Manifest:
    """Return a manifest in which some segments have to be read anew; their documents stay until they are.

    A record that was forgotten leaves a line behind that may still say which snapshot of an object is older.
    """
    void = {path: SegmentMark((), 0, "", 0) for path in paths if path in manifest.segments}
    return replace(manifest, segments={**manifest.segments, **void})


def closing_digest(receipts: Receipts) -> str:
    """Return a digest of the receipts that decide what is read of authored files."""
    if not receipts.entries and not receipts.blobs:
        return ""
    text = "\n".join([*sorted(receipts.entries), "", *sorted(receipts.blobs)])
    return hashlib.sha256(text.encode()).hexdigest()


def resume_offset(content: bytes, mark: SegmentMark | None) -> int:
    """Return from where a segment is read on; 0 if it is to be read anew.

    An offset holds only if the line before it is still the one that was read last.
    """
    if mark is None or mark.made_by != MADE_BY or not 0 < mark.offset <= len(content):
        return 0
    return mark.offset if last_line_hash(content, mark.offset) == mark.before else 0


def last_line_hash(content: bytes, end: int) -> str:
    """Return the hash of the envelope of the line that ends at `end`; of its bytes if it is no good line."""
    if end == 0 or content[end - 1 : end] != b"\n":
        return ""
    raw = content[content.rfind(b"\n", 0, end - 1) + 1 : end]
    line = parse_line(raw)
    return sha256(raw).hexdigest() if isinstance(line, BadLine) else line.envelope_hash


def documents_of(
    ledger: Ledger, record: Record, origin: str, *, longest: int | None = None
) -> list[Document]:
    """Return the documents of a record, its long texts read back.

    Args:
        ledger: where its long texts are.
        record: as its line has it.
        origin: its segment.
        longest: leave long texts of more bytes as the line has them, that is, head and tail only.
    """
    if not needs_blob(record.body) or not _is_searched(record):
        return record_documents(record, origin)
    if longest is not None and record.body["blob"]["bytes"] > longest:
        return record_documents(record, origin)
    try:
        body: Mapping[str, Any] = ledger.full_body(record)
    except GitmemError:  # head and tail are better than nothing; `verify` names what is missing
        body = record.body
    return record_documents(replace(record, body=body), origin)


def _is_searched(record: Record) -> bool:
    """Say whether any long text of a record is searched; a tool's output is not."""
    return record.kind != "tool_execution" or "input" in record.body["blob"]["fields"]


def _is_read(mark: SegmentMark | None, segment: Segment, *, retry: bool) -> bool:
    if mark is None or mark.blobs != segment.blobs or mark.made_by != MADE_BY:
        return False
    return not (retry and segment.path in mark.problems)


def _newest_first(segment: Segment) -> tuple[str, int, str]:
    return segment.path.rsplit("/", 1)[0], segment.number, segment.writer


def _changed_files(
    manifest: Manifest, found: FoundAuthored, receipts: Receipts, root: Path, *, retry: bool
) -> tuple[str, ...]:
    if closing_digest(receipts) != manifest.closed_under:
        changed = list(found.files)
    else:
        marks = manifest.files
        changed = [
            path for path, stat in found.files.items() if not is_same(root, path, stat, marks.get(path))
        ]
        if retry:
            unread = (path for path, mark in marks.items() if mark.problem is not None and not mark.digest)
            changed += [path for path in unread if path in found.files and path not in changed]
    return tuple(sorted(changed, key=lambda path: found.files[path].st_mtime_ns, reverse=True))


def _is_named(manifest: Manifest, path: str, reason: str) -> bool:
    mark: FileMark | None = manifest.files.get(path)
    return mark is not None and mark.problem == reason
