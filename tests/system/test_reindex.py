"""Building the index anew in use: old hits stay, a kill costs little, a watcher does the work."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from homes import new_home

from gitmem import AgentHome
from gitmem.backends.watchdog_changes import WatchdogChanges
from gitmem.watch_state import ask_watcher, is_watched

#: Enough for several slices of building.
TURNS = 1500


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of some thousand records, indexed; a few hold a word of their own."""
    path = tmp_path_factory.mktemp("reindex") / "home"
    lines = path.with_suffix(".jsonl")
    rows = []
    for number in range(TURNS):
        word = "lighthouse" if number % 300 == 0 else "harbour"
        event = {"kind": "message", "session": "s1", "turn": f"t{number}", "text": f"{word} {'x y ' * 300}"}
        rows += [event | {"role": "user"}, event | {"role": "assistant"}]
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with new_home(path) as home:
        home.import_jsonl(lines)
        home.catch_up()
    return path


def gitmem(path: Path, *words: str) -> subprocess.Popen[str]:
    """Start a command."""
    return subprocess.Popen(
        [sys.executable, "-m", "gitmem", "-C", str(path), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def watcher(path: Path) -> Iterator[None]:
    """Let a watcher run."""
    process = gitmem(path, "watch", "-q")
    try:
        with AgentHome.open(path) as home:
            until(lambda: is_watched(home.layout))
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def until(done: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.02)


def look(home: AgentHome, refs: set[str]) -> str:
    """Search, see that every hit of before is there once, and return the freshness."""
    reply = home.search("lighthouse", limit=50)
    found = [hit.source_ref for hit in reply.results if "lighthouse" in hit.snippet]
    assert len(found) == len(set(found))
    assert set(found) == refs
    return reply.index_status.freshness


def known(home: AgentHome) -> set[str]:
    """Return the refs of the hits."""
    hits = home.search("lighthouse", limit=50).results
    return {hit.source_ref for hit in hits if "lighthouse" in hit.snippet}


@pytest.mark.slow
def test_a_search_finds_the_same_all_the_while_and_a_kill_costs_a_slice(path: Path) -> None:
    """Nothing, or less, is found at no time; called again, it goes on (S14)."""
    with AgentHome.open(path) as home:
        refs = known(home)
        assert len(refs) == 10
        process = gitmem(path, "reindex")
        until(lambda: process.poll() is not None or look(home, refs) == "catching_up")
        process.kill()
        process.communicate()
        while home.is_index_behind():
            process = gitmem(path, "reindex", "--json")
            while process.poll() is None:
                look(home, refs)
            assert json.loads(process.communicate()[0])["pending"] == 0
        assert look(home, refs) == "fresh"
        assert home.search("lighthouse").index_status.reasons == []


@pytest.mark.slow
def test_a_watcher_does_the_work(path: Path) -> None:
    """The command returns at once; with --wait it returns when the watcher is done."""
    with AgentHome.open(path) as home, watcher(path):
        refs = known(home)
        until(lambda: not home.is_index_behind())
        reply = json.loads(gitmem(path, "reindex", "--json").communicate()[0])
        assert reply["watcher"] is True
        assert reply["total"] >= 1
        until(lambda: look(home, refs) == "fresh")
        generation = home._parts.index.snapshot().generation  # type: ignore[union-attr]
        out, _ = gitmem(path, "reindex", "--wait").communicate()
        assert out == "The watcher has built the index anew.\n"
        assert look(home, refs) == "fresh"
        assert home._parts.index.snapshot().generation > generation  # type: ignore[union-attr]


def test_a_watcher_hears_that_the_index_is_asked_for(tmp_path: Path) -> None:
    """It need not wait for its next look at everything, which may be half a minute away."""
    with new_home(tmp_path / "home") as home:
        changes = WatchdogChanges(home.layout)
        changes.start()
        try:
            ask_watcher(home.layout)
            assert changes.wait(30.0).doubt == "a look at the index is asked for"
        finally:
            changes.stop()
        assert not home.layout.index_request.exists()
