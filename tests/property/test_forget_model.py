"""Forgetting in random worlds: two machines, an operator, kills; no word that was forgotten is said again."""

from __future__ import annotations

import os
import random
from contextlib import suppress
from pathlib import Path

import pytest
from branches import in_child
from faults.test_turn_crash_points import CHANGES, counted
from forget_readers import refs_of, speakers
from machines import Machine, first_machine, next_machine

from fixtures import git, write_files
from gitmem import AgentHome
from gitmem.errors import GitmemError
from gitmem.json_view import to_json

pytestmark = pytest.mark.slow

MEMORY = "memory/MEMORY.md"
DEEDS = (
    "say",
    "say",
    "say",
    "tool",
    "entry",
    "note",
    "edit",
    "typed",
    "work",
    "forget",
    "forget",
    "kill",
    "sync",
)


class World:
    """Two machines of one agent, and what was said on them.

    Args:
        folder: where they are.
        dice: decides what happens.
    """

    def __init__(self, folder: Path, dice: random.Random) -> None:
        self.dice = dice
        one = first_machine(folder)
        self.machines = [one, next_machine(folder, "b", one.remote)]
        self.said: dict[str, str] = {}
        self.forgotten: set[str] = set()
        self._count = 0

    def word(self) -> str:
        """Return a word that was never said."""
        self._count += 1
        return f"wort{self._count:03}{self.dice.randrange(16**6):06x}"

    def live(self, steps: int) -> None:
        """Let so many things happen."""
        for _ in range(steps):
            getattr(self, self.dice.choice(DEEDS))(self.dice.choice(self.machines))

    def say(self, machine: Machine) -> None:
        """A turn of one message."""
        word = self.word()
        self.said[word] = machine.say(f"I say {word} to you.")

    def tool(self, machine: Machine) -> None:
        """A turn with a long text."""
        word = self.word()
        with machine.home.turn(session="s2") as turn:
            turn.message("user", "Which port?")
            self.said[word] = turn.tool("bash", "cat", f"{word}\n" * self.dice.choice([2, 3_000]))

    def entry(self, machine: Machine) -> None:
        """An entry of memory."""
        word = self.word()
        if machine.home.entries("memory").add(f"{word} is so.").success:
            self.said[word] = ""

    def note(self, machine: Machine) -> None:
        """A note."""
        word = self.word()
        self.said[word] = str(
            machine.home.note_add(f"n{self._count}.md", content=f"# N\n\n{word}\n").source_ref
        )

    def edit(self, machine: Machine) -> None:
        """An operator's commit on a file that is there."""
        path = self.dice.choice([MEMORY, *(note.path for note in machine.home.notes().notes)])
        word = self.word()
        joint = "\n§\n" if path == MEMORY else "\n"
        with suppress(FileNotFoundError):
            machine.commit(
                {path: machine.text(path) + f"{joint if machine.text(path) else ''}{word} typed.\n"}
            )
            self.said[word] = ""

    def typed(self, machine: Machine) -> None:
        """An operator's edit that is not committed."""
        word = self.word()
        with suppress(FileNotFoundError):
            before = machine.text(MEMORY)
            write_files(machine.root, {MEMORY: before + ("§\n" if before else "") + f"{word} typed.\n"})
            self.said[word] = ""

    def work(self, machine: Machine) -> None:
        """A work item from its plan to its episode."""
        word, session = self.word(), f"w{self._count}"
        item = machine.home.work_create("Move it", session=session, plan=f"1. {word}").work_item_id
        if self.dice.random() < 0.7:
            machine.home.work_complete(item, report=f"{word} done", session=session)
        self.said[word] = f"work_item:{item}"

    def forget(self, machine: Machine) -> None:
        """Forget something that was said, by its words, as it stands anywhere here."""
        words = sorted(self.said.keys() - self.forgotten)
        if words:
            word = self.dice.choice(words)
            if machine.home.forget_matching(word).committed is not None:
                self.forgotten.add(word)

    def kill(self, machine: Machine) -> None:
        """Forget, and be killed on the way; whoever opens the home next goes on."""
        words = sorted(self.said.keys() - self.forgotten)
        word, step = (self.dice.choice(words) if words else "none"), self.dice.randrange(150)
        is_here = bool(machine.home.forget_matching(word, dry_run=True).receipts)
        machine.close()

        def act() -> None:
            home = AgentHome.open(machine.root)
            with counted(CHANGES, step, lambda _: os._exit(9)):
                home.forget_matching(word)

        in_child(act)
        machine.home = AgentHome.open(machine.root)
        machine.home.forget_matching(word)
        if is_here:
            self.forgotten.add(word)

    def sync(self, machine: Machine) -> None:
        """Sync, where nothing is in the way."""
        with suppress(GitmemError):
            machine.sync()

    def settle(self) -> None:
        """Let all come to rest: edits are committed, and everybody has heard of everything."""
        for _ in range(3):
            for machine in self.machines:
                machine.home.commit()
                machine.sync()


@pytest.mark.parametrize("seed", range(4))
def test_nothing_forgotten_is_said_again(tmp_path: Path, seed: int) -> None:
    """All readers and all files are silent, the chains are whole, and what was not forgotten is there."""
    world = World(tmp_path, random.Random(seed))
    world.live(25)
    world.settle()
    for machine in world.machines:
        home = machine.home
        refs = [*refs_of(home)]
        for word in sorted(world.forgotten):
            assert speakers(home, machine.root, word, refs) == [], f"seed {seed}"
        found = home.verify(full=True)
        assert [to_json(one) for one in found.findings if one.severity == "error"] == []
        for word in world.said.keys() - world.forgotten:
            ref = world.said[word]
            if ref.startswith(("message:", "tool_execution:")):
                assert home.get(ref.replace(":cmd", ":output")).content
        assert git("status", "--porcelain", cwd=machine.root) == ""
        machine.close()
