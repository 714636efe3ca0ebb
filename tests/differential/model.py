"""What the known differences make of a call: a second, small account of the rules, where both tools differ.

It knows entries as plain texts and says by name where Hermes would have done otherwise, so that a difference
is excused only together with the exact outcome that gitmem promises instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

Call = Mapping[str, Any]

_MOST_FAILURES: Final = 3
#: Categories of which a turn has only so many.
_COUNTED: Final = ("overflow", "no match", "aborted")


@dataclass
class Store:
    """A store on which calls are played.

    Attributes:
        entries: its texts.
        limit: what it may hold.
        notes: names of the differences that were met.
    """

    entries: list[str]
    limit: int
    notes: set[str] = field(default_factory=set)

    @property
    def total(self) -> int:
        """Its size in characters."""
        return len("\n§\n".join(self.entries))

    def apply(self, operation: Call) -> str:
        """Carry out one operation, whatever the size of the outcome, and return its category."""
        content, old_text = clean(operation.get("content")), clean(operation.get("old_text"))
        if operation["action"] == "add":
            return self._add(content)
        found = self._find(old_text)
        if found not in self.entries:
            return found
        if operation["action"] == "remove":
            self.entries.remove(found)
            return "removed"
        return self._replace(found, content)

    def _add(self, content: str) -> str:
        if content in self.entries:
            return "duplicate"
        if self._splits(content):
            return "refused: content"
        self.entries.append(content)
        return "added"

    def _replace(self, found: str, content: str) -> str:
        if self._splits(content):
            return "refused: content"
        if content != found and content in self.entries:
            self.notes.add("replace makes no duplicate")
            return "refused: duplicate"
        self.entries[self.entries.index(found)] = content
        return "replaced"

    def _find(self, old_text: str) -> str:
        hits = [entry for entry in self.entries if old_text in entry]
        if old_text in hits:
            if len(hits) > 1:
                self.notes.add("an exact entry wins")
            return old_text
        if not hits:
            return "no match"
        if len(hits) > 1:
            return "several"
        if len(hits[0]) > self.limit:
            self.notes.add("a part does not name an oversized entry")
            return "refused: oversized"
        return hits[0]

    def _splits(self, content: str) -> bool:
        if any(line.strip() == "§" for line in content.split("\n")):
            self.notes.add("a delimiter in content is refused")
            return True
        return False


def play(call: Call, store: Store, failures: int) -> str:
    """Return the category of a well-formed call's answer; the store holds its outcome then.

    Args:
        call: the arguments.
        store: as it is before; left alone by what is refused.
        failures: counted failures of this turn so far.
    """
    before = list(store.entries)
    category = _play_batch(call["operations"], store) if call.get("operations") else store.apply(call)
    if store.total > store.limit and category.startswith(("added", "replaced", "applied")):
        if category == "replaced" and store.entries == before:
            store.notes.add("an entry replaced by itself is no change")
        else:
            category = "overflow"
    if category == "overflow" or category.startswith(("refused", "aborted", "no match", "several")):
        store.entries = before
    return "capped" if failures >= _MOST_FAILURES and category.startswith(_COUNTED) else category


def next_failures(failures: int, category: str, *, succeeded: bool) -> int:
    """Return how many counted failures a turn has after an answer."""
    if succeeded:
        return 0
    return failures + category.startswith((*_COUNTED, "capped"))


def clean(text: object) -> str:
    """Return a text as gitmem stores it: stripped, its lines ending in LF."""
    return re.sub(r"\r\n?", "\n", text).strip() if isinstance(text, str) else ""


def _play_batch(operations: Sequence[Any], store: Store) -> str:
    for number, operation in enumerate(operations, 1):
        action = operation.get("action") if isinstance(operation, Mapping) else None
        if action not in ("add", "replace", "remove"):
            return f"aborted at {number} (unknown)"
        missing = (action != "add" and not clean(operation.get("old_text"))) or (
            action != "remove" and not clean(operation.get("content"))
        )
        if missing or store.apply(operation).startswith(("refused", "no match", "several")):
            return f"aborted at {number} ({action})"
    return f"applied {len(operations)}"
