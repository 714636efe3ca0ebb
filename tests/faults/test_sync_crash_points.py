"""A sync killed between any two steps that reach the disk: nothing is lost, and the next sync goes on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from branches import in_child
from machines import Machine, copied_machine, first_machine, next_machine

from fixtures import fsck, git

KILLED = 9
#: Calls by which something becomes lasting or gets its name.
_CALLS = ("fsync", "rename", "replace", "unlink", "link", "truncate")
#: Points at which each kind of sync is killed, spread over all that it has.
_POINTS = 14


class Stage:
    """Two machines about to sync, packed away so that each kill begins from the same state.

    Args:
        folder: where they stand; the paths inside never change.
        prepare: brings the two to where the second one is about to sync.
    """

    def __init__(self, folder: Path, prepare: Callable[[Path], None]) -> None:
        self.folder = folder / "stage"
        self.kept = folder / "kept"
        self.folder.mkdir()
        prepare(self.folder)
        shutil.copytree(self.folder, self.kept, symlinks=True)

    def reset(self) -> None:
        """Put everything back."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.kept, self.folder, symlinks=True)

    def run(self, at: int) -> int:
        """Sync the second machine in a process that is killed at a step; return how many there were."""
        told = self.folder.parent / "steps"

        def act() -> None:
            steps = [0]

            def counted(call: Callable[..., object]) -> Callable[..., object]:
                def run(*args: object, **options: object) -> object:
                    steps[0] += 1
                    if steps[0] == at:
                        os._exit(KILLED)
                    return call(*args, **options)

                return run

            machine = Machine(self.folder / "b", self.folder / "remote.git")
            for name in _CALLS:
                setattr(os, name, counted(getattr(os, name)))
            machine.sync()
            told.write_text(str(steps[0]))

        code = in_child(act)
        assert code in (0, KILLED)
        return int(told.read_text()) if code == 0 else 0


def said(folder: Path, remote: Path) -> None:
    """Let both machines say something and change a file, each another one and both the same one."""
    one, two = Machine(folder / "a", remote), Machine(folder / "b", remote)
    for name, machine in (("one", one), ("two", two)):
        machine.say(f"Said by {name}")
        machine.commit({"notes/a.md": f"1\n{name}\n3\n4\n5\n", f"notes/{name}.md": f"{name}\n"})
    one.sync()
    one.close()
    two.close()


def parted(folder: Path) -> None:
    """Two clones with a conflict."""
    one = first_machine(folder)
    next_machine(folder, "b", one.remote).close()
    one.close()
    said(folder, one.remote)


def copied(folder: Path) -> None:
    """Two copies of one folder, under one writer."""
    one = first_machine(folder)
    copied_machine(one, folder / "b").close()
    one.close()
    said(folder, one.remote)


def restored(folder: Path) -> None:
    """A backup of the folder that is only behind."""
    one = first_machine(folder)
    one.close()
    shutil.copytree(one.root, folder / "b", symlinks=True)
    one = Machine(one.root, one.remote)
    one.say("Said by one")
    one.commit({"notes/one.md": "one\n"})
    one.sync()
    one.close()


@pytest.mark.slow
@pytest.mark.parametrize("prepare", [parted, copied, restored], ids=lambda one: one.__name__)
def test_a_kill_at_any_step(tmp_path: Path, prepare: Callable[[Path], None]) -> None:
    """Whatever the kill left, the next sync ends where one without a kill does."""
    stage = Stage(tmp_path, prepare)
    steps = stage.run(-1)
    assert steps > _POINTS
    for point in range(_POINTS):
        stage.reset()
        assert stage.run(1 + point * (steps - 1) // (_POINTS - 1)) == 0
        judge(stage.folder, told_twice=prepare is not restored)


def judge(folder: Path, *, told_twice: bool) -> None:
    """Sync both until nothing moves, and look at everything."""
    remote = folder / "remote.git"
    one, two = Machine(folder / "a", remote), Machine(folder / "b", remote)
    two.say("Said after the kill")
    for machine in (two, one, two):
        machine.sync()
    assert one.head == two.head == git("rev-parse", "main", cwd=remote)
    assert one.records() == two.records()
    assert set(one.records().values()) == {1}
    words = ["2222", "blue", "Said by one", "Said after the kill", *(["Said by two"] if told_twice else [])]
    assert all(machine.hears(word) for machine in (one, two) for word in words)
    for machine in (one, two):
        assert machine.status == ""
        assert [p for p in (machine.root / ".git").rglob("*.lock") if "gitmem" not in p.parts] == []
        assert not [p for p in machine.root.rglob("*.part") if not {".git", "ledger"} & {*p.parts}]
        assert git("grep", "-h", "<<<<", "main", cwd=machine.root, check=False) == ""
        assert not machine.home.status().turns["astray"]
        fsck(machine.root)
        machine.close()
    fsck(remote)
