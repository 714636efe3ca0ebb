"""Taking changes back and bringing files back: new commits, and nothing that came later is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import new_home

from fixtures import CounterClock, commit_all, fsck, git, run_git
from gitmem import AgentHome
from gitmem.errors import NotFound, RefusedError, UnknownSource, UsageError
from gitmem.subjects import parse_trailers


@pytest.fixture
def home(tmp_path: Path, clock: CounterClock) -> Iterator[AgentHome]:
    """An agent home."""
    with new_home(tmp_path / "home", now=clock, operator=True) as made:
        yield made
        fsck(made.layout.root)


def last_message(home: AgentHome) -> str:
    """Return the message of HEAD."""
    return git("log", "-1", "--format=%B", cwd=home.layout.root)


def test_an_agents_change_is_taken_back_by_its_commit(home: AgentHome) -> None:
    """One user found that a replace had destroyed most of an entry: what was there is one command away."""
    home.entries("memory").add("Staging listens on 2222, and the cache is Redis")
    wrong = home.entries("memory").replace("2222", "Staging listens on 2223").committed
    home.entries("memory").add("Something later")
    reply = home.revert(str(wrong), reason="the half of it was lost")
    assert (reply.reverted, reply.paths) == (wrong, ["memory/MEMORY.md"])
    assert home.entries("memory").texts == [
        "Staging listens on 2222, and the cache is Redis",
        "Something later",
    ]
    trailers = parse_trailers(last_message(home))
    assert trailers["Gitmem-Kind"] == "revert"
    assert trailers["Gitmem-Reverts"] == wrong
    assert trailers["Gitmem-Reason"] == "the half of it was lost"
    assert git("log", "-1", "--format=%H", cwd=home.layout.root).strip() == reply.committed
    again = home.revert(str(wrong))
    assert (again.unchanged, again.committed) == (True, reply.committed)
    home.revert(str(reply.committed))
    assert home.entries("memory").texts == ["Staging listens on 2223", "Something later"]


def test_the_last_change_of_an_entry(home: AgentHome) -> None:
    """By its ref: one that is there goes or becomes what it was; one that is gone comes back."""
    memory, user = home.entries("memory"), home.entries("user")
    memory.batch([{"action": "add", "content": text} for text in ("one", "two")])
    one = next(entry.source_ref for entry in memory if entry.text == "one")
    memory.replace("two", "three")
    three = next(entry.source_ref for entry in memory if entry.text == "three")
    home.revert(three)
    assert memory.texts == ["one", "two"]
    home.revert(three)
    assert memory.texts == ["one", "three"]
    home.revert(one)
    assert memory.texts == ["three"]
    home.revert(one)
    assert memory.texts == ["one", "three"]
    user.add("of the user")
    (ref,) = (entry.source_ref for entry in user)
    assert home.revert(ref).paths == ["memory/USER.md"]
    assert user.texts == []
    with pytest.raises(UnknownSource):
        home.revert("entry:000000000000000")


def test_an_entry_that_comes_back_may_be_said_again(home: AgentHome) -> None:
    """What was retracted is remembered; an operator who takes the retraction's change back lifts it."""
    home.entries("memory").add("The port is 2222")
    (ref,) = (entry.source_ref for entry in home.entries("memory"))
    home.retract(ref, by="operator")
    assert not home.memory("add", content="The port is 2222").success
    assert home.revert(ref).texts == ["The port is 2222"]
    assert home.entries("memory").texts == ["The port is 2222"]
    home.entries("memory").remove("2222")
    assert home.memory("add", content="The port is 2222").success


def test_a_later_edit_that_overlaps_is_shown_and_stays(home: AgentHome) -> None:
    """Nothing is done; both texts are told, and whose the later edits are."""
    home.entries("memory").add("Staging listens on 2222")
    wrong = str(home.entries("memory").replace("2222", "Staging listens on 2223").committed)
    (home.layout.root / "memory" / "MEMORY.md").write_text("Staging listens on 2224\n")
    commit_all(home.layout.root, "it moved again")
    with pytest.raises(RefusedError) as refused:
        home.revert(wrong)
    assert refused.value.details["overlaps"] == [
        {"path": "memory/MEMORY.md", "now": "Staging listens on 2224", "before": "Staging listens on 2222"}
    ]
    (since,) = refused.value.details["since"]
    assert (since["subject"], since["author"]) == ("it moved again", "operator")
    assert home.entries("memory").texts == ["Staging listens on 2224"]


def test_notes(home: AgentHome) -> None:
    """A note's last change by ref or path; a removed one comes back, a new one goes."""
    ref = str(home.note_add("ops/staging.md", content="# Staging\n\nport 2222\n").source_ref)
    home.note_append("ops/staging.md", "cache: Redis\n")
    assert "Redis" in home.note_show("ops/staging.md").text
    home.revert(ref)
    assert "Redis" not in home.note_show("ops/staging.md").text
    home.note_remove("ops/staging.md")
    assert home.revert("notes/ops/staging.md").paths == ["notes/ops/staging.md"]
    assert "port 2222" in home.note_show("ops/staging.md").text
    home.note_move("ops/staging.md", "staging.md")
    moved = git("rev-parse", "HEAD", cwd=home.layout.root).strip()
    assert sorted(home.revert(moved).paths) == ["notes/ops/staging.md", "notes/staging.md"]
    assert "port 2222" in home.note_show("ops/staging.md").text


def test_a_file_as_it_was(home: AgentHome) -> None:
    """By a commit, a turn's commit or a time; what came since then is in history, and comes back."""
    root = home.layout.root
    home.entries("memory").add("one")
    was = git("rev-parse", "HEAD", cwd=root).strip()
    with home.turn(session="s1") as turn:
        turn.message("user", "hello")
    home.entries("memory").add("two")
    (root / "memory" / "MEMORY.md").write_text("an edit that is not committed\n")
    reply = home.restore("memory/MEMORY.md", str(turn.receipt.committed), reason="the old list was right")
    assert home.entries("memory").texts == ["one"]
    assert "an edit that is not committed" in git("show", "HEAD~1:memory/MEMORY.md", cwd=root)
    assert parse_trailers(last_message(home))["Gitmem-Kind"] == "restore"
    assert home.restore("memory/MEMORY.md", was).unchanged
    home.revert(str(reply.committed))
    assert home.entries("memory").texts == ["an edit that is not committed"]
    with pytest.raises(NotFound):
        home.restore("notes/none.md", "HEAD")


def test_what_is_not_taken_back(home: AgentHome) -> None:
    """The ledger never is; records of finished work, plans and merges have ways of their own."""
    root = home.layout.root
    with home.turn(session="s1") as turn:
        turn.message("user", "hello")
    with pytest.raises(UsageError, match="ledger"):
        home.revert(str(turn.receipt.committed))
    with pytest.raises(UsageError, match="not an entry or a file"):
        home.revert(f"turn:{turn.id}")
    with pytest.raises(NotFound):
        home.revert("nothing-of-this-name")
    (root / "own.txt").write_text("of the operator\n")
    commit_all(root, "own")
    with pytest.raises(UsageError, match="does not manage"):
        home.revert("HEAD")
    with pytest.raises(UsageError, match="does not manage"):
        home.restore("own.txt", "HEAD")
    git("checkout", "-qb", "side", cwd=root)
    commit_all(root, "a", files={"notes/a.md": "a\n"})
    git("checkout", "-q", "main", cwd=root)
    commit_all(root, "b", files={"notes/b.md": "b\n"})
    git("merge", "-q", "--no-edit", "side", cwd=root)
    with pytest.raises(UsageError, match="merge"):
        home.revert("HEAD")


def test_what_was_forgotten_does_not_come_back(home: AgentHome) -> None:
    """Not by a revert, and not by a restore: a receipt holds for every later write."""
    home.entries("memory").add("a secret thing")
    was = git("rev-parse", "HEAD", cwd=home.layout.root).strip()
    (ref,) = (entry.source_ref for entry in home.entries("memory"))
    home.forget(ref, by="operator")
    for attempt in (lambda: home.restore("memory/MEMORY.md", was), lambda: home.revert(ref)):
        with pytest.raises((RefusedError, NotFound)):
            attempt()
    assert home.entries("memory").texts == []


def test_an_operators_state_stays(home: AgentHome) -> None:
    """What is staged stays staged, what is untracked stays; in the middle of a rebase the write waits."""
    root = home.layout.root
    home.entries("memory").add("one")
    home.entries("memory").add("two")
    (root / "staged.txt").write_text("staged\n")
    git("add", "staged.txt", cwd=root)
    (root / "untracked.txt").write_text("untracked\n")
    home.revert("HEAD")
    assert git("status", "--porcelain", cwd=root).splitlines() == ["A  staged.txt", "?? untracked.txt"]
    git("commit", "-qm", "own", cwd=root)
    git("checkout", "-q", "--detach", cwd=root)
    reply = home.revert(f"entry:{next(iter(home.entries('memory'))).source_ref.partition(':')[2]}")
    assert reply.committed is None
    assert reply.reason
    assert home.entries("memory").texts == []
    git("checkout", "-q", "main", cwd=root)
    home.commit()
    assert run_git("show", "HEAD:memory/MEMORY.md", cwd=root).stdout == b""
