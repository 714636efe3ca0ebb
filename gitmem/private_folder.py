"""A folder that only this user can have filled: what is loaded from it may be trusted as far as he is."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from typing import Literal

Standing = Literal["private", "absent", "open", "foreign"]


def standing_of(folder: Path) -> Standing:
    """Say what stands at `folder`.

    Returns:
        `private`: a real folder of this user into which nobody else can write; `absent`: nothing; `open`:
        this user's, but a folder into which others can write, a link or a file; `foreign`: somebody else's.
    """
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return "absent"
    if found.st_uid != os.geteuid():
        return "foreign"
    return "private" if stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o022 else "open"


def make_private(folder: Path) -> None:
    """Make an empty folder that only this user can enter."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700)


def remove_folder(folder: Path) -> None:
    """Remove what stands at `folder` at once for everybody who looks for it; links are not followed."""
    aside = folder.with_name(f"{folder.name}.{secrets.token_hex(6)}.old")
    try:
        folder.rename(aside)
    except FileNotFoundError:
        return
    _remove(aside)


def remove_leftovers(folder: Path) -> None:
    """Finish the removals of this folder that a kill broke off."""
    for aside in folder.parent.glob(f"{folder.name}.*.old"):
        if standing_of(aside) in ("private", "open"):
            _remove(aside)


def _remove(aside: Path) -> None:
    with suppress(OSError):
        if aside.is_dir() and not aside.is_symlink():
            shutil.rmtree(aside)
        else:
            aside.unlink()


def open_own(path: Path) -> int:
    """Open a file for reading if it is a regular one of this user, and no link; return its descriptor.

    Raises:
        PermissionError: it is somebody else's, or no regular file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        os.close(descriptor)
        raise PermissionError(f"not a file of this user: {path.name}")
    return descriptor
