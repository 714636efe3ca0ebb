"""An operator's plain `git push` carries turns and tags along, in the background and never in its way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from machines import Machine, first_machine

from fixtures import git, run_git

#: Seconds after which what goes on in the background has failed.
_PATIENCE = 60.0


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Machine]:
    """A home that has a turn and a tag that its remote lacks, and a commit to push."""
    machine = first_machine(tmp_path)
    machine.say("Said after the last sync")
    git("tag", "-a", "-m", "x\n\nGitmem-Episode: e\nGitmem-Digest: d", "episode/e", cwd=machine.root)
    git("config", "push.followTags", "false", cwd=machine.root)
    machine.commit({"notes/c.md": "c\n"})
    yield machine
    machine.close()


def push(machine: Machine, *args: str) -> tuple[int, str]:
    """Push as an operator does; return the exit code and what gitmem said."""
    done = run_git("push", "-q", *args, cwd=machine.root)
    rows = done.stderr.decode().splitlines()
    return done.returncode, "\n".join(row for row in rows if row.startswith("gitmem"))


def has_all(machine: Machine) -> bool:
    """Say whether the remote has the newest turn and the tag."""
    rows = git("for-each-ref", "--format=%(refname) %(objectname)", cwd=machine.remote).splitlines()
    line = git("rev-parse", machine.line, cwd=machine.root)
    return f"{machine.line} {line}" in rows and any("tags/episode/e" in row for row in rows)


def comes_true(machine: Machine) -> bool:
    """Wait for what goes on in the background; say whether it came."""
    deadline = time.monotonic() + _PATIENCE
    while not has_all(machine):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_a_push_takes_turns_and_tags_along(one: Machine) -> None:
    """The push itself ends at once, says what follows, and status has nothing left to tell."""
    code, said = push(one, "origin", "main")
    assert code == 0
    assert "lacks 1 turn and 1 episode tag; they follow in the background" in said
    assert comes_true(one)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["dry run", "switched off", "no such remote"])
def test_what_is_not_meant_is_not_sent(one: Machine, how: str) -> None:
    """A rehearsal sends nothing, nor a machine that was told not to; a failing push fails as ever."""
    if how == "switched off":
        git("config", "gitmem.sync.afterPush", "false", cwd=one.root)
    elsewhere = one.remote.with_name("elsewhere.git")
    if how == "no such remote":
        one.remote.rename(elsewhere)
    code, said = push(one, *(["--dry-run"] if how == "dry run" else []), "origin", "main")
    if how == "no such remote":
        assert code != 0
        elsewhere.rename(one.remote)
    else:
        assert code == 0
        assert "to send them: git push origin" in said
    assert not has_all(one)


@pytest.mark.slow
def test_a_push_that_is_refused_leaves_the_rest_to_travel(one: Machine, tmp_path: Path) -> None:
    """The branch has to be merged first; turns need no merge."""
    git("clone", "-q", one.remote, tmp_path / "other", cwd=tmp_path)
    names = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=tmp_path / "other", env=names)
    git("push", "-q", "origin", "main", cwd=tmp_path / "other")
    code, _ = push(one, "origin", "main")
    assert code != 0
    assert comes_true(one)
