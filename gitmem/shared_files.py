"""Permissions of files in a repository that several users share (`core.sharedRepository`)."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Final

_WORDS: Final = {
    "group": 0o660, "true": 0o660, "yes": 0o660, "on": 0o660, "1": 0o660,
    "all": 0o664, "world": 0o664, "everybody": 0o664, "2": 0o664,
}  # fmt: skip


def shared_mode(mode: int, setting: str | None) -> int:
    """Return the permission bits that Git gives a file or folder.

    Args:
        mode: the file's mode as it was made (with the type bits).
        setting: `core.sharedRepository`: a word, or octal bits that replace those of the umask.
    """
    word = (setting or "").lower()
    bits = mode & 0o7777
    if word in _WORDS:
        extra = _WORDS[word]
        wanted = bits | (extra if bits & stat.S_IWUSR else extra & ~0o222)
    elif re.fullmatch(r"0[0-7]{3}", word):
        extra = int(word, 8)
        wanted = (bits & ~0o777) | (extra if bits & stat.S_IWUSR else extra & ~0o222)
    else:
        return bits
    if stat.S_ISDIR(mode):
        wanted |= (extra & 0o444) >> 2
        wanted |= stat.S_ISGID if extra & 0o060 else 0
    return wanted


def grant(target: int | Path, setting: str | None) -> None:
    """Give an open file, or a file or folder by name, the permissions that the repository asks for."""
    if setting is None:
        return
    mode = os.stat(target).st_mode  # noqa: PTH116 - an open file or a path
    wanted = shared_mode(mode, setting)
    if wanted != mode & 0o7777:
        os.chmod(target, wanted)  # noqa: PTH101
