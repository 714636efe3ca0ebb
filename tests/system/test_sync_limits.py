"""Limits of a sync: a store that two machines filled apart, times that are none, names that are taken."""

from __future__ import annotations

import errno
import socket
from pathlib import Path

import pytest
from homes import make_home
from system.command_line import gitmem

from fixtures import git, set_identity, write_files
from gitmem import AgentHome


def test_a_store_over_its_limit_after_a_clean_merge(tmp_path: Path) -> None:
    """OPEN-AGENT: entries of both sides live on, a further one is refused, prompts say that it is over."""
    git("init", "-q", "--bare", "-b", "main", str(tmp_path / "remote.git"), cwd=tmp_path)
    make_home(tmp_path / "one", operator=True)
    with AgentHome.open(tmp_path / "one") as one:
        one.remote_add("origin", str(tmp_path / "remote.git"))
        one.sync()
        with AgentHome.clone(str(tmp_path / "remote.git"), tmp_path / "two") as two:
            set_identity(tmp_path / "two")
            kept = []
            for name, home in (("one", one), ("two", two)):
                for number in range(4):
                    text = f"{name} {number} " + "word " * 60
                    assert home.entries("memory").add(text.strip()).success
                    kept.append(text.strip())
            two.sync()
            reply = one.sync()
            assert reply.conflicts == []
            two.sync()
            for home in (one, two):
                assert set(home.entries("memory").texts) == set(kept)
                refused = home.entries("memory").add("One more fact.")
                assert not refused.success
                assert "2,200" in str(refused.to_json())
                block = home.session("new").prompt_block()
                assert all(text in block for text in kept)
                assert "characters over its limit" in block.split(kept[0])[0]
        one.sync()
        assert one.entries("memory").remove("two 3").success
        assert len(one.entries("memory")) == len(kept) - 1


@pytest.mark.parametrize("seconds", ["nan", "inf", "1e9", "0", "-1"])
def test_what_is_no_time_limit(tmp_path: Path, seconds: str) -> None:
    """A limit that is no number, or none, is refused before anything is asked of a remote."""
    make_home(tmp_path / "one", operator=True)
    assert gitmem("remote", "add", "origin", str(tmp_path), cwd=tmp_path / "one").code == 0
    assert gitmem("sync", f"--timeout={seconds}", cwd=tmp_path / "one").code == 2
    assert gitmem("clone", f"--timeout={seconds}", str(tmp_path), str(tmp_path / "two")).code == 2
    assert not (tmp_path / "two").exists()


def test_a_remote_has_no_name_of_gits_own(tmp_path: Path) -> None:
    """`refs/remotes/HEAD/…` beside `HEAD` would confuse every command of Git's."""
    make_home(tmp_path / "one", operator=True)
    assert gitmem("remote", "add", "HEAD", str(tmp_path), cwd=tmp_path / "one").code == 2


def test_quiet_prints_only_what_somebody_has_to_see(tmp_path: Path) -> None:
    """In a script `-q` is silence as long as all is well; what waits for a person is told all the same."""
    remote, one, two = (str(tmp_path / name) for name in ("remote.git", "one", "two"))
    git("init", "-q", "--bare", "-b", "main", remote, cwd=tmp_path)
    make_home(tmp_path / "one", operator=True)
    assert gitmem("remote", "add", "origin", remote, "-q", cwd=tmp_path / "one").out == ""
    for words in (["sync", "-q"], ["clone", "-q", remote, two], ["-q", "remote", "remove", "origin"]):
        ran = gitmem(*words, cwd=Path(one))
        assert (ran.code, ran.out) == (0, "")
    assert gitmem("remote", "add", "origin", remote, "-q", cwd=tmp_path / "one").code == 0
    for name in ("one", "two"):
        set_identity(tmp_path / name)
        write_files(tmp_path / name, {"notes/new.md": f"{name}\n"})
        git("add", "notes", cwd=tmp_path / name)
        git("commit", "-q", "-m", name, cwd=tmp_path / name)
    assert gitmem("sync", "-q", cwd=tmp_path / "one").out == ""
    clash = gitmem("sync", "-q", cwd=tmp_path / "two")
    assert clash.code == 12
    assert "gitmem resolve" in clash.out


def test_a_time_limit_is_named_as_it_was_given(tmp_path: Path) -> None:
    """Not as what was left of it when the server was asked."""
    make_home(tmp_path / "one", operator=True)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"git://127.0.0.1:{silent.getsockname()[1]}/x.git"
        assert gitmem("remote", "add", "origin", url, cwd=tmp_path / "one").code == 0
        for words in (
            ["sync", "--timeout", "0.4"],
            ["clone", "--timeout", "0.4", url, str(tmp_path / "two")],
        ):
            ran = gitmem(*words, cwd=tmp_path / "one")
            assert ran.code == 13
            assert "did not finish within 0.4 s" in ran.err


def test_a_bundle_is_called_one(tmp_path: Path) -> None:
    """The hint makes a repository of it, which is a home's remote like any other."""
    make_home(tmp_path / "one", operator=True)
    bundle = tmp_path / "home.bundle"
    git("bundle", "create", "-q", str(bundle), "--all", cwd=tmp_path / "one")
    ran = gitmem("clone", str(bundle), str(tmp_path / "two"))
    assert ran.code == 13
    assert f"{bundle} is a bundle, not a repository" in ran.err
    assert f"git clone --mirror {bundle} FOLDER.git" in ran.err
    git("clone", "-q", "--mirror", str(bundle), str(tmp_path / "x.git"), cwd=tmp_path)
    assert gitmem("clone", str(tmp_path / "x.git"), str(tmp_path / "two")).code == 0


def test_a_server_without_room_is_no_refusal(tmp_path: Path) -> None:
    """Nobody's rule kept the push out: whoever reads the error looks at the server's disk and limits."""
    remote = tmp_path / "remote.git"
    git("init", "-q", "--bare", "-b", "main", str(remote), cwd=tmp_path)
    git("config", "receive.maxInputSize", "100", cwd=remote)
    make_home(tmp_path / "one", operator=True)
    assert gitmem("remote", "add", "origin", str(remote), cwd=tmp_path / "one").code == 0
    ran = gitmem("sync", "--json", cwd=tmp_path / "one")
    assert ran.code == 13
    assert "could not store" in ran.err
    assert "disk" in ran.json["error"]["hint"]
    git("config", "--unset", "receive.maxInputSize", cwd=remote)
    assert gitmem("sync", cwd=tmp_path / "one").code == 0


def test_a_remote_of_another_object_format_names_the_way_out(tmp_path: Path) -> None:
    """A home is SHA-1, and so is whatever it syncs with."""
    remote = tmp_path / "remote.git"
    git("init", "-q", "--bare", "--object-format=sha256", str(remote), cwd=tmp_path)
    ran = gitmem("clone", str(remote), str(tmp_path / "two"))
    assert ran.code == 13
    assert "--object-format=sha1" in ran.err


def test_a_disk_that_can_only_be_read_is_no_riddle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to do, as it does of a full one."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", "x")

    make_home(tmp_path / "one", operator=True)
    monkeypatch.setattr(AgentHome, "sync", fail)
    ran = gitmem("sync", "--json", cwd=tmp_path / "one")
    assert ran.code == 10
    assert "mount it for writing" in ran.json["error"]["hint"]


@pytest.mark.slow
def test_a_lock_that_was_left_at_a_remote_is_told(tmp_path: Path) -> None:
    """To whoever pushes, a ref that is locked for ever looks like one that somebody else moves."""
    remote = tmp_path / "remote.git"
    git("init", "-q", "--bare", "-b", "main", str(remote), cwd=tmp_path)
    make_home(tmp_path / "one", operator=True)
    assert gitmem("remote", "add", "origin", str(remote), cwd=tmp_path / "one").code == 0
    lock = remote / "refs" / "heads" / "main.lock"
    lock.touch()
    ran = gitmem("sync", cwd=tmp_path / "one")
    assert ran.code == 11
    assert "(main: " in ran.err
    assert ".lock" in ran.err
    lock.unlink()
    assert gitmem("sync", cwd=tmp_path / "one").code == 0
