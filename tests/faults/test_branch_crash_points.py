"""A write on the operator's branch, killed at every step: afterwards it is whole or was never begun."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from branches import CONFIG, OPERATOR, Agent, authors, clash, in_child, make_home, status

from fixtures import commit_all, fsck, git, make_repo, show, write_files

KILLED = 9
AGENTS = "aria: note: edit"


def simple(repo: Path) -> None:
    """Nothing is in the way."""


def edited(repo: Path) -> None:
    """The operator has an uncommitted edit in the same file."""
    write_files(repo, {"notes/a.md": "operator\n1\n2\n3\n4\n5\n"})


def waiting(repo: Path) -> None:
    """An earlier write of the agent waits, and merges with what the operator committed meanwhile."""
    git("checkout", "-q", "--detach", cwd=repo)
    agent = Agent(repo)
    agent.write("notes/a.md", "1\n2\nearlier\n3\n4\n5\n")
    agent.close()
    git("stash", "-q", cwd=repo)
    git("switch", "-q", "main", cwd=repo)
    commit_all(repo, "operator", {"notes/a.md": "operator\n1\n2\n3\n4\n5\n"})


def clashing(repo: Path) -> None:
    """An earlier write of the agent waits, and clashes with what the operator committed meanwhile."""
    waiting(repo)
    commit_all(repo, "operator", {"notes/a.md": "operator\n1\n2\noperator too\n3\n4\n5\n"})


def busy(repo: Path) -> None:
    """The operator is in a merge."""
    clash(repo)


def run(repo: Path, at: int) -> bool:
    """Append a line in a process that is killed at a step; say whether it lived to the end."""

    def act() -> None:
        steps = [0]

        def step(name: str) -> None:
            steps[0] += 1
            if steps[0] == at:
                os._exit(KILLED)

        agent = Agent(repo, checkpoint=step)
        agent.append("notes/a.md", "agent's\n")
        agent.append("notes/new.md", "agent's\n")

    code = in_child(act)
    assert code in (0, KILLED)
    return code == 0


SLOW = [pytest.param(begin, marks=pytest.mark.slow) for begin in (simple, waiting, clashing, busy)]


@pytest.mark.parametrize("begin", [edited, *SLOW], ids=lambda begin: begin.__name__)
def test_every_step(tmp_path: Path, begin: Callable[[Path], None]) -> None:
    """No half commit, no lock, no text of one author under the other's name, however far it had come."""
    template = make_home(tmp_path / "template")
    begin(template)
    for at in range(1, 100):
        repo = tmp_path / f"home{at}"
        shutil.copytree(template, repo, symlinks=True)
        lived = run(repo, at)
        judge(repo, begin)
        if lived:
            assert at > 4
            return
    raise AssertionError("the write never came to its end")


def test_an_edit_behind_a_kill(tmp_path: Path) -> None:
    """What was on disk already is committed as the agent's, and what people wrote behind it stays theirs."""
    template = make_home(tmp_path / "template")
    begun = 0
    for at in range(1, 100):
        repo = tmp_path / f"home{at}"
        shutil.copytree(template, repo, symlinks=True)
        lived = run(repo, at)
        path = repo / "notes" / "a.md"
        was_there = "agent's\n" in path.read_text()
        begun += was_there and not lived
        path.write_text(f"operator\n{path.read_text()}")
        agent = Agent(repo)
        agent.branch.settle()
        assert agent.branch.pending() == []
        agent.append("notes/a.md", "later\n")
        agent.close()
        text = show(repo, "notes/a.md")
        assert path.read_text() == text
        assert text.startswith("operator\n")
        assert text.endswith("agent's\nlater\n" if was_there else "5\nlater\n")
        fsck(repo)
        for commit in git("log", "--format=%H", "--author=aria", cwd=repo).split():
            assert "+operator" not in git("show", "--format=", commit, cwd=repo).split("\n")
        for commit in git("log", "--format=%H", "--author=operator", cwd=repo).split():
            assert "+agent's" not in git("show", "--format=", commit, cwd=repo).split("\n")
        if lived:
            assert begun > 4
            return
    raise AssertionError("the write never came to its end")


def judge(repo: Path, begin: Callable[[Path], None]) -> None:
    """Settle and look at everything."""
    if begin is busy:
        git("merge", "--abort", cwd=repo) if not list((repo / ".git").glob("*.lock")) else None
    agent = Agent(repo)
    agent.branch.settle()
    if begin is busy and (repo / ".git" / "MERGE_HEAD").exists():
        git("merge", "--abort", cwd=repo)
        agent.branch.settle()
    assert agent.branch.pending() == []
    assert agent.branch.settle() == []
    agent.close()
    assert [p for p in (repo / ".git").rglob("*.lock") if "gitmem" not in p.parts] == []
    assert status(repo) in ("", " M notes/a.md" if begin is edited else "")
    fsck(repo)
    if begin in (waiting, clashing):
        words = git("grep", "-h", "earlier", "HEAD", cwd=repo)
        assert words
    for line in git("log", "--format=%H %an", cwd=repo).split("\n"):
        commit, _, name = line.partition(" ")
        added = [row for row in git("show", "--format=", commit, cwd=repo).split("\n") if row.startswith("+")]
        if name != "aria":
            assert not any("agent's" in row or "earlier" in row for row in added), (commit, added)
        elif begin is not clashing:
            assert not any("operator" in row for row in added), (commit, added)


def test_the_first_commit_of_a_home(tmp_path: Path) -> None:
    """A kill in `init` leaves a home that the next `init` completes."""
    for at in range(1, 60):
        repo = make_repo(tmp_path / f"home{at}")

        def act(repo: Path = repo, at: int = at) -> None:
            steps = [0]

            def step(name: str) -> None:
                steps[0] += 1
                if steps[0] == at:
                    os._exit(KILLED)

            begin_home(repo, step)

        code = in_child(act)
        begin_home(repo, lambda name: None)
        assert show(repo, "notes/a.md") == "a\n"
        assert status(repo) == ""
        assert len(authors(repo)) == 1
        fsck(repo)
        if code == 0:
            return
    raise AssertionError("init never came to its end")


def begin_home(repo: Path, step: Callable[[str], None]) -> None:
    """Write a home's first files."""
    agent = Agent(repo, checkpoint=step)
    agent.branch.settle()
    agent.change({"gitmem.toml": CONFIG, "notes/a.md": "a\n"}, author=OPERATOR)
    agent.close()
