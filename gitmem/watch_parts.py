"""What a watcher is made of: the parts of an open home that it drives, its pace and its clocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gitmem.changes import Changes, Hints
from gitmem.duty import Patience
from gitmem.layout import Layout


class CatchUpReport(Protocol):
    """What one call of `catch_up` did."""

    @property
    def indexed(self) -> int:
        """How many documents it wrote or removed."""
        ...

    @property
    def pending(self) -> int:
        """How much it left for the next call."""
        ...

    @property
    def quarantined(self) -> Collection[object]:
        """The items that cannot be indexed as they are."""
        ...

    @property
    def reasons(self) -> Sequence[str]:
        """Why it could not do its work, if so."""
        ...

    @property
    def busy(self) -> bool:
        """Whether that is because somebody else is indexing."""
        ...


@dataclass(frozen=True, slots=True)
class WatchParts:
    """What the watcher drives, for one open home.

    Attributes:
        layout: the folders of the home.
        changes: the source of hints, not yet started.
        catch_up: brings the index up to date. It is told where something changed, and may look elsewhere too;
            doing it twice is harmless. It may leave a part for the next call, which comes at once.
        is_index_behind: says whether the index lacks something that no hint tells of.
        merge: puts small parts of the index together, up to a number of documents; rounds, which have to be
            quick, leave many of them.
        render_catalog: returns the text of the notes catalog.
        settle_pending: commits what the operator's branch could not take before.
        apply_spool: brings turns left in the spool by others to the turn line.
        operation: names the operation of Git that is in progress (`rebase`, `merge`, …), else None.
        close: lets go of the home.
        restore_ledger_copy: makes the copy of the ledger on disk whole.
        put_line_back: puts the own turn line back where somebody moved it; cheap where nobody did.
        sync_every: returns the seconds between two syncs, 0 for never.
        begin_sync: begins a sync beside the watcher, which does not wait for it.
        end_sync: ends one that is under way, when the watcher stops.
        begin_maintenance: begins maintenance beside the watcher if it is due; says whether it was.
        end_maintenance: ends it, when the watcher stops.
        judge_arrivals: judges for a while what came by sync, so that nobody waits for it later; says whether
            it would get further at once.
    """

    layout: Layout
    changes: Changes
    catch_up: Callable[[Hints], CatchUpReport]
    is_index_behind: Callable[[], bool]
    merge: Callable[[int], object]
    render_catalog: Callable[[], str]
    settle_pending: Callable[[], object]
    apply_spool: Callable[[], object]
    operation: Callable[[], str | None]
    close: Callable[[], object]
    restore_ledger_copy: Callable[[], object] = lambda: None
    put_line_back: Callable[[], object] = lambda: None
    sync_every: Callable[[], float] = lambda: 0.0
    begin_sync: Callable[[], object] = lambda: None
    end_sync: Callable[[], object] = lambda: None
    begin_maintenance: Callable[[], bool] = lambda: False
    end_maintenance: Callable[[], object] = lambda: None
    judge_arrivals: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Pace:
    """How often, and how long; all in seconds.

    Attributes:
        reconcile: between two looks at everything; so long may a change without a notification stay unseen.
        poll: the same where notifications do not come.
        share: the part of one core that these looks may take; a large home is looked at less often.
        longest: the most that this may stretch the time between two looks.
        heartbeat: between two signs of life.
        operation: how long files are not indexed while Git is in the middle of something.
        recheck: between two looks whether it ended.
        going: how long nothing is written after many files vanished.
        away: how long the home's files may be missing before that counts as a change.
        settled: how long a home that came back has to stand before it is opened.
        reopen: how long a home that was removed may take to come back.
        quiet: without a round, until small parts of the index are merged.
        rest: the same for large ones.
        unrest: the most that large ones are put off because there was no rest.
        once: how long `once` waits for what is busy.
        retry: before what could not be indexed, and has been tried for a minute and a half by `patience`, is
            tried again; doubled each time up to 16-fold.
        patience: after a failure.
        first_sync: behind the start, or the order to sync, at most.
        census: between two looks whether maintenance is due.
        maintenance: the same after it was begun.
    """

    reconcile: float = 30.0
    poll: float = 5.0
    share: float = 0.004
    longest: float = 300.0
    heartbeat: float = 10.0
    operation: float = 10.0
    recheck: float = 0.1
    going: float = 1.0
    away: float = 5.0
    settled: float = 1.0
    reopen: float = 600.0
    quiet: float = 5.0
    rest: float = 60.0
    unrest: float = 600.0
    once: float = 60.0
    retry: float = 60.0
    patience: Patience = field(default_factory=Patience)
    first_sync: float = 30.0
    census: float = 300.0
    maintenance: float = 3600.0


@dataclass(frozen=True, slots=True)
class Clock:
    """The clocks that the watcher reads: seconds going forward, of the day, and of the processor."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    cpu: Callable[[], float] = time.thread_time
