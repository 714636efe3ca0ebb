"""Turns against a model: kills between any two steps, an operator's git, several processes on one home."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fixtures import CounterClock, git, make_repo, run_git
from turns import Desk, check_chains

STEPS = ("sealed", "packed", "moved", "copied", "remembered", "marked", "settled", "cleared")


class Kill(BaseException):
    """The process dies here."""


class TurnModel(RuleBasedStateMachine):
    """The model is a list: the texts of all acknowledged turns."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.root = make_repo(Path(self.folder.name) / "home")
        self.clock = CounterClock()
        self.acknowledged: list[str] = []
        self.desks: list[Desk] = []
        self.kill_at: str | None = None
        self.number = 0

    @initialize()
    def commit_something(self) -> None:
        """An operator's branch with one commit."""
        (self.root / "a.md").write_text("one\n")
        git("add", "a.md", cwd=self.root)
        git("commit", "-qm", "begin", cwd=self.root)
        self.desks = [self.desk(), self.desk()]

    def desk(self) -> Desk:
        """Open the home as another process."""
        return Desk(self.root, self.clock, self.step)

    def step(self, name: str) -> None:
        """Die here, if it is time."""
        if name == self.kill_at:
            self.kill_at = None
            raise Kill

    @rule(which=st.integers(0, 1), kill=st.sampled_from([None, None, None, *STEPS]))
    def turn(self, which: int, kill: str | None) -> None:
        """A turn; where a kill comes, the process is gone and another one opens the home."""
        self.number += 1
        text = f"text {self.number}"
        desk = self.desks[which]
        turn = desk.recorder.open(session="s1")
        turn.message("user", text)
        self.kill_at = kill
        self.acknowledged.append(text)  # the spool file stands under its final name before any step
        try:
            turn.finish("completed")
        except Kill:
            self.desks[which] = self.desk()
        self.kill_at = None

    @rule(which=st.integers(0, 1))
    def die_in_the_middle(self, which: int) -> None:
        """A process dies with a turn open: what had come is closed as interrupted at the next open."""
        self.number += 1
        text = f"interrupted {self.number}"
        turn = self.desks[which].recorder.open()
        turn.message("user", text)
        turn.file.close()  # the kernel closes a dead process's files
        self.acknowledged.append(text)
        self.desks[which] = self.desk()
        self.desks[which].spool.close_dead(self.clock())

    @rule(which=st.integers(0, 1), kill=st.sampled_from([None, "settled", "cleared"]))
    def settle(self, which: int, kill: str | None) -> None:
        """The last turns are made durable and leave the spool."""
        self.kill_at = kill
        try:
            self.desks[which].line.settle()
        except Kill:
            self.desks[which] = self.desk()
        self.kill_at = None

    @rule(back=st.integers(-7_200, 7_200))
    def move_clock(self, back: int) -> None:
        """The wall clock jumps."""
        self.clock.advance(back)

    @rule(what=st.sampled_from(["clean", "reset", "gc", "pack-refs", "commit", "detach", "branch", "stash"]))
    def operate(self, what: str) -> None:
        """The operator uses git; nothing of it concerns the turns."""
        commands = {
            "clean": [["clean", "-fdxq"]],
            "reset": [["reset", "-q", "--hard"]],
            "gc": [["gc", "-q", "--prune=now"]],
            "pack-refs": [["pack-refs", "--all"]],
            "commit": [["commit", "-q", "--allow-empty", "-m", "x"]],
            "detach": [["checkout", "-q", "--detach"]],
            "branch": [["checkout", "-q", "-B", "other"]],
            "stash": [["stash", "-qa"]],
        }
        for command in commands[what]:
            run_git(*command, cwd=self.root)

    @precondition(lambda self: self.acknowledged)
    @rule(how=st.sampled_from(["delete", "back"]))
    def meddle(self, how: str) -> None:
        """Somebody deletes the turn line or moves it back: it is put back."""
        for ref in git("for-each-ref", "--format=%(refname)", "refs/heads/gitmem", cwd=self.root).split():
            older = run_git("rev-parse", "-q", "--verify", f"{ref}~1", cwd=self.root).stdout.decode().strip()
            if how == "delete":
                run_git("update-ref", "-d", ref, cwd=self.root)
            elif older:
                git("update-ref", ref, older, cwd=self.root)

    @invariant()
    def nothing_is_lost(self) -> None:
        """Every acknowledged turn is readable exactly once, from the line or from the spool."""
        if not self.desks:
            return
        desk = self.desk()
        desk.spool.close_dead(self.clock())
        desk.line.commit_spooled(wait=5)
        assert sorted(desk.texts()) == sorted(self.acknowledged)
        check_chains(desk.ledger)

    def teardown(self) -> None:
        """What is left satisfies git, and the copy on disk can be made equal to the line."""
        if self.desks:
            desk = self.desk()
            desk.line.commit_spooled(wait=5)
            desk.line.settle()
            assert not list(desk.layout.spool.iterdir()) if desk.layout.spool.exists() else True
            git("fsck", "--strict", "--no-dangling", cwd=self.root)
        self.folder.cleanup()


TurnModel.TestCase.settings = settings(
    max_examples=300, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
TestTurnModel = pytest.mark.slow(pytest.mark.timeout(600)(TurnModel.TestCase))
