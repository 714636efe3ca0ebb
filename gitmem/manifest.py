"""What a search index covers: how far each segment was read and what each file was, as plain data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from gitmem.analysis import ANALYSIS_VERSION
from gitmem.documents import DOCUMENTS_VERSION

#: Raise this when a column of the index comes, goes or means something else.
COLUMNS_VERSION: Final = 2
#: What the documents of this program are made by; marks of another one are read again.
MADE_BY: Final = f"{DOCUMENTS_VERSION}.{ANALYSIS_VERSION}.{COLUMNS_VERSION}"
#: Stands in a mark for what has to be made anew.
VOID: Final = ""
_FORMAT: Final = 2


class OtherFormat(ValueError):
    """A manifest that a gitmem wrote which puts it down in another way."""


@dataclass(frozen=True, slots=True)
class SegmentMark:
    """How far a segment of the ledger was read.

    Attributes:
        blobs: ids of the versions that were read; unchanged ids are unchanged content.
        offset: end of the last line that was read.
        before: hash of all up to there; empty at offset 0. The offset holds only as long as that is the same.
        count: how many records were read.
        problems: what of it could not be indexed: line or record, and why.
    """

    blobs: tuple[str, ...]
    offset: int
    before: str
    count: int
    problems: Mapping[str, str] = field(default_factory=dict)
    made_by: str = MADE_BY


@dataclass(frozen=True, slots=True)
class FileMark:
    """What an authored file was when it was read.

    Attributes:
        racy: it was written so shortly before it was read that a later write may have left the same times.
        problem: why it could not be indexed.
        note_id: of a note, the id under which it was indexed.
        declared: the id that the note's front matter gives it, which another note may have claimed before.
        blobs: ids under which Git may have its content.
        dated: stands for the times that its documents were given; not for those that a file names itself.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    digest: str
    racy: bool = False
    problem: str | None = None
    note_id: str | None = None
    declared: str | None = None
    made_by: str = MADE_BY
    blobs: str = ""
    dated: str = ""


@dataclass(frozen=True)  # without slots: what is computed of a manifest is kept with it
class Manifest:
    """All that one commit of an index covers.

    Attributes:
        segments, files: marks by path.
        forgotten: ids of the records whose receipts were honoured.
        closed_under: digest of the receipts under which authored files were read.
        notes_of: digest of what the ids of notes depend on beside their text: HEAD and their paths.
        times_of: digest of the history by which authored files are dated; empty while not all are.
        complete: whether everything was covered at some time; until then the index is being built.
        renewing: while what is indexed is made anew, how many segments and files that was at first; else 0.
    """

    segments: Mapping[str, SegmentMark] = field(default_factory=dict)
    files: Mapping[str, FileMark] = field(default_factory=dict)
    forgotten: frozenset[str] = frozenset()
    closed_under: str = ""
    notes_of: str = ""
    times_of: str = ""
    complete: bool = False
    renewing: int = 0

    @cached_property
    def outdated(self) -> int:
        """How many segments and files were made by another program, or have to be made anew."""
        marks: Iterable[SegmentMark | FileMark] = (*self.segments.values(), *self.files.values())
        return sum(mark.made_by != MADE_BY for mark in marks)

    @property
    def quarantined(self) -> dict[str, str]:
        """Names of what could not be indexed, and why."""
        found = {
            name: reason for mark in self.faulty_segments.values() for name, reason in mark.problems.items()
        }
        return {**found, **self.faulty_files}

    @cached_property
    def faulty_segments(self) -> Mapping[str, SegmentMark]:
        """Marks of the segments of which something could not be indexed, by path."""
        return {path: mark for path, mark in self.segments.items() if mark.problems}

    @cached_property
    def faulty_files(self) -> Mapping[str, str]:
        """Paths of the files that could not be indexed, and why."""
        return {path: mark.problem for path, mark in self.files.items() if mark.problem is not None}

    @cached_property
    def covered(self) -> int:
        """How many records and files are covered."""
        return sum(mark.count for mark in self.segments.values()) + len(self.files)


EMPTY: Final = Manifest()


def renewed(manifest: Manifest) -> Manifest:
    """Return a manifest in which everything has to be made anew; what is indexed serves until it is.

    One in which that has begun already stays as it is, so that whoever was killed over it goes on.
    """
    if manifest.renewing:
        return manifest
    segments = {path: replace(mark, made_by=VOID) for path, mark in manifest.segments.items()}
    files = {path: replace(mark, made_by=VOID) for path, mark in manifest.files.items()}
    renewing = len(segments) + len(files)
    return replace(manifest, segments=segments, files=files, renewing=renewing)


def format_manifest(manifest: Manifest) -> bytes:
    """Return a manifest as the bytes of its file."""
    data = {
        "format": _FORMAT,
        "complete": manifest.complete,
        "renewing": manifest.renewing,
        "closed_under": manifest.closed_under,
        "notes_of": manifest.notes_of,
        "times_of": manifest.times_of,
        "forgotten": sorted(manifest.forgotten),
        "segments": {path: _segment_row(mark) for path, mark in manifest.segments.items()},
        "files": {path: _file_row(mark) for path, mark in manifest.files.items()},
    }
    return json.dumps(data, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def parse_manifest(content: bytes) -> Manifest:
    """Return the manifest that `format_manifest` gave.

    Raises:
        OtherFormat: it was written in another way.
        ValueError: the bytes are none.
    """
    data = json.loads(content)
    found = data.get("format") if isinstance(data, dict) else None
    if isinstance(found, int) and found != _FORMAT:
        raise OtherFormat(f"a manifest of format {found}, not {_FORMAT}")
    if found is None:
        raise ValueError("not a manifest")
    try:
        return Manifest(
            segments={path: _segment_mark(row) for path, row in data["segments"].items()},
            files={path: FileMark(*row) for path, row in data["files"].items()},
            forgotten=frozenset(data["forgotten"]),
            closed_under=data["closed_under"],
            notes_of=data["notes_of"],
            times_of=data.get("times_of", ""),  # before history dated files there was none
            complete=data["complete"] is True,
            renewing=int(data["renewing"]),
        )
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"a damaged manifest: {error}") from error


def _segment_row(mark: SegmentMark) -> list[Any]:
    return [list(mark.blobs), mark.offset, mark.before, mark.count, dict(mark.problems), mark.made_by]


def _segment_mark(row: list[Any]) -> SegmentMark:
    return SegmentMark(tuple(row[0]), *row[1:])


def _file_row(mark: FileMark) -> list[Any]:
    return [getattr(mark, name) for name in FileMark.__slots__]
