"""A clone is a whole home: by `gitmem clone` at once, by plain git at its first open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from machines import Machine, bare, first_machine, next_machine
from system.command_line import gitmem

from fixtures import commit_all, fsck, git, make_repo
from gitmem import AgentHome
from gitmem.errors import NotAHome, RefusedError, RemoteError
from gitmem.hook_files import CLIENT


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Machine]:
    """A home that is synced with a remote."""
    machine = first_machine(tmp_path)
    yield machine
    machine.close()


def is_whole(root: Path) -> None:
    """Fail unless a folder has all that `init` would give it, and all that was remembered elsewhere."""
    with AgentHome.open(root) as home:
        assert {hook.id for hook in home.hooks_list().hooks if hook.state == "installed"} == {*CLIENT}
        assert home.config_get("gitmem.branch") == "main"
        assert home.search("2222").results
        assert [*root.glob("ledger/*/*/*.jsonl")]
        receipt = home.record([{"kind": "message", "role": "user", "text": "here too"}], session="s1")
        assert receipt.committed
        assert home.sync().exit_code == 0
    assert git("status", "--porcelain", cwd=root) == ""
    assert git("config", "pull.rebase", cwd=root) == "false"
    fsck(root)


def test_a_clone_is_a_whole_home(tmp_path: Path, one: Machine) -> None:
    """Files, turns, hooks and settings are there, and a writer of its own."""
    AgentHome.clone(str(one.remote), tmp_path / "new").close()
    is_whole(tmp_path / "new")
    one.sync()
    assert one.hears("here too")
    assert git("rev-parse", "--abbrev-ref", "main@{upstream}", cwd=tmp_path / "new") == "origin/main"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.slow
def test_a_plain_clone_becomes_a_whole_home_at_its_first_open(tmp_path: Path, one: Machine) -> None:
    """Nobody is asked, and nobody has to know a second command."""
    git("clone", "-q", one.remote, tmp_path / "new", cwd=tmp_path)
    assert gitmem("status", cwd=tmp_path / "new").code == 0
    is_whole(tmp_path / "new")


@pytest.mark.slow
def test_a_branch_of_any_name(tmp_path: Path) -> None:
    """The home's branch is the one that the remote's HEAD names."""
    remote = bare(tmp_path / "remote.git")
    machine = first_machine(tmp_path / "x")
    git("branch", "-m", "main", "team/trunk", cwd=machine.root)
    git("config", "gitmem.branch", "team/trunk", cwd=machine.root)
    machine.home.remote_add("second", str(remote))
    machine.home.sync("second")
    git("symbolic-ref", "HEAD", "refs/heads/team/trunk", cwd=remote)
    machine.close()
    AgentHome.clone(str(remote), tmp_path / "new").close()
    assert git("symbolic-ref", "HEAD", cwd=tmp_path / "new") == "refs/heads/team/trunk"
    assert git("status", "--porcelain", cwd=tmp_path / "new") == ""


@pytest.mark.slow
@pytest.mark.parametrize("what", ["nothing", "empty", "no home"])
def test_what_is_no_home_leaves_nothing_behind(tmp_path: Path, what: str) -> None:
    """All of it or nothing: no half folder that the next try would trip over."""
    remote = tmp_path / "remote.git"
    if what != "nothing":
        bare(remote)
    if what == "no home":
        repo = make_repo(tmp_path / "repo")
        commit_all(repo, "work", {"a.txt": "a\n"})
        git("push", "-q", remote, "main", cwd=repo)
    with pytest.raises(RemoteError if what == "nothing" else NotAHome):
        AgentHome.clone(str(remote), tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.slow
def test_a_folder_that_is_used_is_left_alone(tmp_path: Path, one: Machine) -> None:
    """Whoever names the wrong folder loses nothing in it."""
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "file").write_text("mine")
    with pytest.raises(RefusedError):
        AgentHome.clone(str(one.remote), tmp_path / "used")
    (tmp_path / "empty").mkdir()
    AgentHome.clone(str(one.remote), tmp_path / "empty").close()
    assert next_machine(tmp_path, "other", one.remote).head == one.head


@pytest.mark.slow
def test_executable_files_and_links_come_as_they_are(tmp_path: Path, one: Machine) -> None:
    """Modes are part of what was committed; a link is never followed."""
    (one.root / "run.sh").write_text("#!/bin/sh\n")
    (one.root / "run.sh").chmod(0o755)
    (one.root / "notes/link.md").symlink_to("/etc/hostname")
    git("add", "-A", cwd=one.root)
    git("commit", "-q", "--no-verify", "-m", "odd", cwd=one.root)
    one.sync()
    AgentHome.clone(str(one.remote), tmp_path / "new").close()
    assert git("status", "--porcelain", cwd=tmp_path / "new") == ""
    assert (tmp_path / "new/notes/link.md").is_symlink()
    assert (tmp_path / "new/run.sh").stat().st_mode & 0o111
