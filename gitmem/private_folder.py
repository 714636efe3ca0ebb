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
        `private`: a real folder of this user into which nobody else can write; `absent`: nothing; `open`: a
        folder of this user into which others can write; `foreign`: a link, a file, or somebody else's.
    """
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return "absent"
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return "foreign"
    return "open" if found.st_mode & 0o022 else "private"


def make_private(folder: Path) -> None:
    """Make an empty folder that only this user can enter."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700)


def remove_folder(folder: Path) -> None:
    """Remove a folder at once for everybody who looks for it, then its content; links are not followed."""
    aside = folder.with_name(f"{folder.name}.{secrets.token_hex(6)}.old")
    try:
        folder.rename(aside)
    except FileNotFoundError:
        return
    shutil.rmtree(aside, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Finish the removals of this folder that a kill broke off."""
    for aside in folder.parent.glob(f"{folder.name}.*.old"):
        if standing_of(aside) in ("private", "open"):
            with suppress(OSError):
                shutil.rmtree(aside)


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
