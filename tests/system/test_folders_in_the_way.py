"""A folder where gitmem keeps a file of its own: what is said of it, and how it ends."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from homes import new_home
from system.command_line import gitmem

from gitmem.watch_home import watch_home


@pytest.mark.parametrize("name", ["catalog.md", "ledger-copy.json", "watch.lock"])
def test_a_folder_in_a_files_place_is_named_with_what_removes_it(tmp_path: Path, name: str) -> None:
    """`watch --once` ended with 10 each time and without a hint, and spoke of turns in the spool."""
    root = tmp_path / "home"
    with new_home(root) as home:
        home.record([{"kind": "message", "role": "user", "text": "hello"}])
    path = root.resolve() / ".git" / "gitmem" / name
    path.unlink(missing_ok=True)
    (path / "below").mkdir(parents=True)
    ran = gitmem("-C", root, "watch", "--once")
    assert ran.code == 10
    assert f"{path}\n" in ran.err.partition("hint:")[0]
    assert ran.err.rstrip().endswith(f"To be rid of what stands in its place: rm -r {path}")
    assert "spool" not in ran.err
    shutil.rmtree(path)
    assert gitmem("-C", root, "watch", "--once").code == 0


def test_a_watcher_names_the_duty_that_fails(tmp_path: Path) -> None:
    """The copy of the ledger is no turn in the spool."""
    root = tmp_path / "home"
    with new_home(root) as home:
        home.record([{"kind": "message", "role": "user", "text": "hello"}])
    (root / ".git" / "gitmem" / "ledger-copy.json" / "below").mkdir(parents=True)
    told: list[str] = []
    with pytest.raises(IsADirectoryError):
        watch_home(root, once=True, tell=told.append)
    state = json.loads((root / ".git" / "gitmem" / "watch.json").read_bytes())
    assert [row["duty"] for row in state["failing"]] == ["the copy of the ledger"]
