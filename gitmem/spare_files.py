"""Emptied files of one folder, kept for their next use: to make a file can cost a hundred times a rename."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from gitmem.file_lock import try_lock

SPARE: Final = ".spare"
_CLAIM: Final = ".claim"


class SpareFiles:
    """The spare files of a folder; several processes may share them.

    Args:
        folder: where they are, and where they are used.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._known: list[str] = []

    def take(self, name: str, flags: int) -> int | None:
        """Put an empty file, locked, under a name that must not be taken.

        Args:
            name: of the new file.
            flags: to open it with.

        Returns:
            Its descriptor; None if there is no spare file.

        Raises:
            FileExistsError: the name is taken.
        """
        for spare in self._candidates():
            claim = f"{self._folder}/{secrets.token_hex(6)}{_CLAIM}"
            try:
                os.rename(f"{self._folder}/{spare}", claim)  # noqa: PTH104 - on the way of every turn
            except FileNotFoundError:
                continue  # another process was faster
            return self._use(claim, name, flags)
        return None

    def give(self, path: Path) -> None:
        """Empty a file that is not needed any more, and keep it."""
        os.truncate(path, 0)
        os.rename(path, f"{self._folder}/{secrets.token_hex(6)}{SPARE}")  # noqa: PTH104

    def clear(self) -> None:
        """Remove what a kill left between two names: nobody holds its lock. Who is about to does without."""
        for claim in Path(self._folder).glob(f"*{_CLAIM}"):
            with suppress(OSError):
                descriptor = os.open(claim, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    if try_lock(descriptor):
                        claim.unlink()
                finally:
                    os.close(descriptor)

    def _candidates(self) -> Iterator[str]:
        if not self._known:
            with suppress(FileNotFoundError, NotADirectoryError):
                self._known = [n for n in os.listdir(self._folder) if n.endswith(SPARE)]  # noqa: PTH208
        while self._known:
            yield self._known.pop()

    def _use(self, claim: str, name: str, flags: int) -> int | None:
        with ExitStack() as undo:
            undo.callback(_unlink, claim)
            try:
                descriptor = os.open(claim, flags)
            except FileNotFoundError:  # taken for one that a kill left
                return None
            undo_open = undo.enter_context(ExitStack())
            undo_open.callback(os.close, descriptor)
            # Locked and empty before it has a name by which others could take it for an abandoned one. One
            # that is not empty has its old content back after a power cut.
            if not try_lock(descriptor) or os.fstat(descriptor).st_size:
                return None
            try:
                os.link(claim, f"{self._folder}/{name}")
            except FileExistsError:
                raise
            except OSError:  # a file system without links, or taken for one that a kill left
                return None
            undo_open.pop_all()
            return descriptor


def _unlink(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108 - on the way of every turn
