"""Speed of search beside other keyword searches, on the same records and questions in one run.

    python benchmarks/bench_search.py --data FOLDER [--records 1000 10000 100000] [--queries 200]

With `--data` records are sentences of the development conversations, shuffled, and questions are those asked
about them; without it both are made up. The others get every word of a question joined by OR, and once more
its content words only. Building is everything from the lines in the object store to the durable commit; it
runs on one core. Messages belong to conversations of 25; `--conversation 100000` makes one of them all.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from peers import Peer, missing, peers_of, size_of
from search_corpus import Corpus, make_corpus

from gitmem import AgentHome
from gitmem.analysis import analyze_query

#: A word that no record has, in a question that reads all that a search needs besides postings.
_WARM_UP = "When did xyzzyq last speak?"
#: Seconds for one series of questions.
_PATIENCE = 15.0
_COLD_RUNS = 9
_EMPTY_CACHE_RUNS = 60


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one search.

    Attributes:
        warm, content: seconds of each question, every word of it and its content words; gitmem leaves out the
            others itself.
        first: seconds of each question when it is asked for the first time.
        rate: records a second when the index was built.
        size: bytes of the index a record.
    """

    name: str
    warm: Sequence[float]
    content: Sequence[float]
    first: Sequence[float]
    rate: float
    size: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--conversation", type=int, default=25, help="messages of a conversation")
    parser.add_argument("--engine", nargs="+", default=["whoosh"], help="gitmem's index: whoosh, tantivy")
    parser.add_argument("--data", type=Path, help="folder with locomo/locomo-dev.json")
    options = parser.parse_args()
    for count in options.records:
        corpus = make_corpus(options.data, count, options.queries)
        print(f"\n{corpus.describe()}; conversations of {options.conversation}\n", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            rows, more = [], {}
            for engine in options.engine:
                row, facts = measure_gitmem(home_of(folder, engine), corpus, engine, options.conversation)
                rows.append(row)
                more[row.name] = facts
            for peer, cpu in peers_of(Path(folder), corpus.texts):
                rows.append(measure_peer(peer, cpu, corpus))
                if "porter" in peer.name:
                    for engine, name in zip(options.engine, list(more), strict=True):
                        more[name] |= measure_in_turn(home_of(folder, engine), peer, corpus)
        print_rows(rows)
        print_facts(more)
    for name in missing():
        print(f"\nNot installed, so not measured: {name}")


def home_of(folder: str, engine: str) -> Path:
    """Return where the home of an engine is made."""
    return Path(folder) / f"home-{engine}"


def print_rows(rows: Sequence[Row]) -> None:
    """Print one line for each search; FTS5 with its Porter stemmer is what others are compared with."""
    base = next(row for row in rows if "porter" in row.name)
    every, content = statistics.median(base.warm), statistics.median(base.content)
    print("| | a question, warm | × FTS5, every word | × FTS5, content words | first | records/s | bytes |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        rate = f"{row.rate:,.0f}" if row.rate else "–"
        print(
            f"| {row.name} | {percentiles(row.warm)} | {statistics.median(row.warm) / every:.2f} "
            f"| {statistics.median(row.content) / content:.2f} | {percentiles(row.first)} | {rate} "
            f"| {row.size:.0f} |"
        )
    print(f"\nFTS5 with content words only: {percentiles(base.content)}\n", flush=True)


def print_facts(facts: dict[str, dict[str, str]]) -> None:
    """Print what only gitmem has."""
    print(f"| | {' | '.join(facts)} |\n|---|{'---|' * len(facts)}")
    for name in next(iter(facts.values())):
        print(f"| {name} | {' | '.join(own[name] for own in facts.values())} |", flush=True)


# gitmem


def measure_gitmem(path: Path, corpus: Corpus, engine: str, conversation: int) -> tuple[Row, dict[str, str]]:
    """Build the index of a home and ask it.

    Args:
        path: of the home.
        corpus: what is recorded, and asked.
        engine: of the index.
        conversation: how many messages it has.
    """
    with AgentHome.init(path, agent="aria") as home:
        if engine != "whoosh":
            home.config_set("search.engine", engine)
        fill(home, corpus.texts, conversation)
    facts, rate, size = measure_building(path, corpus, engine)
    facts["a question, cache empty"] = percentiles(list(empty_cache_times(path, corpus.questions)))
    with AgentHome.open(path) as home:
        first = [timed(lambda q=q: home.search(q)) for q in corpus.questions]  # type: ignore[misc]
        warm = [timed(lambda q=q: home.search(q)) for q in corpus.questions]  # type: ignore[misc]
        assert home.search(corpus.questions[0]).index_status.freshness == "fresh"
        facts |= measure_growth(home, corpus)
    facts["memory before and after all questions"] = memory_of(path, corpus.questions)
    facts["`gitmem search` as a process"] = percentiles(list(cold_times(path, corpus.questions)))
    return Row(f"**gitmem**, {engine}", warm, warm, first, rate, size), facts


def fill(home: AgentHome, texts: Sequence[str], conversation: int) -> None:
    """Record texts as messages, a conversation to a turn, because turns are not measured here."""
    most = min(conversation, 500)
    for start in range(0, len(texts), most):
        events = [{"kind": "message", "role": "user", "text": text} for text in texts[start : start + most]]
        home.record(events, session=f"s{start // conversation}")


def measure_building(path: Path, corpus: Corpus, engine: str) -> tuple[dict[str, str], float, float]:
    """Build the index; return facts, records a second of one core, and bytes a record."""
    records = len(corpus.texts)
    with AgentHome.open(path) as home:
        began = time.perf_counter()
        status = home.search(corpus.questions[0]).index_status
        cold = time.perf_counter() - began
        wall, cpu = time.perf_counter(), time.process_time()
        home.catch_up()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        size = size_of(home.layout.indexes[engine]) / records
    facts = {
        "first answer without an index": f"{cold * 1000:.0f} ms, {status.freshness}",
        "building, records/s by the clock": f"{records / wall:,.0f}",
    }
    return facts, records / cpu, size


def empty_cache_times(path: Path, questions: Sequence[str]) -> Iterator[float]:
    """Yield the seconds of questions, each asked of a home that has read only what any search needs."""
    for question in questions[:_EMPTY_CACHE_RUNS]:
        with AgentHome.open(path) as home:
            home.search(_WARM_UP)
            yield timed(lambda: home.search(question))  # noqa: B023


_ASK_ALL = """
import json, sys
from bench_turns import rss
from gitmem import AgentHome
home = AgentHome.open(sys.argv[1])
before = rss()
for question in json.load(sys.stdin):
    home.search(question)
print(f"{before // 1024} / {rss() // 1024} MB")
"""


def memory_of(path: Path, questions: Sequence[str]) -> str:
    """Return the resident memory of a process of its own, before and after it asks all questions."""
    here = Path(__file__).resolve().parent
    folders = [str(here), str(here.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-c", _ASK_ALL, str(path)],
        input=json.dumps(questions),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        text=True,
        capture_output=True,
        check=True,
    )
    return done.stdout.strip()


def measure_growth(home: AgentHome, corpus: Corpus) -> dict[str, str]:
    """Ask with a turn that is not indexed yet, then commit single turns to the index."""
    home.record([{"kind": "message", "role": "user", "text": "a turn more"}], session="s0")
    more = [timed(lambda q=q: home.search(q)) for q in corpus.questions]  # type: ignore[misc]
    small = []
    for number in range(30):
        home.record([{"kind": "message", "role": "user", "text": f"word{number} again"}], session="s0")
        small.append(timed(home.catch_up))
    return {
        "a question, with a turn not indexed": percentiles(more),
        "commit of one turn to the index": percentiles(small),
    }


def cold_times(path: Path, questions: Sequence[str]) -> Iterator[float]:
    """Yield the seconds of whole commands; the first one is not counted."""
    for number, question in enumerate(questions[: _COLD_RUNS + 1]):
        words = re.sub(r"^-+", "", question)
        command = [sys.executable, "-m", "gitmem", "-C", str(path), "search", words]
        seconds = timed(lambda: subprocess.run(command, check=True, capture_output=True))  # noqa: B023
        if number:
            yield seconds


# Others


def measure_peer(peer: Peer, cpu: float, corpus: Corpus) -> Row:
    """Ask a peer every question, then its content words only."""
    records = len(corpus.texts)
    bare = [content_of(question) for question in corpus.questions]
    first, warm, content = (
        list(times_of(peer, asked)) for asked in (corpus.questions, corpus.questions, bare)
    )
    rate = records / cpu if peer.size else 0.0
    return Row(peer.name, warm, content, first, rate, peer.size / records)


def measure_in_turn(path: Path, peer: Peer, corpus: Corpus) -> dict[str, str]:
    """Ask a home and a peer the same questions in turn, so that the load of the machine falls out."""
    every, content = [], []
    with AgentHome.open(path) as home:
        for question in corpus.questions:
            home.search(question)
        for question in corpus.questions:
            own = timed(lambda: home.search(question))  # noqa: B023
            every.append(own / timed(lambda: peer.ask(question)))  # noqa: B023
            content.append(own / timed(lambda: peer.ask(content_of(question))))  # noqa: B023
    return {
        "× FTS5 in turn, every word": f"{statistics.median(every):.2f}",
        "× FTS5 in turn, content words only": f"{statistics.median(content):.2f}",
    }


def times_of(peer: Peer, questions: Sequence[str]) -> Iterator[float]:
    """Yield the seconds of questions; of a slow peer, those that fit into `_PATIENCE`."""
    spent = 0.0
    for question in questions:
        seconds = timed(lambda: peer.ask(question))  # noqa: B023
        spent += seconds
        yield seconds
        if spent > _PATIENCE:
            return


def content_of(question: str) -> str:
    """Return a question without words that carry no content, as gitmem leaves them out."""
    return " ".join(unit.surface for unit in analyze_query(question))


def timed(work: Callable[[], object]) -> float:
    """Return how many seconds some work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def percentiles(seconds: Sequence[float]) -> str:
    """Return median and 95th percentile in milliseconds."""
    ordered = sorted(seconds)
    middle, high = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
    return f"{middle * 1000:.1f} / {high * 1000:.1f} ms"


if __name__ == "__main__":
    main()
