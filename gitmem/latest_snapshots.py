"""Which snapshot of a task, wait, work item or session title counts, among those in an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gitmem.documents import Document
from gitmem.lifecycle_rules import Snapshot, find_heads, reduce_heads
from gitmem.search_index import IndexPart, key_of


class LatestSnapshots:
    """Answers for one search; each object is looked up once.

    Args:
        parts: where documents are.
        is_live: says whether a document of a part still stands in the ledger.
    """

    def __init__(self, parts: Sequence[IndexPart], is_live: Callable[[int, Document], bool]) -> None:
        self._parts = parts
        self._is_live = is_live
        self._winners: dict[str, str | None] = {}

    def is_latest(self, document: Document) -> bool:
        """Say whether a document is no snapshot, or is of the one that counts."""
        if document.group is None:
            return True
        if document.group not in self._winners:
            self._winners[document.group] = self._find_winner(document.group)
        return self._winners[document.group] == document.record

    def _find_winner(self, group: str) -> str | None:
        snapshots = {found.id: found for found in map(_snapshot_of, self._members(group))}
        if not snapshots:
            return None
        winner = reduce_heads(find_heads(snapshots.values())).winner
        return None if winner.redacted else winner.id

    def _members(self, group: str) -> Iterator[Document]:
        key = key_of(group)
        for place, part in enumerate(self._parts):
            column = part.column("group")
            at = -1
            while (at := _index_of(column, key, at + 1)) >= 0:
                if at not in part.removed:
                    document = part.document(at)
                    if document.group == group and self._is_live(place, document):
                        yield document


def _index_of(column: Sequence[int], key: int, start: int) -> int:
    try:
        return column.index(key, start)
    except ValueError:
        return -1


def _snapshot_of(document: Document) -> Snapshot:
    state = document.state or {}
    kind, _, name = (document.group or "").partition(":")
    return Snapshot(
        id=document.record or "",
        kind=kind,
        object=name,
        revision=int(state.get("revision", 0)),
        status=str(state.get("status", "")),
        after=tuple(state.get("after", ())),
        clock=str(state.get("clock", "")),
        writer=str(state.get("writer", "")),
        seq=int(state.get("seq", 0)),
        body={},
        redacted=state.get("redacted") is True,
    )
