"""Verifies the search index against the ledger: nothing in it that is not there, nothing missing from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gitmem.errors import GitmemError
from gitmem.index_backlog import documents_of
from gitmem.ledger import Ledger
from gitmem.ledger_format import Line, decode_lines, split_segment
from gitmem.search_index import IndexSnapshot, SearchIndex, key_of
from gitmem.verify_finding import Finding

_ID: Final = re.compile(rb',"id":"([a-z]{1,16}_[0-9a-f]{15})","turn":"')
_CHECK: Final = "Make it anew: gitmem reindex"


def index_findings(index: SearchIndex, ledger: Ledger) -> Iterator[Finding]:
    """Yield what the index says otherwise than the ledger, of the segments that it covers.

    Args:
        index: one that is missing has nothing to say.
        ledger: what it was made from.
    """
    try:
        snapshot = index.snapshot()
        held = _records_of(snapshot) if snapshot is not None else {}
    except (GitmemError, OSError) as error:
        yield Finding("index", f"the search index cannot be read: {error}")
        return
    if snapshot is None:
        return
    found: set[int] = set()
    for path, segment in ledger.segments().items():
        mark = snapshot.manifest.segments.get(path)
        content = ledger.read_segment(segment)
        keys = {key_of(name.decode()): name.decode() for name in _ID.findall(content)}
        found.update(keys)
        if mark is None or mark.blobs != segment.blobs or mark.offset != len(content) or mark.problems:
            continue
        missing = {name for key, name in keys.items() if key not in held}
        if missing and (lost := _searchable(ledger, path, content, missing)):
            message = f"{len(lost)} records of {path} are not in the search index. {_CHECK}"
            yield Finding("index", message, path=path, source_ref=lost[0])
    strange = set(held) - found
    if strange:
        yield Finding("index", f"{len(strange)} records in the search index are in no ledger. {_CHECK}")


def _records_of(snapshot: IndexSnapshot) -> dict[int, int]:
    """Return the keys of the records whose documents an index holds, with how many each has."""
    nothing = key_of(None)
    held: dict[int, int] = {}
    for part in snapshot.parts:
        records, removed = part.column("record"), part.removed
        for number in range(part.size):
            key = int(records[number])
            if key != nothing and number not in removed:
                held[key] = held.get(key, 0) + 1
    return held


def _searchable(ledger: Ledger, path: str, content: bytes, names: set[str]) -> list[str]:
    """Return the refs of those records among some that a search should find."""
    lines = (item for item in split_segment(content) if isinstance(item, Line) and item.id in names)
    documents = (
        document
        for record in decode_lines(line for line in lines if not line.redacted)
        for document in documents_of(ledger, record, path).documents
    )
    return [document.source_ref for document in documents]
