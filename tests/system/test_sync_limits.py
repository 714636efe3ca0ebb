"""Limits of a sync: a store that two machines filled apart, times that are none, names that are taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from homes import make_home
from system.command_line import gitmem

from fixtures import git, set_identity
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
