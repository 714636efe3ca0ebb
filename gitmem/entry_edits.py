"""Edits of a store that name entries by their whole text: what was pinned or retracted, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from gitmem.authoring import Authoring, Provenance, WriteReply, check_cause
from gitmem.branch_changes import PathChange
from gitmem.config import HomeConfig
from gitmem.content_checks import check_file
from gitmem.curated import STORES, Store, read_store
from gitmem.entries import Entry, count_chars, entry_id, format_store, make_entry
from gitmem.errors import HeadMoved, ProtectedPath, RefusedError
from gitmem.file_lock import file_lock
from gitmem.git_objects import hash_object
from gitmem.layout import Layout
from gitmem.proposals import ProposedEdit
from gitmem.subjects import memory_subject
from gitmem.tree_files import Skipped

#: Seconds to wait for whoever holds the home's lock.
_HOME_WAIT: Final = 10.0
#: How often edits are tried on a file that an editor changes at the same time.
_TRIES: Final = 5


class EntryEdits:
    """Makes exact edits of entry stores.

    Args:
        authoring: commits and records.
        layout: where the stores are.
        config: their limits.
        allowed: returns this machine's exceptions for the scanner.
    """

    def __init__(
        self,
        authoring: Authoring,
        layout: Layout,
        config: HomeConfig,
        allowed: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        self._authoring = authoring
        self._layout = layout
        self._config = config
        self._allowed = allowed

    def find(self, wanted: str) -> list[tuple[str, Entry]]:
        """Return target and entry of each store that holds the entry with an id.

        Raises:
            ProtectedPath: a store cannot be read, so that it may be in it.
        """
        stores = [(target, self._read(target)) for target in STORES]
        entries = [(target, entry) for target, store in stores if store for entry in store.entries]
        return [(target, entry) for target, entry in entries if entry.id == wanted]

    def check(self, wanted: str, replaced_by: str | None) -> None:
        """Refuse what could not be made: an entry that is to become a text.

        Raises:
            RefusedError: the store would be too full, or the scanner found something.
            UsageError: there is nothing in the text.
        """
        for target, entry in self.find(wanted):
            store = self._read(target)
            edit = ProposedEdit("replace", entry.text, replaced_by)
            self._change(target, store, edit_entries(store.entries if store else (), [edit]))

    def holds(self, target: str, edits: Sequence[ProposedEdit]) -> bool:
        """Say whether a store is as edits would leave it."""
        store = self._read(target)
        texts = {entry.text for entry in store.entries} if store else set()
        gone = all(edit.before not in texts for edit in edits if edit.before != edit.after)
        return gone and all(edit.after is None or edit.after in texts for edit in edits)

    def make(self, target: str, edits: Sequence[ProposedEdit], *, action: str, by: Provenance) -> WriteReply:
        """Make edits, all or none.

        Args:
            target: `memory` or `user`.
            edits: in order; what one of them changes is an entry, letter by letter.
            action: for the record.
            by: who, and why.

        Raises:
            HeadMoved: an entry is no longer what the edit names.
            RefusedError: the store would be too full, or the scanner found something.
            ProtectedPath: the store cannot be read.
        """
        check_cause(by)
        with file_lock(self._layout.home_lock, wait=_HOME_WAIT):
            for attempt in range(1, _TRIES + 1):
                try:
                    return self._make(target, edits, action, by)
                except HeadMoved:  # an editor saved at the same moment
                    if attempt == _TRIES:
                        raise
        raise AssertionError("the last try returns or raises")

    def _make(self, target: str, edits: Sequence[ProposedEdit], action: str, by: Provenance) -> WriteReply:
        store = self._read(target)
        before = store.entries if store else ()
        after = edit_entries(before, edits)
        change = self._change(target, store, after)
        texts, kept = {one.text for one in before}, {one.text for one in after}
        added, removed = len(kept - texts), len(texts - kept)
        changed = min(added, removed)
        return self._authoring.write(
            [change],
            kind="memory",
            action=action,
            subject=memory_subject(
                target,
                count_chars(after) * 100 // max(self._config.memory[target].char_limit, 1),
                added=added - changed,
                changed=changed,
                removed=removed - changed,
            ),
            source_ref=_ref_of(target, edits),
            by=by,
            scanned=True,
            locked=True,
        )

    def _change(self, target: str, store: Store | None, after: Sequence[Entry]) -> PathChange:
        path = STORES[target]
        old = store.content if store else None
        newline, mark = (store.newline, store.mark) if store else ("\n", "")
        new = format_store(after, newline, mark).encode("utf-8", "surrogateescape")
        if not self._config.memory[target].enabled:
            raise RefusedError(f"{path} is switched off", hint="It is switched in gitmem.toml.", path=path)
        findings = check_file(path, new, old, self._config, self._allowed())
        if findings:
            first = findings[0]
            raise RefusedError(f"{first.rule}: {first.message}", hint=first.fix, path=path, rule=first.rule)
        return PathChange(path, None if old is None else hash_object("blob", old), new)

    def _read(self, target: str) -> Store | None:
        found = read_store(self._layout.root, STORES[target])
        if isinstance(found, Skipped):
            raise ProtectedPath(f"{found.path} is not read: {found.reason}", path=found.path)
        return found


def edit_entries(entries: Sequence[Entry], edits: Sequence[ProposedEdit]) -> list[Entry]:
    """Return entries behind edits that name theirs by the whole text, all made at once.

    Raises:
        HeadMoved: one of them is not there.
    """
    changed = {edit.before: edit for edit in edits if edit.before is not None}
    missing = next((changed[text] for text in changed.keys() - {entry.text for entry in entries}), None)
    if missing is not None:
        raise HeadMoved(
            f"the entry that this would {missing.action} changed or went",
            hint="Look at the store: gitmem memory show; reject the proposal if it no longer fits.",
        )
    texts = [changed[entry.text].after if entry.text in changed else entry.text for entry in entries]
    texts += [edit.after for edit in edits if edit.before is None]
    # What an operator typed meanwhile may be there already; of equal texts the first one counts.
    kept = dict.fromkeys(make_entry(text).text for text in texts if text is not None)
    return [Entry(text, entry_id(text)) for text in kept]


def _ref_of(target: str, edits: Sequence[ProposedEdit]) -> str:
    text = edits[0].after if len(edits) == 1 else None
    return f"agent_memory:{target}" if text is None else f"entry:{make_entry(text).id}"
