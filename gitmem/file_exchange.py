"""Renames that Python lacks: put a file where none is yet, and let two files exchange their names.

A plain rename takes whatever stands at its target by then, also what an editor saved a moment ago. With an
exchange that is still there, and can be put back. Where system or file system have neither, nothing is done.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

#: Function of the C library -> its flags for a target that must not exist, and for an exchange.
_CALLS: Final = {"renameat2": (1, 2), "renameatx_np": (4, 2)}  # Linux (glibc 2.28) and macOS
_LOOK: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
#: Which signal tells of a broken lease; Python does not name it.
_F_SETSIG: Final = 10
#: The kernel, the C library or the file system does not know it.
_UNKNOWN: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP})


def move_new(folder: int, source: str, target: str) -> bool:
    """Give a file of an open folder another name; return False where that cannot be done here.

    Raises:
        FileExistsError: something stands there.
    """
    return _rename(folder, source, target, is_new=True)


def exchange(folder: int, one: str, other: str) -> bool:
    """Let two files of an open folder exchange their names; return False where that cannot be done here.

    Raises:
        FileNotFoundError: one of them is not there.
    """
    return _rename(folder, one, other, is_new=False)


class Hold:
    """A file that is held still: whoever opens it for writing now waits.

    Args:
        descriptor: of the file, with a lease on it or without.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def is_awaited(self) -> bool:
        """Say whether somebody waits to write into the file; False where that cannot be known."""
        if self._descriptor is None:
            return False
        try:
            # While its end is awaited, a lease is what it will be then.
            return fcntl.fcntl(self._descriptor, fcntl.F_GETLEASE) != fcntl.F_RDLCK
        except OSError:
            return False


@contextmanager
def held_still(folder: int, name: str, *, wait: float) -> Iterator[Hold]:
    """Keep others from opening a file for writing for a moment, once nobody has it open for that.

    An editor that has opened a file and not yet filled it would go on in the one that was displaced. A lease,
    where the system has any, tells of it. Whoever keeps a file open for long is not waited for.

    Args:
        folder: an open folder.
        name: of a file in it.
        wait: seconds to wait at most.
    """
    try:
        descriptor = os.open(name, _LOOK, dir_fd=folder)
    except OSError:
        yield Hold(None)
        return
    try:
        is_leased = _take_lease(descriptor, time.monotonic() + wait)
        yield Hold(descriptor if is_leased else None)
    finally:
        os.close(descriptor)


def _take_lease(descriptor: int, deadline: float) -> bool:
    lease = getattr(fcntl, "F_SETLEASE", None)
    if lease is None:
        return False
    try:
        # Whoever wants to write is announced by a signal: by default one that would end this process.
        fcntl.fcntl(descriptor, _F_SETSIG, signal.SIGURG)
        while True:
            try:
                fcntl.fcntl(descriptor, lease, fcntl.F_RDLCK)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    return False
                time.sleep(0.001)
            else:
                return True
    except OSError:
        return False  # not this user's file, or a file system without leases


def _rename(folder: int, one: str, other: str, *, is_new: bool) -> bool:
    found = _find_call()
    if found is None:
        return False
    rename, flags = found
    if rename(folder, os.fsencode(one), folder, os.fsencode(other), flags[0 if is_new else 1]) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNKNOWN:
        return False
    raise OSError(code, os.strerror(code), one, None, other)


@cache
def _find_call() -> tuple[Callable[[int, bytes, int, bytes, int], int], tuple[int, int]] | None:
    """Return the system's call and its flags."""
    library = ctypes.CDLL(None, use_errno=True)
    for name, flags in _CALLS.items():
        found = getattr(library, name, None)
        if found is not None:
            found.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
            found.restype = ctypes.c_int
            return found, flags
    return None
