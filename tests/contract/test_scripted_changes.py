"""The in-memory source keeps the contract."""

from __future__ import annotations

import pytest

from contract.changes_contract import ChangesContract, World
from gitmem.changes import Hints
from gitmem.testing.scripted_changes import ScriptedChanges


class ScriptedWorld(World):
    """Changes are told, not made."""

    def __init__(self) -> None:
        self.script = ScriptedChanges(sleep=lambda _: None)
        self.changes = self.script

    def save(self, *paths: str) -> None:
        """Write files."""
        self.script.happen(*paths)

    def read(self, path: str) -> None:
        """Read a file and list its folder."""

    def remove(self, path: str) -> None:
        """Remove a file."""
        self.script.happen(path)

    def rename(self, path: str, to: str) -> None:
        """Rename a file or folder."""
        self.script.happen(path, to)

    def move_out(self, folder: str) -> None:
        """Move a folder out."""
        self.script.happen(folder)

    def move_in(self, folder: str) -> None:
        """Move it back in."""
        self.script.happen(folder)

    def move_turn_line(self) -> None:
        """Move the turn line as Git moves refs."""
        self.script.happen(turns=True)

    def spool_turn(self) -> None:
        """Give a spool file its final name."""
        self.script.happen(turns=True)

    def begin_merge(self) -> None:
        """Leave the sign of a merge."""
        self.script.happen(state=True)

    def noise(self) -> None:
        """Do what is beside the point."""
        self.script.happen("notes/4913", "notes/.a.md.swp", "notes/a.md~", "notes/.obsidian/workspace.json")


@pytest.fixture
def world() -> ScriptedWorld:
    """A started source."""
    world = ScriptedWorld()
    world.changes.start()
    return world


class TestScriptedChanges(ChangesContract):
    """In memory."""

    def test_a_script_is_told_step_by_step(self, world: ScriptedWorld) -> None:
        """A test of the watcher decides what comes when."""
        called: list[str] = []
        world.script.tell(Hints(turns=True), lambda: called.append("between"), Hints(state=True))
        assert world.changes.wait(0) == Hints(turns=True)
        assert not called
        assert world.changes.wait(0) == Hints(state=True)
        assert called == ["between"]

    def test_a_dead_source_is_found_by_the_next_wait(self, world: ScriptedWorld) -> None:
        """The fault switch behaves as a dead thread does."""
        world.script.die()
        assert not world.changes.alive()
        assert world.changes.wait(0).doubt
        assert world.changes.alive()
