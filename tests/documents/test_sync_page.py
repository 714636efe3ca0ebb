"""`docs/sync.md`: who types what it shows has one memory in two places."""

from __future__ import annotations

from pathlib import Path

import pytest
from documents.code_blocks import blocks_of, run_shell

from fixtures import set_identity
from gitmem import AgentHome

pytestmark = pytest.mark.slow  # a process for each command

PAGE = blocks_of("docs/sync.md")
SERVER = "ssh://server/srv/git/aria.git"


def typed(number: int, server: Path) -> str:
    """Return what a block says to type, with the server's repository in its place."""
    lines = [line[2:] for line in PAGE[number].text.splitlines() if line.startswith("$ ")]
    return "\n".join(lines).replace(SERVER, str(server)).replace("/srv/git/aria.git", str(server))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder that is a home, with an operator and a turn."""
    with AgentHome.init(tmp_path / "home", agent="aria") as home:
        home.record([{"kind": "message", "role": "user", "text": "The port is 2222"}], session="s1")
    set_identity(tmp_path / "home")
    return tmp_path / "home"


def test_the_first_and_the_next_machine(place: Path) -> None:
    """The commands of the page in their order, then a search on the second machine."""
    server = place.parent / "aria.git"
    assert "Synced with origin: 1 turn sent" in run_shell(typed(0, server), place)
    run_shell(typed(1, server), place)
    assert "2222" in run_shell("cd aria-home && gitmem search port", place)


def test_the_same_in_python(place: Path) -> None:
    """The last block runs as it stands."""
    server = place.parent / "aria.git"
    run_shell(f"git init -q --bare -b main {server}", place)
    block = next(block.text for block in PAGE if block.language == "python")
    with AgentHome.open(place) as home:
        names = {"home": home, "AgentHome": AgentHome}
        words = block.replace("/srv/git/aria.git", str(server))
        exec(words.replace('"aria-home"', repr(str(place.parent / "aria-home"))), names)
        names["other"].close()
        assert names["reply"].exit_code == 0
    assert (place.parent / "aria-home" / "gitmem.toml").is_file()
