"""The remotes of a home are ordinary ones of Git's, added and removed without a loss."""

from __future__ import annotations

from pathlib import Path

import pytest
from machines import Machine, bare, first_machine, next_machine

from fixtures import git
from gitmem import AgentHome
from gitmem.errors import InvalidRemote, NotFound, RefusedError, UsageError


@pytest.fixture
def home(tmp_path: Path) -> AgentHome:
    """A home without remotes."""
    return AgentHome.init(tmp_path / "home", agent="aria")


def test_git_knows_what_is_added(home: AgentHome, tmp_path: Path) -> None:
    """Fetching brings turn lines too; an operator's default for pushes stays theirs."""
    home.remote_add("origin", str(bare(tmp_path / "r.git")))
    root = home.layout.root
    assert git("remote", cwd=root) == "origin"
    home.sync()
    git("fetch", "-q", "origin", cwd=root)
    assert git("for-each-ref", "refs/remotes/origin/gitmem/turns/", cwd=root) == git(
        "for-each-ref", "refs/remotes/origin/gitmem/", cwd=root
    )
    assert git("config", "--get-regexp", r"remote\.origin\.push", cwd=root, check=False) == ""
    for key, value in (("push.followTags", "true"), ("fetch.pruneTags", "false"), ("pull.rebase", "false")):
        assert git("config", key, cwd=root) == value
    home.close()


def test_what_cannot_be_a_remote_is_refused(home: AgentHome, tmp_path: Path) -> None:
    """A name that is none, a URL that would run a command, and a name that is taken."""
    for name in ("", "-x", "a/b", "a b", "..", "x.lock"):
        with pytest.raises(UsageError):
            home.remote_add(name, "/srv/x.git")
    with pytest.raises(InvalidRemote):
        home.remote_add("origin", "ext::sh -c true")
    home.remote_add("origin", "/srv/x.git")
    home.remote_add("origin", "/srv/x.git")
    with pytest.raises(RefusedError):
        home.remote_add("origin", "/srv/y.git")
    with pytest.raises(NotFound):
        home.remote_remove("other")
    home.close()


def test_a_password_is_not_shown(home: AgentHome) -> None:
    """Nor what else stands before the host and is secret."""
    home.remote_add("origin", "https://olivia:hunter2@example.com/aria.git")
    (remote,) = home.remotes()
    assert remote.url == "https://olivia@example.com/aria.git"
    assert "hunter2" not in str(remote.to_json())
    home.close()


def test_which_remote_is_meant(home: AgentHome) -> None:
    """The only one, else origin; where neither is clear, none."""
    home.remote_add("one", "/srv/x.git")
    remotes = home._parts.remotes
    assert remotes.find(None).id == "one"
    home.remote_add("two", "/srv/y.git")
    with pytest.raises(NotFound):
        remotes.find(None)
    home.remote_add("origin", "/srv/z.git")
    assert remotes.find(None).id == "origin"
    home.close()


@pytest.mark.slow
def test_removing_one_loses_no_record(tmp_path: Path) -> None:
    """Turns that were known from it alone stay, and go to the next remote."""
    one = first_machine(tmp_path)
    two = next_machine(tmp_path, "b", one.remote)
    two.say("Said on the other machine")
    two.sync()
    one.sync()
    kept = one.home.remote_remove("origin")
    assert len(kept) == 1
    assert git("remote", cwd=one.root) == git("for-each-ref", "refs/remotes/", cwd=one.root) == ""
    assert one.hears("other machine")
    second = bare(tmp_path / "second.git")
    one.home.remote_add("origin", str(second))
    one.sync()
    three = next_machine(tmp_path, "c", second)
    assert three.hears("other machine")
    for machine in (one, two, three):
        machine.close()


def test_an_operators_own_remotes_are_remotes(tmp_path: Path) -> None:
    """What `git remote add` made serves as well."""
    home = AgentHome.init(tmp_path / "home", agent="aria")
    git("remote", "add", "up", str(bare(tmp_path / "r.git")), cwd=home.layout.root)
    machine = Machine(home.layout.root, tmp_path / "r.git")
    assert machine.home.sync("up").branch.pushed == 1
    machine.close()
    home.close()
