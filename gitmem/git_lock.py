"""Git's own lock files: taken as Git takes them, and never removed unless they are ours."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gitmem.errors import HomeLocked

#: Content of the lock files gitmem makes; under the home lock such ones are leftovers and may be removed.
MARK: Final = b"gitmem"


@contextmanager
def git_lock(path: Path, *, wait: float = 1.0) -> Iterator[Path]:
    """Hold `<path>.lock`, made exclusively, with the content `gitmem`.

    Args:
        path: the file that the lock protects, for example `<git dir>/index`.
        wait: seconds to wait at most for another holder.

    Yields:
        The lock file's path. It is removed at the end. New content is prepared in another file and renamed
        over `path` while the lock is held, so that the lock file always carries the mark.

    Raises:
        HomeLocked: it stayed held; the lock file is left alone.
    """
    lock = path.with_name(path.name + ".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    _take(lock, wait)
    try:
        yield lock
    finally:
        _release(lock)


def remove_stale(path: Path) -> bool:
    """Remove `<path>.lock` if its content says gitmem left it; call only under the home lock."""
    lock = path.with_name(path.name + ".lock")
    try:
        if lock.read_bytes() != MARK:
            return False
        lock.unlink()
    except FileNotFoundError:
        return False
    return True


def _take(lock: Path, wait: float) -> None:
    deadline = time.monotonic() + wait
    pause = 0.0005
    while True:
        try:
            descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            if time.monotonic() >= deadline:
                raise _held(lock) from None
            time.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - jitter, not secrecy
            pause = min(pause * 2, 0.02)
            continue
        except FileNotFoundError:
            # `git pack-refs` and `git gc` remove folders that fall empty, also one that was made just now.
            if time.monotonic() >= deadline:
                raise
            lock.parent.mkdir(parents=True, exist_ok=True)
            continue
        try:
            os.write(descriptor, MARK)
        finally:
            os.close(descriptor)
        return


def _release(lock: Path) -> None:
    # After a rename the name may belong to another holder already; only a file with our mark is ours.
    try:
        if lock.read_bytes() == MARK:
            lock.unlink()
    except FileNotFoundError:
        pass


def _held(lock: Path) -> HomeLocked:
    try:
        age = time.time() - lock.stat().st_mtime
    except FileNotFoundError:
        age = 0.0
    return HomeLocked(
        f"{lock.name} is held (for {age:.0f} s)",
        hint=f"If no git command is running, remove {lock.name} by hand.",
        lock=lock.name,
        age=age,
    )
