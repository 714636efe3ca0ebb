"""Commits to the index: what goes, what comes, and which segments become one."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

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
from gitmem.index_merging import PartSize, choose_merged
from gitmem.search_index import COLUMNS, IndexChange, Indexed, IndexPart, key_of


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
    """Mark the documents that go as removed; return the places of the parts that hold any of them."""
    wanted = {
        "origin": {key_of(origin) for origin in change.remove_origins},
        "record": {key_of(record) for record in change.remove_records},
    }
    touched = set()
    base = 0
    for place, part in enumerate(parts):
        for name, keys in wanted.items():
            column = part.column(name) if keys else ()
            for number in (n for n, key in enumerate(column) if key in keys):
                touched.add(place)
                if number not in part.removed:
                    writer.delete_document(base + number)
        base += part.size
    return frozenset(touched)


class _MergePolicy:
    """Chooses which segments of an index become one; called by Whoosh when it commits.

    Args:
        limit: most documents to merge.
        places: of segments that have to be written anew whatever they hold.
    """

    def __init__(self, limit: int, places: frozenset[int]) -> None:
        self._limit = limit
        self._places = places

    def __call__(self, writer: _Writer, segments: list[Any]) -> list[Any]:
        """Take over the segments that are merged into the new one; return those that stay."""
        sizes = [PartSize(s.doc_count_all(), s.doc_count_all() - s.deleted_count()) for s in segments]
        chosen = choose_merged(sizes, self._limit, self._places)
        for place in sorted(chosen):
            writer.add_reader(SegmentReader(writer.storage, SCHEMA, segments[place]))
        return [s for place, s in enumerate(segments) if sizes[place].live and place not in chosen]


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
