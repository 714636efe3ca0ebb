"""One Whoosh segment, decoded into arrays as far as it was asked for."""

from __future__ import annotations

import json
import threading
import zlib
from array import array
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from whoosh.reading import SegmentReader

from gitmem.backends.whoosh_index.files import ROW, TERMS
from gitmem.documents import Document, from_row
from gitmem.index_damage import translated_damage
from gitmem.postings_cache import Postings, PostingsCache
from gitmem.search_index import IndexDamaged


class DecodedSegment:
    """One segment; it never changes, so whatever was read of it is kept.

    Args:
        reader: Whoosh's reader of it, opened.
        cache: for its postings, under the segment itself and the term.
    """

    def __init__(self, reader: SegmentReader, cache: PostingsCache[Postings] | None = None) -> None:
        self._cache: PostingsCache[Postings] = PostingsCache(0) if cache is None else cache
        self._name: str = reader.segment().segid
        self.size: int = reader.doc_count_all()
        self._reader = reader
        self._terms = reader._terms  # its public readers know no arrays
        self._guard = threading.Lock()  # Whoosh's files have one position for all threads
        self._columns: dict[str, Sequence[int]] = {}
        self._rows: Any = None

    def postings(self, term: str) -> tuple[array[int], array[float]]:
        """Return the documents that have a term, and how often each has it."""
        found = self._cache.get((self._name, term))
        if found is None:
            with self._guard, translated_damage():
                found = self._decode(_encode(term))
            self._cache.add((self._name, term), found)
        return found

    def terms_from(self, prefix: str, limit: int) -> list[str]:
        """Return the first terms that begin with `prefix`."""
        wanted = _encode(prefix)
        found: list[str] = []
        with self._guard, translated_damage():
            for _, term in self._terms.terms_from(TERMS, wanted):
                if len(found) == limit or not term.startswith(wanted):
                    break
                found.append(term.decode("utf-8", "surrogatepass"))
        return found

    def column(self, name: str) -> Sequence[int]:
        """Return one number for each document."""
        with self._guard, translated_damage():
            if name not in self._columns:
                loaded = self._load_column(name)
                if len(loaded) != self.size:
                    raise IndexDamaged(f"a column of {len(loaded)} instead of {self.size} numbers")
                self._columns[name] = loaded
            return self._columns[name]

    def _load_column(self, name: str) -> Sequence[int]:
        """Return a column; zeros where the gitmem that wrote the segment had none of this name."""
        if not self._reader.has_column(name):
            return array("q", bytes(8 * self.size))
        loaded: Sequence[int] = self._reader.column_reader(name, translate=False).load()
        return loaded

    def row(self, number: int) -> bytes:
        """Return a document as it is stored."""
        with self._guard, translated_damage():
            if self._rows is None:
                self._rows = self._reader.column_reader(ROW, translate=False)
            return bytes(self._rows[number])

    def document(self, number: int) -> Document:
        """Return a document as it was added."""
        with translated_damage():
            return from_row(json.loads(zlib.decompress(self.row(number))))

    def entries(self) -> Iterator[tuple[bytes, array[int], array[float]]]:
        """Yield every term with its postings, in order."""
        for _, term in self._terms.terms():
            yield term, *self._decode(term)

    def _decode(self, term: bytes) -> tuple[array[int], array[float]]:
        numbers, counts = self._terms.decode(term)
        if numbers and numbers[-1] >= self.size:
            raise IndexDamaged("postings of documents that do not exist")
        return numbers, counts


class SegmentPart:
    """An `IndexPart`: a segment as one commit left it; later commits remove more of its documents."""

    def __init__(self, segment: DecodedSegment, removed: frozenset[int]) -> None:
        self.size = segment.size
        self.removed: AbstractSet[int] = removed
        self._segment = segment

    def is_of(self, segment: DecodedSegment, removed: frozenset[int]) -> bool:
        """Say whether this is a segment without some documents."""
        return self._segment is segment and self.removed == removed

    def postings(self, term: str) -> tuple[Sequence[int], Sequence[float]]:
        """Return the documents that have a term, and how often each has it."""
        return self._segment.postings(term)

    def terms_from(self, prefix: str, limit: int) -> list[str]:
        """Return the first terms that begin with `prefix`."""
        return self._segment.terms_from(prefix, limit)

    def column(self, name: str) -> Sequence[int]:
        """Return one number for each document."""
        return self._segment.column(name)

    def document(self, number: int) -> Document:
        """Return a document as it was added."""
        return self._segment.document(number)


def _encode(term: str) -> bytes:
    return term.encode("utf-8", "surrogatepass")
