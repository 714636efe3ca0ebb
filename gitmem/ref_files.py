"""Refs as files, read and moved as Git does it, and durably."""

from __future__ import annotations

import errno
import hashlib
import mmap
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Final

from gitmem.durable_file import sync_folder
from gitmem.errors import CorruptionError, HeadMoved, HomeError, UsageError
from gitmem.git_lock import git_lock, lock_mark
from gitmem.git_objects import encode_path
from gitmem.git_refs import (
    RefFile,
    find_packed,
    format_reflog,
    is_logged,
    is_ref_name,
    packed_below,
    packed_folders,
    parse_ref_file,
    without_packed,
)
from gitmem.layout import TURN_LINES, Layout
from gitmem.repository import ABSENT, Head
from gitmem.shared_files import grant

#: Refs that each work tree has for itself.
_PRIVATE: Final = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")
_DEEPEST_LINK: Final = 5
_NO_SUCH_FILE: Final = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR)


class RefFiles:
    """The refs of one work tree.

    Args:
        layout: where they lie.
        setting: returns a Git configuration value; asked for `core.logAllRefUpdates` and
            `core.sharedRepository`.
    """

    def __init__(self, layout: Layout, setting: Callable[[str], str | None]) -> None:
        self._layout = layout
        self._setting = setting
        self._unsettled: set[Path] = set()
        self._unsynced: set[Path] = set()
        self._common = str(layout.common_dir)
        self._private = layout.common_dir / "gitmem"
        self._mark = lock_mark(layout.common_dir)

    def head(self) -> Head:
        """Return what HEAD is now.

        Raises:
            CorruptionError: HEAD is missing or damaged.
        """
        content = _read_link(f"{self._layout.git_dir}/HEAD")
        parsed = None if content is None else parse_ref_file(content)
        if parsed is None:
            raise CorruptionError("HEAD is missing or damaged", hint="Run `git fsck`.", ref="HEAD")
        if parsed.target is None:
            return Head(None, parsed.id)
        return Head(parsed.target, self.read(parsed.target))

    def read(self, name: str) -> str | None:
        """Return the value of a ref, or None where there is none.

        Raises:
            CorruptionError: its file holds neither an id nor the name of a ref.
            OSError: its file is there and cannot be read.
        """
        for _ in range(_DEEPEST_LINK):
            found = self._read_file(name)
            if found is None:
                return self._read_packed(name)
            if found.target is None:
                return found.id
            name = found.target
        raise CorruptionError(f"the ref {name} goes in a circle", ref=name)

    def below(self, prefix: str) -> dict[str, str]:
        """Return names and values of the refs below `prefix`, sorted by name; damaged ones are left out."""
        head, star, tail = prefix.partition("*")
        if star:
            found = (self.below(f"{head}{folder}{tail}") for folder in self._folders(head))
            return dict(sorted((name, value) for refs in found for name, value in refs.items()))
        # Loose ones first: `git pack-refs` packs a ref before it removes its file.
        refs: dict[str, str | None] = {}
        for name in self._loose_names(prefix):
            with suppress(CorruptionError):
                refs[name] = None
                refs[name] = self.read(name)
        packed = [(name, value) for name, value in self._packed(prefix) if name not in refs]
        return {name: value for name, value in sorted([*packed, *refs.items()]) if value is not None}

    def _folders(self, prefix: str) -> list[str]:
        folder = prefix.removesuffix("/")
        found: set[str] = set()
        with suppress(FileNotFoundError, NotADirectoryError):
            found |= {entry.name for entry in os.scandir(self._folder(prefix) / folder) if entry.is_dir()}
        with self._packed_map() as content:
            return sorted(found | {*packed_folders(content, encode_path(prefix))})

    def move(self, name: str, *, old: str, new: str, message: str, who: str, durable: bool = True) -> None:
        """Compare-and-swap a ref; see `RefStore.move_ref`."""
        if not is_ref_name(name):
            raise UsageError(f"not a ref name: {name!r}", ref=name)
        with self._locked(name) as path:
            self._compare(name, old)
            if old == ABSENT and new != ABSENT:
                self._make_room(name, path)
            if new == ABSENT:
                self._delete(name, path)
            else:
                if not path.exists():
                    self._share_folders(path)
                self._log(name, old=old, new=new, message=message, who=who)
                self._replace(path, new, durable=durable)
                self._remember(path, fresh=old == ABSENT)
                self._unsynced |= set() if durable else {path}

    def settle(self) -> None:
        """Make all moves so far durable, those that other processes made on the turn lines too."""
        lines = self._layout.common_dir / TURN_LINES
        with suppress(FileNotFoundError, NotADirectoryError):
            self._unsynced |= {path for path in lines.iterdir() if "." not in path.name and path.is_file()}
        for path in self._unsynced:
            with suppress(FileNotFoundError, NotADirectoryError):
                _sync_file(path)
        self._unsynced.clear()
        folders = self._unsettled | {lines}
        for folder in folders:
            with suppress(FileNotFoundError, NotADirectoryError):
                sync_folder(folder)
        self._unsettled -= folders

    def _folder(self, name: str) -> Path:
        return self._layout.git_dir if name.startswith(_PRIVATE) else self._layout.common_dir

    def _read_file(self, name: str) -> RefFile | None:
        folder = self._layout.git_dir if name.startswith(_PRIVATE) else self._common
        content = _read_link(f"{folder}/{name}")
        if content is None:
            return None
        parsed = parse_ref_file(content)
        if parsed is None:
            raise CorruptionError(
                f"the ref {name} is damaged", hint=f"Look at `git reflog show {name}`.", ref=name
            )
        return parsed

    def _read_packed(self, name: str) -> str | None:
        with self._packed_map() as content:
            return find_packed(content, encode_path(name))

    def _packed(self, prefix: str) -> list[tuple[str, str]]:
        with self._packed_map() as content:
            return [*packed_below(content, encode_path(prefix))]

    @contextmanager
    def _packed_map(self) -> Iterator[bytes | mmap.mmap]:
        try:
            descriptor = os.open(f"{self._common}/packed-refs", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            yield b""
            return
        try:
            if os.fstat(descriptor).st_size == 0:
                yield b""
                return
            with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as content:
                yield content
        finally:
            os.close(descriptor)

    @property
    def _packed_file(self) -> Path:
        return self._layout.common_dir / "packed-refs"

    def _loose_names(self, prefix: str) -> Iterator[str]:
        folder, _, _ = prefix.rpartition("/")
        pending = [folder]
        while pending:
            name = pending.pop()
            try:
                entries = [*os.scandir(self._folder(name + "/") / name)]
            except (FileNotFoundError, NotADirectoryError):
                continue
            for entry in entries:
                full = f"{name}/{entry.name}"
                if entry.is_dir():
                    pending.append(full)
                elif full.startswith(prefix) and is_ref_name(full):
                    yield full

    @contextmanager
    def _locked(self, name: str) -> Iterator[Path]:
        path = self._folder(name) / name
        with ExitStack() as stack:
            try:
                stack.enter_context(git_lock(path, mark=self._mark))
            except (FileExistsError, NotADirectoryError) as error:
                folder = self._folder(name)
                above = next(p for p in reversed(path.parents) if p.is_relative_to(folder) and p.is_file())
                raise _clash(name, above.relative_to(folder).as_posix()) from error
            yield path

    def _compare(self, name: str, old: str) -> None:
        found = self._read_file(name)
        if found is not None and found.target is not None:
            raise HeadMoved(f"{name} points at another ref", ref=name, expected=old, found=found.target)
        now = self._read_packed(name) if found is None else found.id
        if (now or ABSENT) != old:
            raise HeadMoved(f"{name} moved", hint="Try again.", ref=name, expected=old, found=now)

    def _make_room(self, name: str, path: Path) -> None:
        above = [up.as_posix() for up in reversed(PurePosixPath(name).parents)][3:]
        packed = [up for up in above if self._read_packed(up) is not None]
        below = chain((found for found, _ in self._packed(name + "/")), self._loose_names(name + "/"))
        other = next(chain(packed, below), None)
        if other is not None:
            raise _clash(name, other)
        _remove_empty(path)

    def _log(self, name: str, *, old: str, new: str, message: str, who: str) -> None:
        path = self._folder(name) / "logs" / name
        line = format_reflog(old=old, new=new, who=who, seconds=int(time.time()), message=message)
        create = is_logged(name, self._setting("core.logAllRefUpdates"))
        descriptor = _open_log(path, create=create)
        if descriptor is None:
            return
        try:
            if create:
                self._share_folders(path)
                grant(descriptor, self._setting("core.sharedRepository"))
            os.write(descriptor, line)
        finally:
            os.close(descriptor)

    def _replace(self, path: Path, value: str, *, durable: bool) -> None:
        # Not among the refs: what a kill leaves there is a fault to `git fsck`.
        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
        beside = self._private / f"ref-{name}.new"
        self._write_beside(path, value.encode("ascii") + b"\n", beside, durable=durable)

    def _write_beside(self, path: Path, content: bytes, beside: Path, *, durable: bool = True) -> None:
        # A fixed name is safe under the lock, and a killed process leaves at most one such file behind.
        descriptor = _open_beside(beside)
        try:
            try:
                _write_all(descriptor, content)
                grant(descriptor, self._setting("core.sharedRepository"))
                if durable:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            try:
                beside.replace(path)
            except IsADirectoryError:
                _remove_empty(path)
                beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise

    def _remember(self, path: Path, *, fresh: bool) -> None:
        self._unsettled.add(path.parent)
        folder = path.parent
        while fresh and folder.name != "refs":
            folder = folder.parent
            self._unsettled.add(folder)

    def _share_folders(self, path: Path) -> None:
        setting = self._setting("core.sharedRepository")
        while setting is not None and path.parent not in (self._layout.common_dir, self._layout.git_dir):
            path = path.parent
            # Only a folder's owner may change it, and made it with these permissions then.
            with suppress(PermissionError):
                grant(path, setting)

    def _delete(self, name: str, path: Path) -> None:
        # The lock is taken even if the ref is not packed: `git pack-refs` may be about to pack it.
        with git_lock(self._packed_file):
            if self._read_packed(name) is not None:
                content = without_packed(self._packed_file.read_bytes(), encode_path(name))
                beside = self._packed_file.with_name("packed-refs.gitmem-new")
                self._write_beside(self._packed_file, content, beside)
                sync_folder(self._packed_file.parent)
            path.unlink(missing_ok=True)
        with suppress(OSError):
            (self._folder(name) / "logs" / name).unlink(missing_ok=True)
        self._remember(path, fresh=False)


def _read_link(path: str) -> bytes | None:
    # HEAD may be a symbolic link (core.preferSymlinkRefs): its target is the ref it names.
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in _NO_SUCH_FILE:
            return None
        if error.errno != errno.ELOOP:
            raise
        target = str(Path(path).readlink())
        return b"ref: " + os.fsencode(target) if target.startswith("refs/") else Path(path).read_bytes()
    try:
        return os.read(descriptor, 4096)
    except IsADirectoryError:
        return None
    finally:
        os.close(descriptor)


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, content: bytes) -> None:
    done = 0
    while done < len(content):
        done += os.write(descriptor, content[done:])


def _open_beside(path: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o666)


def _open_log(path: Path, *, create: bool) -> int | None:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | (os.O_CREAT if create else 0)
    for _ in range(10):
        try:
            return os.open(path, flags, 0o666)
        except (FileNotFoundError, NotADirectoryError):
            if not create:
                return None
            path.parent.mkdir(parents=True, exist_ok=True)
        except IsADirectoryError:
            if not create:
                return None
            _remove_empty(path)
    return os.open(path, flags, 0o666)


def _remove_empty(folder: Path) -> None:
    """Remove a folder that holds only empty folders; left alone where it holds anything."""
    for inner, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            Path(inner).rmdir()


def _clash(name: str, other: str) -> HomeError:
    return HomeError(
        f"{name} cannot be made: {other} stands in its place",
        hint=f"Rename that branch: git branch -m {other.removeprefix('refs/heads/')} NEW-NAME",
        ref=name,
        clash=other,
    )
