"""A part of an index that exists only in memory: what is not indexed yet is searched through one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import islice

from gitmem.documents import Document
from gitmem.search_index import COLUMNS, Indexed

_NOTHING: tuple[Sequence[int], Sequence[float]] = ((), ())


class MemoryPart:
    """An `IndexPart` over documents in memory.

    Args:
        documents: numbered in this order.
    """

    def __init__(self, documents: Sequence[Indexed]) -> None:
        self._documents = documents
        self._removed: frozenset[int] = frozenset()
        self._postings: dict[str, tuple[list[int], list[float]]] = {}
        for number, item in enumerate(documents):
            for term, count in item.analysis.counts.items():
                numbers, counts = self._postings.setdefault(term, ([], []))
                numbers.append(number)
                counts.append(count)
        rows = [item.column_values() for item in documents]
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(COLUMNS)
        self._columns = dict(zip(COLUMNS, columns, strict=True))

    @property
    def size(self) -> int:
        """How many documents there are."""
        return len(self._documents)

    @property
    def removed(self) -> AbstractSet[int]:
        """Numbers of documents that are no longer there."""
        return self._removed

    def without(self, numbers: AbstractSet[int]) -> MemoryPart:
        """Return the same part with more documents removed."""
        part = object.__new__(MemoryPart)
        part.__dict__.update(self.__dict__)
        part._removed = self._removed | numbers
        return part

    def postings(self, term: str) -> tuple[Sequence[int], Sequence[float]]:
        """Return the documents that have a term, and how often each has it."""
        return self._postings.get(term, _NOTHING)

    def terms_from(self, prefix: str, limit: int) -> list[str]:
        """Return the first terms that begin with `prefix`."""
        terms = sorted(self._postings)
        start = bisect_left(terms, prefix)
        return [term for term in islice(terms, start, start + limit) if term.startswith(prefix)]

    def column(self, name: str) -> Sequence[int]:
        """Return one number for each document."""
        return self._columns[name]

    def document(self, number: int) -> Document:
        """Return a document as it was added."""
        return self._documents[number].document
