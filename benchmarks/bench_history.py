"""What it costs to tell what changed, against `git diff --stat` of the same two commits in the same run.

    python benchmarks/bench_history.py [--turns 24000]

The home is the one of bench_context.py. Prints Markdown.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench_context import fill
from timing import timed

from gitmem import AgentHome


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=24_000)
    options = parser.parse_args()
    random.seed(3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "home"
        fill(path, 0, options.turns)
        count = int(git(path, "rev-list", "--count", "HEAD"))
        print(f"{options.turns:,} turns, {count:,} commits on the branch\n")
        print("| from | changes | home.diff | git diff --stat |")
        print("|---|---|---|---|")
        with AgentHome.open(path, catches_up=False) as home:
            for back in (0, 10, 100, 1_000):
                if back < count:
                    measure(home, path, back)


def measure(home: AgentHome, path: Path, back: int) -> None:
    """Print a row; the first diff of each kind is not counted."""
    begin = f"HEAD~{back}"
    changes = len(home.diff(begin).changes)
    ours = min(timed(lambda: home.diff(begin)) for _ in range(3))
    theirs = min(timed(lambda: git(path, "diff", "--stat", begin)) for _ in range(3))
    print(f"| {begin} | {changes:,} | {ours:.2f} s | {theirs:.2f} s |", flush=True)


def git(path: Path, *arguments: str) -> str:
    """Return what git says."""
    return subprocess.run(["git", *arguments], cwd=path, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
