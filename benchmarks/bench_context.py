"""What a context costs, and whether that grows with the ledger: one home at a tenth of its turns and at all.

    python benchmarks/bench_context.py [--turns 24000] [--contexts 200]

Prints Markdown. A turn has four records; every hundredth begins a work item, and episodes come by themselves.
Memory is that of the process itself behind the last context; pages of files that it maps, as of packs, belong
to the system, which takes them back when it needs them.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gitmem import AgentHome

WORDS = [
    "staging",
    "port",
    "deploy",
    "cache",
    "index",
    "session",
    "note",
    "budget",
    "file",
    "test",
    "会话",
    "压缩",
]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=24_000)
    parser.add_argument("--contexts", type=int, default=200)
    options = parser.parse_args()
    random.seed(3)
    print("| turns | median | 95th percentile | first in a process | first ever | memory | mapped files |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "home"
        medians = []
        told = 0
        for turns in (options.turns // 10, options.turns):
            fill(path, told, turns)
            told = turns
            medians.append(measure(path, turns, options.contexts))
    print(f"\nTen times the turns: {medians[1] / medians[0]:.2f} times the median.")


def fill(path: Path, begin: int, end: int) -> None:
    """Record turns."""
    clock = [1_780_000_000.0 + begin]

    def now() -> float:
        clock[0] += 1
        return clock[0]

    with AgentHome.open(path, now=now) if begin else AgentHome.init(path, agent="aria", now=now) as home:
        for number in range(begin, end):
            with home.turn(session=f"s{number // 50}") as turn:
                if number % 100 == 0:
                    turn.event("work_item", action="create", work_item_id=f"w{number}", objective=words(6))
                    turn.event("work_item", action="pick", work_item_id=f"w{number}")
                turn.message("user", words(20))
                turn.tool("shell", {"command": words(4)}, words(30), exit_code=0)
                turn.message("assistant", words(60))


def measure(path: Path, turns: int, contexts: int) -> float:
    """Print a row; return the median in milliseconds."""
    # Processes of their own: what recording the turns took is no memory of contexts.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as newcomer:
        ever, _, _ = newcomer.submit(contexts_of, path, turns, 1).result()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        first, times, (memory, mapped) = process.submit(contexts_of, path, turns, contexts).result()
    times.sort()
    median, late = statistics.median(times), times[int(len(times) * 0.95)]
    row = [f"{median:.1f} ms", f"{late:.1f} ms", f"{first:.0f} ms", f"{ever:.0f} ms"]
    print(f"| {turns:,} | {' | '.join([*row, f'{memory} MB', f'{mapped} MB'])} |", flush=True)
    return median


def contexts_of(path: Path, turns: int, contexts: int) -> tuple[float, list[float], tuple[int, int]]:
    """Return what the first context takes and what the others take, in milliseconds, and the memory."""
    random.seed(turns)
    with AgentHome.open(path, catches_up=False) as home:
        begin = time.perf_counter()
        home.context(words(4))
        first = (time.perf_counter() - begin) * 1000
        times = []
        for _ in range(contexts):
            session = f"s{random.randrange(max(1, turns // 50))}"
            begin = time.perf_counter()
            home.context(words(4), session=session)
            times.append((time.perf_counter() - begin) * 1000)
        return first, times, memory()


def memory() -> tuple[int, int]:
    """Return the megabytes of this process's own pages, and of files that it maps; Linux says."""
    told = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    own, mapped = (int(told[name].split()[0]) // 1024 for name in ("RssAnon", "RssFile"))
    return own, mapped


def words(count: int) -> str:
    """Return some words."""
    return " ".join(random.choice(WORDS) for _ in range(count))


if __name__ == "__main__":
    main()
