"""Turns beside kills, git's housekeeping and an operator at work, as fast as all of them can."""

from __future__ import annotations

import itertools
import os
import random
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

from fixtures import commit_all, fsck, git, make_repo, run_git
from turns import Desk, check_chains, make_desk

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

#: Seconds that git's housekeeping and the operator go on.
SECONDS = float(os.environ.get("OPERATOR_SECONDS", "15"))


class Worker:
    """A process that records turns as fast as it can, and notes each receipt.

    Args:
        root: the home.
        name: begins every text; with a number it is told once.
        acks: file to which the texts go whose receipt has come.
    """

    def __init__(self, root: Path, name: str, acks: Path) -> None:
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _record(root, name, acks)
            finally:
                os._exit(1)

    def stop(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Kill the process and wait for its end."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)
        os.waitpid(self.pid, 0)


def _record(root: Path, name: str, acks: Path) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    desk = Desk(root, time.time)
    notes = os.open(acks, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    desk.spool.close_dead(time.time())
    for number in itertools.count():
        with desk.recorder.open(session="s1") as turn:
            turn.message("user", f"{name}.{number} {'x' * random.randrange(2000)}")
            turn.tool("bash", "ls", "a b c")
        if turn.receipt.on_disk:
            os.write(notes, f"{name}.{number}\n".encode())


@contextmanager
def recording(root: Path, acks: Path) -> Iterator[None]:
    """Let a process record turns; it is stopped at the end, after at least one more receipt."""
    worker = Worker(root, "w", acks)
    try:
        yield
        before = len(acknowledged(acks))
        wait_until(lambda: len(acknowledged(acks)) > before)
    finally:
        worker.stop()


def acknowledged(acks: Path) -> list[str]:
    """Return the texts whose receipt came."""
    return acks.read_text().splitlines() if acks.exists() else []


def wait_until(is_true: Callable[[], bool]) -> None:
    """Wait for what must come."""
    deadline = time.monotonic() + 60
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def check(root: Path, acks: Path) -> int:
    """Open the home as the next process does; return the number of turns.

    Every acknowledged turn is there once, no other one twice, and git and the chains are whole.
    """
    desk = Desk(root, time.time)
    desk.spool.close_dead(time.time())
    desk.line.commit_spooled(wait=10)
    desk.settle()
    texts = [text.split(" ", 1)[0] for text in Desk(root).texts()]
    assert len(texts) == len(set(texts))
    assert set(acknowledged(acks)) <= set(texts)
    check_chains(desk.ledger)
    assert not [*desk.layout.spool.iterdir()]
    fsck(root)
    return len(texts)


def test_processes_that_are_killed_lose_and_double_nothing(tmp_path: Path) -> None:
    """Four at a time, killed at any moment, begun again: what had a receipt is there exactly once."""
    desk = make_desk(tmp_path / "home")
    acks = tmp_path / "acks"
    names = (f"p{number}" for number in itertools.count())
    random.seed(7)
    workers = [Worker(desk.layout.root, next(names), acks) for _ in range(4)]
    kills = 0
    deadline = time.monotonic() + 120
    while len(acknowledged(acks)) < 200 or kills < 30:
        assert time.monotonic() < deadline
        time.sleep(random.uniform(0.0, 0.12))
        victim = random.randrange(4)
        workers[victim].stop()
        kills += 1
        workers[victim] = Worker(desk.layout.root, next(names), acks)
    for worker in workers:
        worker.stop()
    assert check(desk.layout.root, acks) >= 200


def test_gits_housekeeping_takes_nothing(tmp_path: Path) -> None:
    """Collecting, pruning and repacking in tight loops: every object of every turn stays."""
    desk = make_desk(tmp_path / "home")
    root, acks = desk.layout.root, tmp_path / "acks"
    commit_all(root, files={"a.md": "a\n"})
    loops = [
        ["gc", "-q", "--prune=now"],
        ["prune", "--expire=now"],
        ["repack", "-adq"],
        ["pack-refs", "--all"],
    ]
    until = time.monotonic() + SECONDS
    failures: list[str] = []

    def loop(command: list[str]) -> None:
        while time.monotonic() < until:
            done = run_git(*command, cwd=root)
            said = done.stderr.decode()
            # Two of them at once may find each other's lock, or a pack that the other has just taken.
            if done.returncode and not any(
                word in said for word in ("lock", "No such file", "already", "another")
            ):
                failures.append(f"{command}: {said}")

    with recording(root, acks):
        threads = [threading.Thread(target=loop, args=(command,)) for command in loops]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []
    assert check(root, acks) > 20


#: What git says where a turn wrote into a folder that was about to go, or took a file of it away first.
_MET: Final = re.compile(
    r"warning: (failed to remove|could not lstat) ledger(/\S*)?: "
    r"(Directory not empty|No such file or directory)"
)


class Operator:
    """Somebody at work in a home with plain git; every command must succeed.

    Args:
        root: the home.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.number = 0
        self.environment = {"GIT_EDITOR": "true", "GIT_SEQUENCE_EDITOR": "true"}

    def git(self, *args: str, **environment: str) -> str:
        """Run git."""
        done = run_git(*args, cwd=self.root, env={**self.environment, **environment})
        assert done.returncode == 0, f"git {' '.join(args)}: {(done.stdout + done.stderr).decode()}"
        return done.stdout.decode()

    def write(self, name: str) -> str:
        """Write a file that was not there."""
        self.number += 1
        path = f"{name}-{self.number}.md"
        (self.root / path).write_text(f"{self.number}\n")
        return path

    def commit_with_an_open_editor(self) -> None:
        """Think about the message while turns go on."""
        self.git("add", self.write("notes"))
        self.git("commit", "-q", GIT_EDITOR="sleep 0.2; echo thought about >")

    def amend(self) -> None:
        """Say it better."""
        self.git("add", self.write("more"))
        self.git("commit", "-q", "--amend", "--no-edit")

    def commit_all(self) -> None:
        """Commit whatever changed."""
        self.write("all")
        self.git("add", "-A")
        self.git("commit", "-qm", "all")
        (self.root / "a.md").write_text(f"{self.number}\n")
        self.git("commit", "-qam", "again")

    def rebase(self) -> None:
        """Bring a branch onto another."""
        self.git("checkout", "-qb", "topic", "HEAD~1")
        self.git("add", self.write("topic"))
        self.git("commit", "-qm", "topic")
        self.git("rebase", "-q", "main")
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "--no-ff", "-m", "merge", "topic")
        self.git("branch", "-qd", "topic")

    def rebase_by_hand(self) -> None:
        """Reorder the last commits."""
        for _ in range(2):
            self.git("add", self.write("pick"))
            self.git("commit", "-qm", "pick")
        self.git("rebase", "-q", "-i", "HEAD~2", GIT_SEQUENCE_EDITOR="sed -i '1{h;d};2{G}'")

    def revert(self) -> None:
        """Take a commit back, and pick it again."""
        self.git("add", self.write("mistake"))
        self.git("commit", "-qm", "mistake")
        wrong = self.git("rev-parse", "HEAD").strip()
        self.git("revert", "--no-edit", "HEAD")
        self.git("cherry-pick", "-x", wrong)

    def switch(self) -> None:
        """Look at the past, at a branch, at a detached commit."""
        self.git("switch", "-q", "--detach", "HEAD~1")
        self.git("switch", "-qc", "side")
        self.git("switch", "-q", "main")
        self.git("branch", "-qD", "side")

    def reset(self) -> None:
        """Throw work away."""
        self.git("add", self.write("away"))
        self.git("commit", "-qm", "away")
        self.write("away")
        self.git("reset", "-q", "--hard", "HEAD~1")
        self.git("clean", "-fdq")

    def clean(self) -> None:
        """Throw everything away that git does not hold."""
        self.write("litter")
        while not self.empties("clean", "-fdxq"):
            pass

    def stash(self) -> None:
        """Put work aside and take it up again, also all of it."""
        (self.root / "a.md").write_text("stashed\n")
        self.git("stash", "-q", "-u")
        self.git("stash", "pop", "-q")
        while not self.empties("stash", "-qa"):
            self.git("stash", "drop", "-q")
        self.git("stash", "drop", "-q")

    def empties(self, *args: str) -> bool:
        """Let git empty the folder; say False where it met a file that a turn wrote in that very moment.

        Git empties folders under no lock, so nobody can keep out of its way for certain. It says so, the rest
        is done, and it is asked again.
        """
        done = run_git(*args, cwd=self.root, env=self.environment)
        if done.returncode == 0:
            return True
        said = done.stderr.decode().splitlines()
        assert said
        assert [line for line in said if not _MET.fullmatch(line)] == []
        return False

    def merge_with_conflict(self) -> None:
        """Leave a merge open for a while, then resolve it."""
        self.git("checkout", "-qb", "theirs")
        (self.root / "a.md").write_text("theirs\n")
        self.git("commit", "-qam", "theirs")
        self.git("checkout", "-q", "main")
        (self.root / "a.md").write_text("ours\n")
        self.git("commit", "-qam", "ours")
        assert run_git("merge", "theirs", cwd=self.root).returncode == 1
        time.sleep(0.1)
        (self.root / "a.md").write_text(f"both {self.number}\n")
        self.git("add", "a.md")
        self.git("commit", "-q", "--no-edit")
        self.git("branch", "-qd", "theirs")

    def look(self) -> None:
        """Ask questions."""
        self.git("status", "--porcelain")
        self.git("log", "--oneline", "--all", "-20")
        # Not fsck: it takes a commit for missing that anybody, also plain git, makes after it has begun.
        self.git("count-objects", "-v")
        self.git("gc", "-q", "--auto")


WORK = [
    Operator.commit_with_an_open_editor,
    Operator.amend,
    Operator.commit_all,
    Operator.rebase,
    Operator.rebase_by_hand,
    Operator.revert,
    Operator.switch,
    Operator.reset,
    Operator.clean,
    Operator.stash,
    Operator.merge_with_conflict,
    Operator.look,
]


def test_an_operator_notices_nothing(tmp_path: Path) -> None:
    """No command fails because of a turn, nothing of the operator's changes, no turn is lost."""
    desk = make_desk(tmp_path / "home")
    root, acks = desk.layout.root, tmp_path / "acks"
    commit_all(root, files={"a.md": "a\n"})
    commit_all(root, files={"b.md": "b\n"})
    operator = Operator(root)
    random.seed(11)
    until = time.monotonic() + SECONDS
    with recording(root, acks):
        for work in itertools.chain(WORK, iter(lambda: random.choice(WORK), None)):
            before = set(git("ls-files", cwd=root).split("\n"))
            work(operator)
            assert git("status", "--porcelain", cwd=root) == ""
            assert git("symbolic-ref", "HEAD", cwd=root) == "refs/heads/main"
            assert before <= set(git("ls-files", cwd=root).split("\n"))
            if time.monotonic() > until:
                break
    assert git("status", "--porcelain", cwd=root) == ""
    authors = git("log", "--format=%an", "main", cwd=root).split("\n")
    assert set(authors) == {"Olivia Operator"}
    assert "ledger" not in git("log", "--format=", "--name-only", "main", cwd=root)
    assert check(root, acks) > 20


def test_plain_git_is_at_home_in_a_home(tmp_path: Path) -> None:
    """Log, clone, fetch, bundle, archive, worktree: nothing special is needed to handle what turns leave."""
    desk = make_desk(tmp_path / "home")
    root = desk.layout.root
    commit_all(root, files={"a.md": "a\n"})
    for number in range(120):
        desk.say(f"{number} {'x' * 800}")
    desk.settle()
    branch = desk.own_ref().removeprefix("refs/heads/")
    subjects = git("log", "--format=%s", branch, cwd=root).split("\n")
    ends = dict.fromkeys(range(12, 121, 12), ", 1 episode")
    assert subjects == [f"turn {number}: 1 message{ends.get(number, '')}" for number in range(120, 0, -1)]
    assert len(git("log", "--patch", branch, "--", "ledger", cwd=root)) > 100_000
    git("clone", "-q", "--bare", str(root), str(tmp_path / "bare"), cwd=tmp_path)
    git("clone", "-q", f"file://{tmp_path / 'bare'}", str(tmp_path / "again"), cwd=tmp_path)
    git("bundle", "create", "-q", str(tmp_path / "all.bundle"), "--all", cwd=root)
    git("clone", "-q", str(tmp_path / "all.bundle"), str(tmp_path / "bundled"), cwd=tmp_path)
    expected = desk.texts()
    for clone in ("again", "bundled"):
        fsck(tmp_path / clone)
        assert Desk(tmp_path / clone).texts() == expected
    git("gc", "-q", "--aggressive", "--prune=now", cwd=root)
    fsck(root)
    assert Desk(root).texts() == expected
    blame = git("blame", "--porcelain", branch, "--", next(iter(desk.ledger.segments())), cwd=root)
    assert blame.count("\nsummary turn ") > 10
    other = make_repo(tmp_path / "other")
    git("fetch", "-q", str(root), "refs/heads/gitmem/turns/*:refs/remotes/x/gitmem/turns/*", cwd=other)
    assert Desk(other).texts() == expected
