"""Verifying a home against `git fsck` of the same repository, and what one new turn costs to verify.

    python benchmarks/bench_verify.py [--turns 50000] [--data FOLDER]

Prints Markdown. `git fsck` checks objects and knows nothing of records: it is what one could run without
gitmem.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from conversations import turns
from timing import record, timed

from gitmem import AgentHome


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=50_000)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "home"
        with AgentHome.init(root, agent="aria") as home:
            source = turns(options.data)
            for _ in range(options.turns):
                record(home, next(source))
            measure(home, root, source)


def measure(home: AgentHome, root: Path, source: Iterator[list[dict[str, object]]]) -> None:
    """Verify everything, then one turn at a time, and let git check the same repository."""
    began, cpu = time.perf_counter(), time.process_time()
    whole = home.verify(full=True)
    full, full_cpu = time.perf_counter() - began, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert whole.ok, whole.findings[:3]
    fresh = []
    for _ in range(10):
        record(home, next(source))
        began = time.perf_counter()
        assert home.verify().ok
        fresh.append(time.perf_counter() - began)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    fsck = timed(lambda: subprocess.run(["git", "fsck", "--full"], cwd=root, check=True, capture_output=True))
    fsck_cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    count = whole.checked.commits
    print(f"{count} commits, {whole.checked.lines} lines, {whole.checked.episodes} episodes\n")
    print("| figure | wall | CPU |")
    print("|---|---|---|")
    print(f"| `gitmem verify --full` | {full:.2f} s | {full_cpu:.2f} s, {count / full_cpu:,.0f} turns/s |")
    print(
        f"| `gitmem verify` after one more turn, median of 10 | {statistics.median(fresh) * 1e3:.0f} ms | |"
    )
    print(f"| `git fsck --full` of the same repository | {fsck:.2f} s | {fsck_cpu:.2f} s |")
    print(f"| ratio of the first to the last | {full / fsck:.2f} | {full_cpu / fsck_cpu:.2f} |")
    print(f"| peak of memory, mapped packs and the index among it | {peak:.0f} MB | |")


if __name__ == "__main__":
    main()
