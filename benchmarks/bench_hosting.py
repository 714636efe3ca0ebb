"""What homes cost on a Git host: disk and files of bare repositories, syncs, backups by bundle.

    python benchmarks/bench_hosting.py [--homes 50] [--turns 200]

Prints Markdown. The peer is plain `git push` of the same refs into a second bare repository without hooks.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from conversations import turns
from timing import record, timed

from gitmem import AgentHome


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--homes", type=int, default=50)
    parser.add_argument("--turns", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), options.homes, options.turns)


def measure(folder: Path, homes: int, count: int) -> None:
    """Make homes, sync each to a bare repository of its own, and look at what stands there."""
    source = turns(None)
    first, later, plain = [], [], []
    for number in range(homes):
        root, bare, peer = (folder / f"{name}{number}" for name in ("home", "bare", "peer"))
        for remote in (bare, peer):
            git(folder, "init", "-q", "--bare", str(remote))
        git(bare, "config", "receive.denyNonFastForwards", "true")
        with AgentHome.init(root, agent=f"agent{number}") as home:
            for _ in range(count):
                record(home, next(source))
            home.remote_add("origin", str(bare))
            first.append(timed(partial(home.sync, "origin")))
            push(root, peer)
            record(home, next(source))
            later.append(timed(partial(home.sync, "origin")))
            plain.append(timed(partial(push, root, peer)))
    bares = [folder / f"bare{number}" for number in range(homes)]
    pushed = [size(bare) for bare in bares]
    for bare in bares:
        git(bare, "gc", "-q")
    packed = [size(bare) for bare in bares]
    bundle = folder / "all.bundle"
    bundled = timed(lambda: git(bares[0], "bundle", "create", "-q", str(bundle), "--all"))
    print(f"{homes} homes of {count} turns\n\n| figure | value |\n|---|---|")
    rows = (
        ("disk of a bare home as pushed", f"{mean(pushed, 0) / 1024:.0f} KB in {mean(pushed, 1):.0f} files"),
        ("the same after `git gc`", f"{mean(packed, 0) / 1024:.0f} KB in {mean(packed, 1):.0f} files"),
        ("first sync of a home, median", f"{statistics.median(first) * 1e3:.0f} ms"),
        ("sync of one more turn, median", f"{statistics.median(later) * 1e3:.0f} ms"),
        ("`git push` of the same turn without hooks, median", f"{statistics.median(plain) * 1e3:.0f} ms"),
        ("`git bundle` of a home", f"{bundled * 1e3:.0f} ms, {bundle.stat().st_size / 1024:.0f} KB"),
    )
    for name, value in rows:
        print(f"| {name} | {value} |")


def push(root: Path, peer: Path) -> None:
    """Push all that a home has by plain git, past its hooks."""
    refs = ("main", "refs/heads/gitmem/turns/*", "refs/tags/*")
    git(root, "-c", "core.hooksPath=/dev/null", "push", "-q", str(peer), *refs)


def size(folder: Path) -> tuple[int, int]:
    """Return the bytes that the files below a folder occupy, and how many they are."""
    files = [Path(parent) / name for parent, _, names in os.walk(folder) for name in names]
    return sum(file.stat().st_blocks * 512 for file in files), len(files)


def mean(sizes: list[tuple[int, int]], which: int) -> float:
    """Return the mean of one of the two numbers."""
    return statistics.mean(one[which] for one in sizes)


def git(root: Path, *args: str) -> None:
    """Run git."""
    subprocess.run(["git", *args], cwd=root, check=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
