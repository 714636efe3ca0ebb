"""Turns against a model: kills between any two steps, an operator's git, several processes on one home."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest
from examples import examples
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fixtures import CounterClock, git, make_repo, run_git
from gitmem.spool import read_turn
from gitmem.turn import Turn
from turns import Desk, check_chains, lines_of, put_on_line

STEPS = ("sealed", "packed", "moved", "copied", "remembered", "marked", "settled", "cleared")
#: How many walks the long model takes.
LONG = int(os.environ.get("TURN_MODEL_WALKS", "50"))
#: Two processes in the main work tree, one in a linked one.
DESKS = st.integers(0, 2)


class Kill(BaseException):
    """The process dies here."""


class TurnModel(RuleBasedStateMachine):
    """The model is a dictionary: id and text of each record that was acknowledged and not forgotten."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.root = make_repo(Path(self.folder.name) / "home")
        self.second = Path(self.folder.name) / "second"
        self.clock = CounterClock()
        self.told: dict[str, str] = {}
        self.desks: list[Desk] = []
        self.held: list[str] = []
        self.fault: tuple[str, BaseException] | None = None
        self.number = 0

    @initialize()
    def commit_something(self) -> None:
        """An operator's branch with one commit."""
        with (self.root / ".git" / "info" / "exclude").open("a") as exclude:
            exclude.write("/ledger/\n")
        (self.root / "a.md").write_text("one\n")
        git("add", "a.md", cwd=self.root)
        git("commit", "-qm", "begin", cwd=self.root)
        git("worktree", "add", "-q", "--detach", str(self.second), cwd=self.root)
        self.desks = [self.desk(which) for which in range(3)]

    def desk(self, which: int) -> Desk:
        """Open a work tree as another process."""
        return Desk(self.second if which == 2 else self.root, self.clock, self.step)

    def step(self, name: str) -> None:
        """Die or fail here, if it is time."""
        if self.fault is not None and name == self.fault[0]:
            error, self.fault = self.fault[1], None
            raise error

    def tell(self, turn: Turn, **fields: str) -> None:
        """Tell of a message."""
        self.number += 1
        turn.message("user", f"text {self.number} {'x' * (self.number % 7 * 5000)}", **fields)

    def acknowledge(self, turn: Turn) -> None:
        """Take what a turn told into the model."""
        for event in read_turn(turn.file.path).events:
            self.told[event.id] = str(event.body["text"])

    @rule(which=DESKS, count=st.integers(1, 3), kill=st.sampled_from([None, None, None, *STEPS]))
    def turn(self, which: int, count: int, kill: str | None) -> None:
        """A turn; where a kill comes, the process is gone and another one opens the home."""
        turn = self.desks[which].recorder.open(session="s1")
        for _ in range(count):
            self.tell(turn)
        self.acknowledge(turn)  # the spool file stands under its final name before any step
        self.fault = (kill, Kill()) if kill else None
        try:
            turn.finish("completed")
        except Kill:
            self.desks[which] = self.desk(which)
        self.fault = None

    @rule(which=DESKS, at=st.sampled_from(STEPS))
    def turn_on_a_full_disk(self, which: int, at: str) -> None:
        """The receipt says what is true, and the process goes on."""
        turn = self.desks[which].recorder.open()
        self.tell(turn)
        self.acknowledge(turn)
        self.fault = (at, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        turn.finish("aborted")
        assert turn.receipt.on_disk
        assert turn.receipt.committed or turn.receipt.reason
        self.fault = None

    @rule(which=DESKS)
    def turn_that_waits(self, which: int) -> None:
        """A turn is acknowledged and not committed."""
        turn = self.desks[which].recorder.open()
        self.tell(turn)
        self.acknowledge(turn)
        turn.spool_only()

    @rule(which=DESKS)
    def die_in_the_middle(self, which: int) -> None:
        """A process dies with a turn open: what had come is closed as interrupted at the next open."""
        turn = self.desks[which].recorder.open()
        self.tell(turn)
        self.acknowledge(turn)
        turn.file.close()  # the kernel closes a dead process's files
        self.desks[which] = self.desk(which)
        self.desks[which].spool.close_dead(self.clock())

    @rule(which=st.integers(0, 1))
    def open_held(self, which: int) -> None:
        """A turn is begun that several processes feed."""
        self.held.append(self.desks[which].recorder.open_held())

    @precondition(lambda self: self.held)
    @rule(which=st.integers(0, 1), closes=st.booleans(), kill=st.sampled_from([None, *STEPS]))
    def feed_held(self, which: int, closes: bool, kill: str | None) -> None:
        """Any process adds to it or ends it."""
        self.number += 1
        event = {"kind": "message", "role": "user", "text": f"held {self.number}"}
        recorder = self.desks[which].recorder
        (added,) = recorder.add_held(self.held[-1], [event])
        self.told[added["id"]] = event["text"]
        if closes:
            self.fault = (kill, Kill()) if kill else None
            try:
                recorder.close_held(self.held[-1])
            except Kill:
                self.desks[which] = self.desk(which)
            self.fault = None
            self.held.pop()

    @rule(which=DESKS, kill=st.sampled_from([None, "settled", "cleared"]))
    def settle(self, which: int, kill: str | None) -> None:
        """The last turns are made durable and leave the spool."""
        self.fault = (kill, Kill()) if kill else None
        try:
            self.desks[which].settle()
        except Kill:
            self.desks[which] = self.desk(which)
        self.fault = None

    @rule(back=st.integers(-90_000, 90_000))
    def move_clock(self, back: int) -> None:
        """The wall clock jumps."""
        self.clock.advance(back)

    @rule(
        what=st.sampled_from(
            ["clean", "reset", "gc", "pack-refs", "commit", "detach", "branch", "stash", "line", "repack"]
        )
    )
    def operate(self, what: str) -> None:
        """The operator uses git; nothing of it concerns the turns."""
        line = self.lines()[:1]
        commands = {
            "clean": [["clean", "-fdxq"]],
            "reset": [["reset", "-q", "--hard"]],
            "gc": [["gc", "-q", "--prune=now"]],
            "repack": [["repack", "-adq"], ["prune", "--expire=now"]],
            "pack-refs": [["pack-refs", "--all"]],
            "commit": [["commit", "-q", "--allow-empty", "-m", "x"]],
            "detach": [["checkout", "-q", "--detach"]],
            "branch": [["checkout", "-q", "-B", "other", "main"]],
            "stash": [["stash", "-qa"]],
            "line": [["checkout", "-qf", *line]],
        }
        for command in commands[what]:
            run_git(*command, cwd=self.root)

    def lines(self) -> list[str]:
        """Return the names of the turn lines of here."""
        refs = git("for-each-ref", "--format=%(refname:short)", "refs/heads/gitmem", cwd=self.root)
        return refs.split()

    @rule(how=st.sampled_from(["delete", "back", "empty", "garbage", "commit", "lock", "forget notes"]))
    def meddle(self, how: str) -> None:
        """Somebody does to the turn lines what nobody should: it is put right."""
        if run_git("symbolic-ref", "-q", "HEAD", cwd=self.root).stdout.startswith(b"refs/heads/gitmem/"):
            return  # while HEAD names a line gitmem does not touch it
        for name in self.lines():
            ref = f"refs/heads/{name}"
            path = self.root / ".git" / ref
            older = run_git("rev-parse", "-q", "--verify", f"{ref}~1", cwd=self.root).stdout.decode().strip()
            if how == "delete":
                run_git("update-ref", "-d", ref, cwd=self.root)
            elif how == "back" and older:
                git("update-ref", ref, older, cwd=self.root)
            elif how in ("empty", "garbage") and path.exists():
                path.write_text("" if how == "empty" else "garbage\n")
            elif how == "commit":
                put_on_line(self.root, ref, {"README.md": b"mine\n"}, message="mine\n")
            elif how == "lock":
                path.parent.mkdir(parents=True, exist_ok=True)
                path.with_name(path.name + ".lock").write_text("gitmem")
        if how == "forget notes":
            (self.root / ".git" / "gitmem" / "main" / "last").unlink(missing_ok=True)

    @rule()
    def fetch_another_line(self) -> None:
        """A line comes from elsewhere."""
        self.number += 1
        writer = f"w{self.number:08x}"
        lines = lines_of([f"theirs {self.number}", f"theirs too {self.number}"], writer=writer)
        segment = f"ledger/2026-03/02/{writer}-0001.jsonl"
        ref = f"refs/remotes/origin/gitmem/turns/{writer}"
        put_on_line(self.root, ref, {segment: b"".join(line.raw for line in lines)})
        self.told |= {lines[0].id: f"theirs {self.number}", lines[1].id: f"theirs too {self.number}"}

    @precondition(lambda self: self.told)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        """A receipt comes from elsewhere."""
        gone = data.draw(st.sampled_from(sorted(self.told)))
        self.number += 1
        ref = f"refs/remotes/origin/gitmem/turns/w{self.number:08x}"
        path = f"ledger/forgotten/record/{gone.partition('_')[2][:2]}/{gone}.jsonl"
        put_on_line(self.root, ref, {path: b"{}\n"})
        del self.told[gone]

    @invariant()
    def nothing_is_lost(self) -> None:
        """Every acknowledged record is readable exactly once, from the lines or from the spool."""
        if not self.desks:
            return
        found: list[tuple[str, str]] = []
        for which in (2, 0):
            desk = self.desk(which)
            desk.spool.close_dead(self.clock())
            desk.line.commit_spooled(wait=5)
            waiting = [event for turn in desk.ledger.spooled() for event in turn.events]
            found += [(event.id, str(event.body["text"])) for event in waiting]
        held = [event for name in self.held for event in self.held_events(name)]
        found += [(event_id, text) for event_id, text in held if event_id in self.told]
        for record in desk.records():
            if record.kind == "message" and not record.redacted:
                found.append((record.id, str(desk.ledger.full_body(record)["text"])))
        assert sorted(found) == sorted(self.told.items())
        check_chains(desk.ledger)

    def held_events(self, name: str) -> list[tuple[str, str]]:
        """Return what was told to a turn that is still held."""
        turn = read_turn(self.root / ".git" / "gitmem" / "main" / "spool" / f"{name}.held")
        return [(event.id, str(event.body["text"])) for event in turn.events]

    def teardown(self) -> None:
        """What is left satisfies git, and nothing waits that need not."""
        if self.desks:
            run_git("checkout", "-qf", "main", cwd=self.root)
            for which in (2, 0):
                desk = self.desk(which)
                desk.line.commit_spooled(wait=5)
                desk.settle()
                left = (
                    [path.name for path in desk.layout.spool.iterdir()] if desk.layout.spool.exists() else []
                )
                assert [name for name in left if not name.endswith(".held")] == []
            git("fsck", "--strict", "--no-dangling", cwd=self.root)
        self.folder.cleanup()


COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck)}


class LongTurnModel(TurnModel):
    """The same, for as long as it may take."""


TurnModel.TestCase.settings = settings(max_examples=examples(12), stateful_step_count=20, **COMMON)
LongTurnModel.TestCase.settings = settings(max_examples=LONG, stateful_step_count=30, **COMMON)
TestTurnModel = TurnModel.TestCase
TestLongTurnModel = pytest.mark.slow(pytest.mark.timeout(900)(LongTurnModel.TestCase))
