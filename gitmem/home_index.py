"""The search index as methods of a home: brought up to date, and built anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gitmem.home_parts import HomeParts
from gitmem.layout import Layout

if TYPE_CHECKING:
    from gitmem.changes import Hints
    from gitmem.indexer import CatchUp
    from gitmem.reindexing import Reindexed


class HomeIndex:
    """The part of `AgentHome` that has to do with the search index."""

    layout: Layout
    _parts: HomeParts

    def catch_up(
        self, hints: Hints | None = None, *, seconds: float | None = None, merged: int = 16_384
    ) -> CatchUp:
        """Bring the search index up to date.

        Args:
            hints: where something may have changed; None looks everywhere.
            seconds: after so long the rest is left for another call; None leaves nothing.
            merged: documents of small parts that one commit may put together.
        """
        from gitmem.indexer import Budget

        with self._parts.background_indexing.slice:
            return self._parts.indexer.catch_up(hints, Budget(seconds, merged))

    def merge_index(self, most: int) -> CatchUp:
        """Put small parts of the search index together, up to a number of documents."""
        with self._parts.background_indexing.slice:
            return self._parts.indexer.merge(most)

    def is_index_behind(self) -> bool:
        """Say whether the search index lacks something that no hint tells of."""
        return self._parts.indexer.is_behind()

    def reindex(
        self, *, wait: bool | None = None, progress: Callable[[Reindexed], object] = lambda _: None
    ) -> Reindexed:
        """Build the search index anew; what is indexed is searched until it is replaced.

        Args:
            wait: for the end; None waits only where no watcher goes on with it.
            progress: is told about once a second how far it is.
        """
        from gitmem.reindexing import Reindexing
        from gitmem.watch_state import ask_watcher, is_watched

        layout = self.layout
        work = Reindexing(
            self._parts.indexer,
            self._parts.index,
            is_watched=lambda: is_watched(layout),
            ask_watcher=lambda: ask_watcher(layout),
            progress=progress,
        )
        begun = work.begin()
        if begun.reasons or wait is False or (wait is None and begun.watcher):
            return begun
        return work.finish()
