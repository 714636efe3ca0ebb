"""Locks between processes and threads that a dead holder never leaves behind."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gitmem.errors import HomeLocked

_FIRST_WAIT: Final = 0.0005
_LONGEST_WAIT: Final = 0.02


@contextmanager
def file_lock(path: Path, *, wait: float) -> Iterator[None]:
    """Hold an exclusive lock on `path` (made if missing, never removed).

    The lock belongs to the open file, so threads of one process exclude each other too, and the kernel frees
    it when the holder dies.

    Args:
        path: the lock file.
        wait: seconds to wait at most; 0 tries once.

    Raises:
        HomeLocked: it stayed held.
    """
    descriptor = _open(path)
    try:
        _acquire(descriptor, path, wait)
        yield
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o666)


def try_lock(descriptor: int) -> bool:
    """Lock an open file if nobody else holds it; say whether it is ours now."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _acquire(descriptor: int, path: Path, wait: float) -> None:
    deadline = time.monotonic() + wait
    pause = _FIRST_WAIT
    while not try_lock(descriptor):
        if time.monotonic() >= deadline:
            raise HomeLocked(
                f"another process holds {path.name} for over {wait:g} s",
                hint="Try again.",
                lock=str(path.name),
            )
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_WAIT)
