"""What an episode costs: turns that finish one against turns that do not, in one run.

    python benchmarks/bench_episodes.py [--turns 3000] [--sessions 5]

Prints Markdown: median and 95th percentile of both, by parts of the run, the difference (what finishing adds:
record, file, commit, tag, all durable), and how long a process that comes anew takes to its first turn.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gitmem import AgentHome

PARTS = 3


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=3_000)
    parser.add_argument("--sessions", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder) / "home", options.turns, options.sessions)


def measure(root: Path, turns: int, sessions: int) -> None:
    """Record turns, each with a question, a tool and an answer; every twelfth of a session ends one."""
    print("| turns | without | p95 | finishing | p95 | finishing adds |\n|---|---|---|---|---|---|")
    with AgentHome.init(root, agent="aria") as home:
        first = 0
        for part in range(1, PARTS + 1):
            last = turns * part // PARTS
            plain, finishing = record(home, range(first, last), sessions)
            first = last
            added = statistics.median(finishing) - statistics.median(plain)
            print(f"| {last:,} | {told(plain)} | {told(finishing)} | {added * 1000:.1f} ms |")
    began = time.perf_counter()
    with AgentHome.open(root) as home:
        opened = time.perf_counter() - began
        home.record(events(turns), session="s0")
        took = time.perf_counter() - began - opened
    print(f"\nA process that comes anew: opens in {opened * 1000:.0f} ms, first turn {took * 1000:.0f} ms.")


def record(home: AgentHome, numbers: range, sessions: int) -> tuple[list[float], list[float]]:
    """Return the seconds of turns that finish nothing, and of those that finish an episode."""
    plain: list[float] = []
    finishing: list[float] = []
    for number in numbers:
        began = time.perf_counter()
        receipt = home.record(events(number), session=f"s{number % sessions}")
        took = time.perf_counter() - began
        ends = any(one["kind"] == "episode" for one in receipt.records)
        (finishing if ends else plain).append(took)
    return plain, finishing


def events(number: int) -> list[dict[str, Any]]:
    """Return what happens in a turn."""
    return [
        {"kind": "message", "role": "user", "text": f"How do I restart staging number {number}?"},
        {
            "kind": "tool_execution",
            "tool": "shell",
            "input": {"cmd": "systemctl"},
            "exit_code": 0,
            "output": "x" * 400,
        },
        {"kind": "message", "role": "assistant", "text": "It is restarted as follows. " * 12},
    ]


def told(times: list[float]) -> str:
    """Return median and 95th percentile as two cells."""
    return f"{statistics.median(times) * 1000:.1f} ms | {sorted(times)[int(len(times) * 0.95)] * 1000:.1f} ms"


if __name__ == "__main__":
    main()
