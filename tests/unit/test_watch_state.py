"""What is said of a watcher, living or dead."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from fixtures import make_repo
from gitmem.errors import HomeLocked
from gitmem.layout import Layout, find_layout
from gitmem.watch_state import (
    WatchState,
    format_state,
    is_watched,
    parse_state,
    watch_facts,
    watch_lock,
    write_state,
)

NOW = 1_796_000_000.0
STATE = WatchState(
    pid=42,
    started=NOW - 60,
    heartbeat=NOW - 1,
    phase="watching",
    reconciled=NOW - 30,
    rounds=3,
    failing=({"duty": "index", "failures": 4, "error": "full", "busy": False},),
)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """The folders of an empty repository, in which gitmem has been."""
    layout = find_layout(make_repo(tmp_path / "home"))
    layout.derived.mkdir()
    return layout


def test_a_removed_home_is_not_brought_back(layout: Layout) -> None:
    """A watcher's last word makes no folder (OPEN-WATCH-05)."""
    layout.derived.rmdir()
    with pytest.raises(FileNotFoundError):
        write_state(layout, STATE)
    assert not layout.derived.exists()


def test_a_state_survives_its_file() -> None:
    """`status` sees what the watcher meant; times are written for people."""
    assert parse_state(format_state(STATE)) == STATE
    assert json.loads(format_state(STATE))["heartbeat"].endswith("Z")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff",
        b'{"format": 2}',
        b'{"format": 1}',
        b'{"format": 1, "started": "never"}',
    ],
)
def test_a_damaged_file_is_no_state(content: bytes) -> None:
    """Half a file, or one of another version, must not stop `status`."""
    assert parse_state(content) is None


def test_unknown_fields_are_passed_over() -> None:
    """A newer watcher may say more."""
    row = {**json.loads(format_state(STATE)), "mood": "fine"}
    assert parse_state(json.dumps(row).encode()) == STATE


def test_a_home_without_a_watcher_is_not_running(layout: Layout) -> None:
    """Asking leaves nothing behind."""
    assert watch_facts(layout, NOW) == {"running": False, "reasons": ["not running"]}
    assert not list(layout.derived.iterdir())


def test_a_dead_watchers_last_word_is_not_believed(layout: Layout) -> None:
    """Process ids are reused; only the lock says that a watcher lives (OPEN-WATCH-03)."""
    write_state(layout, STATE)
    facts = watch_facts(layout, NOW)
    assert (facts["running"], facts["phase"], facts["alive"]) == (False, "stopped", False)
    assert facts["reasons"] == ["not running"]


def test_a_living_watcher_is_described(layout: Layout) -> None:
    """What keeps failing is named with its reason."""
    with watch_lock(layout):
        write_state(layout, STATE)
        facts = watch_facts(layout, NOW)
    assert (facts["running"], facts["pid"], facts["rounds"]) == (True, 42, 3)
    assert facts["reasons"] == ["index: full"]
    assert json.dumps(facts)


def test_a_stuck_watcher_is_not_healthy(layout: Layout) -> None:
    """One that gives no sign of life, or whose notifications stopped, is named."""
    with watch_lock(layout):
        write_state(layout, WatchState(1, NOW - 999, NOW - 400, alive=False, degraded="polling, x"))
        reasons = watch_facts(layout, NOW)["reasons"]
    assert reasons == ["polling, x", "notifications do not come", "no sign of life for 400 s", "starting"]


def test_there_is_one_watcher(layout: Layout) -> None:
    """The second says who the first is and exits 11; looking does not disturb."""
    with watch_lock(layout):
        write_state(layout, STATE)
        assert is_watched(layout)
        with pytest.raises(HomeLocked, match=r"watched already \(process 42\)") as caught, watch_lock(layout):
            pass
    assert caught.value.exit_code == 11
    assert not is_watched(layout)


def test_whoever_only_looks_does_not_keep_a_watcher_from_starting(layout: Layout) -> None:
    """`status` in a loop and a watcher that starts do not exclude each other."""
    with watch_lock(layout):
        pass
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            is_watched(layout)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        for _ in range(50):
            with watch_lock(layout):
                pass
    finally:
        done.set()
        looking.join()
