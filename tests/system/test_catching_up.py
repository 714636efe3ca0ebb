"""What a search leaves behind where no watcher runs: from Python and from a shell, all is found soon."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from homes import new_home

from gitmem import AgentHome
from gitmem.indexer import Budget
from gitmem.watch_state import watch_lock

#: More than a search reads in memory.
MANY = 1200


def fill(home: AgentHome, count: int = MANY) -> None:
    """Record messages; one of the first holds a word of its own."""
    for start in range(0, count, 300):
        words = [f"gardens {number}" + " xylophone" * (number == 3) for number in range(start, start + 300)]
        home.record(
            [{"kind": "message", "role": "user", "text": text} for text in words], session=f"s{start}"
        )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A home that was never indexed."""
    path = tmp_path / "home"
    with new_home(path) as home:
        fill(home)
    return path


def by_search(home: AgentHome) -> bool:
    """Search everything."""
    return bool(home.search("xylophone").results)


def by_recall(home: AgentHome) -> bool:
    """Search everything in a session."""
    return bool(home.session("s9").recall("xylophone").results)


def by_session_search(home: AgentHome) -> bool:
    """Search conversations."""
    return bool(home.session_search("xylophone")["count"])


def by_session(home: AgentHome) -> bool:
    """Search conversations in a session."""
    return bool(home.session("s9").search("xylophone")["count"])


def by_tool(home: AgentHome) -> bool:
    """Search as a model does."""
    return "gardens 3 " in json.dumps(home.tools().call("memory_search", {"query": "xylophone"}))


@pytest.mark.parametrize("found", [by_search, by_recall, by_session_search, by_session, by_tool])
def test_a_home_used_from_python_alone_is_searched_whole_soon(
    path: Path, found: Callable[[AgentHome], bool]
) -> None:
    """No watcher, no command: the first search lets the index catch up, and the old record is found."""
    with AgentHome.open(path) as home:
        assert not found(home)
        assert home._parts.background_indexing.wait(60)
        assert found(home)
        assert home.search("xylophone").index_status.freshness == "fresh"


def test_a_word_is_not_called_absent_where_not_everything_was_searched(path: Path) -> None:
    """What is unmatched is so in what was searched; the reasons say that this was not everything."""
    with AgentHome.open(path, catches_up=False) as home:
        reply = home.search("xylophone")
        assert reply.unmatched_terms == ["xylophone"]
        assert reply.index_status.reasons[0].startswith("not indexed yet and not searched: ")
        assert home.session_search("xylophone")["index_status"]["reasons"] == list(reply.index_status.reasons)
    said = gitmem(path, "search", "xylophone").stderr
    assert said.startswith(
        "found nowhere in what was searched: xylophone\nnot indexed yet and not searched: "
    )


def test_a_few_new_records_start_nothing(path: Path) -> None:
    """What a search reads in memory anyway need not be indexed after every turn."""
    with AgentHome.open(path) as home:
        home.catch_up()
        for number in range(5):
            home.record([{"kind": "message", "role": "user", "text": f"new {number}"}], session="s1")
            assert len(home.search(f"new {number}", session="s1").results) >= 1
            assert not home._parts.background_indexing.is_at_work
        assert home.search("new").index_status.freshness == "catching_up"


def test_a_watcher_and_a_home_that_only_reads_are_left_alone(path: Path) -> None:
    """Where a watcher lives it does the work; whoever opens a home without it gets no thread."""
    with AgentHome.open(path) as home, watch_lock(home.layout):
        by_search(home)
        assert not home._parts.background_indexing.is_at_work
    with AgentHome.open(path, catches_up=False) as home:
        by_search(home)
        assert not home._parts.background_indexing.is_at_work
        assert home.search("x").index_status.freshness == "building"


def test_somebody_elses_home_is_left_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading another user's home writes nothing there."""
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with AgentHome.open(path) as home:
        by_search(home)
        assert not home._parts.background_indexing.is_at_work


def test_closing_at_once_leaves_an_index_to_go_on_from(path: Path) -> None:
    """A program that searches and ends has brought the index on; it need not wait for the end."""
    with AgentHome.open(path) as home:
        while not home.search("xylophone").index_status.indexed:
            time.sleep(0.01)
    with AgentHome.open(path, catches_up=False) as home:
        assert home.search("gardens").index_status.indexed > 0
        home.catch_up()
        assert by_search(home)


def gitmem(path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command."""
    return subprocess.run(
        [sys.executable, "-m", "gitmem", "-C", str(path), *words], capture_output=True, text=True, check=True
    )


def until_fresh(path: Path) -> str:
    """Return how complete the index is once the command, or the process that it left behind, has ended."""
    end = time.monotonic() + 90
    with AgentHome.open(path, catches_up=False) as home:
        while (found := home.search("xylophone").index_status.freshness) != "fresh":
            if time.monotonic() > end:
                break
            time.sleep(0.1)
    return found


@pytest.mark.slow
def test_one_search_from_the_command_line_leads_to_the_end(path: Path) -> None:
    """Also where few items are whole segments, as in an index built anew (six searches left a third)."""
    with AgentHome.open(path) as home:
        fill(home, 4 * MANY)
        home.catch_up()
        home.reindex(wait=False)
        home._parts.indexer.catch_up(None, Budget(seconds=0.0))
        assert home.search("gardens").index_status.pending > 10
    gitmem(path, "search", "xylophone")
    assert until_fresh(path) == "fresh"
