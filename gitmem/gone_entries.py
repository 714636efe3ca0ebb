"""What became of entries that no store holds any more: told by the ledger, else by the branch's history."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from gitmem.curated import STORES
from gitmem.entries import parse_store
from gitmem.errors import ObjectMissing, Unavailable
from gitmem.judgement_rules import Judgement
from gitmem.ledger import Ledger, spooled_records
from gitmem.memory_text import Whole
from gitmem.records import Record
from gitmem.refs import SourceRef
from gitmem.repository import Repository, read_path
from gitmem.times import format_time

#: No more commits are looked through: what is asked for may never have been.
_MOST_COMMITS: Final = 10_000


class GoneEntries:
    """Looks for entries that were retracted, removed or replaced.

    Args:
        repository: whose HEAD leads to what the stores held.
        ledger: its `memory` records name the entries that the agent's changes took away.
        judged: returns the retraction of what a ref names; it keeps an entry's words.
    """

    def __init__(
        self,
        repository: Repository,
        ledger: Ledger,
        judged: Callable[[str], Judgement | None] = lambda _: None,
    ) -> None:
        self._repository = repository
        self._ledger = ledger
        self._judged = judged

    def entry(self, ref: SourceRef) -> Whole | None:
        """Return a retracted entry as the record of its retraction keeps it; None if it never was there.

        Raises:
            Unavailable: it was forgotten, removed or replaced.
        """
        judgement = self._judged(str(ref))
        text = judgement.statement if judgement is not None else None
        if judgement is None or text is None:
            gone = self.explain(ref.id)
            if gone is not None:
                raise gone
            return None
        if self._ledger.receipts().is_forgotten_entry(text):
            raise Unavailable(f"{ref} was forgotten", source_ref=str(ref), reason="redacted")
        return Whole(str(ref), "memory entry", text, judgement.at, {})

    def explain(self, entry_id: str) -> Unavailable | None:
        """Return the error that says when and by whom an entry was taken away, None if it never was there."""
        record = max(self._records(entry_id), key=lambda one: one.ts, default=None)
        if record is not None:
            came = [f"entry:{one}" for one in _ids_of(record, "after")]
            how = f"{'replaced' if came else 'removed'} on {record.ts[:10]} by the agent"
            return _gone(entry_id, how, record.source_ref, came)
        return self._by_commit(entry_id)

    def _records(self, entry_id: str) -> Iterator[Record]:
        sealed = self._ledger.find_all(f'"{entry_id}"'.encode())
        spooled = (record for turn in self._ledger.spooled() for record in spooled_records(turn))
        for records in (sealed, spooled):
            yield from (one for one in records if one.kind == "memory" and entry_id in _ids_of(one, "before"))

    def _by_commit(self, entry_id: str) -> Unavailable | None:
        """Look for the newest commit that took an entry out of a store."""
        head = self._repository.head().commit
        commits = islice(self._repository.walk_first_parents(head), _MOST_COMMITS) if head else ()
        after, kept = None, frozenset[str]()
        for before in commits:
            stores = self._stores(before.tree)
            if any(entry_id in self._entries(blob) for blob in stores - kept):
                if after is None:
                    return _gone(entry_id, "taken out of its file, which is not committed", before.id)
                on, by = format_time(after.author_time)[:10], after.author.partition(" <")[0]
                return _gone(entry_id, f"removed or replaced on {on} by {by}", after.id)
            after, kept = before, stores
        return None

    def _stores(self, tree: str) -> frozenset[str]:
        found = (read_path(self._repository, tree, path) for path in STORES.values())
        return frozenset(entry.id for entry in found if entry is not None)

    def _entries(self, blob: str) -> set[str]:
        try:
            text = self._repository.read(blob)[1].decode("utf-8", "replace")
        except ObjectMissing:  # in a shallow or partial clone
            return set()
        return {entry.id for entry in parse_store(text)}


def _ids_of(record: Record, side: str) -> list[str]:
    entries: Any = record.body.get("entries")
    ids = entries.get(side) if isinstance(entries, dict) else None
    return [one for one in ids if isinstance(one, str)] if isinstance(ids, list) else []


def _gone(entry_id: str, how: str, told_by: str, came: Sequence[str] = ()) -> Unavailable:
    instead = f" The store got {', '.join(came)}." if came else ""
    return Unavailable(
        f"entry:{entry_id} was {how}",
        hint=f"See `gitmem show {told_by}`.{instead}",
        source_ref=f"entry:{entry_id}",
        reason="deleted",
        told_by=told_by,
    )
