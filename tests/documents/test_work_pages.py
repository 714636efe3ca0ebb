"""`docs/work.md`, `docs/episodes.md`, `docs/context.md`: who types what they show gets what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from documents.code_blocks import blocks_of, run_shell

from fixtures import set_identity
from gitmem.home import AgentHome

pytestmark = pytest.mark.slow  # a process for each command


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder that is a home, with an operator."""
    AgentHome.init(tmp_path, agent="aria").close()
    set_identity(tmp_path)
    return tmp_path


def commands_of(page: str) -> list[str]:
    """Return the lines of the first block of a page."""
    return blocks_of(f"docs/{page}.md")[0].text.splitlines()


def the_one(pattern: str, text: str) -> str:
    """Return what a pattern finds, which is one thing."""
    (found,) = set(re.findall(pattern, text))
    return str(found)


def test_a_work_item_is_done_and_read_with_plain_git(place: Path) -> None:
    """The commands of the page on work in their order, then those of the page on episodes."""
    create, *lines = commands_of("work")
    item = the_one(r"work_[0-9a-f]{15}", run_shell(create, place))
    said = run_shell("\n".join(lines).replace("work_5d08", item[:9]), place)
    assert "waits for the new port" in said
    assert f"{item}  completed" in said
    assert f"{item}  waiting for operator" in said.split("completed", 1)[1]  # as it was before
    listed, shown = commands_of("episodes")
    episode = the_one(r"ep_[0-9a-f]{15}", run_shell(f"{listed} | tail -n 1", place))
    read = run_shell(re.sub(r"ep_[0-9a-f]{15}", episode, shown), place)
    assert f"id: {episode}" in read
    assert "Gitmem-SHA256: " in read


def test_a_context_is_recorded_and_made_again(place: Path) -> None:
    """COMMIT stands for what the third command tells on standard error."""
    *lines, again = commands_of("context")
    run_shell("\n".join(lines[:-1]), place)
    said = run_shell(f"{{ {lines[-1].partition('#')[0]}; }} 2>&1", place)
    told = the_one(r"recorded; .*\n", said)
    commit = the_one(r"gitmem context --as-of ([0-9a-f]{40})", told)
    assert run_shell(again.replace("COMMIT", commit), place) == said.replace(told, "")
