"""Maintenance of a home against `git gc` of a copy: bytes, time, memory, and turns beside it.

    python benchmarks/bench_maintain.py [--turns 10000] [--commits 500] [--tags 800] [--data FOLDER]

Prints Markdown. The home has fresh turns, an operator's commits by plain git, and tags; `git gc --prune=now`
runs on a copy of it, with Git's own settings.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from conversations import turns

from gitmem import AgentHome


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--commits", type=int, default=500)
    parser.add_argument("--tags", type=int, default=800)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "home"
        make(root, options)
        measure(root, Path(folder), options)


def make(root: Path, options: argparse.Namespace) -> None:
    """Record turns; commit and tag in between as an operator would."""
    source = turns(options.data)
    with AgentHome.init(root, agent="aria") as home:
        for name, value in (("user.name", "x"), ("user.email", "x@example.com"), ("gc.auto", "0")):
            git(root, "config", name, value)
        for number in range(options.turns):
            with home.turn(session=f"s{number // 50}") as turn:
                for event in next(source):
                    turn.add(event)
            if number % max(1, options.turns // max(1, options.commits)) == 0:
                note = root / "notes" / f"work-{number % 97:02}.md"
                note.parent.mkdir(exist_ok=True)
                before = note.read_text("utf-8") if note.exists() else f"# Work {number % 97}\n\n"
                note.write_text(f"{before}Line {number} of what was thought about turn {number}.\n", "utf-8")
                git(root, "add", "notes")
                git(root, "commit", "-q", "--no-verify", "-m", f"work {number}")
            if number % max(1, options.turns // max(1, options.tags)) == 0:
                git(root, "tag", "-a", "-m", "x", f"episode/2026-11-30-t{number:06}")


def measure(root: Path, folder: Path, options: argparse.Namespace) -> None:
    """Maintain the home, gather a copy by git, compare."""
    copy = folder / "copy"
    shutil.copytree(root, copy, symlinks=True)
    before = size(root)
    began = time.perf_counter()
    used = cpu()
    ran = subprocess.run(
        [sys.executable, "-c", _MAINTAIN, str(root)],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parent.parent,
    )
    ours = time.perf_counter() - began
    ours_cpu = cpu() - used
    memory_start, memory_end, large = map(int, ran.stdout.split())
    began, used = time.perf_counter(), cpu()
    git(copy, "gc", "-q", "--prune=now")
    theirs, theirs_cpu = time.perf_counter() - began, cpu() - used
    check(root)
    mine, its = size(root), size(copy)
    alone, beside = turns_beside(copy, root, options)
    print(f"{options.turns} turns, {options.commits} commits, {options.tags} tags\n")
    print("| figure | value |")
    print("|---|---|")
    print(f"| `.git` before | {before / 2**20:.1f} MiB |")
    print(f"| after `gitmem maintain` | {mine / 2**20:.1f} MiB, {ours:.1f} s, {ours_cpu:.1f} s of CPU |")
    print(f"| after `git gc` of a copy | {its / 2**20:.1f} MiB, {theirs:.1f} s, {theirs_cpu:.1f} s of CPU |")
    print(f"| ratio of the bytes | {mine / its:.3f} |")
    print(f"| memory of maintenance, at the start and at most | {memory_start} and {memory_end} MiB |")
    print(f"| loose objects left | {large} |")
    print(f"| turn, median, alone and beside maintenance | {alone:.2f} and {beside:.2f} ms |")


#: In a process of its own, whose memory is its own too.
_MAINTAIN = """
import resource, sys
from gitmem import AgentHome
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
with AgentHome.open(sys.argv[1], catches_up=False) as home:
    first = peak()
    report = home.maintain()
    assert report.finished, report
    print(first, peak(), report.loose["left"])
"""


def turns_beside(alone: Path, root: Path, options: argparse.Namespace) -> tuple[float, float]:
    """Return the median of a turn in milliseconds, with nothing beside it and with maintenance in loops."""
    stop = threading.Event()

    def loop() -> None:
        while not stop.is_set():
            subprocess.run(
                [sys.executable, "-c", _MAINTAIN, str(root)],
                check=False,
                capture_output=True,
                cwd=Path(__file__).resolve().parent.parent,
            )

    first = median_turn(alone, options)
    thread = threading.Thread(target=loop)
    thread.start()
    try:
        return first, median_turn(root, options)
    finally:
        stop.set()
        thread.join()


def median_turn(root: Path, options: argparse.Namespace) -> float:
    """Return the median of some turns in milliseconds."""
    source = turns(options.data)
    seconds = []
    with AgentHome.open(root, catches_up=False) as home:
        for _ in range(400):
            events = next(source)
            began = time.perf_counter()
            with home.turn(session="s1") as turn:
                for event in events:
                    turn.add(event)
            seconds.append(time.perf_counter() - began)
    return statistics.median(seconds) * 1e3


def check(root: Path) -> None:
    """Fail unless git finds no fault."""
    done = subprocess.run(["git", "fsck", "--strict"], cwd=root, check=True, capture_output=True, text=True)
    assert not done.stderr.strip(), done.stderr


def git(root: Path, *args: str) -> None:
    """Run git."""
    subprocess.run(["git", *args], cwd=root, check=True, stdin=subprocess.DEVNULL)


def size(root: Path) -> int:
    """Return the bytes that `.git` takes on disk."""
    return sum(
        (Path(parent) / name).lstat().st_blocks * 512
        for parent, _, names in os.walk(root / ".git")
        for name in names
    )


def cpu() -> float:
    """Return the seconds of CPU that child processes took so far."""
    spent = os.times()
    return spent.children_user + spent.children_system


if __name__ == "__main__":
    main()
