"""The copy of the ledger on disk: for eyes and ripgrep, never read as truth, restored whenever it differs."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gitmem.durable_file import write_file
from gitmem.layout import LEDGER, Layout
from gitmem.repository import Repository, read_path


@dataclass(frozen=True, slots=True)
class Growth:
    """What a turn did to one file of the ledger.

    Attributes:
        before: its length in bytes before the turn; the new bytes follow there. None: written whole.
        content: the whole content after the turn.
    """

    before: int | None
    content: bytes


class DiskCopy:
    """Keeps `ledger/` in the work tree equal to the turn lines.

    Args:
        repository: to see whether HEAD's tree has a `ledger/` of its own, which is then left alone.
        layout: its folders; foreign bytes go to `layout.set_aside`.
    """

    def __init__(self, repository: Repository, layout: Layout) -> None:
        self._repository = repository
        self._layout = layout
        self._head: tuple[str | None, bool] = (None, False)

    def update(self, changes: Mapping[str, Growth]) -> list[str]:
        """Write what a turn changed.

        Returns:
            The paths at which foreign bytes were found and set aside.
        """
        if self.is_tracked():
            return []
        return [path for path, growth in changes.items() if self._grow(path, growth)]

    def restore(self, path: str, content: bytes) -> bool:
        """Make one file hold `content`; say whether foreign bytes had to be set aside for it."""
        if self.is_tracked():
            return False
        target = self._layout.root / path
        found = _read_plain(target)
        if found == content:
            return False
        # A torn tail, or the file of an older moment, is a prefix: nothing foreign to keep.
        foreign = found is not None and not content.startswith(found)
        if foreign or (found is None and os.path.lexists(target)):
            self._set_aside(path, target)
        if not _has_link(self._layout.root, path):
            write_file(target, content, durable=False)
        return foreign

    def is_tracked(self) -> bool:
        """Say whether HEAD's tree has a `ledger/`; then a person put it there, and the disk is left alone."""
        head = self._repository.head().commit
        if head is None:
            return False
        if self._head[0] != head:
            tree = self._repository.read_commit(head).tree
            self._head = (head, read_path(self._repository, tree, LEDGER) is not None)
        return self._head[1]

    def is_current(self, path: str, size: int) -> bool:
        """Say cheaply whether a file of the copy has the length it should have."""
        try:
            return (self._layout.root / path).lstat().st_size == size
        except OSError:
            return False

    def _grow(self, path: str, growth: Growth) -> bool:
        target = self._layout.root / path
        linked = _has_link(self._layout.root, path)
        if growth.before is not None and not linked and self.is_current(path, growth.before):
            try:
                descriptor = os.open(target, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
            except OSError:
                return self.restore(path, growth.content)
            try:
                _append(descriptor, growth.content[growth.before :])
            finally:
                os.close(descriptor)
            return False
        return self.restore(path, growth.content)

    def _set_aside(self, path: str, target: Path) -> None:
        name = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{path.replace('/', '_')}"
        folder = self._layout.set_aside
        folder.mkdir(parents=True, exist_ok=True)
        shutil.move(target, folder / name)


def _append(descriptor: int, content: bytes) -> None:
    with memoryview(content) as rest:
        done = 0
        while done < len(rest):
            done += os.write(descriptor, rest[done:])


def _read_plain(path: Path) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def _has_link(root: Path, path: str) -> bool:
    folder = root
    for name in path.split("/")[:-1]:
        folder = folder / name
        if folder.is_symlink():
            return True
    return False
