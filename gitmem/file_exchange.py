"""Two renames that Python lacks: put a file where none is yet, and let two files exchange their names.

A plain rename takes whatever stands at its target by then, also what an editor saved a moment ago. With an
exchange that is still there, and can be put back. Where system or file system have neither, nothing is done.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable
from functools import cache
from typing import Final

#: Function of the C library -> its flags for a target that must not exist, and for an exchange.
_CALLS: Final = {"renameat2": (1, 2), "renameatx_np": (4, 2)}  # Linux (glibc 2.28) and macOS
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
