"""Git's own lock files: taken as Git takes them, and never removed unless they are ours."""

from __future__ import annotations

import errno
import os
import random
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from gitmem.errors import HomeLocked
from gitmem.linked_file import LinkedFile

#: Content of the lock files gitmem makes; under the home lock such ones are leftovers and may be removed.
MARK: Final = b"gitmem"
_FOLDER_TRIES: Final = 20
#: What file systems without hard links answer.
_NO_LINKS: Final = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


@contextmanager
def git_lock(path: Path, *, wait: float = 1.0, mark: LinkedFile | None = None) -> Iterator[Path]:
    """Hold `<path>.lock`, made exclusively, with the content `gitmem`.

    Args:
        path: the file that the lock protects, for example `<git dir>/index`.
        wait: seconds to wait at most for another holder.
        mark: makes files with that content, for a lock that is taken often.

    Yields:
        The lock file's path. It is removed at the end. New content is prepared in another file and renamed
        over `path` while the lock is held, so that the lock file always carries the mark.

    Raises:
        HomeLocked: it stayed held; the lock file is left alone.
    """
    lock = path.with_name(path.name + ".lock")
    _take(lock, wait, _make if mark is None else mark.make)
    try:
        yield lock
    finally:
        _release(lock)


def lock_mark(common_dir: Path) -> LinkedFile:
    """Return what makes marked files for the locks of a repository, each in one cheap and durable step."""
    return LinkedFile(common_dir / "gitmem" / "mark", lambda: MARK)


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


def _take(lock: Path, wait: float, make: Callable[[Path], None]) -> None:
    deadline = time.monotonic() + wait
    pause = 0.0005
    folder_made = 0
    while True:
        try:
            make(lock)
        except FileExistsError:
            if time.monotonic() >= deadline:
                raise _held(lock) from None
            time.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - jitter, not secrecy
            pause = min(pause * 2, 0.02)
            continue
        except FileNotFoundError:
            # `git pack-refs` and `git gc` remove folders that fall empty, also one that was made just now.
            if folder_made == _FOLDER_TRIES:
                raise
            folder_made += 1
            lock.parent.mkdir(parents=True, exist_ok=True)
            continue
        return


def _make(lock: Path) -> None:
    """Make the lock file with its mark in one step: a kill never leaves one that nobody knows to be ours."""
    if os.path.lexists(lock):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(lock))
    part = lock.with_name(f".{lock.name}.{secrets.token_hex(4)}.part")
    _write_mark(part)
    try:
        os.link(part, lock)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _write_mark(lock)
    finally:
        part.unlink()


def _write_mark(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        os.write(descriptor, MARK)
        os.fsync(descriptor)  # a lock that a power cut emptied would be nobody's, and stay
    finally:
        os.close(descriptor)


def _release(lock: Path) -> None:
    # After a rename the name may belong to another holder already; only a file with our mark is ours.
    with suppress(FileNotFoundError):
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
        try:
            is_ours = os.read(descriptor, len(MARK) + 1) == MARK
        finally:
            os.close(descriptor)
        if is_ours:
            lock.unlink()


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
