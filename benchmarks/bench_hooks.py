"""What gitmem's Git hooks cost an operator: each hook, and whole Git commands, in a home of 20,000 records.

    python benchmarks/bench_hooks.py [--records 20000] [--notes 2000] [--rounds 15]

Prints median and worst of each, in milliseconds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from gitmem.home import AgentHome


def main() -> None:
    """Make the home, then measure."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--records", type=int, default=20_000)
    options.add_argument("--notes", type=int, default=2_000)
    options.add_argument("--rounds", type=int, default=15)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="gitmem-bench-hooks-") as folder:
        home = Path(folder) / "home"
        make_home(home, chosen.records, chosen.notes)
        print(f"{chosen.records} records, {chosen.notes} notes, {chosen.rounds} rounds")
        measure(home, chosen.rounds)


def make_home(home: Path, records: int, notes: int) -> None:
    """Make a home with hooks, records in turns of ten, and notes that are committed."""
    with AgentHome.init(home, agent="bench") as opened:
        text = "Staging listens on port 2222 since the move; the old port stays open until Friday. " * 4
        events = [{"kind": "message", "role": "user", "text": f"{text} {n}"} for n in range(9)]
        for _ in range(records // 10):
            opened.record(events)
        opened.catch_up()
    for number in range(notes):
        path = home / "notes" / f"{number % 50:02d}" / f"note-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\ntitle: Note {number}\n---\n\n{text}\n")
    git(home, "config", "user.name", "Olivia")
    git(home, "config", "user.email", "olivia@example.com")
    git(home, "add", "-A")
    began = time.perf_counter()
    git(home, "commit", "-qm", "all notes at once")
    print(f"commit of {notes} new notes at once: {(time.perf_counter() - began) * 1000:.0f} ms")


def measure(home: Path, rounds: int) -> None:
    """Print what each hook takes by itself, then Git commands with and without hooks."""
    hooks = home / ".git" / "hooks"
    head = git(home, "rev-parse", "HEAD").strip()
    moved = f"{'0' * 40} {head} refs/heads/main\n{'0' * 40} {head} HEAD\n".encode()
    edit(home, 0)
    git(home, "add", "-A")
    show("pre-commit, one note", rounds, lambda: run(home, hooks / "pre-commit"))
    for name, arguments in (
        ("post-commit", []),
        ("post-merge", ["0"]),
        ("post-checkout", [head, head, "1"]),
        ("post-rewrite", ["amend"]),
    ):
        show(name, rounds, lambda name=name, arguments=arguments: run(home, hooks / name, *arguments))
        settle(home)
    show(
        "reference-transaction",
        rounds * 3,
        lambda: run(home, hooks / "reference-transaction", "prepared", stdin=moved),
    )
    pushed = f"refs/heads/main {head} refs/heads/main {'0' * 40}\n".encode()
    show("pre-push", rounds, lambda: run(home, hooks / "pre-push", "origin", "url", stdin=pushed))
    for label, options in (("with hooks", ()), ("without", ("-c", "core.hooksPath=/dev/null"))):
        numbers = iter(range(1, 10_000))
        show(f"git commit -a, {label}", rounds, lambda o=options, n=numbers: commit(home, next(n), o))
        settle(home)
        show(f"git branch -f, {label}", rounds, lambda o=options: git(home, *o, "branch", "-f", "x"))


def show(label: str, rounds: int, act: Callable[[], object]) -> None:
    """Run something often and print how long it took."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        act()
        taken.append((time.perf_counter() - began) * 1000)
    print(f"{label:32} {statistics.median(taken):7.1f} {max(taken):7.1f}")


def settle(home: Path) -> None:
    """Wait until nothing works on the index in the background."""
    with AgentHome.open(home) as opened:
        opened.catch_up()
    time.sleep(1.0)


def edit(home: Path, number: int) -> None:
    """Change one note."""
    (home / "notes" / "00" / "note-0.md").write_text(f"---\ntitle: Note\n---\n\nversion {number}\n")


def commit(home: Path, number: int, options: tuple[str, ...]) -> None:
    """Change one note and commit it."""
    edit(home, number)
    git(home, *options, "commit", "-qam", f"edit {number}")


def run(home: Path, hook: Path, *arguments: str, stdin: bytes = b"") -> None:
    """Run one hook as Git does."""
    subprocess.run([hook, *arguments], cwd=home, input=stdin, check=True, stderr=subprocess.DEVNULL)


def git(home: Path, *arguments: str) -> str:
    """Run Git."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=home,
        env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1"},
        check=True,
        stdout=subprocess.PIPE,
    )
    return done.stdout.decode()


if __name__ == "__main__":
    main()
