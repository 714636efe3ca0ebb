"""A small file that is made again and again: one of it is kept, and each further one is a link to that.

Making a file can cost a file system a hundred times what a link costs, and a link has all of its content in
one step: a kill leaves no file that is half made.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.durable_file import write_all

_FORGOTTEN_AFTER: Final = 3600.0


class LinkedFile:
    """Makes files of one content.

    Args:
        source: where the one that is kept lies; its folder is made, and what stands there replaced.
        content: returns what all of them hold; for a process that was forked it may be another.
        fresh_for: seconds after which the kept one is made anew; the others have its modification time.
    """

    def __init__(
        self, source: Path, content: Callable[[], bytes], *, fresh_for: float = float("inf")
    ) -> None:
        self._source = str(source)
        self._content = content
        self._kept = b""
        self._fresh_for = fresh_for
        self._stamp: tuple[int, int] | None = None
        self._made = 0.0

    def make(self, target: str | Path) -> None:
        """Make a file that must not exist yet.

        Raises:
            FileExistsError: it is there.
            FileNotFoundError: its folder is not.
        """
        if not self._link(str(target)):
            self._renew()
            if not self._link(str(target)):
                self._write(str(target))

    def _link(self, target: str) -> bool:
        """Say whether the target is a link to the kept file as this process knows it."""
        if self._content() != self._kept or time.monotonic() - self._made > self._fresh_for:
            return False
        try:
            os.link(self._source, target)
        except FileExistsError:
            raise
        except OSError:
            return False
        if _stamp(target) == self._stamp:
            return True
        os.unlink(target)  # noqa: PTH108 - another process keeps another content there
        return False

    def _renew(self) -> None:
        if self._fresh_for == float("inf") and self._is_kept():  # another process's does as well
            self._kept, self._stamp = self._content(), _stamp(self._source)
            self._made = time.monotonic()
            return
        self._clear()
        part = f"{self._source}.{secrets.token_hex(4)}.part"
        try:
            self._write(part)
        except FileNotFoundError:
            Path(self._source).parent.mkdir(parents=True, exist_ok=True)
            self._write(part)
        self._kept, self._stamp = self._content(), _stamp(part)
        os.replace(part, self._source)  # noqa: PTH105 - on the way of every turn
        self._made = time.monotonic()

    def _clear(self) -> None:
        """Remove what a kill left while the kept file was made."""
        source = Path(self._source)
        for part in source.parent.glob(f"{source.name}.*.part"):
            with suppress(OSError):
                if time.time() - part.stat().st_mtime > _FORGOTTEN_AFTER:
                    part.unlink()

    def _is_kept(self) -> bool:
        try:
            return Path(self._source).read_bytes() == self._content()
        except OSError:
            return False

    def _write(self, path: str) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            write_all(descriptor, self._content())
            os.fsync(descriptor)  # a lock that a power cut emptied would be nobody's, and stay
        except BaseException:  # and so would one that a full disk cut
            with suppress(OSError):
                os.unlink(path)  # noqa: PTH108
            raise
        finally:
            os.close(descriptor)


def _stamp(path: str) -> tuple[int, int]:
    found = os.stat(path)  # noqa: PTH116 - on the way of every turn
    return found.st_ino, found.st_mtime_ns
