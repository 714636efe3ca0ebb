"""The copy of the ledger on disk: for eyes and ripgrep, never read as truth, restored whenever it differs."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gitmem.durable_file import write_all, write_file
from gitmem.errors import GitmemError
from gitmem.forgotten import Receipts, close_leftover
from gitmem.layout import LEDGER, Layout
from gitmem.repository import Repository, read_path

_Stamp = tuple[int, int, int]
#: Seconds after which a folder from which something was removed counts as left alone.
_SETTLED_AFTER: Final = 1.0
#: Neither a link nor a pipe that stands in a file's place may lead or hold up a turn.
_OPEN: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Growth:
    """What a turn did to one file of the ledger.

    Attributes:
        before: its length in bytes before the turn; the new bytes follow there. None: written whole.
        content: the whole content after the turn.
    """

    before: int | None
    content: bytes


@dataclass(frozen=True, slots=True)
class DiskChanges:
    """What a turn did to the ledger.

    Attributes:
        grown: own files.
        brought: files that came from other lines, with their blob id; None for one that was forgotten.
    """

    grown: dict[str, Growth] = field(default_factory=dict)
    brought: dict[str, str | None] = field(default_factory=dict)


class DiskCopy:
    """Keeps `ledger/` in the work tree equal to the turn lines.

    Args:
        repository: to see whether HEAD's tree has a `ledger/` of its own, which is then left alone.
        layout: its folders; foreign bytes go to `layout.set_aside`.
        receipts: returns those in force; no text of a forgotten record is kept as foreign.
    """

    def __init__(
        self, repository: Repository, layout: Layout, receipts: Callable[[], Receipts] = Receipts
    ) -> None:
        self._receipts = receipts
        self._repository = repository
        self._layout = layout
        self._head: tuple[str | None, bool] = (None, False)
        self._left: dict[str, _Stamp] = {}

    def update(self, changes: DiskChanges, head: str | None) -> list[str]:
        """Write what a turn changed; what cannot be written is only missing from the copy.

        Args:
            changes: what the turn did.
            head: the commit that HEAD names.

        Returns:
            What was found out of place or failed, in words.
        """
        try:
            if self._is_tracked(head):
                return []
            return [warning for path in self._paths(changes) for warning in self._write(path, changes)]
        except (OSError, GitmemError) as error:
            return [f"the copy of the ledger on disk is behind: {error}"]

    def restore(self, path: str, content: bytes) -> bool:
        """Make one file hold `content`; say whether foreign bytes had to be set aside for it."""
        if self.is_tracked() or not self._make_way(path):
            return False
        target = self._layout.root / path
        found = read_plain(target)
        if found == content:
            return False
        foreign = self._has_foreign(path, content, found)
        write_file(target, content, durable=False)
        self._left[path] = _stamp(target.lstat())
        return foreign

    def _has_foreign(self, path: str, content: bytes, found: bytes | None) -> bool:
        """Set aside what is foreign in a file that differs; say whether there was any."""
        if found is None:
            if not os.path.lexists(self._layout.root / path):
                return False
            self._set_aside(path)
            return True
        # A torn tail, or the file of an older moment, is a prefix: nothing foreign to keep.
        if content.startswith(found):
            return False
        # So is, once closed, gitmem's own copy of before a record was forgotten; its text has to go.
        closed = close_leftover(found, content, self._receipts())
        if content.startswith(closed):
            return False
        if closed == found:
            self._set_aside(path)
        else:
            write_file(self._aside_name(path), closed)
        return True

    def remove(self, path: str) -> None:
        """Remove a file whose record was forgotten."""
        if not self.is_tracked() and self._make_way(path):
            with suppress(FileNotFoundError, IsADirectoryError, PermissionError):
                (self._layout.root / path).unlink()

    def is_tracked(self) -> bool:
        """Say whether HEAD's tree has a `ledger/`; then a person put it there, and the disk is left alone."""
        return self._is_tracked(self._repository.head().commit)

    def _is_tracked(self, head: str | None) -> bool:
        if head is None:
            return False
        if self._head[0] != head:
            tree = self._repository.read_commit(head).tree
            self._head = (head, read_path(self._repository, tree, LEDGER) is not None)
        return self._head[1]

    def _paths(self, changes: DiskChanges) -> Iterator[str]:
        yield from changes.grown
        yield from (path for path in changes.brought if path not in changes.grown)

    def _write(self, path: str, changes: DiskChanges) -> Iterator[str]:
        growth = changes.grown.get(path)
        blob = changes.brought.get(path)
        if growth is not None:
            foreign = self._grow(path, growth)
        elif blob is not None:
            foreign = self.restore(path, self._repository.read(blob)[1])
        else:
            self.remove(path)
            foreign = False
        if foreign:
            yield f"{path}: foreign bytes were set aside and the file restored"

    def _grow(self, path: str, growth: Growth) -> bool:
        if growth.before is None:
            return self.restore(path, growth.content)
        if not self._holds(path, growth.content[: growth.before]):
            return not self._is_being_removed(path) and self.restore(path, growth.content)
        try:
            descriptor = os.open(self._layout.root / path, os.O_WRONLY | os.O_APPEND | _OPEN)
        except OSError:
            return self.restore(path, growth.content)
        try:
            write_all(descriptor, growth.content[growth.before :])
            self._left[path] = _stamp(os.fstat(descriptor))
        finally:
            os.close(descriptor)
        return False

    def _holds(self, path: str, content: bytes) -> bool:
        """Say whether a file holds `content`; what this process left there and nobody touched is not read."""
        if any(stat.S_ISLNK(mode) for mode in _modes(self._layout.root, path)):
            return False
        target = self._layout.root / path
        try:
            stamp = _stamp(target.lstat())
        except OSError:
            return False
        return stamp[1] == len(content) and (stamp == self._left.get(path) or read_plain(target) == content)

    def _is_being_removed(self, path: str) -> bool:
        """Say whether a file is missing where something was removed just now.

        `git clean` fails where a file comes back into a folder that it empties; a later turn restores it.
        """
        target = self._layout.root / path
        if os.path.lexists(target):
            return False
        folder = next(parent for parent in target.parents if parent.exists())
        return folder.is_dir() and abs(time.time() - folder.stat().st_mtime) < _SETTLED_AFTER

    def _make_way(self, path: str) -> bool:
        """Set aside what stands where a folder has to be; say whether the path can be used.

        A link is somebody's decision: it is neither followed nor replaced.
        """
        parts = path.split("/")
        for depth, mode in enumerate(_modes(self._layout.root, path), 1):
            if stat.S_ISLNK(mode):
                return False
            if not stat.S_ISDIR(mode):
                self._set_aside("/".join(parts[:depth]))
        return True

    def _set_aside(self, path: str) -> None:
        shutil.move(self._layout.root / path, self._aside_name(path))

    def _aside_name(self, path: str) -> Path:
        """Return a new name for what stands at a path, in the folder of what is set aside."""
        when = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        folder = self._layout.set_aside
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{when}-{secrets.token_hex(3)}-{path.replace('/', '_')}"


def _modes(root: Path, path: str) -> Iterator[int]:
    """Yield the mode of each folder on a path below `root`, as far as there are any."""
    parts = path.split("/")
    for depth in range(1, len(parts)):
        try:
            yield os.lstat(f"{root}/{'/'.join(parts[:depth])}").st_mode
        except OSError:
            return


def _stamp(found: os.stat_result) -> _Stamp:
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def read_plain(path: Path) -> bytes | None:
    """Return the bytes of a plain file; None for a link, a folder, a pipe, or nothing."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _OPEN)
    except OSError:
        return None
    with ExitStack() as stack:
        stack.callback(os.close, descriptor)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return os.fdopen(descriptor, "rb", closefd=False).read()
