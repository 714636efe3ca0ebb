"""Makes a part that tantivy has."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tantivy import Index

from gitmem.backends.tantivy_index.columns_file import write_columns
from gitmem.backends.tantivy_index.commit_file import PartMark
from gitmem.backends.tantivy_index.damage import translated_writing
from gitmem.backends.tantivy_index.fields import schema, to_stored
from gitmem.backends.tantivy_index.part_file import PACKED, pack
from gitmem.backends.tantivy_index.scratch import scratch_folder
from gitmem.search_index import COLUMNS, Indexed

#: Memory after which tantivy would begin a second segment; it takes only what it needs.
_MOST_MEMORY: Final = 1 << 30


def write_tantivy(folder: Path, documents: Iterable[Indexed]) -> PartMark:
    """Write a part's file."""
    name = f"{secrets.token_hex(8)}{PACKED}"
    with scratch_folder(folder) as scratch:
        size = _fill(scratch, documents)
        return PartMark(name, pack(scratch, folder / name), size)


def _fill(folder: Path, documents: Iterable[Indexed]) -> int:
    """Write documents into an empty folder; return how many there were."""
    rows = []
    with translated_writing():
        # One thread keeps the order of the documents.
        writer = Index(schema(), path=str(folder), reuse=False).writer(_MOST_MEMORY, 1)
        for number, item in enumerate(documents):
            writer.add_document(to_stored(number, item))
            rows.append(item.column_values())
        writer.commit()
        writer.wait_merging_threads()
    write_columns(folder, dict(zip(COLUMNS, zip(*rows, strict=True), strict=True)))
    return len(rows)
