"""Links and nested repositories in the work tree as Git has them there; neither is ever followed."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from gitmem.work_tree import check_way


def read_link(root: Path, path: str) -> bytes | None:
    """Return where the link at a path leads, as its blob says it; None where no link is."""
    try:
        return os.fsencode(os.readlink(root / path))  # noqa: PTH115 - a Path would tidy it
    except OSError:
        return None


def place_link(root: Path, path: str, target: bytes, token: str) -> os.stat_result:
    """Put a link in place, or in the place of another one or of a file; return its stat data.

    Raises:
        ProtectedPath: the path leads through a link or into another repository.
        OSError: a folder is there.
    """
    check_way(root, path)
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f".{file.name[:80]}.{token}.part")
    with suppress(FileNotFoundError):
        beside.unlink()
    beside.symlink_to(os.fsdecode(target))
    beside.replace(file)
    return file.lstat()


def place_nested(root: Path, path: str) -> None:
    """Make the empty folder that stands for a nested repository which nobody fetched."""
    check_way(root, path)
    with suppress(FileExistsError):
        (root / path).mkdir(parents=True)


def remove_nested(root: Path, path: str) -> None:
    """Remove the folder of a nested repository if it is empty; what is in one stays."""
    with suppress(OSError):
        (root / path).rmdir()
