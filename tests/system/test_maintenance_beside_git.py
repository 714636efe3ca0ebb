"""Maintenance in loops beside turns of two processes, an operator's commits, and Git's own housekeeping."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from system.test_packs_beside_gc import DAMAGE, LOOPS

from fixtures import commit_all, fsck, git, run_git, set_identity
from gitmem import AgentHome
from gitmem.errors import HomeLocked

SECONDS = float(os.environ.get("STRESS_SECONDS", "4"))

pytestmark = pytest.mark.slow


def write_turns(root: Path, session: str, seconds: float, recorded: Any) -> None:
    """Record turns until the time is over; report what was acknowledged."""
    done: list[str] = []
    with AgentHome.open(root, catches_up=False) as home:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            event = {"kind": "message", "role": "user", "text": f"{session} {len(done)}"}
            done.append(home.record([event], session=session).records[0]["source_ref"])
    recorded.put(done)


def maintain(root: Path, seconds: float, runs: Any) -> None:
    """Maintain over and over; report how often it was brought to an end, and what was removed."""
    ended = removed = 0
    with AgentHome.open(root, catches_up=False) as home:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                report = home.maintain(seconds=5)
            except HomeLocked:
                time.sleep(0.01)
                continue
            assert not report.damaged, report.damaged
            ended += report.finished
            removed += report.loose["removed"] + report.tags["removed"] + report.packs["merged"]
    runs.put((ended, removed))


@contextmanager
def operator(
    root: Path, commands: Sequence[Sequence[str]], made: list[str], said: list[str]
) -> Iterator[None]:
    """Commit and tag with plain git in the background, housekeeping in between.

    Not both at once: `git prune` beside an operator's own commit loses that commit without gitmem's help.
    """
    stop = threading.Event()

    def loop() -> None:
        number = 0
        while not stop.is_set():
            for _ in range(5):
                number += 1
                note = root / f"notes/o{number % 7}.md"
                note.write_text(f"# Note\n\nchange {number}\n")
                run_git("add", str(note), cwd=root)
                if run_git("commit", "-q", "--no-verify", "-m", f"work {number}", cwd=root).returncode == 0:
                    made.append(git("rev-parse", "HEAD", cwd=root))
                    run_git("tag", "-a", "-m", "x", f"mine/{number}", cwd=root)
            run_git("tag", "-d", f"mine/{number}", cwd=root)
            for command in commands:
                done = run_git(*command, cwd=root)
                said.extend([f"{command}: {done.stderr.decode()}"] if done.returncode else [])

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("loop", LOOPS)
def test_nothing_is_lost(tmp_path: Path, loop: str) -> None:
    """Every turn is acknowledged and there, every commit and tag too, and Git finds no fault."""
    root = tmp_path / "home"
    AgentHome.init(root, agent="aria").close()
    set_identity(root)
    git("config", "gc.auto", "0", cwd=root)
    commit_all(root, "one", {"notes/a.md": "# A\n"})
    context = multiprocessing.get_context("spawn")
    recorded, runs = context.Queue(), context.Queue()
    processes = [context.Process(target=write_turns, args=(root, s, SECONDS, recorded)) for s in ("s1", "s2")]
    processes += [context.Process(target=maintain, args=(root, SECONDS, runs)) for _ in range(2)]
    said: list[str] = []
    commits: list[str] = []
    with operator(root, LOOPS[loop], commits, said):
        for process in processes:
            process.start()
        refs = [*recorded.get(timeout=60), *recorded.get(timeout=60)]
        ended = [runs.get(timeout=60), runs.get(timeout=60)]
        for process in processes:
            process.join(60)
    assert [process.exitcode for process in processes] == [0] * 4
    assert not [words for words in said if DAMAGE.search(words)]
    assert sum(removed for _, removed in ended) > 0
    fsck(root)
    with AgentHome.open(root) as home:
        assert len({*refs}) == len(refs) > 0
        for ref in refs[:: max(1, len(refs) // 50)]:
            assert home.get(ref).content
        report = home.maintain()
        assert report.finished
        found = home.verify(full=True)
        assert found.ok, found.findings[:3]
        assert found.checked.lines >= len(refs)
    reachable = {*git("rev-list", "--all", cwd=root).splitlines()}
    assert {*commits} <= reachable
    tags = {*git("tag", "--list", "mine/*", cwd=root).splitlines()}
    assert not {tag for tag in tags if int(tag[5:]) % 5 == 0}
    git("gc", "-q", "--prune=now", cwd=root)
    fsck(root)


def test_killed_again_and_again(tmp_path: Path) -> None:
    """`kill -9` at any moment of the real command: nothing is lost, and one more run ends the work."""
    root = tmp_path / "home"
    with AgentHome.init(root, agent="aria") as home:
        set_identity(root)
        for number in range(60):
            home.record([{"kind": "message", "role": "user", "text": f"turn {number}"}], session="s1")
    for number in range(20):
        commit_all(root, f"work {number}", {"notes/a.md": f"# A\n\n{number}\n"})
        git("tag", "-a", "-m", "x", f"episode/x{number}", cwd=root)
    before = git("show-ref", "--head", "-d", cwd=root)
    command = [sys.executable, "-m", "gitmem", "-C", str(root), "maintain", "-v"]
    for number in range(12):
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        assert process.stderr is not None
        for _ in range(1 + number % 4):  # it has begun with one step or another
            process.stderr.readline()
        time.sleep(0.003 * number)
        process.kill()
        process.wait()
        process.stderr.close()
        assert git("show-ref", "--head", "-d", cwd=root) == before
    with AgentHome.open(root) as home:
        report = home.maintain()
        assert report.finished
        assert report.packs["after"] == 1
        assert git("show-ref", "--head", "-d", cwd=root) == before
        assert home.verify(full=True).ok
    assert not [*(root / ".git/refs").rglob("*.lock")]
    assert not (root / ".git/packed-refs.lock").exists()
    assert not [*(root / ".git/objects/pack").glob("*.keep")]
    fsck(root)
