"""What the watcher does with hints, doubts, failures and the operator's Git, step by step on a test clock."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fixtures import make_repo, write_files
from gitmem.changes import Hints
from gitmem.duty import Patience
from gitmem.errors import HomeError, HomeLocked, NotAHome
from gitmem.layout import Layout, find_layout
from gitmem.testing.scripted_changes import ScriptedChanges
from gitmem.watch import Watcher, stop_on_signals, watch_until_signal
from gitmem.watch_parts import Clock, Pace, WatchParts
from gitmem.watch_state import watch_facts, watch_lock

PACE = Pace(patience=Patience(jitter=lambda: 1.0))


@dataclass
class Report:
    """What a test's index says of a round."""

    indexed: int = 1
    pending: int = 0
    quarantined: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    busy: bool = False


class Desk:
    """A home, its watcher, and everything that the watcher drives, under a test's hand."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.make_home()
        self.seconds = 1000.0
        self.began = time.time()
        self.cpu = self.look_cost = 0.0
        self.changes = ScriptedChanges(sleep=self.advance)
        self.rounds: list[Hints] = []
        self.times: list[float] = []
        self.line_looks: list[float] = []
        self.reports: list[Report] = []
        self.merges: list[tuple[float, int]] = []
        self.fault: Exception | None = None
        self.catalog = "catalog"
        self.is_behind = False
        self.rendered = self.settled = self.spooled = self.opened = self.closed = self.ended = 0
        self.sync_every = 0.0
        self.syncs: list[float] = []
        self.censuses: list[float] = []
        self.is_due = False
        self.maintained: list[float] = []
        self.maintenance_ended = 0
        self.arrivals: list[float] = []
        self.unjudged = 0
        self.operation: str | None = None
        self.told: list[str] = []
        self.watcher = Watcher(
            self.open,
            pace=PACE,
            tell=self.told.append,
            clock=Clock(lambda: self.seconds, self.wall, self.cpu_time),
        )
        self.watcher._sleep = lambda seconds: self.advance(max(seconds, 0.001))  # type: ignore[method-assign]

    def make_home(self) -> None:
        """Make, or make anew, what is watched."""
        make_repo(self.root)
        write_files(self.root, {"gitmem.toml": "", "notes/a.md": "a", "memory/self.md": "me"})
        self.age()

    def age(self) -> None:
        """Let no file be so young that a look at it cannot be trusted."""
        time.sleep(0.06)

    @property
    def layout(self) -> Layout:
        """The folders of the home as it stands now."""
        return find_layout(self.root)

    def wall(self) -> float:
        """Return the time of day, which goes on with the test's clock."""
        return self.began + self.seconds - 1000.0

    def cpu_time(self) -> float:
        """Return processor time, of which each look at everything takes as much as a test says."""
        self.cpu += self.look_cost
        return self.cpu

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.seconds += seconds

    def open(self) -> WatchParts:
        """Open the home for the watcher."""
        layout = find_layout(self.root)
        self.opened += 1
        return WatchParts(
            layout=layout,
            changes=self.changes,
            catch_up=self.catch_up,
            is_index_behind=lambda: self.is_behind,
            merge=lambda most: self.merges.append((self.seconds, most)),
            render_catalog=self.render,
            settle_pending=lambda: self.count("settled"),
            apply_spool=lambda: self.count("spooled"),
            operation=lambda: self.operation,
            close=lambda: self.count("closed"),
            put_line_back=lambda: self.line_looks.append(self.seconds),
            sync_every=lambda: self.sync_every,
            begin_sync=lambda: self.syncs.append(self.seconds),
            end_sync=lambda: self.count("ended"),
            begin_maintenance=self.begin_maintenance,
            end_maintenance=lambda: self.count("maintenance_ended"),
            judge_arrivals=self.judge_arrivals,
        )

    def begin_maintenance(self) -> bool:
        """Note that it was asked for; say whether it is due."""
        self.censuses.append(self.seconds)
        self.maintained += [self.seconds] if self.is_due else []
        return self.is_due

    def judge_arrivals(self) -> bool:
        """Judge a part of what came."""
        self.arrivals.append(self.seconds)
        self.unjudged = max(self.unjudged - 1, 0)
        return self.unjudged > 0

    def count(self, name: str) -> None:
        """Count a call."""
        setattr(self, name, getattr(self, name) + 1)

    def catch_up(self, hints: Hints) -> Report:
        """Take a round, or fail."""
        self.rounds.append(hints)
        self.times.append(self.seconds)
        if self.fault:
            raise self.fault
        return self.reports.pop(0) if self.reports else Report()

    def render(self) -> str:
        """Return the catalog."""
        self.rendered += 1
        return self.catalog

    def save(self, *paths: str, text: str = "changed") -> Callable[[], None]:
        """Return a step in which an operator saves files."""
        return lambda: write_files(self.root, dict.fromkeys(paths, f"{text} {time.time_ns()}"))

    def run(self, *steps: Hints | Callable[[], Any]) -> list[Hints]:
        """Let the watcher run through steps, then stop it; return its rounds after the first."""
        self.changes.tell(*steps, self.watcher.stop)
        self.watcher.run()
        return self.rounds[1:]

    def pass_time(self, seconds: float) -> list[Callable[[], None]]:
        """Return a step after which the watcher goes on by itself until that much time has passed."""
        until: list[float] = []

        def wait() -> None:
            until[:] = until or [self.seconds + seconds]
            if self.seconds < until[0]:
                self.changes.tell_first(Hints(), wait)
                self.advance(0.05)  # finer than anything in the pace

        return [wait]

    def look_at_facts(self) -> Facts:
        """Return a list that takes what `status` shows whenever its step is met."""
        return Facts(self)

    def state(self) -> dict[str, Any]:
        """Return the watch file."""
        return json.loads(self.layout.watch_file.read_bytes())


class Facts(list[dict[str, Any]]):
    """What `status` showed of the watcher at several points of a script."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk

    def look(self) -> None:
        """Look now."""
        self.append(watch_facts(self._desk.layout, self._desk.wall()))


def hint(*paths: str) -> Hints:
    """Return hints at files."""
    return Hints(frozenset(paths))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home with one note, not yet watched."""
    return Desk(tmp_path / "home")


class TestRounds:
    """When the index is brought up to date, and with what."""

    def test_it_starts_with_everything(self, desk: Desk) -> None:
        """Whatever happened while nobody watched is found; one pass over all duties."""
        assert desk.run() == []
        assert desk.rounds == [Hints(turns=True, doubt="start")]
        assert (desk.rendered, desk.settled, desk.spooled) == (1, 1, 1)
        assert desk.layout.catalog.read_text() == "catalog"

    def test_one_save_is_one_round(self, desk: Desk) -> None:
        """However many notifications tell of it, and however often Git looks at the files (OPEN-WATCH-06)."""
        again = [hint("notes/a.md")] * 20
        rounds = desk.run(desk.save("notes/a.md"), desk.age, hint("notes/a.md"), *again, *desk.pass_time(60))
        assert rounds == [hint("notes/a.md")]
        assert desk.rendered == 2

    def test_a_hint_without_a_difference_is_no_round(self, desk: Desk) -> None:
        """A notification proves nothing."""
        assert desk.run(hint("notes/a.md", "notes", "notes/none.md"), Hints(state=True)) == []

    def test_a_turn_is_a_round_at_once(self, desk: Desk) -> None:
        """Records come from the turn line; the catalog has nothing to do with them."""
        assert desk.run(Hints(turns=True)) == [Hints(turns=True)]
        assert desk.rendered == 1

    def test_what_was_not_finished_goes_on_at_once(self, desk: Desk) -> None:
        """A long backlog is indexed in parts, between which new turns are seen."""
        desk.reports = [Report(pending=2), Report(pending=1), Report()]
        before = desk.seconds
        desk.run(*desk.pass_time(0.2))
        assert len(desk.rounds) == 3
        assert desk.seconds - before < 1

    def test_a_part_that_makes_no_progress_is_not_asked_in_a_circle(self, desk: Desk) -> None:
        """Nothing spins when the rest cannot be indexed now."""
        desk.reports = [Report(indexed=0, pending=5)] * 100
        desk.run(*desk.pass_time(5))
        assert len(desk.rounds) <= 12

    def test_changes_are_found_without_any_notification(self, desk: Desk) -> None:
        """On a mount that tells nothing the interval bounds how long a change is missed (OPEN-WATCH-08)."""
        rounds = desk.run(desk.save("notes/b.md"), *desk.pass_time(PACE.reconcile + 1))
        assert rounds == [hint("notes/b.md")]
        assert desk.rendered == 2

    def test_polling_looks_more_often(self, desk: Desk) -> None:
        """Where notifications are refused the state says so, and changes are found soon (OPEN-WATCH-07)."""
        desk.changes.degrade("polling, inotify watch limit reached (fs.inotify.max_user_watches)")
        facts = desk.look_at_facts()
        rounds = desk.run(desk.save("notes/b.md"), *desk.pass_time(PACE.poll + 1), facts.look)
        assert rounds == [hint("notes/b.md")]
        assert facts[0]["mode"] == "polling"
        assert "max_user_watches" in facts[0]["reasons"][0]

    def test_a_very_large_home_is_looked_at_less_often(self, desk: Desk) -> None:
        """Looking takes a fixed share of a core at most."""
        desk.look_cost = 100 * PACE.share
        seen: list[int] = []
        change = (desk.save("notes/b.md"), *desk.pass_time(95), lambda: seen.append(len(desk.rounds)))
        assert desk.run(*change, *desk.pass_time(10)) == [hint("notes/b.md")]
        assert seen == [1]

    def test_the_index_is_merged_when_it_is_quiet(self, desk: Desk) -> None:
        """A merge takes as long as many rounds, and the next turn must not wait for it."""
        turns = [step for _ in range(20) for step in (Hints(turns=True), *desk.pass_time(1))]
        desk.run(*turns, *desk.pass_time(100))
        assert [most for _, most in desk.merges] == [2048, 16_384]
        assert [round(at - desk.times[-1]) for at, _ in desk.merges] == [5, 60]

    def test_a_few_rounds_are_not_worth_a_merge(self, desk: Desk) -> None:
        """An idle home is left alone."""
        desk.run(Hints(turns=True), *desk.pass_time(200))
        assert desk.merges == []

    def test_an_agent_that_never_rests_is_merged_too(self, desk: Desk) -> None:
        """Parts must not become ever more."""
        turns = [step for _ in range(340) for step in (Hints(turns=True), *desk.pass_time(2))]
        desk.run(*turns)
        assert [most for _, most in desk.merges] == [16_384]

    def test_what_came_by_sync_is_judged_beforehand(self, desk: Desk) -> None:
        """A part at a time at the start, and when it is quiet after a line moved: no reader waits for it."""
        desk.unjudged = 3
        before = desk.seconds
        desk.run(*desk.pass_time(1), Hints(turns=True), *desk.pass_time(20))
        assert len(desk.arrivals) == 4
        assert desk.arrivals[2] - before < 1
        assert 5 < desk.arrivals[3] - before < 10

    def test_the_catalog_is_written_when_it_changed(self, desk: Desk) -> None:
        """A file that did not change is not written, and one that somebody removed comes back."""
        marks: list[int] = []

        def mark() -> None:
            marks.append(desk.layout.catalog.stat().st_ino)

        def change() -> None:
            desk.catalog = "another"

        again = (desk.save("notes/a.md"), hint("notes/a.md"))
        desk.run(mark, *again, mark, change, *again, mark)
        assert marks[0] == marks[1] != marks[2]
        assert desk.layout.catalog.read_text() == "another"


class TestFailures:
    """What goes wrong costs only itself (OPEN-WATCH-03)."""

    def test_an_index_that_fails_is_tried_again(self, desk: Desk) -> None:
        """What was due stays due, other duties go on, and the failure is named until it is over."""
        facts = desk.look_at_facts()

        def mend() -> None:
            desk.fault = None

        desk.fault = RuntimeError("no space in the index")
        desk.run(*desk.pass_time(10), facts.look, mend, *desk.pass_time(31), facts.look)
        assert 4 <= len(desk.rounds) <= 8
        assert set(desk.rounds) == {Hints(turns=True, doubt="start")}
        assert desk.layout.catalog.exists()
        assert facts[0]["failing"][0]["duty"] == "index"
        assert facts[0]["reasons"][0] == "index: RuntimeError: no space in the index"
        assert facts[0]["phase"] == "reconciling"
        assert facts[1]["failing"] == []
        assert desk.told == ["index: RuntimeError: no space in the index", "all is well again"]
        assert facts[1]["reasons"] == []

    def test_a_busy_index_writer_is_waited_for(self, desk: Desk) -> None:
        """An ordinary overlap is no failure worth naming (OPEN-SEARCH-05)."""

        def free() -> None:
            desk.fault = None

        desk.fault = HomeLocked("the index is being written")
        desk.run(*desk.pass_time(0.6), free, *desk.pass_time(2))
        assert len(desk.rounds) == 3
        assert desk.state()["failing"] == []

    @pytest.mark.parametrize("busy", [True, False])
    def test_an_index_that_says_why_it_did_nothing_is_tried_again(self, desk: Desk, busy: bool) -> None:
        """Its reason is named once it lasts, and nothing spins meanwhile."""
        desk.reports = [Report(0, pending=1, reasons=["another process is indexing"], busy=busy)] * 4
        facts = desk.look_at_facts()
        rounds = desk.run(*desk.pass_time(2.5), facts.look, *desk.pass_time(10), facts.look)
        assert len(rounds) == 4
        assert facts[0]["failing"][0] | {"failures": 3} == {
            "duty": "index",
            "failures": 3,
            "error": "another process is indexing",
            "busy": busy,
        }
        assert facts[1]["reasons"] == []

    def test_a_lasting_failure_opens_the_home_anew(self, desk: Desk) -> None:
        """Something that was kept open may be to blame; it is tried once, not again and again."""
        desk.fault = RuntimeError("stale")
        desk.run(*desk.pass_time(120))
        assert (desk.opened, desk.closed) == (2, 2)
        assert desk.told.count("opening the home anew") == 1
        assert desk.state()["failing"][0]["error"] == "RuntimeError: stale"

    def test_a_busy_index_does_not(self, desk: Desk) -> None:
        """Another process may index for minutes."""
        desk.fault = HomeLocked("another process is indexing")
        desk.run(*desk.pass_time(120))
        assert desk.opened == 1

    def test_hints_during_a_failure_are_kept(self, desk: Desk) -> None:
        """A save that came while the index failed is indexed once it works."""

        def fail() -> None:
            desk.fault = RuntimeError("broken")

        def mend() -> None:
            desk.fault = None

        steps = (
            fail,
            desk.save("notes/b.md"),
            hint("notes/b.md"),
            desk.save("notes/c.md"),
            hint("notes/c.md"),
            mend,
        )
        rounds = desk.run(*steps, *desk.pass_time(1))
        assert rounds[-1] == hint("notes/b.md", "notes/c.md")

    def test_a_failing_catalog_does_not_stop_the_index(self, desk: Desk) -> None:
        """Each duty fails for itself."""

        def fail() -> str:
            raise ValueError("a note that no one foresaw")

        desk.render = fail  # type: ignore[method-assign]
        rounds = desk.run(*desk.pass_time(5), desk.save("notes/b.md"), hint("notes/b.md"))
        assert rounds == [hint("notes/b.md")]
        assert desk.state()["failing"][0]["error"] == "ValueError: a note that no one foresaw"

    def test_items_that_cannot_be_indexed_are_tried_again(self, desk: Desk) -> None:
        """They are counted, and the time between tries grows (OPEN-FM-08)."""
        desk.reports = [Report(quarantined=["notes/a.md"])] * 50
        rounds = desk.run(*desk.pass_time(400))
        assert desk.state()["quarantined"] == 1
        assert {one.again for one in rounds} == {frozenset({"notes/a.md"})}
        assert not any(one.doubt for one in rounds)
        at = [round(later - sooner, 1) for sooner, later in pairwise(desk.times)]
        assert at == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 60.0, 120.0]

    def test_what_works_again_is_forgotten(self, desk: Desk) -> None:
        """What fails again later is soon tried again; a round that could not look says nothing of it."""
        bad = Report(quarantined=["notes/a.md"])
        busy = Report(0, reasons=["another process is indexing"], busy=True)
        desk.reports = [bad, bad, busy, Report(), bad]
        rounds = desk.run(*desk.pass_time(20), Hints(turns=True), *desk.pass_time(0.6))
        names = frozenset({"notes/a.md"})
        assert [one.again for one in rounds] == [names, names, names, frozenset(), names]
        assert desk.state()["quarantined"] == 0

    def test_an_index_that_is_behind_is_found_without_a_hint(self, desk: Desk) -> None:
        """Somebody removed it, put an older one in its place, or asks for a new one (S14)."""

        def behind() -> None:
            desk.is_behind = True

        def caught_up(hints: Hints) -> Report:
            desk.is_behind = False
            return catch_up(hints)

        catch_up, desk.catch_up = desk.catch_up, caught_up  # type: ignore[method-assign]
        rounds = desk.run(behind, *desk.pass_time(100))
        assert [one.doubt for one in rounds] == ["the index is behind"]

    def test_a_dead_source_of_hints_is_a_doubt(self, desk: Desk) -> None:
        """Nobody knows what was missed."""
        rounds = desk.run(desk.changes.die, Hints())
        assert [one.doubt for one in rounds] == ["the watching thread ended"]


class TestGitAtWork:
    """Files wait while Git is in the middle of something; turns do not (OPEN-WATCH-09)."""

    def begin(self, desk: Desk, name: str | None) -> Callable[[], None]:
        """Return a step in which an operation begins or ends."""

        def step() -> None:
            desk.operation = name

        return step

    def test_files_wait_for_the_end_and_turns_do_not(self, desk: Desk) -> None:
        """States that never existed for the operator are not indexed."""
        rounds = desk.run(
            self.begin(desk, "rebase"),
            desk.save("notes/a.md", "notes/b.md"),
            hint("notes/a.md", "notes/b.md"),
            Hints(turns=True),
            *desk.pass_time(2),
            self.begin(desk, None),
            Hints(state=True),
            *desk.pass_time(1),
        )
        assert rounds == [Hints(turns=True), hint("notes/a.md", "notes/b.md")]
        assert desk.settled == 2

    def test_a_long_merge_is_indexed_as_provisional(self, desk: Desk) -> None:
        """A conflict may stand for days; the state says what search shows then, and it is put right after."""
        facts = desk.look_at_facts()

        change = (desk.save("notes/a.md"), hint("notes/a.md"))
        rounds = desk.run(
            self.begin(desk, "merge"),
            *change,
            *desk.pass_time(5),
            facts.look,
            *desk.pass_time(6),
            facts.look,
            desk.save("notes/b.md"),
            hint("notes/b.md"),
            self.begin(desk, None),
            Hints(state=True),
            facts.look,
        )
        assert rounds == [hint("notes/a.md"), hint("notes/b.md"), Hints(turns=True, doubt="over: merge")]
        assert facts[0]["phase"] == "waiting"
        assert "provisional: merge" in facts[1]["reasons"]
        assert facts[2]["reasons"] == []

    def test_an_index_lock_means_that_git_is_at_work(self, desk: Desk) -> None:
        """A plain checkout shows by nothing else."""
        lock = desk.layout.git_dir / "index.lock"
        change = (desk.save("notes/a.md"), hint("notes/a.md"))
        waiting: list[int] = []
        steps = (
            lock.touch,
            *change,
            *desk.pass_time(1),
            lambda: waiting.append(len(desk.rounds)),
            lock.unlink,
        )
        assert desk.run(*steps, *desk.pass_time(1)) == [hint("notes/a.md")]
        assert waiting == [1]

    def test_a_leftover_index_lock_is_not_waited_for(self, desk: Desk) -> None:
        """A `git` that was killed leaves its lock for good (OPEN-GIT-17)."""
        lock = desk.layout.git_dir / "index.lock"
        lock.touch()
        os.utime(lock, (time.time() - 3600, time.time() - 3600))
        assert desk.run(desk.save("notes/a.md"), hint("notes/a.md")) == [hint("notes/a.md")]


class TestTheHomeItself:
    """The home can go, come back, and be another (OPEN-WATCH-05)."""

    def test_a_replaced_home_is_opened_anew(self, desk: Desk) -> None:
        """After `rm -rf home && git clone … home` everything is looked at again."""

        def replace_home() -> None:
            shutil.rmtree(desk.root)
            desk.make_home()

        rounds = desk.run(replace_home, *desk.pass_time(1), desk.save("notes/b.md"), hint("notes/b.md"))
        assert rounds == [Hints(turns=True, doubt="start"), hint("notes/b.md")]
        assert (desk.opened, desk.closed, desk.changes.starts) == (2, 2, 2)
        assert desk.told == ["the home was removed or replaced"]
        assert desk.layout.watch_file.exists()

    def test_a_removed_home_is_not_brought_back(self, desk: Desk) -> None:
        """A clone into the folder must find it absent; after a while the watcher gives up and says so."""
        desk.watcher._pace = Pace(patience=PACE.patience, reopen=0.0)
        with pytest.raises(NotAHome, match="did not come back"):
            desk.run(lambda: shutil.rmtree(desk.root), *desk.pass_time(60))
        assert not desk.root.exists()

    def test_half_of_a_removal_is_not_disturbed(self, desk: Desk) -> None:
        """While the home's own file is missing nothing is written for a moment; then it is a change."""

        def take_away() -> None:
            (desk.root / "gitmem.toml").unlink()
            (desk.root / "notes/a.md").unlink()

        steps = (take_away, hint("gitmem.toml", "notes/a.md"))
        rounds: list[int] = []
        desk.run(*steps, *desk.pass_time(4), lambda: rounds.append(len(desk.rounds)), *desk.pass_time(2))
        assert rounds == [1]
        assert desk.rounds[1:] == [hint("gitmem.toml", "notes/a.md")]

    def test_when_most_files_vanish_nothing_is_written_for_a_moment(self, desk: Desk) -> None:
        """They may be the first part of `rm -rf`, which fails where something is made behind it."""
        write_files(desk.root, {f"notes/{number}.md": "x" for number in range(10)})
        seen: list[int] = []

        def remove() -> None:
            for number in range(10):
                (desk.root / f"notes/{number}.md").unlink()

        removed = [f"notes/{number}.md" for number in range(10)]
        steps = (remove, hint(*removed), Hints(turns=True), lambda: seen.append(len(desk.rounds)))
        rounds = desk.run(*steps, *desk.pass_time(2))
        assert seen == [1]
        assert rounds == [Hints(frozenset(removed), turns=True)]

    def test_when_most_files_vanish_no_turn_line_is_put_back_for_a_moment(self, desk: Desk) -> None:
        """A line that is gone then is gone with the home; somebody's `rm -rf` would fail for it."""
        write_files(desk.root, {f"notes/{number}.md": "x" for number in range(10)})
        gone: list[float] = []

        def remove() -> None:
            for number in range(10):
                (desk.root / f"notes/{number}.md").unlink()
            gone.append(desk.seconds)

        removed = [f"notes/{number}.md" for number in range(10)]
        desk.run(remove, hint(*removed), Hints(turns=True), *desk.pass_time(3))
        after = [at for at in desk.line_looks if at > gone[0]]
        assert after
        assert min(after) >= gone[0] + PACE.going

    def test_one_watcher_is_enough(self, desk: Desk) -> None:
        """The second says so and exits 11, also with `--once`."""
        with watch_lock(desk.layout):
            with pytest.raises(HomeLocked, match="watched already") as caught:
                desk.watcher.run()
            with pytest.raises(HomeLocked):
                desk.watcher.once()
        assert caught.value.exit_code == 11
        assert desk.rounds == []
        assert desk.closed == 2


class TestStopping:
    """A clean end."""

    def test_what_came_before_the_stop_is_taken_along(self, desk: Desk) -> None:
        """A save a moment before SIGTERM is indexed, although no set of hints was ready."""
        assert desk.run(desk.save("notes/b.md")) == [hint("notes/b.md")]
        assert desk.state()["phase"] == "stopped"
        assert (desk.closed, desk.changes.alive()) == (1, False)

    def test_a_stop_during_a_round_lets_it_end(self, desk: Desk) -> None:
        """The round in progress is finished, and nothing is begun after it."""

        def stop(hints: Hints) -> Report:
            desk.rounds.append(hints)
            desk.watcher.stop()
            return Report()

        desk.catch_up = stop  # type: ignore[method-assign]
        assert desk.run() == []

    def test_signals_stop_and_their_handlers_come_back(self) -> None:
        """SIGTERM and Ctrl-C end the watcher, a second Ctrl-C ends it at once."""
        before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
        stops: list[bool] = []
        with stop_on_signals(lambda: stops.append(True)) as came:
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGINT)
            assert came == [signal.SIGTERM, signal.SIGINT]
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
        assert stops == [True, True]
        assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before

    @pytest.mark.parametrize("once", [True, False])
    def test_a_program_ends_as_it_was_asked_to(self, desk: Desk, once: bool) -> None:
        """SIGTERM is an ordinary end; Ctrl-C is told to the caller, after a clean end too."""

        def act(number: int) -> Callable[[Hints], Report]:
            def catch_up(hints: Hints) -> Report:
                os.kill(os.getpid(), number)
                return Report()

            return catch_up

        desk.catch_up = act(signal.SIGTERM)  # type: ignore[method-assign]
        assert watch_until_signal(desk.watcher, once=once).phase == "stopped"
        other = Desk(desk.root.parent / "other")
        other.catch_up = act(signal.SIGINT)  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            watch_until_signal(other.watcher, once=once)
        assert (other.state()["phase"], other.closed) == ("stopped", 1)


class TestOnce:
    """`watch --once`, for cron."""

    def test_it_does_everything_and_returns(self, desk: Desk) -> None:
        """Also a backlog in parts; no source of hints is started."""
        desk.reports = [Report(pending=1), Report(pending=1), Report()]
        state = desk.watcher.once()
        assert len(desk.rounds) == 3
        assert (desk.rendered, desk.settled, desk.spooled) == (1, 1, 1)
        assert (desk.changes.starts, desk.closed) == (0, 1)
        assert (state.phase, state.rounds, state.alive, desk.told) == ("stopped", 3, False, [])
        assert watch_facts(desk.layout, desk.wall())["reconciled"]

    def test_an_index_that_cannot_be_written_is_no_bug(self, desk: Desk) -> None:
        """OPEN-SEARCH-06: cron hears that the home wants a look (10), not that gitmem is broken (70)."""
        desk.reports = [Report(0, pending=1, reasons=["the index folder is somebody else's"])] * 99
        with pytest.raises(HomeError, match="somebody else's"):
            desk.watcher.once()
        assert desk.seconds - 1000 < PACE.once / 4

    def test_it_waits_for_what_is_busy_and_then_says_so(self, desk: Desk) -> None:
        """Cron hears of it by exit code 11; what could be done was done."""
        desk.fault = HomeLocked("the index is being written")
        with pytest.raises(HomeLocked):
            desk.watcher.once()
        assert desk.rendered >= 1
        assert PACE.once <= desk.seconds - 1000 <= PACE.once + 31


def test_syncs_come_as_often_as_the_setting_says(desk: Desk) -> None:
    """The first soon after the start, the others apart by the time that is set, a tenth more or less."""
    desk.sync_every = 600.0
    desk.run(*[lambda: desk.advance(20.0), Hints()] * 120)
    first, *_ = desk.syncs
    assert first - 1000.0 <= 30.0 * 1.1 + 20.0
    assert 3 <= len(desk.syncs) <= 6
    assert all(540.0 <= after - before <= 680.0 for before, after in pairwise(desk.syncs))
    assert desk.ended == 1


def test_a_setting_that_changes_counts_at_once(desk: Desk) -> None:
    """Who switches syncing on does not wait for a restart, nor does who switches it off."""

    def switch(every: float) -> Callable[[], None]:
        def act() -> None:
            desk.sync_every = every

        return act

    later = [lambda: desk.advance(20.0), Hints()] * 20
    desk.run(*later, switch(60.0), *later, switch(0.0), *later)
    assert desk.syncs
    assert desk.syncs[0] > 1400.0
    assert desk.syncs[-1] < 1830.0


def test_maintenance_begins_when_it_is_due_and_at_most_once_an_hour(desk: Desk) -> None:
    """It is looked for every few minutes, which costs milliseconds, and begun beside the watcher."""
    later = [lambda: desk.advance(20.0), Hints()] * 60

    def due() -> None:
        desk.is_due = True

    desk.run(*later, due, *later * 5)
    before = [at for at in desk.censuses if at < 2200.0]
    assert 3 <= len(before) <= 5
    assert len(desk.maintained) == 2
    assert desk.maintained[0] <= 2200.0 + 300.0 * 1.1 + 20.0
    assert 3600.0 * 0.9 <= desk.maintained[1] - desk.maintained[0] <= 3600.0 * 1.1 + 20.0
    assert desk.maintenance_ended == 1
