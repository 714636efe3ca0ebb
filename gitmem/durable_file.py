"""Files that survive a kill and a power cut: write beside, fsync, move; every step can be made to fail."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_LEFTOVER: Final = re.compile(r"\..+\.[0-9a-f]{12}\.part")


def write_file(
    path: Path, content: bytes, *, durable: bool = True, mode: int | None = None, make_folder: bool = True
) -> None:
    """Replace `path` by `content`: all of it or nothing, whatever happens in between.

    Args:
        path: the file.
        content: the whole new content.
        durable: fsync the file and its folder; without it a power cut (not a kill) may lose the change.
        mode: permission bits; default those of the file it replaces, else 0o666 less the umask.
        make_folder: make its folder if missing; else that raises FileNotFoundError.
    """
    if make_folder:
        path.parent.mkdir(parents=True, exist_ok=True)
    with _beside(path) as temporary:
        _write_new(temporary, content, _mode_of(path) if mode is None else mode, durable=durable)
        temporary.replace(path)
    if durable:
        sync_folder(path.parent)


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of `content` to an open file."""
    done = os.write(descriptor, content)
    while done < len(content):
        done += os.write(descriptor, content[done:])


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_file(path: Path) -> bool:
    """Remove `path`; say whether it was there."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes left beside the files of a folder in which nobody writes now."""
    with suppress(FileNotFoundError, NotADirectoryError):
        for path in [path for path in folder.iterdir() if _LEFTOVER.fullmatch(path.name)]:
            remove_file(path)


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    # Unique, so that the leftover of a killed process never blocks a later write. Not `tmp_…`, which
    # `git prune` deletes at any age, and hidden, so that neither the watcher nor the catalog takes it.
    temporary = path.with_name(f".{path.name[:80]}.{secrets.token_hex(6)}.part")
    try:
        yield temporary
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _write_new(path: Path, content: bytes, mode: int | None, *, durable: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        write_all(descriptor, content)
        if mode is not None:
            os.fchmod(descriptor, mode)
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _mode_of(path: Path) -> int | None:
    try:
        return path.stat(follow_symlinks=False).st_mode & 0o7777
    except FileNotFoundError:
        return None
