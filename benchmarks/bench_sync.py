"""What a sync costs in a process that runs already, against plain `git fetch && git push` in the same run.

    python benchmarks/bench_sync.py [--turns 5000 20000] [--rounds 15] [--merged 1000]

Two machines and a bare repository, reached by its path. Each round both have said something new: the other
one has pushed its turn already, so that this one fetches a turn and pushes one. `home.sync` is the whole of
it: lines, branch, tags, the ledger's copy on disk. Git fetches and pushes the turn line alone, in a copy of
both. Then each machine says as much as `--merged` turns and changes files apart from the other, and the sync
that brings both together is timed. Prints Markdown: medians, and how gitmem compares; the goal is 1.2 at
most, whatever the length of history, and two seconds for the merge.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
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
    parser.add_argument("--turns", type=int, nargs="+", default=[5_000, 20_000])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--merged", type=int, default=1_000, help="turns of each machine that come together")
    options = parser.parse_args()
    print("| turns | home.sync | nothing new | git fetch && push | gitmem to git | both said much | size |")
    print("|---|---|---|---|---|---|---|")
    for count in options.turns:
        with tempfile.TemporaryDirectory(prefix="bench-sync-") as folder:
            measure(Path(folder), count, options)


def measure(folder: Path, count: int, options: argparse.Namespace) -> None:
    """Build one history on two machines, and let them talk."""
    source = turns(None)
    one, two = machines(folder, count, source)
    plain = copies(folder)
    ours, idle, theirs = [], [], []
    for _ in range(options.rounds):
        for home in (one, two):
            record(home, next(source))
        two.sync()
        ours.append(timed(one.sync))
        idle.append(timed(one.sync))
        for name in ("b", "a"):
            with AgentHome.open(plain / name) as home:
                record(home, next(source))
            if name == "b":
                by_git(plain / name)
        theirs.append(timed(lambda: by_git(plain / "a")))
    much = merge(one, two, options.merged, source)
    row = [f"{1000 * statistics.median(times):.0f} ms" for times in (ours, idle, theirs)]
    ratio = statistics.median(ours) / statistics.median(theirs)
    size = sum(file.stat().st_size for file in (folder / "a" / ".git").rglob("*") if file.is_file())
    print(f"| {count:,} | {' | '.join(row)} | {ratio:.2f} | {much:.2f} s | {size >> 20} MiB |", flush=True)
    one.close()
    two.close()


def machines(
    folder: Path, count: int, source: Iterator[list[dict[str, object]]]
) -> tuple[AgentHome, AgentHome]:
    """Return two homes that have said half of the turns each, and a remote between them."""
    git("init", "-q", "--bare", "-b", "main", "remote.git", cwd=folder)
    AgentHome.create(folder / "a", "aria")
    one = AgentHome.open(folder / "a", catches_up=False)
    one.remote_add("origin", str(folder / "remote.git"))
    one.note_add("plan.md", content="".join(f"line {number}\n" for number in range(100)))
    one.sync(timeout=600)
    two = AgentHome.clone(str(folder / "remote.git"), folder / "b")
    for number in range(count):
        record((one, two)[number % 2], next(source))
        if number % 1000 == 999:
            one.sync(timeout=600)
            two.sync(timeout=600)
    for home in (one, two, one):
        home.sync(timeout=600)
    return one, two


def copies(folder: Path) -> Path:
    """Return a folder with both machines and their remote once more, for plain Git."""
    plain = folder / "plain"
    plain.mkdir()
    for name in ("a", "b", "remote.git"):
        shutil.copytree(folder / name, plain / name, symlinks=True)
    for name in ("a", "b"):
        git("remote", "set-url", "origin", str(plain / "remote.git"), cwd=plain / name)
        git("config", "core.hooksPath", "no-hooks", cwd=plain / name)
    return plain


def by_git(root: Path) -> None:
    """Fetch what is new, and push the turn line."""
    git("fetch", "-q", "origin", cwd=root)
    git("push", "-q", "origin", "refs/heads/gitmem/turns/*", cwd=root)


def merge(one: AgentHome, two: AgentHome, count: int, source: Iterator[list[dict[str, object]]]) -> float:
    """Let both say much and change files apart; return the seconds that coming together takes."""
    for number, home in enumerate((one, two)):
        for _ in range(count):
            record(home, next(source))
        for entry in range(10):
            home.entries("memory").add(f"Machine {number} knows fact {entry}.")
        home.note_append("plan.md", f"What machine {number} added\n")
    two.sync()
    seconds = timed(one.sync)
    two.sync()
    return seconds


def git(*arguments: str, cwd: Path) -> None:
    """Run Git."""
    subprocess.run(["git", *arguments], cwd=cwd, check=True)


if __name__ == "__main__":
    main()
