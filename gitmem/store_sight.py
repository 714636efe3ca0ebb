"""The memory stores as prompts are made from them: as they are on disk, or as they once were."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass

from gitmem.authored_text import BOM, Problem, decode_text
from gitmem.blocked_parts import Judge
from gitmem.config import HomeConfig
from gitmem.curated import STORES, Store, read_store
from gitmem.entries import Entry, parse_store
from gitmem.forgotten import Receipts
from gitmem.git_objects import hash_object
from gitmem.layout import Layout
from gitmem.prompt_block import PromptBlock, join_blocks, render_block, render_unreadable


@dataclass(frozen=True, slots=True)
class StoreSight:
    """A store as a prompt is made from it.

    Attributes:
        blob: Git blob id of its bytes; None where it is missing, switched off, unreadable or forgotten.
        entries: without what was forgotten.
        problem: why it cannot be read, if so; that is not the same as an empty store.
    """

    blob: str | None = None
    entries: tuple[Entry, ...] = ()
    problem: str | None = None


class StoreSights:
    """Reads and renders the memory stores.

    Args:
        layout: where they are.
        config: limits and switches.
        receipts: returns what was forgotten.
        judge: the scanner.
    """

    def __init__(
        self, layout: Layout, config: HomeConfig, receipts: Callable[[], Receipts], judge: Judge
    ) -> None:
        self._root = layout.root
        self._config = config
        self._receipts = receipts
        self._judge = judge

    def under(self, config: HomeConfig) -> StoreSights:
        """Return what reads and renders them under other limits and switches."""
        other = copy(self)
        other._config = config
        return other

    def read(self) -> dict[str, StoreSight]:
        """Return the stores as they are on disk, by target."""
        found = {}
        for target, path in STORES.items():
            store = read_store(self._root, path) if self._config.memory[target].enabled else None
            found[target] = StoreSight()
            if isinstance(store, Store):
                found[target] = self._sight(hash_object("blob", store.content), store.entries)
            elif store is not None:
                found[target] = StoreSight(problem=store.reason)
        return found

    def from_bytes(self, content: bytes) -> StoreSight:
        """Return a store from bytes that it once had."""
        text = decode_text(content)
        if isinstance(text, Problem):
            return StoreSight(problem=text.reason)
        return self._sight(hash_object("blob", content), tuple(parse_store(text.removeprefix(BOM))))

    def render(self, sights: Mapping[str, StoreSight]) -> str | None:
        """Return the text that a prompt gets of them; None where there is nothing to say."""
        return join_blocks(list(self.blocks(sights).values()))

    def blocks(self, sights: Mapping[str, StoreSight]) -> dict[str, PromptBlock]:
        """Return the block of each store that has entries, or that cannot be read."""
        found = {}
        for target, sight in sights.items():
            name = STORES[target].rpartition("/")[2]
            limit = self._config.memory[target].char_limit
            block = (
                render_block(target, name, sight.entries, limit=limit, judge=self._judge)
                if sight.problem is None
                else render_unreadable(target, name)
            )
            if block is not None:
                found[target] = block
        return found

    def _sight(self, blob: str, entries: tuple[Entry, ...]) -> StoreSight:
        receipts = self._receipts()
        if receipts.is_forgotten_blob(blob):
            return StoreSight()
        return StoreSight(blob, tuple(one for one in entries if not receipts.is_forgotten_entry(one.text)))
