"""`gitmem episode` from a shell, and the same with plain git."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from system.command_line import gitmem

from fixtures import git, set_identity


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which a session ended, and another is open."""
    root = tmp_path / "home"
    assert gitmem("init", str(root), cwd=tmp_path).code == 0
    set_identity(root)
    tell(root, {"kind": "message", "role": "user", "text": "Which port does staging use?"})
    tell(
        root,
        {"kind": "decision", "text": "Use 2222", "because": "it is free"},
        {"kind": "session", "event": "end"},
    )
    tell(root, {"kind": "message", "role": "user", "text": "And the other one?"}, session="s2")
    return root


def tell(root: Path, *events: dict[str, object], session: str = "s1") -> None:
    """Record a turn."""
    lines = "\n".join(map(json.dumps, events))
    assert gitmem("turn", "--session", session, stdin=lines, cwd=root).code == 0


def test_what_ended_is_listed_and_shown(home: Path) -> None:
    """For people as lines and as the file, for programs with everything as fields."""
    page = gitmem("episode", "list", "--json", cwd=home).json
    (one,) = page["episodes"]
    assert (one["session"], one["boundary"], one["state"]) == ("s1", "session_ended", "final")
    assert one["source_ref"] == f"episode:{one['id']}"
    assert len(one["source_refs"]) == len(one["turns"]) == 2
    assert [open_one["session"] for open_one in page["open"]] == ["s2"]
    shown = gitmem("episode", "list", cwd=home).out
    assert one["id"] in shown
    assert "open: 1 turn, session s2" in shown
    text = gitmem("episode", "show", one["id"], cwd=home).out
    assert text.rstrip("\n") == (home / one["path"]).read_text("utf-8").rstrip("\n")
    assert "- Use 2222, because it is free (`decision:" in text
    reply = gitmem("episode", "show", one["source_ref"], "--json", cwd=home).json["episode"]
    assert reply["content"] == (home / one["path"]).read_text("utf-8")


def test_git_reads_it_without_gitmem(home: Path) -> None:
    """`git show episode/<id>` and `git tag -n`."""
    (one,) = gitmem("episode", "list", "--json", cwd=home).json["episodes"]
    assert one["path"] in git("show", "--name-only", "--format=%s", f"episode/{one['id']}", cwd=home)
    assert git("tag", "-n", "-l", "episode/*", cwd=home).startswith(f"episode/{one['id']}")


def test_every_ref_in_it_resolves(home: Path) -> None:
    """A source ref that leads nowhere proves nothing."""
    (one,) = gitmem("episode", "list", "--json", cwd=home).json["episodes"]
    refs = {*one["source_refs"], one["source_ref"]}
    refs |= {item["ref"] for name in ("done", "decisions", "follow_ups") for item in one[name]}
    assert all(gitmem("get", ref, cwd=home).code == 0 for ref in refs)


def test_what_is_open_can_be_finished(home: Path) -> None:
    """`close` answers as a turn does; a second time there is nothing to finish."""
    receipt = gitmem("episode", "close", "--session", "s2", "--json", cwd=home)
    assert receipt.code == 0
    (ref,) = [one["source_ref"] for one in receipt.json["records"] if one["kind"] == "episode"]
    assert gitmem("episode", "show", ref, "--json", cwd=home).json["episode"]["boundary"] == "closed"
    assert gitmem("episode", "close", "--session", "s2", cwd=home).code == 4
    assert gitmem("episode", "show", "ep_000000000000000", cwd=home).code == 4


def test_the_past_is_asked_by_commit_or_time(home: Path) -> None:
    """Before there was one there is none."""
    first = git("rev-list", "--max-parents=0", "main", cwd=home)
    assert gitmem("episode", "list", "--as-of", first, "--json", cwd=home).json["episodes"] == []
    for name in ("main", "HEAD~0", "2030-01-01"):
        assert len(gitmem("episode", "list", "--as-of", name, "--json", cwd=home).json["episodes"]) == 1
    ran = gitmem("episode", "list", "--as-of", "soonish", cwd=home)
    assert (ran.code, "neither a commit nor a time" in ran.err) == (2, True)
    head = git("rev-parse", "main", cwd=home)
    assert len(gitmem("episode", "list", "--as-of", head, "--json", cwd=home).json["episodes"]) == 1
    assert gitmem("episode", "list", "--as-of", "2001-01-01", "--json", cwd=home).json["episodes"] == []


def test_a_changed_file_is_said_to_be(home: Path) -> None:
    """What was finished is in the tag."""
    (one,) = gitmem("episode", "list", "--json", cwd=home).json["episodes"]
    path = home / one["path"]
    path.write_text(path.read_text("utf-8") + "more\n")
    shown = gitmem("episode", "show", one["id"], cwd=home)
    assert f"git show episode/{one['id']}" in shown.err
    assert "changed" in gitmem("episode", "list", cwd=home).out


def test_nothing_open_is_said_of_the_session(home: Path) -> None:
    """The sentence names where nothing is open."""
    assert "nothing is open in session s9" in gitmem("episode", "close", "--session", "s9", cwd=home).err
    assert "nothing is open outside of any session" in gitmem("episode", "close", cwd=home).err
    assert gitmem("episode", "close", "--session", "a b", cwd=home).code == 2
