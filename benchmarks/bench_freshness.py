"""How long after its receipt a turn is found: by the watcher, by the tail scan, by the next search.

    python benchmarks/bench_freshness.py [--turns 100] [--records 20000] [--pending 100000]

A second process polls `home.search` for a word that only the new turn holds. Once with `gitmem watch` running
and the scan of what is not indexed switched off, once with that scan and no watcher.

Then, in homes that never were indexed, how long the one search takes that follows a turn and finds it: with
few records, with as many as `--pending` says, and in the latter while another process builds the index.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench_turns import percentile
from conversations import turns

from gitmem import AgentHome


def poll(
    path: str, words: multiprocessing.Queue[str], seen: multiprocessing.Queue[float], *, tail: bool
) -> None:
    """Search for each word until it is found, then say when that was."""
    with AgentHome.open(path) as home:
        home.search("warm up", unindexed=tail)
        seen.put(0.0)
        while (word := words.get()) != "":
            while not home.search(word, unindexed=tail).results:
                time.sleep(0.001)
            seen.put(time.time())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--records", type=int, default=20_000, help="records that are there already")
    parser.add_argument("--pending", type=int, default=100_000, help="records that are not indexed; 0: none")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "home"
        fill(path, options.records)
        watcher = subprocess.Popen([sys.executable, "-m", "gitmem", "-C", str(path), "watch", "-q"])
        try:
            time.sleep(3)
            watched = measure(path, options.turns, tail=False)
        finally:
            watcher.send_signal(signal.SIGTERM)
            watcher.wait()
        scanned = measure(path, options.turns, tail=True)
    print(f"{options.turns} turns in a home of {options.records} records, {os.cpu_count()} cores\n")
    print("| found through | median | p95 | largest |")
    print("|---|---|---|---|")
    tell("the watcher, no tail scan", watched)
    tell("the tail scan, no watcher", scanned)
    if options.pending:
        few, many, building = measure_backlog(options.pending, options.turns)
        tell("the next search, 400 pending", few)
        tell(f"the next search, {options.pending:,} pending", many)
        tell("the same while another process builds the index", building)
        ratio = statistics.median(many) / statistics.median(few)
        print(f"\n{options.pending:,} pending take {ratio:.1f} times as long as 400")


def tell(name: str, found: list[float]) -> None:
    """Print a row."""
    row = (statistics.median(found), percentile(found, 0.95), max(found))
    print(f"| {name} | " + " | ".join(f"{value * 1e3:.0f} ms" for value in row) + " |")


def measure_backlog(pending: int, count: int) -> tuple[list[float], list[float], list[float]]:
    """Return the seconds of the search after each turn: few records pending, many, and many being indexed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        few, many = (fill_unindexed(path / str(size), size) for size in (400, pending))
        fast, slow = measure_next(few, count), measure_next(many, count)
        builder = subprocess.Popen([sys.executable, "-m", "gitmem", "-C", str(many), "reindex", "-q"])
        try:
            while not (many / ".git" / "gitmem" / "index").is_dir():
                time.sleep(0.01)
            building = measure_next(many, count, first=count)
        finally:
            builder.kill()
            builder.wait()
        return fast, slow, building


def fill_unindexed(path: Path, records: int) -> Path:
    """Make a home with so many records, none of them indexed."""
    source = turns(None)
    lines = path.with_suffix(".jsonl")
    with lines.open("w", encoding="utf-8") as file:
        for number in range(records // 4):
            for event in next(source):
                event |= {"session": "s1", "turn": f"t{number}", "ts": time.time() - records + number}
                file.write(json.dumps(event) + "\n")
    with AgentHome.init(path, agent="aria") as home:
        home.import_jsonl(lines)
    return path


def measure_next(path: Path, count: int, *, first: int = 0) -> list[float]:
    """Return the seconds of the search that follows each turn; each has to find it."""
    found = []
    with AgentHome.open(path) as home:
        home.search("warm up")
        for number in range(first, first + count):
            word = unique_word(number, tail=True)
            with home.turn(session="s1") as turn:
                turn.message("user", f"The word of this turn is {word}.")
            began = time.perf_counter()
            reply = home.search(word)
            found.append(time.perf_counter() - began)
            assert word in reply.results[0].snippet
    return found


def fill(path: Path, records: int) -> None:
    """Make a home with so many records, indexed."""
    source = turns(None)
    with AgentHome.init(path, agent="aria") as home:
        for _ in range(records // 4):
            home.record(next(source), session="s1")
        home.catch_up()


def unique_word(number: int, *, tail: bool) -> str:
    """Return a word of letters alone: digits would be found by themselves, and so in other turns."""
    letters = "".join(chr(ord("a") + int(digit)) for digit in f"{number:05d}")
    return f"{'zqt' if tail else 'zqw'}{letters}q"


def measure(path: Path, count: int, *, tail: bool) -> list[float]:
    """Return the seconds from each receipt to its first hit."""
    words: multiprocessing.Queue[str] = multiprocessing.Queue()
    seen: multiprocessing.Queue[float] = multiprocessing.Queue()
    reader = multiprocessing.Process(target=poll, args=(str(path), words, seen), kwargs={"tail": tail})
    reader.start()
    seen.get()
    found = []
    with AgentHome.open(path) as home:
        for number in range(count):
            word = unique_word(number, tail=tail)
            words.put(word)
            with home.turn(session="s1") as turn:
                turn.message("user", f"The word of this turn is {word}.")
            began = time.time()
            found.append(max(0.0, seen.get(timeout=60) - began))
            time.sleep(0.05)
    words.put("")
    reader.join()
    return found


if __name__ == "__main__":
    main()
