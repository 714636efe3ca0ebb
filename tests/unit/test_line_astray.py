"""A turn line whose ref somebody deleted or moved: who notices, and who puts it back."""

from __future__ import annotations

from pathlib import Path

import pytest
from homes import new_home

from fixtures import git, run_git
from gitmem.home import AgentHome
from gitmem.status import CORRUPT
from gitmem.watch_home import watch_home


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A home with three indexed turns."""
    with new_home(tmp_path / "home") as home:
        for number in range(3):
            home.record([{"kind": "message", "role": "user", "text": f"quokka {number}"}], session="s1")
        home.catch_up()
    return tmp_path / "home"


@pytest.fixture(params=["deleted", "moved back"])
def left(request: pytest.FixtureRequest, root: Path) -> tuple[str, str]:
    """The line's ref and where gitmem left it, after somebody did something to it beside the hooks."""
    ref = line_of(root)
    tip = git("rev-parse", ref, cwd=root)
    how = ["-d", ref] if request.param == "deleted" else [ref, f"{ref}~2"]
    git("-c", "core.hooksPath=/dev/null", "update-ref", *how, cwd=root)
    return ref, tip


def line_of(root: Path) -> str:
    """Return the full name of the home's turn line."""
    return git("for-each-ref", "--format=%(refname)", "refs/heads/gitmem/turns", cwd=root)


def tip_of(root: Path, ref: str) -> str:
    """Return where a ref stands; "" for none."""
    return run_git("rev-parse", "-q", "--verify", ref, cwd=root).stdout.decode().strip()


def test_search_and_sessions_read_on_and_say_so(root: Path, left: tuple[str, str]) -> None:
    """Search was empty and "fresh" until the next turn put the line back."""
    with AgentHome.open(root) as home:
        reply = home.search("quokka")
        assert len(reply.results) == 3
        (reason,) = reply.index_status.reasons
        assert left[0].removeprefix("refs/heads/") in reason
        assert "`gitmem watch` puts it back" in reason
        sessions = home.session_search("quokka")
        assert sessions["results"]
        assert sessions["index_status"]["reasons"] == [reason]
        assert home.session_search()["results"]
    assert tip_of(root, left[0]) != left[1]  # whoever only reads moves nothing


def test_the_index_keeps_what_the_line_held(root: Path, left: tuple[str, str]) -> None:
    """Or every search between the deletion and the next turn would empty the index and fill it again."""
    with AgentHome.open(root) as home:
        assert home.catch_up().indexed == 0
        assert not home.is_index_behind()
        assert len(home.search("quokka").results) == 3


def test_status_names_it_as_tampering(root: Path, left: tuple[str, str]) -> None:
    """It said "All is well"; what the next turn warns of is known before."""
    with AgentHome.open(root) as home:
        status = home.status()
    assert status.exit_code == CORRUPT
    (finding,) = [one for one in status.findings if one.id in ("line", "index")]
    assert finding.message == status.turns["astray"]
    assert finding.hint == "To put it back now: gitmem watch --once"


def test_watch_puts_it_back_as_a_turn_would(root: Path, left: tuple[str, str]) -> None:
    """Nobody has to record a turn to have the line back."""
    told: list[str] = []
    watch_home(root, once=True, tell=told.append)
    assert tip_of(root, left[0]) == left[1]
    assert any("had been moved by somebody else and was put back" in sentence for sentence in told)
    with AgentHome.open(root) as home:
        assert home.status().turns["astray"] is None
        assert home.search("quokka").index_status.reasons == []


def test_a_note_that_a_kill_left_behind_is_no_alarm(root: Path) -> None:
    """A turn moves the ref first and notes it after; in between the line is where it should be."""
    (last,) = root.glob(".git/gitmem/main/last")
    ref = line_of(root)
    older = git("rev-parse", f"{ref}~1", cwd=root)
    last.write_text(f"{ref.rpartition('/')[2]} {older}\n")
    with AgentHome.open(root) as home:
        assert home.search("quokka").index_status.reasons == []
        assert home.status().turns["astray"] is None


def test_a_line_of_which_the_last_turn_is_gone_too_is_named(root: Path) -> None:
    """Where nothing can be read as it was left, that is still not silence."""
    ref = line_of(root)
    (root / ".git" / "gitmem" / "main" / "last").write_text(f"{ref.rpartition('/')[2]} {'1' * 40}\n")
    git("-c", "core.hooksPath=/dev/null", "update-ref", "-d", ref, cwd=root)
    with AgentHome.open(root) as home:
        (reason,) = [r for r in home.search("quokka").index_status.reasons if "turn line" in r]
    assert "is gone or cannot be read, and the next turn" in reason
