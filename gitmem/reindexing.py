"""Building the index anew while the old one is searched: begun, carried on by whoever may, and told of."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from gitmem.indexer import SLICE, CatchUp, Indexer
from gitmem.manifest import EMPTY, Manifest
from gitmem.search_index import IndexDamaged, IndexRefused, SearchIndex

#: Seconds to wait for somebody who is indexing, and between two looks at how far he is.
_WAIT: Final = 60.0
_LOOK: Final = 0.1


@dataclass(frozen=True, slots=True)
class Reindexed:
    """How far building anew is.

    Attributes:
        indexed: records and files that the index covers, by whomever, as `index_status` counts them.
        pending: segments and files that are left.
        quarantined: names of what cannot be indexed.
        reasons: why it could not be begun or finished, if so.
        busy: that is because somebody else is indexing.
        done, total: segments and files.
        watcher: the watcher goes on with it.
    """

    indexed: int = 0
    pending: int = 0
    quarantined: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    busy: bool = False
    done: int = 0
    total: int = 0
    watcher: bool = False


class Reindexing:
    """Builds one index anew.

    Args:
        indexer: of the index.
        index: looked at while somebody else does the work.
        is_watched: says whether a watcher lives, which does the work then.
        ask_watcher: lets it begin at once.
        progress: is told how far it is, again and again.
    """

    def __init__(
        self,
        indexer: Indexer,
        index: SearchIndex,
        *,
        is_watched: Callable[[], bool],
        ask_watcher: Callable[[], object],
        progress: Callable[[Reindexed], object] = lambda _: None,
    ) -> None:
        self._indexer = indexer
        self._index = index
        self._is_watched = is_watched
        self._ask_watcher = ask_watcher
        self._progress = progress
        self._total = 0

    def begin(self) -> Reindexed:
        """Let everything be indexed anew; a watcher goes on with it, if there is one."""
        begun = self._once_free(self._indexer.renew)
        self._total = begun.sources
        watcher = not begun.reasons and self._is_watched()
        if watcher:
            self._ask_watcher()
        return self._report(begun, watcher=watcher)

    def finish(self) -> Reindexed:
        """Return when everything is indexed anew, by a watcher or here."""
        while True:
            watcher = self._is_watched()
            done = self._look() if watcher else self._once_free(lambda: self._indexer.catch_up(None, SLICE))
            self._total = max(self._total, done.sources, done.pending)
            report = self._report(done, watcher=watcher)
            if not done.pending or (done.reasons and not watcher):
                return report
            self._progress(report)

    def _once_free(self, work: Callable[[], CatchUp]) -> CatchUp:
        """Do something as soon as nobody else is indexing, within bounds."""
        end = time.monotonic() + _WAIT
        while True:
            done = work()
            if not done.busy or time.monotonic() > end:
                return done
            time.sleep(_LOOK)

    def _look(self) -> CatchUp:
        """Return how far the watcher is."""
        time.sleep(_LOOK)
        manifest = self._manifest()
        pending = manifest.outdated + (not manifest.complete)
        sources = len(manifest.segments) + len(manifest.files)
        return CatchUp(pending=pending, quarantined=tuple(manifest.quarantined), sources=sources)

    def _manifest(self) -> Manifest:
        with suppress(IndexDamaged, IndexRefused, OSError):
            snapshot = self._index.snapshot()
            return EMPTY if snapshot is None else snapshot.manifest
        return EMPTY

    def _report(self, done: CatchUp, *, watcher: bool) -> Reindexed:
        return Reindexed(
            indexed=self._manifest().covered,
            pending=done.pending,
            quarantined=done.quarantined,
            reasons=done.reasons,
            busy=done.busy,
            done=max(self._total - done.pending, 0),
            total=self._total,
            watcher=watcher,
        )
