"""A note written to the operator's branch against `git add` + `git commit` of the same bytes, pair by pair.

python benchmarks/bench_notes.py [--pairs 300] [--files 1000]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench_turns import fill, git, percentile

from gitmem import AgentHome


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--files", type=int, default=1_000, help="tracked files that are there besides")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), options.pairs, options.files)


def measure(folder: Path, pairs: int, files: int) -> None:
    """Append to one note in both repositories, in turn."""
    home = AgentHome.init(folder / "home", agent="aria")
    peer = folder / "peer"
    git(folder, "init", "-q", str(peer))
    for name, value in (("user.name", "x"), ("user.email", "x@example.com"), ("gc.auto", "0")):
        git(peer, "config", name, value)
    fill(folder / "home", files)
    fill(peer, files)
    home.note_add("log.md", content="# Log\n", by="operator")
    note = peer / "notes" / "log.md"
    note.write_text("# Log\n", "utf-8")
    times: dict[str, list[float]] = {"operator": [], "agent": [], "git": []}
    for number in range(pairs):
        line = f"{number}: the window moved to {number % 24:02d}:30."
        for who in ("operator", "agent"):
            began = time.perf_counter()
            reply = home.note_append("log.md", line, by=who)
            times[who].append(time.perf_counter() - began)
            assert reply.committed, reply.reason
        began = time.perf_counter()
        with note.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        git(peer, "add", "notes/log.md")
        git(peer, "commit", "-qm", "note")
        times["git"].append(time.perf_counter() - began)
    home.close()
    report(times, files)


def report(times: dict[str, list[float]], files: int) -> None:
    """Print the figures."""
    print(f"{len(times['git'])} notes beside {files} tracked files\n")
    print("| written by | median | p99 | ratio to git, median of pairs |")
    print("|---|---|---|---|")
    for who, found in times.items():
        ratio = statistics.median(a / b for a, b in zip(found, times["git"], strict=True))
        middle, high = statistics.median(found) * 1e3, percentile(found, 0.99) * 1e3
        name = {
            "operator": "`note append`",
            "agent": "the same with its ledger record",
            "git": "`git add` + `git commit`",
        }
        print(f"| {name[who]} | {middle:.2f} ms | {high:.2f} ms | {ratio:.2f} |")


if __name__ == "__main__":
    main()
