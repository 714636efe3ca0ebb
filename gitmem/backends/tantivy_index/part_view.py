"""The parts of a commit, whatever keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Protocol

from gitmem.backends.tantivy_index.commit_file import PartMark
from gitmem.backends.tantivy_index.loose_part import LOOSE, read_loose
from gitmem.backends.tantivy_index.tantivy_part import open_tantivy
from gitmem.documents import Document
from gitmem.postings_cache import Postings, PostingsCache
from gitmem.search_index import Indexed


class Part(Protocol):
    """All documents of a part, of which nothing ever changes."""

    def postings(self, term: str) -> tuple[Sequence[int], Sequence[float]]:
        """Return the documents that have a term, and how often each has it."""
        ...

    def terms_from(self, prefix: str, limit: int) -> list[str]:
        """Return the first terms, in order, that begin with `prefix`."""
        ...

    def column(self, name: str) -> Sequence[int]:
        """Return one number for each document."""
        ...

    def document(self, number: int) -> Document:
        """Return a document as it was added."""
        ...

    def indexed(self, number: int) -> Indexed:
        """Return a document with its terms."""
        ...


class PartView:
    """An `IndexPart`: a part as one commit left it; later commits remove more of its documents.

    Args:
        part: all of its documents.
        mark: what the commit says of it.
    """

    def __init__(self, part: Part, mark: PartMark) -> None:
        self.part = part
        self.mark = mark
        self.size = mark.size
        self.removed: AbstractSet[int] = mark.removed

    def postings(self, term: str) -> tuple[Sequence[int], Sequence[float]]:
        """Return the documents that have a term, removed ones too, and how often each has it."""
        return self.part.postings(term)

    def terms_from(self, prefix: str, limit: int) -> list[str]:
        """Return the first terms, in order, that begin with `prefix`."""
        return self.part.terms_from(prefix, limit)

    def column(self, name: str) -> Sequence[int]:
        """Return one number for each document."""
        return self.part.column(name)

    def document(self, number: int) -> Document:
        """Return a document as it was added."""
        return self.part.document(number)


def open_part(folder: Path, mark: PartMark, cache: PostingsCache[Postings]) -> Part:
    """Open a part.

    Args:
        folder: of the index.
        mark: of the part.
        cache: for its postings.

    Raises:
        IndexDamaged: its file is not what was written.
        FileNotFoundError: it is gone.
    """
    return read_loose(folder, mark) if mark.name.endswith(LOOSE) else open_tantivy(folder, mark, cache)
