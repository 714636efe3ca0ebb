"""A store that two machines filled apart: the merge cuts nothing, and what comes next is refused."""

from __future__ import annotations

from pathlib import Path

from homes import make_home

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
