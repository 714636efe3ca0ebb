"""`gitmem commit`: the operator's edits as their own commit, with git as the judge."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from branches import Agent, authors, changed_in, clash, git_files, make_home, staged, status

from fixtures import commit_all, fsck, git, head, make_repo, run_git, show, write_files
from gitmem import branch_snapshot
from gitmem.commit_found import CommitReply, commit_found
from gitmem.config import HomeConfig
from gitmem.errors import NotFound, ProtectedPath
from gitmem.json_view import to_json

CONFIG = HomeConfig("h" + "0" * 15)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A home with a commit."""
    return make_home(tmp_path / "home")


@pytest.fixture
def agent(repo: Path) -> Iterator[Agent]:
    """The agent at work in it."""
    agent = Agent(repo)
    yield agent
    agent.close()


def commit(agent: Agent, *paths: str, message: str | None = None) -> CommitReply:
    """Run the operator's commit."""
    return commit_found(agent.branch, agent.layout, paths, message=message)


def test_edits_new_files_and_removals_are_one_commit_of_the_operator(repo: Path, agent: Agent) -> None:
    """All managed paths that differ are committed as theirs; everything else is left as it was."""
    write_files(
        repo, {"notes/a.md": "edited\n", "notes/deep/new.md": "new\n", "src/main.c": "mine\n", "x": "x"}
    )
    (repo / "notes/b.md").unlink()
    reply = commit(agent)
    assert reply.committed == head(repo)
    assert changed_in(repo, head(repo)) == ["notes/a.md", "notes/b.md", "notes/deep/new.md"]
    assert list(reply.paths) == changed_in(repo, head(repo))
    assert authors(repo)[0] == "Olivia Operator: edit: 3 files"
    assert git("log", "-1", "--format=%(trailers:key=Gitmem-Kind,valueonly)", cwd=repo).strip() == "edit"
    assert status(repo) == " M src/main.c\n?? x"
    assert to_json(reply)["path"] == "notes/a.md, notes/b.md, notes/deep/new.md"
    fsck(repo)


def test_named_paths_and_a_message(repo: Path, agent: Agent) -> None:
    """Only what is named is committed, a folder with all that is in it, under the operator's own words."""
    write_files(repo, {"notes/a.md": "edited\n", "memory/self.md": "edited\n", "memory/USER.md": "new\n"})
    reply = commit(agent, "memory", message="What I know\n\nIn two files.")
    assert list(reply.paths) == ["memory/USER.md", "memory/self.md"]
    assert git("log", "-1", "--format=%B", cwd=repo) == "What I know\n\nIn two files.\n\nGitmem-Kind: edit\n"
    assert status(repo) == " M notes/a.md"


def test_what_is_staged_elsewhere_stays_staged(repo: Path, agent: Agent) -> None:
    """The operator's staging of other files is not touched; a file staged whole is committed."""
    write_files(repo, {"src/main.c": "staged\n", "notes/a.md": "staged\n"})
    git("add", "src/main.c", "notes/a.md", cwd=repo)
    assert list(commit(agent).paths) == ["notes/a.md"]
    assert status(repo) == "M  src/main.c"


def test_what_is_staged_in_part_is_named(repo: Path, agent: Agent) -> None:
    """A file of which the operator staged a part is left for them, and the rest is committed."""
    write_files(repo, {"notes/a.md": "staged\n", "notes/b.md": "edited\n"})
    git("add", "notes/a.md", cwd=repo)
    write_files(repo, {"notes/a.md": "staged\nand more\n"})
    reply = commit(agent)
    assert list(reply.paths) == ["notes/b.md"]
    assert reply.skipped == [{"path": "notes/a.md", "reason": "partly staged: stage all of it or none"}]
    assert status(repo) == "MM notes/a.md"


def test_nothing_to_commit(repo: Path, agent: Agent) -> None:
    """Without an edit there is no commit, and that is said."""
    write_files(repo, {"src/main.c": "not managed\n"})
    before = git_files(repo)
    reply = commit(agent)
    assert (reply.committed, reply.reason) == (None, "nothing to commit")
    assert git_files(repo) == before


def test_pending_writes_go_first(repo: Path, agent: Agent) -> None:
    """The agent's writes that waited become the agent's commits, before the operator's own."""
    git("checkout", "-q", "--detach", cwd=repo)
    agent.append("memory/self.md", "agent's\n")
    git("switch", "-q", "main", cwd=repo)
    write_files(repo, {"notes/a.md": "edited\n"})
    reply = commit(agent)
    assert authors(repo)[:2] == ["Olivia Operator: edit: notes/a.md", "aria: note: edit memory/self.md"]
    assert list(reply.settled) == ["memory/self.md"]
    assert status(repo) == ""
    git("checkout", "-q", "--detach", cwd=repo)
    agent.append("memory/self.md", "again\n")
    git("switch", "-q", "main", cwd=repo)
    assert commit(agent).committed == head(repo)
    assert authors(repo)[0] == "aria: note: edit memory/self.md"


@pytest.mark.parametrize("state", ["merge", "detached"])
def test_a_branch_that_cannot_take_it(repo: Path, agent: Agent, state: str) -> None:
    """In a merge or off the branch nothing is committed and nothing is queued: the edit is the operator's."""
    if state == "merge":
        clash(repo)
    else:
        git("checkout", "-q", "--detach", cwd=repo)
    write_files(repo, {"notes/a.md": "edited\n"})
    before = git_files(repo)
    reply = commit(agent)
    assert reply.committed is None
    assert reply.reason == {"merge": "merge in progress", "detached": "detached HEAD"}[state]
    assert git_files(repo) == before
    assert agent.branch.pending() == []
    assert (repo / "notes/a.md").read_text() == "edited\n"


def test_ignore_rules_swallow_no_managed_path(repo: Path, agent: Agent) -> None:
    """OPEN-GIT-12: a new note is committed whatever ignore rules say; an editor's litter is not."""
    write_files(
        repo, {".git/info/exclude": "*.md\n", "notes/new.md": "new\n", "notes/picture.png": b"\x89PNG\0"}
    )
    write_files(repo, {"notes/.new.md.swp": "litter", "notes/new.md~": "litter", "notes/#new.md#": "litter"})
    assert list(commit(agent).paths) == ["notes/new.md", "notes/picture.png"]
    assert git("ls-files", "notes/new.md*", "notes/.*", "notes/#*", cwd=repo) == "notes/new.md"


def test_links_and_nested_repositories_are_named(repo: Path, agent: Agent, tmp_path: Path) -> None:
    """OPEN-GIT-22: what cannot be committed is said, and costs only itself."""
    make_repo(repo / "notes/proj")
    write_files(repo, {"notes/proj/x.md": "x\n", "notes/new.md": "new\n"})
    (repo / "notes/link.md").symlink_to(tmp_path)
    reply = commit(agent)
    assert list(reply.paths) == ["notes/new.md"]
    assert list(reply.skipped) == [
        {"path": "notes/link.md", "reason": "a link; links are not followed"},
        {"path": "notes/proj", "reason": "a nested repository"},
    ]
    linked = commit(agent, "notes/link.md")
    assert (linked.committed, linked.skipped[0]["path"]) == (None, "notes/link.md")


def test_conflict_copies_removed_by_hand(repo: Path, agent: Agent) -> None:
    """C3: deleting a copy and committing resolves the conflict."""
    commit_all(repo, "conflict", {"conflicts/notes/a.md/0123456789ab.md": "lost\n"})
    (repo / "conflicts/notes/a.md/0123456789ab.md").unlink()
    assert list(commit(agent).paths) == ["conflicts/notes/a.md/0123456789ab.md"]
    assert git("ls-files", "conflicts", cwd=repo) == ""


def test_a_name_that_collides_removes_nothing(repo: Path, agent: Agent) -> None:
    """OPEN-GIT-28: a file system that keeps one of two names must not make the other's removal a commit."""
    commit_all(repo, "both", {"notes/Plan.md": "1\n", "notes/plan.md": "2\n"})
    (repo / "notes/plan.md").unlink()
    write_files(repo, {"notes/A.md": "new\n"})
    before = head(repo)
    reply = commit(agent)
    assert head(repo) == before
    assert list(reply.skipped) == [
        {"path": "notes/A.md", "reason": "is the same name as notes/a.md on other machines"},
        {"path": "notes/plan.md", "reason": "is the same name as notes/Plan.md on other machines"},
    ]


def test_sparse_checkout_removes_nothing(repo: Path, agent: Agent) -> None:
    """Files that a sparse checkout leaves out were not removed by anybody."""
    git("sparse-checkout", "set", "--no-cone", "/*", "!/notes/", cwd=repo)
    write_files(repo, {"memory/self.md": "edited\n"})
    assert list(commit(agent).paths) == ["memory/self.md"]
    assert show(repo, "notes/a.md") == "1\n2\n3\n4\n5\n"


def test_an_unmerged_path_is_named(repo: Path, agent: Agent) -> None:
    """A stash that clashed is for the operator to resolve."""
    write_files(repo, {"notes/b.md": "stashed\n"})
    git("stash", "-q", cwd=repo)
    commit_all(repo, "more", {"notes/b.md": "more\n"})
    run_git("stash", "pop", cwd=repo)
    write_files(repo, {"notes/a.md": "edited\n"})
    stages = git("ls-files", "-u", cwd=repo)
    reply = commit(agent)
    assert list(reply.paths) == ["notes/a.md"]
    assert list(reply.skipped) == [{"path": "notes/b.md", "reason": "unmerged: resolve it first"}]
    assert git("ls-files", "-u", cwd=repo) == stages


@pytest.mark.parametrize("resolved", [True, False])
def test_a_clash_in_a_block_of_code_is_no_example(repo: Path, agent: Agent, resolved: bool) -> None:
    """Git remembers both sides of what it had unmerged; an example of others is let in."""
    fenced = "one\n```\n{}\n```\n"
    write_files(repo, {"notes/b.md": fenced.format("port 1")})
    git("add", "notes/b.md", cwd=repo)
    git("stash", "-q", cwd=repo)
    commit_all(repo, "more", {"notes/b.md": fenced.format("port 2")})
    run_git("stash", "pop", cwd=repo)
    if not resolved:
        left = "<<<<<<< a\nport 2\n=======\nport 1\n>>>>>>> b"
        write_files(repo, {"notes/b.md": fenced.format(left)})
    else:
        write_files(repo, {"notes/b.md": fenced.format("<<<<<<< a\nx\n=======\ny\n>>>>>>> b")})
    git("add", "notes/b.md", cwd=repo)
    reply = commit_found(agent.branch, agent.layout, config=CONFIG)
    assert bool(reply.committed) == resolved
    assert [row["rule"] for row in reply.findings] == ([] if resolved else ["conflict"])


def test_the_branch_moves_meanwhile(repo: Path) -> None:
    """A commit by plain git in between is built on, not failed on."""
    done = []

    def step(name: str) -> None:
        if name == "prepared" and not done:
            done.append(commit_all_but_notes(repo))

    agent = Agent(repo, checkpoint=step)
    write_files(repo, {"notes/a.md": "edited\n"})
    assert commit(agent).committed == head(repo)
    assert authors(repo)[:2] == ["Olivia Operator: edit: notes/a.md", "Olivia Operator: meanwhile"]
    agent.close()


def commit_all_but_notes(repo: Path) -> str:
    """Commit another file with plain git."""
    write_files(repo, {"src/main.c": "meanwhile\n"})
    git("commit", "-qm", "meanwhile", "--", "src/main.c", cwd=repo)
    return head(repo)


def test_paths_that_are_not_managed_or_not_there(repo: Path, agent: Agent) -> None:
    """A path that gitmem does not commit is refused with git's own command, a missing one is not found."""
    for path in ("src/main.c", "../x", "/etc/passwd", ""):
        with pytest.raises(ProtectedPath):
            commit(agent, path)
    with pytest.raises(NotFound):
        commit(agent, "notes/none.md")


def test_crlf_edits_are_folded_as_git_folds_them(repo: Path, agent: Agent) -> None:
    """An editor that saves CRLF does not rewrite every line in the history."""
    write_files(repo, {"notes/a.md": b"1\r\n2\r\n3\r\n4\r\n5\r\nsix\r\n"})
    assert commit(agent).committed
    assert git("diff", "--numstat", "HEAD~1", cwd=repo) == "1\t0\tnotes/a.md"
    assert status(repo) == ""
    assert staged(repo)


def test_an_unchanged_home_is_not_read(repo: Path, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files whose stat data Git vouches for are not opened, so that a large home commits quickly."""
    old = time.time() - 100
    for path in repo.glob("notes/*.md"):
        os.utime(path, (old, old))
    git("update-index", "--refresh", cwd=repo)
    read: list[str] = []
    real = branch_snapshot.read_managed
    monkeypatch.setattr(
        branch_snapshot, "read_managed", lambda root, path: read.append(path) or real(root, path)
    )
    write_files(repo, {"notes/b.md": "edited\n"})
    assert list(commit(agent).paths) == ["notes/b.md"]
    assert "notes/a.md" not in read


def test_a_split_index_is_read_through_git(repo: Path, agent: Agent) -> None:
    """What only Git can read is no fault of the operator's."""
    git("update-index", "--split-index", cwd=repo)
    assert commit(agent).reason == "nothing to commit"
    write_files(repo, {"notes/b.md": "more\n"})
    reply = commit(agent)
    assert list(reply.paths) == ["notes/b.md"]
    assert status(repo) == ""


def test_a_damaged_index_is_named(repo: Path, agent: Agent) -> None:
    """The reply says why nothing was committed; nothing is lost by it."""
    write_files(repo, {"notes/b.md": "more\n"})
    (repo / ".git" / "index").write_bytes(b"DIRC damaged")
    reply = commit(agent)
    assert reply.committed is None
    assert reply.reason == "the staging area is damaged"
