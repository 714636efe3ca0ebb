"""Git's states, each made with git itself, and what gitmem calls them."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from fixtures import commit_all, git, head, layout_of, make_repo, run_git, write_files
from gitmem.backends.dulwich_repository import open_repository
from gitmem.git_state import DETACHED, MESSAGE_OPEN, held_lock, read_git_state


def state_of(repo: Path, branch: str | None = "refs/heads/main") -> str | None:
    """Return the obstacle, in words."""
    layout = layout_of(repo)
    repository = open_repository(layout)
    try:
        return read_git_state(layout, repository, branch).obstacle
    finally:
        repository.close()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository whose branches `main` and `side` clash in one file."""
    repo = make_repo(tmp_path / "home")
    commit_all(repo, "base", {"notes/a.md": "base\n", "notes/b.md": "base\n"})
    git("switch", "-qc", "side", cwd=repo)
    commit_all(repo, "side 1", {"notes/a.md": "side\n"})
    commit_all(repo, "side 2", {"notes/b.md": "side\n"})
    git("switch", "-q", "main", cwd=repo)
    commit_all(repo, "main", {"notes/a.md": "main\n"})
    return repo


def test_a_quiet_repository_has_no_obstacle(repo: Path) -> None:
    """Staged, unstaged and untracked files of the operator are no reason to wait."""
    write_files(repo, {"notes/a.md": "edited\n", "notes/new.md": "new\n", "notes/b.md": "staged\n"})
    git("add", "notes/b.md", cwd=repo)
    assert state_of(repo) is None


def test_merge(repo: Path) -> None:
    """A merge is in progress while it clashes, when it is resolved, and with --no-commit."""
    run_git("merge", "side", cwd=repo)
    assert state_of(repo) == "merge in progress"
    write_files(repo, {"notes/a.md": "resolved\n"})
    git("add", "notes/a.md", cwd=repo)
    assert state_of(repo) == "merge in progress"
    git("merge", "--abort", cwd=repo)
    assert state_of(repo) is None
    git("merge", "-q", "--no-commit", "--no-ff", "-Xours", "side", cwd=repo)
    assert state_of(repo) == "merge in progress"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("rebase", "side"), "rebase in progress"),
        (("rebase", "--apply", "side"), "rebase in progress"),
        (("pull", "-q", "--rebase", ".", "side"), "rebase in progress"),
        (("cherry-pick", "side~1"), "cherry-pick in progress"),
        (("cherry-pick", "side~1", "side"), "cherry-pick in progress"),
        (("revert", "--no-edit", "HEAD~1"), "revert in progress"),
        (("revert", "-n", "HEAD"), "revert in progress"),
        (("bisect", "start"), "bisect in progress"),
    ],
)
def test_operations(repo: Path, command: tuple[str, ...], words: str) -> None:
    """Every operation that Git leaves open for the operator is called by its name."""
    run_git(*command, cwd=repo)
    assert state_of(repo) == words


def test_between_the_picks_of_a_series(repo: Path) -> None:
    """After a pick of a series was committed by hand, only the sequencer's folder tells."""
    run_git("cherry-pick", "side~1", "side", cwd=repo)
    write_files(repo, {"notes/a.md": "resolved\n"})
    git("commit", "-qam", "picked", cwd=repo)
    assert state_of(repo) == "series of cherry-picks or reverts in progress"


def test_am(repo: Path) -> None:
    """`git am` stops with HEAD on the branch."""
    patch = git("format-patch", "-1", "--stdout", "side~1", cwd=repo)
    run_git("am", cwd=repo, stdin=patch + "\n")
    assert state_of(repo) == "git am in progress"


def test_heads_that_are_not_the_branch(repo: Path) -> None:
    """Detached, another branch, and a branch that is another ref's name are told apart."""
    git("checkout", "-q", "--detach", cwd=repo)
    assert state_of(repo) == DETACHED
    git("switch", "-q", "side", cwd=repo)
    assert state_of(repo) == "HEAD is on side, this home's branch is main"
    assert state_of(repo, None) is None
    git("symbolic-ref", "refs/heads/alias", "refs/heads/main", cwd=repo)
    git("symbolic-ref", "HEAD", "refs/heads/alias", cwd=repo)
    assert state_of(repo, None) == "the branch alias is only another name of main"


@pytest.mark.parametrize("leftover", ["squash", "pick", "stash"])
def test_what_is_no_state(repo: Path, leftover: str) -> None:
    """A squash merge, `cherry-pick -n` and a clashed stash leave names behind that forbid nothing."""
    if leftover == "squash":
        run_git("merge", "--squash", "side", cwd=repo)
    elif leftover == "pick":
        git("cherry-pick", "-n", "side", cwd=repo)
    else:
        write_files(repo, {"notes/a.md": "stashed\n"})
        git("stash", cwd=repo)
        commit_all(repo, "more", {"notes/a.md": "more\n"})
        run_git("stash", "pop", cwd=repo)
    assert state_of(repo) is None


def test_a_commit_message_in_an_editor(repo: Path, tmp_path: Path) -> None:
    """While the operator types a message no lock is held; only the message's file tells."""
    go, seen = tmp_path / "go", tmp_path / "seen"
    editor = f"sh -c 'touch {seen}; while [ ! -e {go} ]; do sleep 0.02; done; echo done > $0'"
    write_files(repo, {"notes/b.md": "operator's\n"})
    git("add", "-A", cwd=repo)
    with subprocess.Popen(
        ["git", "commit", "-q"], cwd=repo, env={**os.environ, "GIT_EDITOR": editor}
    ) as commit:
        while not seen.exists():
            time.sleep(0.01)
        assert state_of(repo) == MESSAGE_OPEN
        go.touch()
    assert commit.returncode == 0
    assert state_of(repo) is None


def test_a_message_that_was_given_up_counts_for_five_minutes(repo: Path) -> None:
    """An aborted commit leaves its message; it must not hold up the agent for ever."""
    run_git("commit", "--allow-empty", cwd=repo, env={"GIT_EDITOR": "false"})
    assert state_of(repo) == MESSAGE_OPEN
    old = time.time() - 301
    os.utime(repo / ".git" / "COMMIT_EDITMSG", (old, old))
    os.utime(repo / ".git" / "logs" / "HEAD", (old - 60, old - 60))
    assert state_of(repo) is None


@pytest.mark.parametrize(
    "command", [["commit", "-qm", "x"], ["commit", "-qam", "x"], ["commit", "-q", "-F", "-"]]
)
def test_a_message_of_a_commit_with_nothing_in_it_does_not_wait(repo: Path, command: list[str]) -> None:
    """[real case] Such a commit left its message, and the agent waited five minutes for an editor."""
    assert run_git(*command, cwd=repo, stdin="x").returncode != 0
    assert state_of(repo) is None


@pytest.mark.parametrize("setting", ["commit.status false", "core.commentChar auto"])
def test_where_comments_tell_nothing_a_message_may_be_open(repo: Path, setting: str) -> None:
    """Better to wait than to let a person's commit fail under the editor."""
    git("config", *setting.split(), cwd=repo)
    run_git("commit", "-qm", "x", cwd=repo)
    assert state_of(repo) == MESSAGE_OPEN


def test_an_open_message_without_reflogs(repo: Path) -> None:
    """Without a reflog the branch's file is the comparison, and packed-refs where that is gone."""
    git("config", "core.logAllRefUpdates", "false", cwd=repo)
    for path in (repo / ".git" / "logs" / "HEAD", repo / ".git" / "logs" / "refs" / "heads" / "main"):
        path.unlink()
    commit_all(repo, "more", {"notes/b.md": "more\n"})
    assert state_of(repo) is None
    git("pack-refs", "--all", cwd=repo)
    assert state_of(repo) is None
    run_git("commit", "--allow-empty", cwd=repo, env={"GIT_EDITOR": "false"})
    assert state_of(repo) == MESSAGE_OPEN


def test_a_linked_work_tree_has_its_own_state(repo: Path, tmp_path: Path) -> None:
    """A merge in one work tree is none in the other."""
    git("worktree", "add", "-q", "-b", "second", tmp_path / "second", cwd=repo)
    run_git("merge", "side", cwd=tmp_path / "second")
    assert state_of(tmp_path / "second", None) == "merge in progress"
    assert state_of(repo) is None


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
def test_held_locks_are_named_with_their_age(repo: Path, name: str) -> None:
    """A leftover lock is named with its age, so that a person can judge whether somebody still holds it."""
    layout = layout_of(repo)
    repository = open_repository(layout)
    now = repository.head()
    assert held_lock(layout, now) is None
    (repo / ".git" / name).touch()
    old = time.time() - 12
    os.utime(repo / ".git" / name, (old, old))
    assert held_lock(layout, now) == f"{name.rpartition('/')[2]} is held (for 12 s)"
    repository.close()


def test_reading_the_state_is_cheap(repo: Path) -> None:
    """It is read twice for every commit, once under the locks."""
    layout = layout_of(repo)
    repository = open_repository(layout)
    read_git_state(layout, repository)
    started = time.process_time()
    for _ in range(100):
        read_git_state(layout, repository)
    assert (time.process_time() - started) / 100 < 0.002
    assert read_git_state(layout, repository).head.commit == head(repo)
    repository.close()
