"""A process killed between a note's commit and its record: the record comes once, and nothing waits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from branches import in_child
from homes import new_home

from fixtures import git
from gitmem import AgentHome
from gitmem.spool_file import SpoolFile
from gitmem.turn import Turn

KILLED = 9


def die(*_: object, **__: object) -> None:
    """Be killed."""
    os._exit(KILLED)


@pytest.mark.parametrize("at", ["begin", "add", "flush", "finish"])
@pytest.mark.parametrize("within", [True, False], ids=["in an open turn", "alone"])
def test_the_next_process_makes_the_record(tmp_path: Path, at: str, within: bool) -> None:
    """What the killed one left half told is closed first; later notes are written as ever."""
    new_home(tmp_path / "home").close()

    def act() -> None:
        home = AgentHome.open(tmp_path / "home")
        turn = home.turn() if within else None
        if turn is not None:
            turn.message("user", "Note that.")
        setattr(SpoolFile if at != "flush" else Turn, at, die)
        home.note_add("first.md", content="One.", turn=turn)
        if turn is not None:
            turn.finish("completed")

    assert in_child(act) in (0, KILLED)
    with AgentHome.open(tmp_path / "home") as home:
        assert home.note_add("second.md", content="Two.").committed
        assert home.status().pending == []
        assert git("log", "--format=%s", cwd=home.layout.root).count("note: add") == 2
        home.apply_spool(wait=5.0)
        records = [line for line in home.ledger.lines_newest_first() if line.kind == "memory"]
        assert len(records) == 2
        turns = [line.id for line in home.ledger.lines_newest_first() if line.kind == "turn"]
        assert len(turns) == len(set(turns))
