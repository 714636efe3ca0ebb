"""Git's lock files: excluded by git and excluding git, never broken, never left unmarked."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from fixtures import commit_all, make_repo, run_git
from gitmem.errors import HomeLocked
from gitmem.git_lock import MARK, git_lock, remove_stale


def test_git_and_gitmem_exclude_each_other(tmp_path: Path) -> None:
    """While the lock is held git refuses to write, and the other way round."""
    repo = make_repo(tmp_path / "repo")
    commit_all(repo)
    (repo / "a").write_text("a")
    index = repo / ".git" / "index"
    with git_lock(index) as lock:
        assert lock.read_bytes() == MARK
        assert run_git("add", "a", cwd=repo).returncode != 0
    assert run_git("add", "a", cwd=repo).returncode == 0
    lock.write_bytes(b"")
    with pytest.raises(HomeLocked, match=r"index\.lock is held"), git_lock(index, wait=0):
        pass
    assert lock.read_bytes() == b""


def test_it_goes_with_the_context_and_leaves_nothing_else(tmp_path: Path) -> None:
    """Lock and temporary file are gone, also after a failure inside."""
    with pytest.raises(ZeroDivisionError), git_lock(tmp_path / "deep" / "ref"):
        raise ZeroDivisionError
    assert list((tmp_path / "deep").iterdir()) == []


def test_a_folder_that_git_removes_meanwhile_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`git pack-refs` takes empty folders away at any moment."""
    real = os.open
    folder = tmp_path / "refs"
    times = [1, 2, 3]

    def racing(path: Path, *args: int, **more: int) -> int:
        if folder.exists() and times:
            times.pop()
            folder.rmdir()
        return real(path, *args, **more)

    monkeypatch.setattr(os, "open", racing)
    with git_lock(folder / "ref") as lock:
        assert lock.exists()


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP])
def test_file_systems_without_links_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """The lock is made directly there, and excludes just as well."""

    def refuse(*_: object) -> None:
        raise OSError(code, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    with git_lock(tmp_path / "ref") as lock:
        assert lock.read_bytes() == MARK
        with pytest.raises(HomeLocked), git_lock(tmp_path / "ref", wait=0):
            pass
    assert list(tmp_path.iterdir()) == []


def test_one_of_many_holds_it(tmp_path: Path) -> None:
    """Threads pass it on; none is inside with another."""
    inside = most = 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with git_lock(tmp_path / "ref", wait=20):
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert list(tmp_path.iterdir()) == []


def test_only_marked_locks_are_stale(tmp_path: Path) -> None:
    """What another program left is the operator's to remove."""
    lock = tmp_path / "index.lock"
    assert not remove_stale(tmp_path / "index")
    lock.write_bytes(b"")
    assert not remove_stale(tmp_path / "index")
    lock.write_bytes(MARK)
    assert remove_stale(tmp_path / "index")
    assert not lock.exists()
