"""HEAD's branch moves forwards, files and staging area with it, and takes nobody's work."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from branches import AGENT, Agent, in_child, make_home, status

from fixtures import commit_all, fsck, git, head, run_git, write_files
from gitmem.errors import HeadMoved
from gitmem.head_advance import Advance, HeadMove

KILLED = 9
#: What the new commit has otherwise than the old one.
NEW = {
    "notes/a.md": "1\n2\nnew\n4\n5\n",
    "notes/deep/er/c.md": "c\n",
    "src/main.c": "int other;\n",
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home at `main`, with the branch `new` one commit ahead."""
    repo = make_home(tmp_path / "home")
    git("switch", "-qc", "new", cwd=repo)
    (repo / "notes/b.md").unlink()
    write_files(repo, NEW)
    (repo / "src/main.c").chmod(0o755)
    (repo / "notes/link.md").symlink_to("./a.md")
    commit_all(repo, "new")
    git("switch", "-q", "main", cwd=repo)
    return repo


@pytest.fixture
def agent(home: Path) -> Iterator[Agent]:
    """Gitmem on that home."""
    agent = Agent(home)
    yield agent
    agent.close()


def move_of(repo: Path) -> HeadMove:
    """Return the move from `main` to `new`."""
    return HeadMove("refs/heads/main", head(repo), head(repo, "new"), "sync: fast-forward", AGENT)


def advance(agent: Agent) -> Advance:
    """Move `main` to `new`."""
    return agent.branch.advance(move_of(agent.repo))


def test_files_index_and_branch_move_together(agent: Agent) -> None:
    """Afterwards git finds nothing changed: contents, modes, links and what is gone are the commit's."""
    outcome = advance(agent)
    assert outcome == Advance(moved=True, left=[])
    assert head(agent.repo) == head(agent.repo, "new")
    assert status(agent.repo) == ""
    assert not (agent.repo / "notes/b.md").exists()
    assert os.access(agent.repo / "src/main.c", os.X_OK)
    assert git("ls-files", "-s", "notes/link.md", cwd=agent.repo).startswith("120000 ")
    assert git("reflog", "-1", "--format=%gs", cwd=agent.repo) == "sync: fast-forward"
    fsck(agent.repo)


def test_edits_elsewhere_stay_what_they_are(agent: Agent) -> None:
    """Staged, unstaged and untracked work in other paths is in nobody's way and untouched."""
    write_files(
        agent.repo, {"memory/self.md": "edited\n", "memory/MEMORY.md": "staged\n", "notes/own.md": "own\n"}
    )
    git("add", "memory/MEMORY.md", cwd=agent.repo)
    before = status(agent.repo)
    assert advance(agent).moved
    assert status(agent.repo) == before


@pytest.mark.parametrize(
    ("path", "stage"),
    [("notes/a.md", False), ("notes/a.md", True), ("notes/b.md", False), ("notes/deep/er/c.md", False)],
)
def test_an_edited_or_untracked_file_keeps_head_where_it_is(agent: Agent, path: str, *, stage: bool) -> None:
    """OPEN-GIT-03: local bytes that were never committed stay, and the path is named."""
    write_files(agent.repo, {path: "mine\n"})
    if stage:
        git("add", path, cwd=agent.repo)
    before = head(agent.repo), status(agent.repo)
    outcome = advance(agent)
    assert not outcome.moved
    assert [*outcome.blocked] == [path]
    assert (head(agent.repo), status(agent.repo)) == before
    assert (agent.repo / path).read_text() == "mine\n"


def test_a_file_that_is_there_already_is_in_nobodys_way(agent: Agent) -> None:
    """Whoever copied the file by hand has what the commit has."""
    write_files(agent.repo, {"notes/deep/er/c.md": NEW["notes/deep/er/c.md"]})
    assert advance(agent).moved
    assert status(agent.repo) == ""


def test_a_file_becomes_a_folder_and_a_folder_a_file(home: Path, agent: Agent) -> None:
    """Names change their kind between two commits, and the disk follows."""
    commit_all(home, "before", {"notes/x": "file\n", "notes/y/in.md": "in\n"})
    git("switch", "-qc", "other", cwd=home)
    git("rm", "-q", "notes/x", "notes/y/in.md", cwd=home)
    commit_all(home, "after", {"notes/x/in.md": "in\n", "notes/y": "file\n"})
    git("switch", "-q", "main", cwd=home)
    move = HeadMove("refs/heads/main", head(home), head(home, "other"), "sync", AGENT)
    assert agent.branch.advance(move).moved
    assert status(home) == ""
    assert (home / "notes/x/in.md").read_text() == "in\n"
    assert (home / "notes/y").read_text() == "file\n"


def test_many_files_are_moved(home: Path, agent: Agent) -> None:
    """A first sync brings more files than a process may hold open at one time."""
    git("switch", "-qc", "many", cwd=home)
    commit_all(home, "many", {f"notes/many/{number}.md": f"{number}\n" for number in range(450)})
    git("switch", "-q", "main", cwd=home)
    move = HeadMove("refs/heads/main", head(home), head(home, "many"), "sync", AGENT)
    assert agent.branch.advance(move).moved
    assert status(home) == ""


def test_a_file_that_gitmem_does_not_read_is_moved(home: Path, agent: Agent) -> None:
    """What people track beside the memory may be of any size; an edit of it is seen all the same."""
    commit_all(home, "large", {"src/large.bin": b"a" * (9 << 20)})
    git("switch", "-qc", "larger", cwd=home)
    commit_all(home, "larger", {"src/large.bin": b"b" * (9 << 20), "src/other.bin": b"c" * (9 << 20)})
    git("switch", "-q", "main", cwd=home)
    move = HeadMove("refs/heads/main", head(home), head(home, "larger"), "sync", AGENT)
    write_files(home, {"src/large.bin": b"e" * (9 << 20)})
    assert [*agent.branch.advance(move).blocked] == ["src/large.bin"]
    git("checkout", "-q", "src/large.bin", cwd=home)
    assert agent.branch.advance(move).moved
    assert status(home) == ""
    assert (home / "src/large.bin").read_bytes()[:1] == b"b"


@pytest.mark.parametrize("state", ["detached", "merge", "locked"])
def test_head_stays_where_git_is_at_work(home: Path, agent: Agent, state: str) -> None:
    """What an operator began is theirs; the reason is said and nothing moves."""
    move = move_of(home)
    if state == "detached":
        git("checkout", "-q", "--detach", cwd=home)
    elif state == "merge":
        git("merge", "-q", "--no-commit", "--no-ff", "-s", "ours", "new", cwd=home)
    else:
        (home / ".git/index.lock").touch()
    outcome = agent.branch.advance(move)
    (home / ".git/index.lock").unlink(missing_ok=True)
    assert not outcome.moved
    assert outcome.reason
    assert head(home, "main") == move.old


def test_a_branch_that_moved_is_left_alone(home: Path, agent: Agent) -> None:
    """A move begins where it was prepared for, or not at all."""
    move = move_of(home)
    commit_all(home, "meanwhile", {"notes/a.md": "meanwhile\n"})
    with pytest.raises(HeadMoved):
        agent.branch.advance(move)
    assert status(home) == ""


def run(repo: Path, at: int) -> bool:
    """Advance in a process that is killed at a step; say whether it lived to the end."""

    def act() -> None:
        steps = [0]

        def step(name: str) -> None:
            steps[0] += 1
            if steps[0] == at:
                os._exit(KILLED)

        agent = Agent(repo, checkpoint=step)
        agent.branch.advance(move_of(repo))

    return in_child(act) == 0


@pytest.mark.slow
@pytest.mark.parametrize("edits", [False, True])
def test_a_kill_at_any_step_is_finished_by_the_next_holder(home: Path, *, edits: bool) -> None:
    """S3: the note of it lets whoever comes next go on; an edit saved in between is nobody's to overwrite."""
    for at in range(1, 60):
        repo = home.parent / f"home{at}"
        shutil.copytree(home, repo, symlinks=True)
        lived = run(repo, at)
        if edits:
            write_files(repo, {"src/main.c": "saved meanwhile\n"})
        agent = Agent(repo)
        agent.branch.settle()
        if head(repo) != head(repo, "new"):  # it was killed before it began
            assert at < 4
            assert advance(agent).moved is not edits
        agent.close()
        assert [p for p in (repo / ".git").rglob("*.lock") if "gitmem" not in p.parts] == []
        assert not [*repo.rglob("*.part")]
        assert status(repo) == (" M src/main.c" if edits else "")
        if edits:
            assert (repo / "src/main.c").read_text() == "saved meanwhile\n"
        fsck(repo)
        if lived:
            assert at > 8
            return
    raise AssertionError("the move never came to its end")


def test_an_operators_commit_after_a_kill_is_kept(home: Path) -> None:
    """A half move is no reason to take anybody's commit back: it is over, and the next sync begins anew."""
    run(home, 6)
    for lock in (home / ".git").rglob("*.lock"):  # as git tells them to
        lock.unlink()
    run_git("checkout", "-q", "-f", "main", cwd=home)
    commit_all(home, "operator", {"notes/op.md": "op\n"})
    mine = head(home)
    agent = Agent(home)
    agent.branch.settle()
    agent.close()
    assert head(home) == mine
