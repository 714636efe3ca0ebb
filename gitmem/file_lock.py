"""Locks between processes and threads that a dead holder never leaves behind."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gitmem.errors import HomeLocked

#: What stands in a lock file's place, by the error of opening it; a socket gives the last one too.
_NO_FILE: Final = {errno.ELOOP: "a link", errno.EISDIR: "a folder", errno.ENXIO: "a pipe or device"}
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
        OSError: something other than a file stands there; a link is not followed, a pipe not waited for.
    """
    descriptor = _open(path)
    try:
        _acquire(descriptor, path, wait)
        yield
    finally:
        os.close(descriptor)


def open_lock_file(path: Path, flags: int = os.O_RDONLY) -> int:
    """Open a lock file, never what a link leads to, and without waiting for the other end of a pipe.

    Raises:
        OSError: it is not there, or it is no file.
    """
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno in _NO_FILE:
            raise _no_lock_file(path, error.errno, _NO_FILE[error.errno]) from error
        raise
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
    os.close(descriptor)
    number = errno.EISDIR if is_folder else errno.ENXIO
    raise _no_lock_file(path, number, _NO_FILE[number])


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT
    try:
        return open_lock_file(path, flags)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return open_lock_file(path, flags)


def _no_lock_file(path: Path, number: int, what: str) -> OSError:
    # With its folder: Git has an index.lock of its own.
    name = f"{path.parent.name}/{path.name}"
    return OSError(number, f"{what} stands in the place of the lock file {name}", str(path))


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
