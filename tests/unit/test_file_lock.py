"""What stands in the place of a lock file is neither followed nor waited for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures import make_repo
from gitmem.errors import HomeLocked
from gitmem.file_lock import file_lock
from gitmem.layout import find_layout
from gitmem.watch_state import is_watched, watch_lock_file

ODD: dict[str, Callable[[Path], object]] = {
    "a link": lambda path: path.symlink_to(path.with_name("target")),
    "a folder": lambda path: path.mkdir(),
    "a pipe": os.mkfifo,
}


def test_the_lock_excludes_threads_of_one_process_too(tmp_path: Path) -> None:
    """It belongs to the open file, and its folder is made."""
    path = tmp_path / "below" / "lock"
    with file_lock(path, wait=0), pytest.raises(HomeLocked), file_lock(path, wait=0):
        pass
    with file_lock(path, wait=0):
        assert path.is_file()


@pytest.mark.parametrize("what", ODD)
def test_what_is_no_file_is_named(tmp_path: Path, what: str) -> None:
    """A link as index.lock was followed and made its target; the error says what stands where."""
    path = tmp_path / "index.lock"
    ODD[what](path)
    told = f"{what}.* stands in the place of the lock file {tmp_path.name}/index.lock"
    with pytest.raises(OSError, match=told) as caught, file_lock(path, wait=0):
        pass
    assert caught.value.filename == str(path)
    assert not (tmp_path / "target").exists()


@pytest.mark.parametrize("what", ODD)
def test_whoever_asks_for_the_watcher_does_not_wait_for_a_pipe(tmp_path: Path, what: str) -> None:
    """A named pipe as watch.lock held up `reindex` for good: opening it waits for a writer."""
    layout = find_layout(make_repo(tmp_path / "home"))
    layout.derived.mkdir()
    ODD[what](watch_lock_file(layout))
    assert not is_watched(layout)
