"""The objects that were read last, in memory; never stale, because no object changes under its id."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

from gitmem.repository import ObjectKind, TreeEntry

#: Bytes of content kept in all, and of one object at most.
_BUDGET: Final = 8 << 20
_LARGEST: Final = 512 << 10
#: A parsed entry weighs about this much, whatever its name.
_ENTRY_WEIGHT: Final = 200


class RecentObjects:
    """Contents and parsed trees by id, the least recently used ones dropped first; safe in threads."""

    def __init__(self, budget: int = _BUDGET) -> None:
        self._budget = budget
        self._weight = 0
        self._lock = threading.Lock()
        self._contents: OrderedDict[str, tuple[ObjectKind, bytes]] = OrderedDict()
        self._trees: OrderedDict[str, tuple[TreeEntry, ...]] = OrderedDict()

    def get(self, object_id: str) -> tuple[ObjectKind, bytes] | None:
        """Return kind and content, or None."""
        with self._lock:
            found = self._contents.get(object_id)
            if found is not None:
                self._contents.move_to_end(object_id)
            return found

    def add(self, object_id: str, kind: ObjectKind, content: bytes) -> None:
        """Keep an object's content, if it is not too large."""
        if len(content) > _LARGEST:
            return
        with self._lock:
            if object_id not in self._contents:
                self._contents[object_id] = (kind, content)
                self._weight += len(content)
            self._shrink()

    def entries(self, tree_id: str) -> tuple[TreeEntry, ...] | None:
        """Return a tree's parsed entries, or None."""
        with self._lock:
            found = self._trees.get(tree_id)
            if found is not None:
                self._trees.move_to_end(tree_id)
            return found

    def add_entries(self, tree_id: str, entries: tuple[TreeEntry, ...]) -> None:
        """Keep a tree's parsed entries."""
        with self._lock:
            if tree_id not in self._trees:
                self._trees[tree_id] = entries
                self._weight += _ENTRY_WEIGHT * len(entries)
            self._shrink()

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._contents.clear()
            self._trees.clear()
            self._weight = 0

    def _shrink(self) -> None:
        while self._weight > self._budget and (self._contents or self._trees):
            if self._contents:
                self._weight -= len(self._contents.popitem(last=False)[1][1])
            if self._trees and self._weight > self._budget:
                self._weight -= _ENTRY_WEIGHT * len(self._trees.popitem(last=False)[1])
