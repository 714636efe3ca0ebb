"""What the drivers add to plain git: `log -p` over turns, with texts kept by Git and not.

    python benchmarks/bench_drivers.py [--turns 50]

Prints Markdown. Needs gitmem installed in the interpreter that runs this.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from conversations import turns

from gitmem import AgentHome


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "home"
        fill(root, options.turns)
        line = git(root, "for-each-ref", "--format=%(refname)", "refs/heads/gitmem/turns")
        print(f"| `git log -p` over {options.turns} turns | seconds |\n|---|---|")
        plain = seconds(lambda: git(root, "log", "-p", "--no-textconv", line))
        print(f"| as JSON | {plain:.2f} |")
        print(f"| as sentences | {seconds(lambda: git(root, 'log', '-p', line)):.2f} |")
        git(root, "config", "diff.gitmem-ledger.cachetextconv", "true")
        print(
            f"| as sentences, texts kept, first time | {seconds(lambda: git(root, 'log', '-p', line)):.2f} |"
        )
        print(
            f"| as sentences, texts kept, second time | {seconds(lambda: git(root, 'log', '-p', line)):.2f} |"
        )
        segment = max((root / "ledger").rglob("*.jsonl"), key=lambda path: path.stat().st_size)
        command = git(root, "config", "diff.gitmem-ledger.textconv") + ' "$@"'
        times = [seconds(lambda: shell(command, segment)) for _ in range(20)]
        print(f"| one text of {segment.stat().st_size // 1024} KiB | {statistics.median(times):.3f} |")


def fill(root: Path, count: int) -> None:
    """Make a home with turns."""
    source = turns(None)
    with AgentHome.init(root, agent="aria") as home:
        for _ in range(count):
            with home.turn(session="s1") as turn:
                for event in next(source):
                    turn.add(event)


def seconds(act: Callable[[], object]) -> float:
    """Return how long something takes."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def git(root: Path, *arguments: str) -> str:
    """Run git and return what it prints."""
    done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace").strip()


def shell(command: str, file: Path) -> None:
    """Run a driver's command as Git does."""
    subprocess.run(["sh", "-c", command, command, str(file)], check=True, capture_output=True)


if __name__ == "__main__":
    main()
