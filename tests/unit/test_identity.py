"""Names in commits are cleaned as Git does it, and agent and operator can be told apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import git, make_repo
from gitmem.identity import agent_identity, clean_identity, is_agent, operator_identity

HOME = "h0123456789abcde"


def test_the_agent_has_an_address_of_its_home() -> None:
    """The address is of a domain that can never receive mail."""
    assert agent_identity("aria", HOME) == f"aria <aria@{HOME}.gitmem.invalid>"
    assert agent_identity("Aria of Ops", HOME) == f"Aria of Ops <Aria-of-Ops@{HOME}.gitmem.invalid>"
    assert agent_identity("小艾", HOME) == f"小艾 <小艾@{HOME}.gitmem.invalid>"
    assert agent_identity(" \n<>", HOME) == f"agent <agent@{HOME}.gitmem.invalid>"


def test_the_operator_is_who_git_says() -> None:
    """Git's configuration decides; without it nothing of the machine gets into a commit."""
    assert operator_identity("Olivia", "o@example.com", HOME) == "Olivia <o@example.com>"
    assert operator_identity(None, None, HOME) == f"operator <operator@{HOME}.gitmem.invalid>"
    assert operator_identity("Olivia", " ", HOME) == f"Olivia <operator@{HOME}.gitmem.invalid>"


def test_agent_and_operator_are_told_apart() -> None:
    """`--author agent` and `--author operator` never mean the same commit, even if the agent is called so."""
    assert is_agent(agent_identity("aria", HOME), HOME)
    assert is_agent(agent_identity("operator", HOME), HOME)
    assert not is_agent(operator_identity(None, None, HOME), HOME)
    assert not is_agent("aria <aria@example.com>", HOME)
    assert not is_agent(agent_identity("aria", "hffffffffffffffff"[:16]), HOME)


@given(st.text())
def test_an_identity_fits_one_commit_line(text: str) -> None:
    """Nothing in a name can end the name, the line or the header."""
    for who in (agent_identity(text, HOME), operator_identity(text, text, HOME)):
        assert who.count("<") == who.count(">") == 1
        assert who.endswith(">")
        assert "\n" not in who
        assert "\0" not in who
        assert not who.startswith((" ", "<"))
        who.encode()


@pytest.mark.parametrize(
    "name", ["  spaced  ", "a <b> c", '"quoted"', ".dot,", "tab\there"[:3], "two\nlines"]
)
def test_git_would_write_the_same_name(tmp_path: Path, name: str) -> None:
    """Our cleaning agrees with the git command line."""
    repo = make_repo(tmp_path / "r", identity=False)
    env = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", name), ("EMAIL", "x@y"))
    }
    git("commit", "--allow-empty", "-qm", "x", cwd=repo, env=env)
    assert git("log", "-1", "--format=%an", cwd=repo) == clean_identity(name)
