"""Real homes on several machines, with operators, kills, copies and wrong clocks: what holds in the end."""

from __future__ import annotations

from pathlib import Path

import pytest
from machine_judges import play


def told(folder: Path, seed: int, *, mesh: bool = False, steps: int = 60) -> None:
    """Play one story, and see that something was said and done in it."""
    world = play(folder, seed, mesh=mesh, steps=steps)
    assert len(world.places) >= 3
    assert world.known.count > steps // 4


def test_a_short_story(tmp_path: Path) -> None:
    """One tree, each record once, no word lost, nothing removed or forgotten back, no ref back."""
    told(tmp_path, 1, steps=25)


def test_a_short_story_of_two_remotes(tmp_path: Path) -> None:
    """The same where the machines meet over two remotes, of which only one machine knows both."""
    told(tmp_path, 2, mesh=True, steps=25)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 112))
def test_long_stories(tmp_path: Path, seed: int) -> None:
    """What holds in a short story holds in a long one."""
    told(tmp_path, seed, steps=70)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 206))
def test_long_stories_of_two_remotes(tmp_path: Path, seed: int) -> None:
    """And with two remotes."""
    told(tmp_path, seed, mesh=True, steps=70)
