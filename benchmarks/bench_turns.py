"""A durable turn against `git add` + `git commit` of the same bytes, turn by turn in one run.

    python benchmarks/bench_turns.py [--turns 20000] [--pairs 1000] [--files 0] [--data FOLDER]

Prints Markdown. `--files 10000` puts as many tracked files into both repositories first. Git runs without any
fsync, as it does by default; gitmem's turns are durable.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
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
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument(
        "--pairs", type=int, default=1_000, help="turns that git commits too, spread over the run"
    )
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), options)


def measure(folder: Path, options: argparse.Namespace) -> None:
    """Run both side by side."""
    home = AgentHome.init(folder / "home", agent="aria")
    peer = folder / "peer"
    git(folder, "init", "-q", str(peer))
    for name, value in (("user.name", "x"), ("user.email", "x@example.com"), ("gc.auto", "0")):
        git(peer, "config", name, value)
    if options.files:
        fill(folder / "home", options.files)
        fill(peer, options.files)
    ours: list[float] = []
    pairs: list[tuple[float, float]] = []
    every = max(1, options.turns // options.pairs)
    source = turns(options.data)
    size_start = disk(folder / "home" / ".git")
    memory: list[int] = []
    for number in range(options.turns):
        events = next(source)
        began = time.perf_counter()
        with home.turn(session="s1") as turn:
            for event in events:
                turn.add(event)
        ours.append(time.perf_counter() - began)
        assert turn.receipt.committed, turn.receipt.reason
        if number % every == 0:
            pairs.append((ours[-1], commit_with_git(peer, events)))
        if number % max(1, options.turns // 10) == 0:
            memory.append(rss())
    memory.append(rss())
    report(ours, pairs, memory, (disk(folder / "home" / ".git") - size_start) / options.turns, options)
    home.close()


def commit_with_git(peer: Path, events: list[dict[str, object]]) -> float:
    """Append the same bytes to a file as long as our segments and commit it; return the seconds."""
    path = peer / "ledger.jsonl"
    if path.exists() and path.stat().st_size > 64 * 1024:
        path.rename(peer / f"ledger-{time.time_ns()}.jsonl")
        git(peer, "add", "-A")
        git(peer, "commit", "-qm", "roll")
    began = time.perf_counter()
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(event, ensure_ascii=False) + "\n" for event in events)
    git(peer, "add", "ledger.jsonl")
    git(peer, "commit", "-qm", "turn")
    return time.perf_counter() - began


def report(
    ours: list[float],
    pairs: list[tuple[float, float]],
    memory: list[int],
    per_turn: float,
    options: argparse.Namespace,
) -> None:
    """Print the figures."""
    part = min(1000, len(ours) // 2)
    first, last = statistics.median(ours[:part]), statistics.median(ours[-part:])
    ratio = statistics.median(a / b for a, b in pairs)
    theirs = statistics.median(b for _, b in pairs)
    tenth = max(1, len(pairs) // 10)
    early, late = (statistics.median(a / b for a, b in part) for part in (pairs[:tenth], pairs[-tenth:]))
    print(f"{len(ours)} turns of four records, {options.files} tracked files besides\n")
    middle, high = statistics.median(ours) * 1e3, percentile(ours, 0.99) * 1e3
    print("| figure | value |")
    print("|---|---|")
    print(f"| turn, median / p99 | {middle:.2f} / {high:.2f} ms |")
    print(f"| `git add` + `git commit`, median | {theirs * 1e3:.2f} ms |")
    print(f"| ratio, median of {len(pairs)} pairs | {ratio:.3f} |")
    print(f"| the same, first and last tenth of the pairs | {early:.3f} and {late:.3f} |")
    print(f"| last {part} against first {part} | {last / first:.3f} |")
    print(f"| disk a turn, packs merged | {per_turn / 1024:.2f} KB |")
    print(f"| memory at tenths of the run | {' '.join(str(m // 1024) for m in memory)} MB |")


def fill(root: Path, count: int) -> None:
    """Put tracked files into a repository."""
    for number in range(count):
        path = root / "notes" / f"{number % 100:02d}" / f"note-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Note {number}\n\nText {number}.\n", "utf-8")
    git(root, "add", "notes")
    git(root, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "files")


def git(root: Path, *args: str) -> None:
    """Run git."""
    subprocess.run(["git", *args], cwd=root, check=True, stdin=subprocess.DEVNULL)


def disk(folder: Path) -> int:
    """Return the bytes that the files below a folder occupy."""
    return sum(
        (Path(parent) / name).stat().st_blocks * 512 for parent, _, names in os.walk(folder) for name in names
    )


def percentile(values: list[float], share: float) -> float:
    """Return the value below which a share of the values lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def rss() -> int:
    """Return the resident memory of this process, in KB."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
