"""What `gitmem watch` costs while nothing happens, beside an operator's prompt that runs `git status`.

python benchmarks/bench_idle.py [--notes 1000 10000] [--seconds 60]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench_turns import fill

from gitmem import AgentHome


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--notes", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    print("| notes | share of a core |")
    print("|---|---|")
    for notes in options.notes:
        with tempfile.TemporaryDirectory() as folder:
            print(f"| {notes:,} | {measure(Path(folder) / 'home', notes, options.seconds) * 100:.2f} % |")


def measure(home: Path, notes: int, seconds: int) -> float:
    """Return the share of a core that a watcher takes once it has caught up."""
    AgentHome.init(home, agent="aria").close()
    fill(home, notes)
    watcher = subprocess.Popen([sys.executable, "-m", "gitmem", "-C", str(home), "watch", "-q"])
    try:
        time.sleep(25)
        before, began = processor_seconds(watcher.pid), time.monotonic()
        while time.monotonic() - began < seconds:
            subprocess.run(["git", "-C", str(home), "status", "-s"], capture_output=True, check=True)
            time.sleep(1)
        return (processor_seconds(watcher.pid) - before) / (time.monotonic() - began)
    finally:
        watcher.terminate()
        watcher.wait()


def processor_seconds(pid: int) -> float:
    """Return what a process has used of the processor (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
