"""What changed between two moments of a home, and who changed it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from homes import new_home

from fixtures import CounterClock, commit_all, git, make_repo
from gitmem import AgentHome
from gitmem.errors import NotFound


@pytest.fixture
def home(tmp_path: Path, clock: CounterClock) -> Iterator[AgentHome]:
    """An agent home with an operator."""
    with new_home(tmp_path / "home", now=clock, operator=True) as made:
        yield made


def rows(home: AgentHome, *moments: str | None, **options: Any) -> list[tuple[object, ...]]:
    """Return what changed and who it was."""
    found = [one.to_json() for one in home.diff(*moments, **options).changes]
    return [(one["kind"], one["change"], one["before"], one["after"], one["author"]) for one in found]


def tip(home: AgentHome) -> str:
    """Return HEAD's commit."""
    return git("rev-parse", "HEAD", cwd=home.layout.root).strip()


def test_what_an_agent_and_an_operator_changed(home: AgentHome) -> None:
    """Each change has its author, the commit that made it, and when; whoever did it last counts."""
    root, begin = home.layout.root, tip(home)
    learned = home.entries("memory").add("Staging listens on 2222").committed
    home.entries("memory").add("The cache is Redis")
    home.note_add("staging.md", content="# Staging\n\nOne host.\n")
    (root / "memory" / "MEMORY.md").write_text("Staging listens on 2223\n§\nThe cache is Redis\n")
    moved = commit_all(root, "it moved")
    assert rows(home, begin, "HEAD") == [
        ("entry", "added", None, "Staging listens on 2223", "operator"),
        ("entry", "added", None, "The cache is Redis", "agent"),
        ("note", "added", None, "Staging", "agent"),
    ]
    (change,) = [one.to_json() for one in home.diff(str(learned), moved).changes if one.author == "operator"]
    assert (change["change"], change["before"], change["after"]) == (
        "replaced", "Staging listens on 2222", "Staging listens on 2223",
    )  # fmt: skip
    assert change["commit"] == moved
    assert change["at"]
    assert home.get(change["source_ref"]).content == "Staging listens on 2223"
    assert [row[2] for row in rows(home, begin, "HEAD", author="operator")] == [None]
    assert rows(home, begin, "HEAD", author="nobody") == []
    reply = home.diff(begin, "HEAD")
    assert reply.budgets["memory"]["before"] == 0
    assert reply.budgets["memory"]["after"] > 0
    assert reply.summary.startswith("2 entries added, 1 note added. Budgets: memory 0 % to ")


def test_the_way_back(home: AgentHome) -> None:
    """The older moment may come second; then nobody made the change."""
    begin = tip(home)
    home.entries("memory").add("one")
    assert rows(home, "HEAD", begin) == [("entry", "removed", "one", None, None)]


def test_edits_that_are_not_committed(home: AgentHome) -> None:
    """They are the operator's; beside what was committed since the moment that is compared with."""
    root, begin = home.layout.root, tip(home)
    home.entries("memory").add("one")
    (root / "memory" / "MEMORY.md").write_text("one\n§\ntwo\n")
    (root / "notes").mkdir(exist_ok=True)
    (root / "notes" / "new.md").write_text("# New\n\nwords\n")
    (root / "own.txt").write_text("not of memory\n")
    assert rows(home) == [
        ("entry", "added", None, "two", "operator"),
        ("note", "added", None, "New", "operator"),
    ]
    found = home.diff(begin)
    assert [(one.change.after, one.author, one.commit is None) for one in found.changes] == [
        ("one", "agent", False),
        ("two", "operator", True),
        ("New", "operator", True),
    ]
    (note,) = [one.change.source_ref for one in found.changes if one.change.kind == "note"]
    assert home.get(str(note)).content.startswith("# New")
    assert (found.before, found.after) == (begin, None)


def test_across_a_merge(home: AgentHome) -> None:
    """A side branch counts from where it came in."""
    root, begin = home.layout.root, tip(home)
    git("checkout", "-qb", "side", cwd=root)
    commit_all(root, "side", files={"notes/side.md": "# Side\n"})
    git("checkout", "-q", "main", cwd=root)
    commit_all(root, "main", files={"notes/main.md": "# Main\n"})
    git("merge", "-q", "--no-edit", "side", cwd=root)
    assert rows(home, begin, "HEAD") == [
        ("note", "added", None, "Main", "operator"),
        ("note", "added", None, "Side", "operator"),
    ]


def test_work_and_episodes(home: AgentHome) -> None:
    """A work item that was completed, and the episode that came of it; from there by its tag."""
    begin = tip(home)
    item = home.work_create("Move staging", by="agent").id
    with home.turn(session="s1") as turn:
        turn.event("work_item", action="pick", work_item_id=item)
        turn.message("user", "please move it")
    with home.turn(session="s1") as turn:
        turn.event("work_item", action="complete", work_item_id=item, report="It runs on db3.")
    kinds = [(row[0], row[1]) for row in rows(home, begin, "HEAD")]
    assert ("work_item", "added") in kinds
    assert ("episode", "added") in kinds
    (episode,) = home.episodes().episodes
    assert rows(home, f"episode/{episode.id}", "HEAD") == []


def test_texts_as_git_shows_them(home: AgentHome) -> None:
    """--patch is a unified diff that git applies."""
    root = home.layout.root
    home.note_add("a.md", content="one\ntwo\n")
    home.note_add("b.md", content="no line feed")
    begin = tip(home)
    commit_all(
        root, files={"notes/a.md": "one\nthree\n", "notes/b.md": "no line feed, still", "notes/c.md": "new\n"}
    )
    patch = home.diff(begin, "HEAD", patch=True).patch
    git("checkout", "-q", begin, cwd=root)
    git("apply", "-", cwd=root, stdin=str(patch))
    assert (root / "notes" / "a.md").read_text() == "one\nthree\n"
    assert (root / "notes" / "b.md").read_text() == "no line feed, still"
    assert (root / "notes" / "c.md").read_text() == "new\n"


def test_odd_files(home: AgentHome) -> None:
    """What is no text, a link, a nested repository, what CRLF and twins are: named, never a crash."""
    root, begin = home.layout.root, tip(home)
    (root / "notes").mkdir(exist_ok=True)
    (root / "notes" / "bytes.md").write_bytes(b"\xff\xfe\x00")
    (root / "notes" / "link.md").symlink_to("bytes.md")
    (root / "notes" / "crlf.md").write_bytes(b"# Crlf\r\n\r\nwords\r\n")
    make_repo(root / "nested")
    commit_all(root / "nested", files={"x": "x\n"})
    git("add", "-A", cwd=root)
    git("commit", "-qm", "odd", "--no-verify", cwd=root)
    told = {one.change.path: one.change.change for one in home.diff(begin, "HEAD").changes}
    assert told == {
        "notes/bytes.md": "added", "notes/link.md": "added", "notes/crlf.md": "added", "nested": "added",
    }  # fmt: skip
    assert "Binary files" in str(home.diff(begin, "HEAD", patch=True).patch)
    (root / "notes" / "crlf.md").write_bytes(b"# Crlf\r\n\r\nwords\r\nmore\r\n")
    assert [row[1] for row in rows(home)] == ["edited"]


def test_what_was_forgotten_is_in_no_diff(home: AgentHome) -> None:
    """Not as it came, and not as it went."""
    begin = tip(home)
    home.entries("memory").add("a private matter")
    home.entries("memory").add("something else")
    (ref,) = (one.source_ref for one in home.entries("memory") if "private" in one.text)
    home.forget(ref, by="operator")
    told = str([one.to_json() for one in home.diff(begin, "HEAD~1", patch=True).changes])
    assert "something else" in told
    assert "private" not in told + str(home.diff(begin, "HEAD~1", patch=True).patch)
    assert "private" not in str([one.to_json() for one in home.diff("HEAD~1", "HEAD").changes])


def test_moments_that_there_are_not(home: AgentHome) -> None:
    """They are named; and a home whose branch has no commit yet has no difference but what is on disk."""
    with pytest.raises(NotFound):
        home.diff("episode/ep_000000000000000")
    with pytest.raises(NotFound):
        home.diff("HEAD~50")
    home.entries("memory").add("one")
    assert ("config", "added") in [row[:2] for row in rows(home, "2001-01-01")]
    git("checkout", "-q", "--detach", cwd=home.layout.root)
    assert rows(home) == []
