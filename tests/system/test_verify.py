"""`gitmem verify` on whole homes: what is whole gives nothing, each kind of tampering is named, exit 20."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from homes import make_home
from system.command_line import gitmem

from fixtures import git, set_identity
from gitmem import AgentHome
from gitmem.search_index import IndexChange
from turns import put_on_line


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with three finished episodes, two entries, a note and an index."""
    root = make_home(tmp_path / "home", operator=True)
    for session in ("s1", "s2", "s3"):
        told = [
            {"kind": "message", "role": "user", "text": f"Which port does {session} use?"},
            {"kind": "session", "event": "end"},
        ]
        lines = "\n".join(map(json.dumps, told))
        assert gitmem("turn", "--session", session, stdin=lines, cwd=root).code == 0
    for text in ("Staging listens on 2222.", "Production listens on 22."):
        reply = gitmem("memory", "add", "--target", "memory", "--content", text, cwd=root)
        assert reply.code == 0, reply.err
    assert gitmem("note", "add", "ports.md", "--content", "# Ports\n\n2222", cwd=root).code == 0
    assert gitmem("watch", "--once", cwd=root).code == 0
    return root


def verify(root: Path, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
    """Return the findings; the exit code must be this one."""
    ran = gitmem("verify", "--json", *arguments, cwd=root)
    assert ran.code == code, (ran.out, ran.err)
    assert ran.json["ok"] is (code == 0)
    findings: list[dict[str, Any]] = ran.json["findings"]
    return findings


def past_hooks(root: Path, *arguments: str) -> str:
    """Run git as somebody who passes by the hooks."""
    return git("-c", "core.hooksPath=/dev/null", *arguments, cwd=root)


def rules(findings: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return rule and severity of each."""
    return [(one["rule"], one["severity"]) for one in findings]


def episode_file(root: Path) -> Path:
    """Return the file of one episode."""
    return min((root / "episodes").rglob("*.md"))


def test_a_whole_home_gives_nothing(home: Path) -> None:
    """Everything is looked at once, then only what is new; nothing but marks is written."""
    before = git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags", cwd=home)
    whole = gitmem("verify", "--full", "--json", cwd=home).json
    assert (whole["ok"], whole["findings"], whole["scope"]) == (True, [], "everything")
    assert whole["checked"]["episodes"] == 3
    assert whole["checked"]["lines"] > 10
    later = gitmem("verify", "--json", cwd=home).json
    assert (later["ok"], later["scope"]) == (True, "new")
    assert later["checked"] == {"writers": 1, "commits": 0, "lines": 0, "episodes": 0}
    assert gitmem("verify", cwd=home).out == "Nothing is wrong: nothing new looked at.\n"
    after = git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags", cwd=home)
    assert (before, git("status", "--porcelain", cwd=home)) == (after, "")


@pytest.mark.parametrize("is_marked", [True, False], ids=["behind a mark", "from the beginning"])
def test_an_edited_episode_is_named_with_the_commit_that_edited_it(home: Path, is_marked: bool) -> None:
    """Hooks can be passed by; the ledger holds the digest of what was finished."""
    if is_marked:
        verify(home)
    file = episode_file(home)
    file.write_text(file.read_text("utf-8").replace("Which", "What"), "utf-8")
    git("commit", "-qam", "nicer", "--no-verify", cwd=home)
    edited = git("rev-parse", "HEAD", cwd=home)
    (home / "AGENTS.md").write_text("later", "utf-8")
    git("commit", "-qam", "later", "--no-verify", cwd=home)
    (found,) = verify(home, code=20)
    assert (found["rule"], found["path"]) == ("episode_changed", str(file.relative_to(home)))
    assert found["commit"] == edited
    (again,) = verify(home, code=20)
    assert again == found  # nothing that is wrong is marked as verified


def test_a_removed_episode_is_named(home: Path) -> None:
    """An episode is never deleted, and its tag says that it was there."""
    file = episode_file(home)
    git("rm", "-q", str(file), cwd=home)
    git("commit", "-qm", "tidy", "--no-verify", cwd=home)
    (found,) = verify(home, code=20)
    assert (found["rule"], found["path"]) == ("episode_missing", str(file.relative_to(home)))
    assert found["commit"] == git("rev-parse", "HEAD", cwd=home)


def test_a_renamed_episode_is_the_same_one(home: Path) -> None:
    """The record knows its bytes, not its name."""
    file = episode_file(home)
    git("mv", str(file), str(file.with_name("renamed.md")), cwd=home)
    git("commit", "-qm", "rename", "--no-verify", cwd=home)
    assert verify(home, "--full") == []


@pytest.mark.parametrize("is_marked", [True, False], ids=["behind a mark", "from the beginning"])
@pytest.mark.parametrize("to", ["HEAD", "main~3"])
def test_a_moved_tag_is_named(home: Path, to: str, is_marked: bool) -> None:
    """A tag that is no longer the one that was made, light or annotated."""
    if is_marked:
        verify(home)
    name = git("tag", "-l", "episode/*", cwd=home).split()[0]
    past_hooks(home, "tag", "-f", name, to)
    (light,) = verify(home, code=20)
    past_hooks(home, "tag", "-f", "-a", "-m", "mine", name, to)
    (annotated,) = verify(home, code=20)
    for found in (light, annotated):
        assert (found["rule"], found["path"]) == ("tag_moved", f"refs/tags/{name}")
        assert found["commit"] == git("rev-parse", to, cwd=home)


def test_a_tag_that_is_gone_is_a_warning(home: Path) -> None:
    """A clone may lack tags; the file is there."""
    verify(home)
    name = git("tag", "-l", "episode/*", cwd=home).split()[0]
    past_hooks(home, "tag", "-d", name)
    assert rules(verify(home)) == [("tag_missing", "warning")]


def test_the_copy_on_disk_is_held_against_the_line(home: Path) -> None:
    """Whoever reads ledger/ with other tools is to read what was recorded."""
    verify(home)
    file = min((home / "ledger").glob("2*/*/*.jsonl"))
    lines = file.read_bytes().split(b"\n")
    lines[1] = lines[1].replace(b"s1 use", b"s9 use") if b"s1 use" in lines[1] else b"{}"
    file.write_bytes(b"\n".join(lines))
    (found,) = verify(home, code=20)
    assert (found["rule"], found["path"], found["line"]) == ("disk", str(file.relative_to(home)), 2)


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_what_stands_in_place_of_the_copy_is_named(home: Path, kind: str) -> None:
    """A link there shows other tools what somebody else wrote."""
    verify(home)
    file = min((home / "ledger").glob("2*/*/*.jsonl"))
    file.unlink()
    file.symlink_to("/dev/null") if kind == "link" else file.mkdir()
    (found,) = verify(home, "--full", code=20)
    assert (found["rule"], found["path"]) == ("disk", str(file.relative_to(home)))


def test_a_copy_that_was_cleaned_away_is_nothing(home: Path) -> None:
    """`git clean -fdx` takes the copy, and the next turn brings it back."""
    verify(home)
    git("clean", "-fdxq", cwd=home)
    assert verify(home, "--full") == []


def test_a_range_is_held_to_what_commits_are(home: Path) -> None:
    """A forge runs it on a pull request: each commit counts, also one that the next takes back."""
    git("switch", "-qc", "topic", cwd=home)
    (home / "notes" / "good.md").write_text("# Good\n", "utf-8")
    git("add", "notes", cwd=home)
    git("commit", "-qm", "good", "--no-verify", cwd=home)
    assert verify(home, "--range", "main..topic") == []
    file = episode_file(home)
    before = file.read_bytes()
    file.write_bytes(before + b"more\n")
    git("commit", "-qam", "bad", "--no-verify", cwd=home)
    bad = git("rev-parse", "HEAD", cwd=home)
    file.write_bytes(before)
    git("commit", "-qam", "back", "--no-verify", cwd=home)
    found = verify(home, "--range", "main..topic", code=20)
    assert (found[-1]["rule"], found[-1]["path"]) == ("branch", str(file.relative_to(home)))
    assert bad in {one["commit"] for one in found}
    assert verify(home, "--range", "topic..main") == []


def test_a_message_like_a_turns_opens_no_door(home: Path) -> None:
    """Who opens a pull request writes its messages: a turn's trailer in one once had nothing looked at."""
    git("switch", "-qc", "topic", cwd=home)
    file = episode_file(home)
    file.write_bytes(file.read_bytes() + b"more\n")
    trailer = f"Gitmem-Chain: w12345678:1:{'0' * 64}"
    git("commit", "-qam", "bad", "-m", trailer, "--no-verify", cwd=home)
    found = verify(home, "--range", "main..topic", code=20)
    assert ("branch", str(file.relative_to(home))) in {(one["rule"], one["path"]) for one in found}


@pytest.mark.parametrize(
    ("text", "code"), [("main", 2), ("..main", 2), ("main..", 2), ("main...topic", 2), ("main..nowhere", 4)]
)
def test_what_is_no_range(home: Path, text: str, code: int) -> None:
    """A wrong range is told of, and nothing is looked at."""
    assert gitmem("verify", "--range", text, cwd=home).code == code


def test_one_thing_at_a_time(home: Path) -> None:
    """The three ways to look do not go together."""
    assert gitmem("verify", "--full", "--range", "main..main", cwd=home).code == 2


def test_a_remote_bears_witness_of_what_was_rewritten(home: Path, tmp_path: Path) -> None:
    """Who rewrites line, chain and marks is found by what was pushed before."""
    git("init", "-q", "--bare", str(tmp_path / "remote.git"), cwd=tmp_path)
    assert gitmem("remote", "add", "origin", str(tmp_path / "remote.git"), cwd=home).code == 0
    assert gitmem("sync", cwd=home).code == 0
    assert verify(home, "--against", "origin") == []
    (ref,) = git("for-each-ref", "--format=%(refname)", "refs/heads/gitmem/turns", cwd=home).split()
    past_hooks(home, "update-ref", "-d", ref)
    for name in git("for-each-ref", "--format=%(refname)", "refs/remotes", "refs/gitmem", cwd=home).split():
        past_hooks(home, "update-ref", "-d", name)
    for file in (home / ".git" / "gitmem" / "main").glob("*"):
        if file.is_file():
            file.unlink()
    assert gitmem("turn", stdin='{"kind":"message","role":"user","text":"anew"}', cwd=home).code == 0
    found = verify(home, "--against", "origin", code=20)
    assert [(one["rule"], one["path"]) for one in found if one["severity"] == "error"] == [("witness", ref)]


def test_a_remote_bears_witness_of_lines_that_a_later_commit_took_away(home: Path, tmp_path: Path) -> None:
    """The line goes on from what was pushed, and still lacks some of it; no mark here tells so."""
    git("init", "-q", "--bare", str(tmp_path / "remote.git"), cwd=tmp_path)
    assert gitmem("remote", "add", "origin", str(tmp_path / "remote.git"), cwd=home).code == 0
    assert gitmem("sync", cwd=home).code == 0
    (ref,) = git("for-each-ref", "--format=%(refname)", "refs/heads/gitmem/turns", cwd=home).split()
    files = git("ls-tree", "-r", "--name-only", ref, cwd=home).split()
    path = next(one for one in files if one.endswith(".jsonl"))
    kept = git("show", f"{ref}:{path}", cwd=home).split("\n")[:-2]
    past_hooks(home, "config", "core.hooksPath", "/dev/null")
    message = git("log", "-1", "--format=%B", ref, cwd=home)
    commit = put_on_line(home, ref, {path: "\n".join([*kept, ""]).encode()}, message=message)
    found = verify(home, "--against", "origin", code=20)
    assert {(one["rule"], one["path"], one["commit"]) for one in found} == {("lost", path, commit)}
    assert len(found) == 2


def test_a_commit_in_the_name_of_a_turn_that_did_something_else(home: Path) -> None:
    """A trailer that contradicts the turn's record is named; one that is missing is nothing."""
    turn = git("log", "-1", "--format=%(trailers:key=Gitmem-Turn,valueonly)", "--", "memory", cwd=home)
    author = git("log", "-1", "--format=%an <%ae>", "--", "memory", cwd=home)
    (home / "memory" / "self.md").write_text("I am somebody else.\n", "utf-8")
    message = f"memory: edit\n\nGitmem-Kind: memory\nGitmem-Turn: {turn}\n"
    name, mail = author.removesuffix(">").split(" <")
    agent = {"GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": mail}
    git("commit", "-qam", message, "--author", author, "--no-verify", cwd=home, env=agent)
    (found,) = verify(home, code=20)
    assert (found["rule"], found["path"]) == ("memory_trailer", "memory/self.md")
    assert found["commit"] == git("rev-parse", "HEAD", cwd=home)


def test_an_agents_commit_that_a_person_amended_is_a_warning(home: Path) -> None:
    """`git commit -a --amend` on top of the agent's commit is an ordinary thing to do, and no tampering."""
    with AgentHome.open(home) as opened:
        opened.note_add("new.md", content="# New\n")
    (home / "memory" / "self.md").write_text("I am somebody else.\n", "utf-8")
    git("commit", "-qa", "--amend", "--no-edit", cwd=home)
    (found,) = verify(home)
    assert (found["rule"], found["severity"], found["path"]) == (
        "memory_trailer", "warning", "memory/self.md",
    )  # fmt: skip


def test_an_index_that_lacks_a_segment_is_named(home: Path) -> None:
    """`--full` looks at the index, too; it says how to make it anew, and then all is well."""
    with AgentHome.open(home) as opened:
        index = opened._parts.index
        snapshot = index.snapshot()
        assert snapshot is not None
        (path,) = snapshot.manifest.segments
        with index.writing() as writer:
            assert writer is not None
            writer.commit(IndexChange(snapshot.manifest, remove_origins=frozenset({path})))
    (found,) = verify(home, "--full", code=20)
    assert (found["rule"], found["path"]) == ("index", path)
    assert gitmem("reindex", cwd=home).code == 0
    assert verify(home, "--full") == []


def test_what_is_wrong_is_told_to_people(home: Path) -> None:
    """One line for each thing, with where and since when."""
    set_identity(home)
    file = episode_file(home)
    git("rm", "-q", str(file), cwd=home)
    git("commit", "-qm", "tidy", "--no-verify", cwd=home)
    ran = gitmem("verify", cwd=home)
    commit = git("rev-parse", "--short=12", "HEAD", cwd=home)
    assert ran.code == 20
    assert f"error: episode_missing: {file.relative_to(home)}: the file of episode " in ran.out
    assert f"(commit {commit})" in ran.out
    assert ran.out.rstrip().endswith("looked at.")
    assert "1 thing is wrong: " in ran.out
