"""One vigil: the watching of one home, from its opening until it is stopped or another stands in its place.

It acts on differences, never on events: a hint makes it look at a path, a doubt at everything, and at an
interval it looks at everything anyway. What fails is left alone for a while and costs only itself.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, Literal

from gitmem.beside import Beside
from gitmem.changes import Hints
from gitmem.durable_file import write_file
from gitmem.duty import NAMED_AFTER, Duty
from gitmem.errors import ConflictError, GitmemError, HomeError, HomeLocked
from gitmem.home_place import HomePlace, fresh_index_lock
from gitmem.index_retries import IndexRetries
from gitmem.layout import NOTES
from gitmem.tree_sight import TreeSight
from gitmem.watch_parts import CatchUpReport, Clock, Pace, WatchParts
from gitmem.watch_state import Phase, WatchState, lasting_reasons, write_state

#: Why a vigil ended; `failing` is not said again before the home was opened anew.
Outcome = Literal["stopped", "replaced", "failing"]

#: Failures of the index in a row, over some 15 s, after which it may help to open everything anew.
_GIVE_UP_AFTER: Final = 6
#: So many files that vanish at once may be the beginning of a removal of the home.
_MANY_FILES: Final = 8
#: Rounds that leave enough small parts to be worth a merge.
_ROUNDS: Final = 8
#: Documents that are merged in some tenths of a second, and those that take a second or two.
_SMALL_MERGE: Final = 2048
_LARGE_MERGE: Final = 16_384


class Vigil:
    """The watching of one home, from its opening until it is stopped or replaced."""

    def __init__(
        self,
        parts: WatchParts,
        pace: Pace,
        clock: Clock,
        *,
        started: float,
        stopping: Callable[[], bool],
        tell: Callable[[str], object],
    ) -> None:
        self._parts = parts
        self._layout = parts.layout
        self._pace = pace
        self._clock = clock
        self._now = clock.monotonic
        self._stopping = stopping
        self._tell = tell
        self._home = HomePlace(parts.layout)
        self._sight = TreeSight(parts.layout)
        self.state = WatchState(os.getpid(), started, clock.wall())
        self._written: WatchState | None = None
        self._complaints: list[str] = []
        self._is_listening = False
        self._silences = 0
        self._due = Hints()
        self._held_since: float | None = None
        self._held_until = -math.inf
        self._away_since: float | None = None
        self._reconcile_at = self._heartbeat_at = -math.inf
        self._retries = IndexRetries(pace.patience, pace.retry)
        self._stalls = 0
        self._next_catalog = -math.inf
        self._is_catalog_due = False
        self._unmerged = 0
        self._unmerged_since = math.inf

        def duty(name: str, action: Callable[[], object]) -> Duty:
            return Duty(name, action, pace.patience, clock.monotonic)

        self._line = duty("the turn line", self._put_line_back)
        self._spool = duty("turns in the spool", parts.apply_spool)
        self._copy = duty("the copy of the ledger", parts.restore_ledger_copy)
        self._settle = duty("pending writes", parts.settle_pending)
        self._index = duty("index", self._catch_up)
        self._catalog = duty("catalog", self._render)
        self._arrivals = duty("what came by sync", self._judge_arrivals)
        self._small_merge = duty("small merges", self._merge_small)
        self._large_merge = duty("large merges", self._merge_large)
        #: In this order: what the first ones write, the later ones see.
        first = (self._line, self._spool, self._copy, self._settle)
        self._duties: Final = (*first, self._index, self._catalog, self._arrivals)
        self._merges: Final = (self._small_merge, self._large_merge)
        self._beside = Beside(parts, pace, self._now, duty)

    def run(self, *, gives_up: bool = False) -> Outcome:
        """Watch.

        Args:
            gives_up: end when the index keeps failing, so that the home can be opened anew.
        """
        self._is_listening = True
        self._doubt("start")
        self._report()
        self._beside.start()
        while not self._stopping():
            match self._home.look():
                case "replaced":
                    return "replaced"
                case "here":
                    self._away_since = None
                case "away" if self._may_come_back():
                    # Half of a removal, or of a checkout: writing now would be in its way.
                    self._take(self._parts.changes.wait(self._pace.recheck))
                    continue
            self._round()
            self._beside.plan()
            if gives_up and self._index.failures >= _GIVE_UP_AFTER and not self._index.busy:
                return "failing"
            self._take(self._parts.changes.wait(self._pause()))
        self._beside.end()
        self._finish()
        return "stopped"

    def once(self, sleep: Callable[[float], None]) -> WatchState:
        """Bring everything up to date, waiting within bounds for what is busy."""
        self._doubt("start")
        self._reconcile()
        deadline = self._now() + self._pace.once
        while not self._stopping() and self._now() < deadline:
            self._run_duties()
            worth_it = (duty for duty in self._duties if duty.busy or duty.failures < NAMED_AFTER)
            due_at = min((duty.due_at for duty in worth_it), default=math.inf)
            if due_at == math.inf:
                break
            sleep(due_at - self._now())
        self._report("stopped")
        for duty in self._duties:
            if duty.error is not None:
                raise duty.error
        return self.state

    def _round(self) -> None:
        if self._now() >= self._reconcile_at:
            self._reconcile()
        self._want(Hints(again=self._retries.take_due(self._now())))
        self._run_duties()
        self._report()

    def _run_duties(self) -> None:
        for duty in (*self._duties, *self._merges, *self._beside.duties):
            if duty.due_at <= self._now() and self._home.look() != "replaced":
                duty.run()

    def _pause(self) -> float:
        duties = (*self._duties, *self._merges, *self._beside.duties)
        others = (self._reconcile_at, self._heartbeat_at, self._retries.due_at)
        due_at = min(*others, *(duty.due_at for duty in duties))
        return max(due_at - self._now(), 0.0)

    # What came

    def _take(self, hints: Hints) -> None:
        if hints.doubt:
            self._doubt(hints.doubt)
        if hints.paths:
            self._want(self._look(lambda: self._sight.look_at(hints.paths)))
        self._want(Hints(turns=hints.turns))
        if hints.turns:
            self._line.ask(self._now())
            self._arrivals.ask(self._now() + self._pace.quiet)  # after the turns that may come in a row
        if hints.state:
            self._settle.ask(self._now())
            self._after_operation()

    def _look(self, look: Callable[[], Hints]) -> Hints:
        before = len(self._sight)
        hints = look()
        if before - len(self._sight) >= _MANY_FILES:
            # Whatever is written into a home that is being removed is in the way of its removal.
            self._held_until = self._now() + self._pace.going
        return hints

    def _doubt(self, reason: str) -> None:
        self._want(Hints(doubt=reason))
        self._reconcile_at = -math.inf

    def _want(self, hints: Hints) -> None:
        if hints:
            self._due |= hints
            self._index.ask(self._now())
            if hints.doubt or any(path == NOTES or path.startswith(f"{NOTES}/") for path in hints.paths):
                self._is_catalog_due = True

    def _reconcile(self) -> None:
        """Look at everything; what is different is due, and in doubt all is."""
        began = self._clock.cpu()
        self._want(self._look(self._sight.look))
        cost = self._clock.cpu() - began
        base = self._pace.poll if self._parts.changes.degraded() else self._pace.reconcile
        now = self._now()
        self._reconcile_at = now + max(base, min(cost / self._pace.share, self._pace.longest))
        self.state = replace(self.state, reconciled=self._clock.wall())
        self._after_operation()
        if not self._due.doubt and self._parts.is_index_behind():
            self._want(Hints(doubt="the index is behind"))
        self._line.ask(now)
        self._spool.ask(now)
        self._copy.ask(now)
        self._settle.ask(now)
        self._arrivals.ask(now)

    # What is done

    def _catch_up(self) -> None:
        hints = self._released()
        if not hints:
            return
        self._due = Hints() if hints.doubt else self._due.without(hints)
        if hints.doubt or hints.paths:  # a round of turns is over before anybody has read this
            self._report("reconciling" if hints.doubt else "catching_up")
        if self._is_catalog_due and (hints.doubt or hints.paths):
            self._is_catalog_due = False
            self._catalog.ask(self._next_catalog)
        try:
            report = self._parts.catch_up(hints)
            self._count(report, hints)
            _raise_reason(report)
        except BaseException:
            self._due |= hints
            raise
        if report.indexed:
            self._put_off_merges()
        self._stalls = 0 if report.indexed or not report.pending else self._stalls + 1
        if report.pending:
            self._due |= hints
            self._index.ask(self._now() + (self._pace.patience.after(self._stalls) if self._stalls else 0.0))

    def _put_line_back(self) -> None:
        """Put a turn line back, but not in a home of which much has just gone: its ref may go with it."""
        if self._now() < self._held_until:
            self._line.ask(self._held_until)
        else:
            self._parts.put_line_back()

    def _judge_arrivals(self) -> None:
        """Judge what is new, a while at a time, between which everything else is seen to."""
        if self._parts.judge_arrivals():
            self._arrivals.ask(self._now())

    def _released(self) -> Hints:
        """Return what may be indexed now; files wait while Git is at work, within bounds, and turns never."""
        if self._now() < self._held_until:
            self._index.ask(self._held_until)
            return Hints()
        due = Hints(turns=True, doubt=self._due.doubt) if self._due.doubt else self._due
        operation = self._operation() if due.paths or due.doubt else None
        if operation is None:
            self._held_since = None
            return due
        now = self._now()
        if self._held_since is None:
            self._held_since = now
        if now - self._held_since < self._pace.operation:
            self._index.ask(now + self._pace.recheck)
            return Hints(turns=self._due.turns)
        self.state = replace(self.state, provisional=operation)
        return due

    def _after_operation(self) -> None:
        """When an operation of Git ended during which files were indexed, look at them once more."""
        if self.state.provisional and self._operation() is None:
            self._want(Hints(doubt=f"over: {self.state.provisional}"))
            self.state = replace(self.state, provisional=None)

    def _operation(self) -> str | None:
        return self._parts.operation() or fresh_index_lock(self._layout, self._clock.wall())

    def _count(self, report: CatchUpReport, hints: Hints) -> None:
        self.state = replace(self.state, pending=report.pending)
        if report.reasons:  # it did not look, or not at everything
            return
        names = frozenset(map(str, report.quarantined))
        self._retries.see(names, None if hints.doubt else hints.again, self._now())
        self.state = replace(self.state, rounds=self.state.rounds + 1, quarantined=len(names))

    def _put_off_merges(self) -> None:
        """Merge when it is quiet: a merge takes as long as ten rounds, and a turn must not wait for it."""
        self._unmerged += 1
        now = self._now()
        self._unmerged_since = min(self._unmerged_since, now)
        if self._unmerged >= _ROUNDS:
            self._small_merge.put_off(now + self._pace.quiet)
            self._large_merge.put_off(min(now + self._pace.rest, self._unmerged_since + self._pace.unrest))

    def _merge_small(self) -> None:
        self._parts.merge(_SMALL_MERGE)

    def _merge_large(self) -> None:
        self._parts.merge(_LARGE_MERGE)
        self._unmerged, self._unmerged_since = 0, math.inf
        self._small_merge.put_off(math.inf)

    def _render(self) -> None:
        began = self._clock.cpu()
        content = self._parts.render_catalog().encode("utf-8", "replace")
        # In a home of very many notes this is slow; turns must not wait for it all the time.
        self._next_catalog = self._now() + 20 * (self._clock.cpu() - began)
        catalog = self._layout.catalog
        if not catalog.is_file() or catalog.read_bytes() != content:
            write_file(catalog, content, durable=False, make_folder=False)

    def _finish(self) -> None:
        """Take along what came before the stop."""
        if self._home.look() != "here":
            return
        self._want(self._sight.look())
        self._index.run()
        self._catalog.run()
        self._report("stopped")

    # What is said

    def _phase(self) -> Phase:
        if self._due.doubt:
            return "reconciling"
        if self._held_since is not None and self._due.paths:
            return "waiting"
        return "catching_up" if self._due else "watching"

    def _report(self, phase: Phase | None = None) -> None:
        """Write the watch file, if it would say something new or a sign of life is due."""
        degraded = self._parts.changes.degraded()
        self.state = replace(
            self.state,
            phase=phase or self._phase(),
            mode="polling" if degraded else "native",
            degraded=degraded,
            alive=phase != "stopped" and self._hears(),
            failing=tuple(
                _describe(duty) for duty in (*self._duties, *self._merges) if duty.failures >= NAMED_AFTER
            ),
        )
        if self._now() < self._held_until or (
            self.state == self._written and self._now() < self._heartbeat_at
        ):
            return
        self._heartbeat_at = self._now() + self._pace.heartbeat
        self.state = self._written = replace(self.state, heartbeat=self._clock.wall())
        if self._home.look() != "replaced":
            with suppress(OSError):  # a full disk; the next heartbeat tries again
                write_state(self._layout, self.state)
        self._complain()

    def _hears(self) -> bool:
        # Between the loss of the source and its next wait, which mends it, silence is no fault.
        self._silences = 0 if self._parts.changes.alive() or not self._is_listening else self._silences + 1
        return self._silences < 2

    def _complain(self) -> None:
        if self.state.phase == "stopped":  # what was wrong is not right for that
            return
        complaints = lasting_reasons(self.state)
        for reason in complaints:
            if reason not in self._complaints:
                self._tell(reason)
        if self._complaints and not complaints:
            self._tell("all is well again")
        self._complaints = complaints

    def _may_come_back(self) -> bool:
        if self._away_since is None:
            self._away_since = self._now()
        return self._now() - self._away_since < self._pace.away


def _raise_reason(report: CatchUpReport) -> None:
    """Make a round that could do nothing a failure, so that it is left alone for a while."""
    if report.reasons and not report.indexed:
        kind = HomeLocked if report.busy else HomeError
        raise kind(report.reasons[0])


def _describe(duty: Duty) -> dict[str, Any]:
    error = duty.error
    named = isinstance(error, GitmemError | OSError)
    text = str(error) if named else f"{type(error).__name__}: {error}"
    return {
        "duty": duty.name,
        "failures": duty.failures,
        "error": text[:300],
        "busy": isinstance(error, ConflictError),
    }
