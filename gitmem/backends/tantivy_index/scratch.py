"""Folders that live as long as one step: parts are made in them, and copied into them to be read."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from gitmem.file_lock import try_lock

_SUFFIX: Final = ".scratch"


@contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """Make a private folder inside of `folder`, and remove it afterwards.

    Raises:
        FileNotFoundError: `folder` went meanwhile, or another process took this one for abandoned.
    """
    path = folder / f"{secrets.token_hex(8)}{_SUFFIX}"
    path.mkdir(mode=0o700)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if not try_lock(descriptor):
                raise FileNotFoundError(f"taken for abandoned: {path.name}")
            yield path
        finally:
            os.close(descriptor)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def remove_abandoned(folder: Path) -> None:
    """Remove the scratch folders that a kill left: nobody holds their locks."""
    for path in folder.glob(f"*{_SUFFIX}"):
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if try_lock(descriptor):
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(descriptor)
