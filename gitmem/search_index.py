"""The seam to the search index: documents in, postings out, in plain types.

An index is a cache. It consists of parts that never change except that documents of them are marked as
removed; a commit adds a part. Implementations: `backends/whoosh_index` on disk and `testing/memory_index.py`;
both pass `tests/contract/search_index_contract.py`. For what is not indexed yet there is
`memory_part.MemoryPart`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, Protocol

from gitmem.analysis import Analysis
from gitmem.documents import Document
from gitmem.manifest import FileMark, Manifest
from gitmem.question import name_of
from gitmem.times import parse_timestamp
from gitmem.traits import traits_of

#: Names of the columns: small numbers of each document, for narrowing and ordering without reading documents.
COLUMNS: Final = (
    "origin", "record", "kind", "session", "work_item", "workspace", "group", "time", "length",
    "author", "clock", "seq", "traits",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Indexed:
    """A document with its terms, ready to be indexed."""

    document: Document
    analysis: Analysis

    def column_values(self) -> tuple[int, ...]:
        """Return the document's numbers, in the order of `COLUMNS`."""
        d = self.document
        keys = (d.origin, d.record, d.kind, d.session, d.work_item, d.workspace, d.group)
        author = key_of(name_of(d.author)) if d.author else 0
        traits = traits_of(d.kind, d.text)
        return (*map(key_of, keys), time_of(d.ts), self.analysis.length, author, d.clock, d.seq, traits)


@dataclass(frozen=True, slots=True)
class IndexChange:
    """One commit of the index: all of it becomes visible at once, or nothing.

    Attributes:
        manifest: what the index covers once this is committed.
        remove_origins: segments and files whose documents go; those in `add` come after.
        remove_records: ids of records whose documents go, whatever their origin.
        add: documents that come.
        erase: also wipe what is removed from the disk, not only from search.
        merge_limit: merge small parts of together at most so many documents; a large merge takes seconds.
    """

    manifest: Manifest
    remove_origins: AbstractSet[str] = frozenset()
    remove_records: AbstractSet[str] = frozenset()
    add: Sequence[Indexed] = ()
    erase: bool = False
    merge_limit: int = 2000


class IndexPart(Protocol):
    """Documents numbered from 0, and where each term occurs in them."""

    @property
    def size(self) -> int:
        """How many documents there are, removed ones included."""
        ...

    @property
    def removed(self) -> AbstractSet[int]:
        """Numbers of documents that are no longer there."""
        ...

    def postings(self, term: str) -> tuple[Sequence[int], Sequence[float]]:
        """Return the numbers of the documents that have a term, ascending, and how often each has it.

        Removed documents are among them. The sequences are lists or have the buffer protocol.
        """
        ...

    def terms_from(self, prefix: str, limit: int) -> list[str]:
        """Return the first terms, in order, that begin with `prefix`."""
        ...

    def column(self, name: str) -> Sequence[int]:
        """Return one number for each document; `name` is one of `COLUMNS`."""
        ...

    def document(self, number: int) -> Document:
        """Return a document as it was added."""
        ...


class IndexSnapshot(Protocol):
    """The index as one commit left it; later commits do not change it."""

    @property
    def generation(self) -> int:
        """The number of the commit; grows by each."""
        ...

    @property
    def manifest(self) -> Manifest:
        """What this commit covers."""
        ...

    @property
    def parts(self) -> Sequence[IndexPart]:
        """All parts."""
        ...


class IndexWriter(Protocol):
    """The one writer of an index at a time."""

    def snapshot(self) -> IndexSnapshot:
        """Return the index as it stands; nobody else changes it while this writer lives."""
        ...

    def commit(self, change: IndexChange) -> None:
        """Commit a change durably.

        Raises:
            IndexDamaged: the index cannot be written; it has to be discarded.
        """
        ...

    def discard(self) -> None:
        """Throw the index away and begin with an empty one."""
        ...


class SearchIndex(Protocol):
    """An index of documents."""

    def snapshot(self) -> IndexSnapshot | None:
        """Return the index as the last commit left it, None where there is none yet; cheap to call again.

        Raises:
            IndexDamaged: what is there cannot be read.
            IndexRefused: what is there must not be read.
        """
        ...

    def writing(self) -> AbstractContextManager[IndexWriter | None]:
        """Become the writer; the context gives None where another thread or process is.

        A damaged index is discarded first.

        Raises:
            IndexRefused: what is there must not be touched.
        """
        ...

    def close(self) -> None:
        """Release files; the object stays usable and opens them again."""
        ...


class IndexDamaged(Exception):
    """The index cannot be read or written; it is thrown away and built again."""


class IndexOutdated(IndexDamaged):
    """The index was written by a gitmem that lays it out in another way; it is built again."""


class IndexRefused(Exception):
    """What stands where the index belongs is not this user's private folder, so it is not opened."""


def key_of(text: str | None) -> int:
    """Return the number that stands for a text in a column; 0 stands for none."""
    if text is None:
        return 0
    return (
        int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
        >> 1
    )


def time_of(ts: str) -> int:
    """Return a document's time in milliseconds since 1970."""
    return round(parse_timestamp(ts) * 1000)


def file_marks(index: SearchIndex) -> Mapping[str, FileMark]:
    """Return what an index knows of authored files by path; nothing where it cannot be read."""
    try:
        snapshot = index.snapshot()
    except (IndexDamaged, IndexRefused, OSError):
        return {}
    return {} if snapshot is None else snapshot.manifest.files


def live_count(parts: Iterable[IndexPart]) -> int:
    """Return how many documents there are, without the removed ones."""
    return sum(part.size - len(part.removed) for part in parts)
