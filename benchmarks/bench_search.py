"""The search index beside SQLite's FTS5, on the same records in one run: building it, its size, asking it.

    python benchmarks/bench_search.py [--records 20000 100000] [--data FOLDER] [--queries 200]

Without `--data` the texts are made up from a vocabulary with Zipf's frequencies. Questions are six words of
some record, as an agent asks; FTS5 gets them joined by OR, with its Porter stemmer. Building is everything
from the lines in the object store to the durable commit; both run in one process on one core.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gitmem import AgentHome

_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"][:18]


def texts_of(data: Path | None, seed: int = 1) -> Iterator[str]:
    """Yield texts for ever: those of the development conversations, numbered, or made-up ones."""
    if data is not None:
        conversations = json.loads((data / "locomo" / "locomo-dev.json").read_text("utf-8"))
        found = [
            turn["text"]
            for item in conversations
            for session in item["conversation"].values()
            if isinstance(session, list)
            for turn in session
        ]
        for number in itertools.count():
            yield f"{found[number % len(found)]} ({number})"
    chance = random.Random(seed)
    words = ["".join(parts) for parts in itertools.product(_SYLLABLES, repeat=3)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    chance.shuffle(words)
    while True:
        yield " ".join(chance.choices(words, weights, k=chance.randint(8, 40))) + "."


def questions(texts: list[str], count: int, seed: int = 2) -> list[str]:
    """Return questions of six words of a record each."""
    chance = random.Random(seed)
    found = []
    while len(found) < count:
        words = re.findall(r"[A-Za-z]{3,}", chance.choice(texts))
        if len(words) >= 6:
            found.append(" ".join(chance.sample(words, 6)))
    return found


def fill(home: AgentHome, texts: list[str]) -> None:
    """Record texts as messages, many to a turn, because turns are not measured here."""
    for start in range(0, len(texts), 500):
        session = f"s{start // 2000}"
        events = [{"kind": "message", "role": "user", "text": text} for text in texts[start : start + 500]]
        home.record(events, session=session)


def timed(work: Callable[[], object]) -> float:
    """Return how many seconds some work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def size_of(folder: Path) -> int:
    """Return the bytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def percentiles(seconds: list[float]) -> str:
    """Return median and 95th percentile in milliseconds."""
    ordered = sorted(seconds)
    return f"{statistics.median(ordered) * 1000:.1f} / {ordered[int(len(ordered) * 0.95)] * 1000:.1f} ms"


def measure_gitmem(folder: Path, texts: list[str], asked: list[str]) -> dict[str, str]:
    """Build the index of a home and ask it."""
    path = folder / "home"
    with AgentHome.init(path, agent="aria") as home:
        fill(home, texts)
    with AgentHome.open(path) as home:
        began = time.perf_counter()
        reply = home.search(asked[0])
        cold = time.perf_counter() - began
        status = reply.index_status
        assert status.freshness == "building"
        wall, cpu = time.perf_counter(), time.process_time()
        home.catch_up()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        index = size_of(home.layout.index)
    with AgentHome.open(path) as home:
        first = timed(lambda: home.search(asked[0]))
        every_first = [timed(lambda q=q: home.search(q)) for q in asked]  # type: ignore[misc]
        warm = [timed(lambda q=q: home.search(q)) for q in asked]  # type: ignore[misc]
        assert home.search(asked[0]).index_status.freshness == "fresh"
        home.record([{"kind": "message", "role": "user", "text": "a turn more"}], session="s0")
        one_more = [timed(lambda q=q: home.search(q)) for q in asked]  # type: ignore[misc]
        small = []
        for number in range(30):
            home.record([{"kind": "message", "role": "user", "text": f"word{number} again"}], session="s0")
            small.append(timed(home.catch_up))
    return {
        "build, records/s (one core)": f"{len(texts) / cpu:,.0f} (wall {len(texts) / wall:,.0f})",
        "index, bytes/record": f"{index / len(texts):.0f}",
        "first answer without an index": f"{cold * 1000:.0f} ms, {status.freshness}",
        "first answer of a process": f"{first * 1000:.0f} ms",
        "question, words new to the process": percentiles(every_first),
        "question, warm": percentiles(warm),
        "the same with a turn not indexed": percentiles(one_more),
        "commit of one turn": percentiles(small),
    }


def measure_fts5(folder: Path, texts: list[str], asked: list[str]) -> dict[str, str]:
    """Build an FTS5 table and ask it."""
    path = folder / "fts5.sqlite"
    base = sqlite3.connect(path)
    base.execute("CREATE VIRTUAL TABLE docs USING fts5(text, tokenize='porter unicode61')")
    cpu = time.process_time()
    for start in range(0, len(texts), 8192):
        with base:
            base.executemany("INSERT INTO docs VALUES (?)", [(text,) for text in texts[start : start + 8192]])
    cpu = time.process_time() - cpu
    base.close()
    base = sqlite3.connect(path)

    def ask(question: str) -> None:
        words = " OR ".join(f'"{word}"' for word in question.split())
        base.execute(
            "SELECT rowid, text FROM docs WHERE docs MATCH ? ORDER BY bm25(docs) LIMIT 10", (words,)
        ).fetchall()

    first = timed(lambda: ask(asked[0]))
    every_first = [timed(lambda q=q: ask(q)) for q in asked]  # type: ignore[misc]
    warm = [timed(lambda q=q: ask(q)) for q in asked]  # type: ignore[misc]
    base.close()
    return {
        "build, records/s (one core)": f"{len(texts) / cpu:,.0f}",
        "index, bytes/record": f"{path.stat().st_size / len(texts):.0f}",
        "first answer of a process": f"{first * 1000:.0f} ms",
        "question, words new to the process": percentiles(every_first),
        "question, warm": percentiles(warm),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--data", type=Path, help="folder with locomo/locomo-dev.json")
    options = parser.parse_args()
    for count in options.records:
        texts = list(itertools.islice(texts_of(options.data), count))
        asked = questions(texts, options.queries)
        with tempfile.TemporaryDirectory() as folder:
            gitmem = measure_gitmem(Path(folder), texts, asked)
            fts5 = measure_fts5(Path(folder), texts, asked)
        length = sum(map(len, texts)) / count
        print(f"\n{count:,} records of {length:.0f} characters; median / 95th percentile\n")
        print("| | gitmem | SQLite FTS5 |\n|---|---|---|")
        for name, value in gitmem.items():
            print(f"| {name} | {value} | {fts5.get(name, '–')} |")


if __name__ == "__main__":
    main()
