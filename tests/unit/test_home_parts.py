"""What an open home does when it is closed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fixtures import make_repo
from gitmem.home import AgentHome


@pytest.mark.parametrize("again", [True, False])
def test_closing_brings_no_removed_home_back(tmp_path: Path, again: bool) -> None:
    """OPEN-WATCH-05: who removes a home and clones it anew finds the place empty, the clone clean."""
    root = make_repo(tmp_path / "home")
    home = AgentHome.init(root, agent="aria")
    home.record([{"kind": "message", "role": "user", "text": "hello"}])
    shutil.rmtree(root)
    if again:
        make_repo(root)
    home.close()
    assert root.exists() is again
    assert not (root / ".git" / "gitmem" / "main").exists()
