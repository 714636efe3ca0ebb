"""A part that tantivy has, opened, and decoded into arrays as far as it was asked for."""

from __future__ import annotations

import errno
import tempfile
from array import array
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from sys import byteorder
from typing import Final

from tantivy import DocAddress, Index, Order, Query, Searcher

from gitmem.backends.tantivy_index.columns_file import ColumnsFile
from gitmem.backends.tantivy_index.commit_file import PartMark
from gitmem.backends.tantivy_index.damage import translated_reading
from gitmem.backends.tantivy_index.fields import (
    NUMBER,
    TERMS,
    count_of,
    counted_prefix,
    parse_row,
    parse_stored,
    safe_prefix,
    schema,
    terms_of,
)
from gitmem.backends.tantivy_index.part_file import unpack
from gitmem.backends.tantivy_index.scratch import scratch_folder
from gitmem.documents import Document
from gitmem.postings_cache import Postings, PostingsCache
from gitmem.search_index import IndexDamaged, Indexed

#: The halves of 64 bits.
_COUNT, _NUMBER = (0, 1) if byteorder == "little" else (1, 0)
#: A disk that takes no copy; the system's folder for temporary files may be another one.
_NO_COPY: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM})


class TantivyPart:
    """One part, all of its documents; it never changes, so whatever was read of it is kept.

    Args:
        name: of its file; no other part ever had it.
        size: how many documents it has.
        copy: the folder to read from; it may go as soon as this is made.
        cache: for its postings, under the part's name and the term.
    """

    def __init__(self, name: str, size: int, copy: Path, cache: PostingsCache[Postings]) -> None:
        self.name = name
        self.size = size
        self._cache = cache
        self._searcher = _searcher(copy)
        if self._searcher.num_docs != size:
            raise IndexDamaged(f"a part of {self._searcher.num_docs} instead of {size} documents")
        self._columns = ColumnsFile(copy, size)

    def postings(self, term: str) -> Postings:
        """Return the documents that have a term, and how often each has it."""
        found = self._cache.get((self.name, term))
        if found is None:
            with translated_reading():
                found = self._read_postings(counted_prefix(term))
            self._cache.add((self.name, term), found)
        return found

    def terms_from(self, prefix: str, limit: int) -> list[str]:
        """Return the first terms, in order, that begin with `prefix`."""
        with translated_reading():
            # tantivy lists them by how frequent they are.
            found = self._searcher.terms_with_prefix(TERMS, safe_prefix(prefix))
        return sorted(terms_of(token for token, _ in found))[:limit]

    def column(self, name: str) -> Sequence[int]:
        """Return one number for each document."""
        return self._columns.read(name)

    def document(self, number: int) -> Document:
        """Return a document as it was added."""
        with translated_reading():
            return parse_row(self._searcher.doc(self._address(number)))

    def indexed(self, number: int) -> Indexed:
        """Return a document with its terms."""
        with translated_reading():
            stored = self._searcher.doc(self._address(number))
            return parse_stored(stored, self.column("length")[number])

    def _address(self, number: int) -> DocAddress:
        """Return where tantivy has a document; it keeps their order unless it needed several segments."""
        if not 0 <= number < self.size:
            raise IndexError(number)
        return DocAddress(0, number) if self._searcher.num_segments == 1 else self._scattered[number]

    @cached_property
    def _scattered(self) -> Sequence[DocAddress]:
        """Where tantivy has each document of a part of several segments."""
        found = self._searcher.search(
            Query.all_query(), limit=self.size, count=False, order_by_field=NUMBER, order=Order.Asc
        )
        return [address for _, address in found.hits]

    def _read_postings(self, prefix: str) -> Postings:
        """Return the documents of all counts of a term, sorted by their numbers."""
        both: array[int] = array("Q")
        for token, frequency in self._searcher.terms_with_prefix(TERMS, prefix):
            query = Query.const_score_query(Query.term_query(schema(), TERMS, token, "basic"), 1.0)
            found = self._searcher.search(
                query, limit=frequency, count=False, order_by_field=NUMBER, order=Order.Asc
            )
            both.frombytes(_paired([number for number, _ in found.hits], count_of(token)))
        pairs = array("I")
        pairs.frombytes(array("Q", sorted(both)).tobytes())
        return pairs[_NUMBER::2], array("f", pairs[_COUNT::2])


def open_tantivy(folder: Path, mark: PartMark, cache: PostingsCache[Postings]) -> TantivyPart:
    """Open a part from a copy of its own.

    Args:
        folder: of the index.
        mark: of the part.
        cache: for its postings.

    Raises:
        IndexDamaged: its file is not what was written.
        FileNotFoundError: it is gone, or the whole index.
    """
    try:
        with scratch_folder(folder) as copy:
            return _open_copy(folder, mark, copy, cache)
    except OSError as error:
        if error.errno not in _NO_COPY:
            raise
    with tempfile.TemporaryDirectory() as elsewhere:
        return _open_copy(folder, mark, Path(elsewhere), cache)


def _open_copy(folder: Path, mark: PartMark, copy: Path, cache: PostingsCache[Postings]) -> TantivyPart:
    try:
        unpack(folder / mark.name, copy, mark.checksum)
        return TantivyPart(mark.name, mark.size, copy, cache)
    except FileNotFoundError:
        raise
    except Exception as error:
        if not copy.exists():
            raise FileNotFoundError(errno.ENOENT, "the index went while it was opened", str(copy)) from error
        raise


def _searcher(folder: Path) -> Searcher:
    index = Index.open(str(folder))
    # A part has no later commits to wait for.
    index.config_reader("manual")
    return index.searcher()


def _paired(numbers: Sequence[int], count: int) -> bytes:
    """Return 64 bits for each number: the number, by which they sort, above the count."""
    pairs = array("I", [count]) * (2 * len(numbers))
    pairs[_NUMBER::2] = array("I", numbers)
    return pairs.tobytes()
