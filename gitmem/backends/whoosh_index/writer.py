"""Commits to the index: what goes, what comes, and which segments become one."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from whoosh.index import FileIndex
from whoosh.reading import SegmentReader
from whoosh.writing import SegmentWriter

from gitmem.backends.whoosh_index.files import (
    NAME,
    NUMBERS,
    ROW,
    ROWS,
    SCHEMA,
    TERMS,
    Codec,
    Storage,
    remove_other_manifests,
)
from gitmem.backends.whoosh_index.segment import DecodedSegment
from gitmem.documents import to_row
from gitmem.search_index import COLUMNS, IndexChange, Indexed, IndexPart, key_of

#: So many segments of one order of size are merged into one of the next.
_FAN: Final = 8
#: A segment of which more than this share is removed is written anew when merging is allowed.
_REMOVED_SHARE: Final = 0.5


def write_commit(folder: Path, parts: Sequence[IndexPart], change: IndexChange) -> None:
    """Commit a change; whoever calls this holds the lock.

    Args:
        folder: the index.
        parts: the segments of the last commit, in its order.
        change: what to commit.
    """
    writer = _Writer(Storage(folder, change.manifest))
    try:
        touched = _remove(writer, parts, change)
        for item in change.add:
            writer.add(item)
        writer.commit(mergetype=_MergePolicy(change.merge_limit, touched if change.erase else frozenset()))
    except BaseException:
        writer.abandon()
        raise
    remove_other_manifests(folder, writer.generation)


def _remove(writer: _Writer, parts: Sequence[IndexPart], change: IndexChange) -> frozenset[int]:
    """Mark the documents that go as removed; return the places of the parts that had some."""
    wanted = {
        "origin": {key_of(origin) for origin in change.remove_origins},
        "record": {key_of(record) for record in change.remove_records},
    }
    touched = set()
    base = 0
    for place, part in enumerate(parts):
        for name, keys in wanted.items():
            column = part.column(name) if keys else ()
            for number in (n for n, key in enumerate(column) if key in keys and n not in part.removed):
                writer.delete_document(base + number)
                touched.add(place)
        base += part.size
    return frozenset(touched)


class _MergePolicy:
    """Chooses which segments of an index become one; called by Whoosh when it commits.

    Segments grow geometrically, so a document is rewritten a few times in its life and there are never many
    segments. One that is mostly removed is rewritten, one that is removed altogether is dropped.

    Args:
        limit: most documents to merge.
        places: of segments that have to be written anew whatever they hold.
    """

    def __init__(self, limit: int, places: frozenset[int]) -> None:
        self._limit = limit
        self._places = places

    def __call__(self, writer: _Writer, segments: list[Any]) -> list[Any]:
        """Take over the segments that are merged into the new one; return those that stay."""
        chosen = {s.segid for place, s in enumerate(segments) if place in self._places}
        alive = [s for s in segments if _live(s)]
        chosen |= {s.segid for s in self._worn(alive)}
        chosen |= {s.segid for s in self._small([s for s in alive if s.segid not in chosen])}
        for segment in alive:
            if segment.segid in chosen:
                writer.add_reader(SegmentReader(writer.storage, SCHEMA, segment))
        return [s for s in alive if s.segid not in chosen]

    def _worn(self, segments: list[Any]) -> list[Any]:
        worn = [s for s in segments if s.deleted_count() > s.doc_count_all() * _REMOVED_SHARE]
        return [s for s in worn if _live(s) <= self._limit]

    def _small(self, segments: list[Any]) -> list[Any]:
        """Return the smallest segments if many are of one order of size, and what that order grows into."""
        orders: dict[int, list[Any]] = {}
        for segment in segments:
            orders.setdefault(_live(segment).bit_length() // 3, []).append(segment)
        chosen: list[Any] = []
        for order in sorted(orders):
            group = chosen + orders[order]
            if len(orders[order]) + bool(chosen) < _FAN or sum(map(_live, group)) > self._limit:
                break
            chosen = group
        return chosen


def _live(segment: Any) -> int:
    count: int = segment.doc_count_all() - segment.deleted_count()
    return count


class _Writer(SegmentWriter):
    """Whoosh's writer with ready term counts, and merges that copy columns and postings as they are."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(FileIndex(storage, SCHEMA, NAME), codec=Codec(), _lk=False)

    def add(self, item: Indexed) -> None:
        """Add one document."""
        row = json.dumps(to_row(item.document), separators=(",", ":"), ensure_ascii=False)
        number = self._start(zlib.compress(row.encode("utf-8", "surrogatepass"), 1), item.column_values())
        add = self.pool.add
        for term, count in item.analysis.counts.items():
            add((TERMS, term.encode("utf-8", "surrogatepass"), number, count, b""))

    def add_reader(self, reader: SegmentReader) -> None:
        """Take over all documents of a segment that were not removed."""
        segment = DecodedSegment(reader)
        removed = frozenset(reader.segment().deleted_docs())
        moved: dict[int, int] = {}
        for number, values in enumerate(zip(*map(segment.column, COLUMNS), strict=True)):
            if number not in removed:
                moved[number] = self._start(segment.row(number), values)
        add = self.pool.add
        for term, numbers, counts in segment.entries():
            for number, count in zip(numbers, counts, strict=True):
                if number in moved:
                    add((TERMS, term, moved[number], count, b""))

    def abandon(self) -> None:
        """Close and remove all that was written so far; Whoosh leaves files open when a commit fails."""
        for close in (
            self.perdocwriter.close,
            self.fieldwriter.close,
            self.pool.cleanup,
            self._tempstorage.destroy,
        ):
            with suppress(Exception):
                close()
        for name in self.newsegment.list_files(self.storage):
            with suppress(OSError):
                self.storage.delete_file(name)

    def _start(self, row: bytes, values: Sequence[int]) -> int:
        """Write all of a document but its terms; return its number."""
        number: int = self.docnum
        self.perdocwriter.start_doc(number)
        self.perdocwriter.add_column_value(ROW, ROWS, row)
        for name, value in zip(COLUMNS, values, strict=True):
            self.perdocwriter.add_column_value(name, NUMBERS, value)
        self.perdocwriter.finish_doc()
        self.docnum += 1
        self._added = True
        return number
