"""Machines that sync over real servers, with an operator's plain git on either side between."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from machines import Machine

from fixtures import fsck, git, set_identity
from git_servers import GitServer, git_daemon, http_server, nginx_server, ssh_server
from gitmem import AgentHome

Serve = Callable[[Path], AbstractContextManager[GitServer]]


@pytest.mark.parametrize(
    "serve",
    [git_daemon, http_server, nginx_server, pytest.param(ssh_server, marks=pytest.mark.slow)],
    ids=lambda serve: serve.__name__,
)
def test_three_machines(tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first home, one by `gitmem clone` and one by plain git share turns, notes and commits."""
    monkeypatch.setenv("no_proxy", "*")
    (tmp_path / "served").mkdir()
    with serve(tmp_path / "served") as server:
        if "core.sshCommand" in server.settings:
            monkeypatch.setenv("GIT_SSH_COMMAND", server.settings["core.sshCommand"])
        served, url = server.make("aria.git"), server.url("aria.git")
        AgentHome.create(tmp_path / "a", "aria")
        set_identity(tmp_path / "a")
        first = Machine(tmp_path / "a", served)
        first.home.remote_add("origin", url)
        first.say("The staging port is 2222")
        first.commit({"notes/a.md": "1\n2\n3\n"})
        first.sync()

        AgentHome.clone(url, tmp_path / "b").close()
        git("clone", "-q", url, str(tmp_path / "c"), cwd=tmp_path)
        second, third = (Machine(tmp_path / name, served) for name in ("b", "c"))
        set_identity(second.root)
        set_identity(third.root)
        second.say("The flower is a tulip")
        second.sync()
        third.commit({"notes/c.md": "by plain git\n"})
        git("push", "-q", "origin", "main", cwd=third.root)
        git("pull", "-q", "--no-rebase", "origin", "main", cwd=first.root)
        third.say("The bird is a heron")

        machines = (first, second, third)
        for machine in (*machines, *machines):
            machine.sync()
        assert first.head == second.head == third.head
        assert first.records() == second.records() == third.records()
        for machine in machines:
            assert all(machine.hears(word) for word in ("2222", "tulip", "heron"))
            assert machine.text("notes/c.md") == "by plain git\n"
            assert machine.status == ""
            machine.close()
            fsck(machine.root)
        fsck(served)
