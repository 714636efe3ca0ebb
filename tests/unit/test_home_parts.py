"""What an open home does when it is closed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from fixtures import git, make_repo
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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user than a home's owner")
def test_what_another_user_records_is_the_owners(tmp_path: Path) -> None:
    """OPEN-GIT-26: a private umask leaves no pack or ref that the operator's git cannot read."""
    root = make_repo(tmp_path / "home")
    AgentHome.init(root, agent="aria").close()
    git("config", "gitmem.allowOtherOwner", "true", cwd=root)
    for path in (root, *root.rglob("*")):
        os.lchown(path, 1000, 1000)
    before = os.umask(0o077)
    try:
        with AgentHome.open(root) as home:
            assert home.record([{"kind": "message", "role": "user", "text": "hello"}]).committed
    finally:
        os.umask(before)
    assert [path for path in root.rglob("*") if path.lstat().st_uid != 1000] == []
