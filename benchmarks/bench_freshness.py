"""How long after its receipt a turn is found by another process: by the watcher, by the tail scan.

    python benchmarks/bench_freshness.py [--turns 100] [--records 20000]

A second process polls `home.search` for a word that only the new turn holds. Once with `gitmem watch` running
and the scan of what is not indexed switched off, once with that scan and no watcher.
"""

from __future__ import annotations

import argparse
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
    for name, found in (("the watcher, no tail scan", watched), ("the tail scan, no watcher", scanned)):
        row = (statistics.median(found), percentile(found, 0.95), max(found))
        print(f"| {name} | " + " | ".join(f"{value * 1e3:.0f} ms" for value in row) + " |")


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
