"""Whole commands from process start to end, with a warm file cache.

python benchmarks/bench_commands.py [--records 20000] [--runs 15]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench_freshness import fill


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "home"
        fill(path, options.records)
        (path / "events.jsonl").write_text('{"kind": "message", "role": "user", "text": "hello"}\n', "utf-8")
        (path / ".git" / "info" / "exclude").open("a").write("/events.jsonl\n")
        print(f"{options.records} records, median of {options.runs} runs after one that is not counted\n")
        print("| command | time |")
        print("|---|---|")
        gitmem = [sys.executable, "-m", "gitmem"]
        for name, command in (
            ("`python -c pass`", [sys.executable, "-c", "pass"]),
            ("`gitmem --help`", [*gitmem, "--help"]),
            ("`gitmem search staging port`", [*gitmem, "-C", str(path), "search", "staging", "port"]),
            ("`gitmem status`", [*gitmem, "-C", str(path), "status"]),
            ("`gitmem log`", [*gitmem, "-C", str(path), "log"]),
            ("`gitmem turn`", [*gitmem, "-C", str(path), "turn", "--input", str(path / "events.jsonl")]),
            ("`git log -1`", ["git", "-C", str(path), "log", "-1"]),
        ):
            print(f"| {name} | {median_run(command, options.runs) * 1e3:.0f} ms |")


def median_run(command: list[str], runs: int) -> float:
    """Return the median time of a command, in seconds."""
    times = []
    for number in range(runs + 1):
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        if number:
            times.append(time.perf_counter() - began)
    return statistics.median(times)


if __name__ == "__main__":
    main()
