"""A turn with every single step of it killed, or failing as on a full or broken disk."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from fixtures import CounterClock, fsck
from gitmem.pack_files import keep_text
from turns import Desk, check_chains, lines_of, make_desk, put_on_line

#: Every call by which gitmem changes what is on the disk.
CHANGES: Final = tuple(
    "open write fsync rename replace link unlink mkdir truncate ftruncate chmod fchmod".split()
)
#: The calls that a full disk fails.
GROWING: Final = ("open", "write", "mkdir", "link", "rename", "replace")
KILLED: Final = 42
OTHER: Final = "refs/remotes/origin/gitmem/turns/w0000000a"


@dataclass(frozen=True)
class Scene:
    """What stands before the turn that goes wrong.

    Attributes:
        prepare: brings a home into that state; returns the texts it holds.
        act: the turn; returns the text that was acknowledged, None if none was.
    """

    name: str
    prepare: Callable[[Desk], list[str]]
    act: Callable[[Desk], str | None]


def say(desk: Desk, *texts: str) -> list[str]:
    """Record turns."""
    for text in texts:
        desk.say(text)
    return list(texts)


def one_turn(desk: Desk) -> str | None:
    """Record one turn; its text if there is a receipt that says it is on disk."""
    receipt = desk.recorder.record([{"kind": "message", "role": "user", "text": "told"}])
    return "told" if receipt.on_disk else None


def long_turn(desk: Desk) -> str | None:
    """Record a turn with a text that leaves its line."""
    one_turn(desk)
    desk.recorder.record([{"kind": "tool_execution", "tool": "bash", "output": "計" * 9_000}])
    return "told"


def with_dead_turn(desk: Desk) -> list[str]:
    """Leave a turn whose process died, and one that was finished and not committed."""
    say(desk, "one")
    dead = desk.recorder.open()
    dead.message("user", "dead")
    dead.file.close()
    waiting = desk.recorder.open()
    waiting.message("user", "waiting")
    waiting.spool_only()
    return ["one", "dead", "waiting"]


def recover(desk: Desk) -> str | None:
    """Do what opening a home does."""
    desk.spool.close_dead(desk.recorder.now())
    desk.line.commit_spooled(wait=1)
    desk.settle()
    return None


def with_other_line(desk: Desk) -> list[str]:
    """Fetch another line that forgets one of its own records and a record of here."""
    say(desk, "gone", "one")
    gone = next(desk.records())
    theirs = lines_of(["theirs", "theirs too"])
    receipts = [_receipt(gone.id), _receipt(theirs[1].id)]
    segment = {"ledger/2026-03/02/w0000000a-0001.jsonl": b"".join(line.raw for line in theirs)}
    put_on_line(desk.layout.root, OTHER, {**segment, **dict.fromkeys(receipts, b"{}\n")})
    return ["one", "theirs"]


def _receipt(record_id: str) -> str:
    return f"ledger/forgotten/record/{record_id.partition('_')[2][:2]}/{record_id}.jsonl"


SCENES: Final = [
    Scene("first turn", lambda desk: [], one_turn),
    Scene("later turn", lambda desk: say(desk, "one", "two"), one_turn),
    Scene("checkpoint", lambda desk: say(desk, *map(str, range(15))), one_turn),
    Scene("long text", lambda desk: say(desk, "one"), long_turn),
    Scene("recovery", with_dead_turn, recover),
    Scene("merge", with_other_line, one_turn),
]
#: A turn like most is walked through always, the others where time is given.
WALKED: Final = [
    pytest.param(scene, id=scene.name, marks=[] if scene.name == "later turn" else pytest.mark.slow)
    for scene in SCENES
]


class Home:
    """A prepared home of which each step gets its own copy."""

    def __init__(self, folder: Path, scene: Scene) -> None:
        self.scene = scene
        self.folder = folder
        self.clock = CounterClock()
        self.texts = scene.prepare(make_desk(folder / "template", clock=self.clock))

    def copy(self, step: int) -> Path:
        """Return a fresh copy."""
        target = self.folder / f"{step}"
        shutil.copytree(self.folder / "template", target, symlinks=True)
        return target

    def check(self, root: Path, acknowledged: str | None, *, is_last: bool) -> None:
        """Open the home as the next process does: nothing acknowledged is lost, nothing is there twice."""
        desk = Desk(root, self.clock)
        desk.spool.close_dead(self.clock())
        desk.say("after")
        desk.settle()
        texts = Desk(root, self.clock).texts()
        told = texts.count("told")
        assert told <= 1
        assert told == 1 or acknowledged is None
        assert sorted(text for text in texts if text != "told") == sorted([*self.texts, "after"])
        check_chains(desk.ledger)
        left = [path.name for path in desk.layout.spool.iterdir()] if desk.layout.spool.exists() else []
        assert [name for name in left if not name.endswith(".claim")] == []
        assert not [path for path in (root / ".git" / "refs").rglob("*") if "." in path.name]
        keeps = list((root / ".git" / "objects" / "pack").glob("*.keep"))
        assert all(keep.read_bytes() == keep_text() for keep in keeps)  # of this process, which lives
        if is_last or "first" in self.scene.name:
            fsck(root)
        shutil.rmtree(root)


@contextmanager
def counted(names: tuple[str, ...], at: int, fail: Callable[[str], None]) -> Iterator[list[int]]:
    """Call `fail` instead of the `at`-th of the calls named; yield the number of calls so far."""
    calls = [0]
    real = {name: getattr(os, name) for name in names}

    def wrap(name: str) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            # To open for reading changes nothing.
            if name != "open" or args[1] & os.O_CREAT:
                calls[0] += 1
                if calls[0] == at + 1:
                    fail(name)
            return real[name](*args, **more)

        return call

    for name in names:
        setattr(os, name, wrap(name))
    try:
        yield calls
    finally:
        for name in names:
            setattr(os, name, real[name])


def killed(root: Path, scene: Scene, clock: CounterClock, step: int) -> tuple[bool, bool]:
    """Act in a child process that is killed before a step; say whether it was, and whether a receipt came."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            desk = Desk(root, clock)
            with counted(CHANGES, step, lambda name: os._exit(KILLED)):
                if scene.act(desk) is not None:
                    os.write(write, b"r")
        finally:
            os._exit(0)
    os.close(write)
    has_receipt = os.read(read, 1) == b"r"
    os.close(read)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED, has_receipt


@pytest.mark.parametrize("scene", WALKED)
def test_a_kill_at_any_step_loses_and_doubles_nothing(tmp_path: Path, scene: Scene) -> None:
    """From the spool's file on the turn is safe, and before that it was not acknowledged."""
    home = Home(tmp_path, scene)
    step, was_killed = 0, True
    while was_killed:
        root = home.copy(step)
        was_killed, has_receipt = killed(root, scene, home.clock, step)
        home.check(root, "told" if has_receipt else None, is_last=not was_killed)
        step += 1
    assert step > 25


@pytest.mark.parametrize("scene", WALKED)
@pytest.mark.parametrize(
    ("names", "code"),
    [(GROWING, errno.ENOSPC), (("fsync", "unlink", "ftruncate"), errno.EIO)],
    ids=["full", "broken"],
)
def test_a_failure_at_any_step_loses_and_doubles_nothing(
    tmp_path: Path, scene: Scene, names: tuple[str, ...], code: int
) -> None:
    """A turn that is reported as failed may be there, one with a receipt must be; the process goes on."""
    home = Home(tmp_path, scene)
    step, failed = 0, True
    while failed:
        root = home.copy(step)
        desk = Desk(root, home.clock)
        acknowledged = None

        def fail(name: str) -> None:
            raise OSError(code, os.strerror(code))

        with counted(names, step, fail) as calls, suppress(OSError):
            acknowledged = scene.act(desk)
        failed = calls[0] > step
        if acknowledged is not None and step % 3 == 0:
            desk.say("after")  # the same process finds its way as well
            home.texts.append("after")
        home.check(root, acknowledged, is_last=not failed)
        home.texts = [text for text in home.texts if text != "after"]
        step += 1
    assert step > 3
