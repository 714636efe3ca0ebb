"""The `memory` tool against `git add` + `git commit` of the same bytes, pair by pair; then four processes.

python benchmarks/bench_memory.py [--pairs 300] [--notes 1000] [--turns 2000] [--processes 4] [--seconds 10]
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

from bench_turns import fill, git, percentile

from gitmem import AgentHome

ENTRIES = 15


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--notes", type=int, default=1_000, help="notes that are there besides")
    parser.add_argument("--turns", type=int, default=2_000, help="turns that are on the turn line")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long the processes work")
    parser.add_argument("--worker", nargs=3, metavar=("HOME", "NAME", "UNTIL"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(Path(options.worker[0]), options.worker[1], float(options.worker[2]))
        return
    with tempfile.TemporaryDirectory() as folder:
        home = prepare(Path(folder), options.notes, options.turns)
        pairs(Path(folder), home, options.pairs)
        crowd(home, options.processes, options.seconds)


def prepare(folder: Path, notes: int, turns: int) -> Path:
    """Make a home with notes, turns and entries, and a plain repository with the same files."""
    path, peer = folder / "home", folder / "peer"
    with AgentHome.init(path, agent="aria") as home:
        git(folder, "init", "-q", str(peer))
        for name, value in (("user.name", "x"), ("user.email", "x@example.com"), ("gc.auto", "0")):
            git(peer, "config", name, value)
        fill(path, notes)
        fill(peer, notes)
        for number in range(turns):
            with home.turn(session=f"s{number // 20}") as turn:
                turn.message("user", f"Question {number}: which port does staging use?")
                turn.message("assistant", f"Port {2000 + number}.")
        operations = [
            {"action": "add", "content": f"Fact {number}: the window is at {number % 24:02d}:30 on Tuesdays."}
            for number in range(ENTRIES)
        ]
        assert home.memory(operations=operations).committed
    (peer / "memory").mkdir(exist_ok=True)
    return path


def pairs(folder: Path, path: Path, count: int) -> None:
    """Replace one entry in both repositories, in turn."""
    home, peer = AgentHome.open(path), folder / "peer"
    store, copy = path / "memory" / "MEMORY.md", peer / "memory" / "MEMORY.md"
    times: dict[str, list[float]] = {"agent": [], "operator": [], "git": []}
    for number in range(count):
        for who in ("operator", "agent"):
            began = time.perf_counter()
            reply = home.memory(
                "replace",
                "memory",
                f"Fact 3: the window is at {number % 60:02d} past {who}.",
                "Fact 3:",
                by=who,
                session="s1",
                reason="the user said so",
            )
            times[who].append(time.perf_counter() - began)
            assert reply.committed, reply
        content = store.read_bytes()
        began = time.perf_counter()
        copy.write_bytes(content)
        git(peer, "add", "memory/MEMORY.md")
        git(peer, "commit", "-qm", "memory")
        times["git"].append(time.perf_counter() - began)
    home.close()
    report(times)


def report(times: dict[str, list[float]]) -> None:
    """Print the figures of the pairs."""
    print(f"{len(times['git'])} replacements in a store of {ENTRIES} entries\n")
    print("| written by | median | p99 | ratio to git, median of pairs |")
    print("|---|---|---|---|")
    names = {
        "operator": "`memory replace` of an operator",
        "agent": "of an agent, with its ledger record",
        "git": "`git add` + `git commit`",
    }
    for who, name in names.items():
        ratio = statistics.median(a / b for a, b in zip(times[who], times["git"], strict=True))
        middle, high = statistics.median(times[who]) * 1e3, percentile(times[who], 0.99) * 1e3
        print(f"| {name} | {middle:.2f} ms | {high:.2f} ms | {ratio:.2f} |")


def work(path: Path, name: str, until: float) -> None:
    """Add and replace entries of one's own until a time; print how many calls held."""
    done = 0
    with AgentHome.open(path) as home:
        entries = home.entries("memory")
        assert entries.add(f"{name}: 0").success
        while time.time() < until:
            assert entries.replace(f"{name}: {done}", f"{name}: {done + 1}").success
            done += 1
    print(done)


def crowd(path: Path, processes: int, seconds: float) -> None:
    """Let several processes work at once; every entry must be there behind it."""
    began = time.time() + 1.0  # they need a moment to start
    names = [f"process {number}" for number in range(processes)]
    command = [sys.executable, __file__, "--worker", str(path)]
    running = [
        subprocess.Popen([*command, name, str(began + seconds)], stdout=subprocess.PIPE, text=True)
        for name in names
    ]
    counts = [int(process.communicate()[0]) for process in running]
    took = time.time() - began
    with AgentHome.open(path) as home:
        texts = set(home.entries("memory").texts)
    assert all(f"{name}: {count}" in texts for name, count in zip(names, counts, strict=True)), (
        "an entry is lost"
    )
    print(f"\n{processes} processes: {sum(counts) / took:.0f} operations a second, no entry lost ({counts})")


if __name__ == "__main__":
    main()
