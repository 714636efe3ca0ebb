"""A part of few documents: one file of lines, held in memory.

For the documents of one turn tantivy would sync 19 times, and keep a thread as long as the part is open.
"""

from __future__ import annotations

import json
import os
import secrets
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gitmem.analysis import Analysis
from gitmem.backends.tantivy_index.commit_file import PartMark
from gitmem.documents import Document, from_row, to_row
from gitmem.durable_file import write_all
from gitmem.memory_part import MemoryPart
from gitmem.private_folder import open_own
from gitmem.search_index import IndexDamaged, Indexed

LOOSE: Final = ".rows"
#: A part of fewer documents is a loose one.
LOOSE_SIZE: Final = 32


class LoosePart:
    """A part that was read from its file.

    Args:
        documents: all of them.
    """

    def __init__(self, documents: Sequence[Indexed]) -> None:
        self.size = len(documents)
        self._documents = documents
        self._part = MemoryPart(documents)

    def postings(self, term: str) -> tuple[Sequence[int], Sequence[float]]:
        """Return the documents that have a term, and how often each has it."""
        return self._part.postings(term)

    def terms_from(self, prefix: str, limit: int) -> list[str]:
        """Return the first terms, in order, that begin with `prefix`."""
        return self._part.terms_from(prefix, limit)

    def column(self, name: str) -> Sequence[int]:
        """Return one number for each document."""
        return self._part.column(name)

    def document(self, number: int) -> Document:
        """Return a document as it was added."""
        return self._documents[number].document

    def indexed(self, number: int) -> Indexed:
        """Return a document with its terms."""
        return self._documents[number]


def write_loose(folder: Path, documents: Sequence[Indexed]) -> PartMark:
    """Write a part's file."""
    name = f"{secrets.token_hex(8)}{LOOSE}"
    content = b"".join(map(_line, documents))
    descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        write_all(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return PartMark(name, zlib.crc32(content), len(documents))


def read_loose(folder: Path, mark: PartMark) -> LoosePart:
    """Read a part's file.

    Raises:
        IndexDamaged: it is not what was written.
        FileNotFoundError: it is gone.
    """
    with os.fdopen(open_own(folder / mark.name), "rb") as file:
        content = file.read()
    if zlib.crc32(content) != mark.checksum:
        raise IndexDamaged(f"a part is not what was written: {mark.name}")
    return LoosePart([_parsed(line) for line in content.splitlines()])


def _line(item: Indexed) -> bytes:
    analysis = item.analysis
    row = [to_row(item.document), dict(analysis.counts), analysis.length]
    return json.dumps(row, separators=(",", ":")).encode("ascii") + b"\n"


def _parsed(line: bytes) -> Indexed:
    row, counts, length = json.loads(line)
    return Indexed(from_row(row), Analysis(counts, length))
