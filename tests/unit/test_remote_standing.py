"""Status says how the home stands to each remote, without asking it."""

from __future__ import annotations

from pathlib import Path

import pytest
from machines import Machine, first_machine, next_machine

from fixtures import git, write_files
from gitmem.errors import RemoteError
from gitmem.remote_standing import RemoteStanding


def standing(machine: Machine) -> RemoteStanding:
    """Return the standing to the one remote, as `status` has it."""
    (found,) = machine.home.status().remotes
    return found


def test_what_stays_behind_is_counted(tmp_path: Path) -> None:
    """Turns, commits and tags that the remote lacks are told apart; a sync sends them all."""
    one = first_machine(tmp_path)
    assert standing(one).lacks == ""
    one.say("Said")
    one.say("Said again")
    one.commit({"notes/c.md": "c\n"})
    git("tag", "-a", "-m", "x\n\nGitmem-Episode: e\nGitmem-Digest: d", "episode/e", cwd=one.root)
    assert standing(one).lacks == "2 turns, 1 commit, 1 episode"
    one.sync()
    assert standing(one).lacks == ""
    assert standing(one).done is not None
    one.close()


@pytest.mark.slow
def test_a_path_in_the_way_is_named_until_it_is_gone(tmp_path: Path) -> None:
    """S2: what the branch cannot take is a conflict for `status --check`, and the reason is there to read."""
    one = first_machine(tmp_path)
    two = next_machine(tmp_path, "b", one.remote)
    one.commit({"notes/new.md": "theirs\n"})
    one.sync()
    write_files(two.root, {"notes/new.md": "mine\n"})
    two.sync()
    assert [*standing(two).blocked] == ["notes/new.md"]
    assert standing(two).ahead == 1
    finding = next(one for one in two.home.status().findings if one.id == "sync")
    assert (finding.exit_code, finding.path) == (12, "notes/new.md")
    (two.root / "notes/new.md").unlink()
    two.sync()
    assert standing(two).blocked == {}
    one.close()
    two.close()


@pytest.mark.slow
def test_a_failed_sync_is_told_until_one_succeeds(tmp_path: Path) -> None:
    """Whoever was not there reads why."""
    one = first_machine(tmp_path)
    moved = one.remote.rename(tmp_path / "elsewhere.git")
    with pytest.raises(RemoteError):
        one.sync()
    assert standing(one).error
    assert [finding.id for finding in one.home.status().findings].count("sync") == 1
    moved.rename(one.remote)
    one.sync()
    assert standing(one).error is None
    one.close()


@pytest.mark.slow
def test_rescue_refs_of_a_sync_are_no_finding(tmp_path: Path) -> None:
    """What the branch contains needs nobody's eye."""
    one = first_machine(tmp_path)
    two = next_machine(tmp_path, "b", one.remote)
    one.commit({"notes/one.md": "one\n"})
    one.sync()
    two.commit({"notes/two.md": "two\n"})
    assert two.sync().rescue_ref is not None
    assert not [finding for finding in two.home.status().findings if finding.id == "rescue"]
    one.close()
    two.close()
