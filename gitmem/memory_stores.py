"""The two memory stores as a call finds them: read anew each time, and shown without what is poisoned."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gitmem.authored_text import LINE_BREAK
from gitmem.config import MemoryFile
from gitmem.counted import counted
from gitmem.curated import STORES, Store, read_only_fault, read_store
from gitmem.entries import Entry, count_chars
from gitmem.errors import RefusedError
from gitmem.forgotten import Receipts
from gitmem.git_objects import hash_object
from gitmem.json_view import JsonView
from gitmem.layout import Layout
from gitmem.memory_call import Refusal
from gitmem.memory_reply import Show, blocked_text
from gitmem.memory_rules import MOST_SCANNED, usage_line
from gitmem.operator_branch import OperatorBranch
from gitmem.tree_files import Skipped

_NO_FILE: Final = Store("", (), 0, "\n", b"")
#: Seconds in which an editor has filled a file that it emptied, or put back one that it moved away.
_SAVING: Final = 0.25
_PAUSE: Final = 0.005


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the scanner says of a text.

    Attributes:
        blocked: why it must not be stored, beginning `Blocked:`; None for a text that may.
        rules: what was found in it.
        allowed: rules that hit and are allowed on this machine.
        allow: how a person lets the text pass.
    """

    blocked: str | None = None
    rules: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    allow: str | None = None


#: Judges a text for a memory store.
Scan = Callable[[str], Verdict]


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """An entry as it is shown.

    Attributes:
        text: its own, or a notice where that must not be shown.
        chars: code points of its own text.
    """

    id: str
    source_ref: str
    text: str
    chars: int


@dataclass(frozen=True, slots=True)
class StoreView(JsonView):
    """A store as it is shown.

    Attributes:
        entries: in file order.
        usage: as replies say it.
        chars: how much of the limit is used.
        enabled: whether prompts have it and the agent writes it.
    """

    target: str
    entries: Sequence[ShownEntry]
    usage: str
    chars: int
    limit: int
    enabled: bool = True


class MemoryStores:
    """Reads the stores of one home.

    Args:
        layout: where they are.
        branch: tells what a sparse checkout leaves out.
        file: returns switch and limit of a target.
        scan: judges a text.
        receipts: returns what was forgotten.
        over_limit: returns why an entry is held that came by sync, longer than an agent could write it.
    """

    def __init__(
        self,
        layout: Layout,
        branch: OperatorBranch,
        file: Callable[[str], MemoryFile],
        scan: Scan,
        receipts: Callable[[], Receipts] = Receipts,
        *,
        over_limit: Callable[[str], tuple[str, ...]] = lambda _: (),
    ) -> None:
        self._receipts = receipts
        self._over_limit = over_limit
        self._root = layout.root
        self._branch = branch
        self.file = file
        self.scan = scan

    def read(self, target: str) -> Store | Refusal:
        """Return what a store holds now; its path is empty where there is no file.

        A file that cannot be read is never an empty one.
        """
        path = STORES[target]
        found = self._saved(path)
        if isinstance(found, Skipped):
            where = "" if found.line is None else f" (line {found.line})"
            return Refusal(
                f"{path} cannot be read{where}: {found.reason}. It was left as it is",
                remediation="A person has to mend the file first; nothing is remembered in it until then.",
            )
        if found is None:
            return self._absent(path)
        return _marked(path, found) or self._closed(found)

    def _closed(self, store: Store) -> Store:
        """Return a store without what was forgotten, wherever its file has it from."""
        receipts = self._receipts()
        if receipts.is_forgotten_blob(hash_object("blob", store.content)):
            return replace(store, entries=(), chars=0)
        kept = tuple(entry for entry in store.entries if not receipts.is_forgotten_entry(entry.text))
        return store if kept == store.entries else replace(store, entries=kept, chars=count_chars(kept))

    def read_only_fault(self, target: str) -> str | None:
        """Say that a store was made read-only, if it was."""
        return read_only_fault(self._root, STORES[target])

    def _saved(self, path: str) -> Store | Skipped | None:
        """Read a store that is not being saved just now.

        Editors empty a file before they fill it, or move it away first; whoever believes what is there in
        that moment takes all entries for removed.
        """
        found = read_store(self._root, path)
        if not _is_blank(found) or not self._branch.look(staged=False).sight(path).head:
            return found
        deadline = time.monotonic() + _SAVING
        while time.monotonic() < deadline:
            time.sleep(_PAUSE)
            before, found = found, read_store(self._root, path)
            if not _is_blank(found) and found == before:
                break
        return found

    def view(self, target: str, *, hide: bool) -> StoreView:
        """Return a store as it is now.

        Args:
            target: `memory` or `user`.
            hide: show poisoned entries as a notice.

        Raises:
            RefusedError: its file cannot be read.
        """
        found = self.read(target)
        if isinstance(found, Refusal):
            raise RefusedError(found.error, hint=found.remediation, path=STORES[target])
        file = self.file(target)
        limit = file.char_limit
        show = self.shown(target) if hide else _plain
        rows = [
            ShownEntry(entry.id, f"entry:{entry.id}", show(entry), len(entry.text)) for entry in found.entries
        ]
        return StoreView(target, rows, usage_line(found.chars, limit), found.chars, limit, file.enabled)

    def shown(self, target: str) -> Show:
        """Return how entries of a store are shown to whoever cannot be trusted with a poisoned one."""
        file = STORES[target].rpartition("/")[2]

        def show(entry: Entry) -> str:
            if len(entry.text) > MOST_SCANNED:
                return blocked_text(file, ["too_long_to_scan"], entry.id)
            verdict = self.scan(entry.text)
            rules = verdict.rules if verdict.blocked else self._over_limit(entry.text)
            return blocked_text(file, rules, entry.id) if rules else entry.text

        return show

    def _absent(self, path: str) -> Store | Refusal:
        if self._branch.look().sight(path).disk is None:
            return _NO_FILE
        return Refusal(
            f"{path} is left out of this work tree by a sparse checkout",
            remediation=f"git sparse-checkout add {path.partition('/')[0]}",
        )


def _is_blank(found: Store | Skipped | None) -> bool:
    return found is None or (isinstance(found, Store) and not found.content)


def _plain(entry: Entry) -> str:
    return entry.text


def _marked(path: str, store: Store) -> Refusal | None:
    """Refuse a file in the middle of a merge: rewriting it would hide what is to be decided."""
    lines = LINE_BREAK.split(store.content.decode("utf-8"))
    begins = sum(line.startswith("<<<<<<< ") for line in lines)
    if begins and any(line.startswith(">>>>>>> ") for line in lines):
        return Refusal(
            f"{path} has {counted(begins, 'conflict')} of a merge that a person has to resolve first",
            remediation="Resolve it, then `git add` the file and finish the merge.",
        )
    return None
