"""The home's files on disk, found and read without ever following a link; what cannot be read is named."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gitmem.catalog import path_order
from gitmem.path_names import Twins, find_twins, name_fault

#: A larger file is not read.
MAX_FILE: Final = 8 * 1024 * 1024
#: Deeper folders are not entered.
MAX_DEPTH: Final = 32
_OPEN_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
#: O_NONBLOCK, because opening a pipe would wait for its other end.
_OPEN_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

NESTED: Final = "a nested repository"
LINK: Final = "a link; links are not followed"
LIKE_A_FILE: Final = "a folder that is named like a file"


@dataclass(frozen=True, slots=True)
class ManagedFile:
    """One file as it was read.

    Attributes:
        path: relative to the home, with slashes.
        stat: taken before the content was read, so that a later write shows in it.
    """

    path: str
    content: bytes
    stat: os.stat_result


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One file as a listing shows it; its content was not read."""

    path: str
    stat: os.stat_result


@dataclass(frozen=True, slots=True)
class Skipped:
    """A path that is left out, and why; `line` where one is known."""

    path: str
    reason: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """What lies below a folder.

    Attributes:
        files: shallow first, then in byte order of the path.
        skipped: what would be listed and cannot be.
        twins: files of `files` whose names are one name on another machine.
        hidden: names that begin with a dot and would be listed without it.
    """

    files: tuple[FoundFile, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    twins: tuple[Twins, ...] = ()
    hidden: tuple[str, ...] = ()


def read_managed(root: Path, path: str) -> ManagedFile | Skipped | None:
    """Read one file of a home.

    Args:
        root: the work tree.
        path: relative to it, with slashes; any text is safe to pass.

    Returns:
        The file; why it is not read; or None where nothing is at the path.
    """
    names = path.split("/")
    if "\0" in path or any(name in {"", ".", ".."} for name in names):
        return Skipped(path, "not a path inside the home")
    try:
        with _folder_of(root, names[:-1]) as folder:
            if isinstance(folder, str):
                return Skipped(path, folder)
            return _read_in(folder, names[-1], path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Skipped(path, _reason_of(error))


def list_files(root: Path, folder: str, suffixes: Sequence[str], *, in_order: bool = True) -> Listing:
    """Return the regular files below a top folder whose names end in one of `suffixes`, in any case.

    Hidden names, links and nested repositories are not entered; what is left out is named.

    Args:
        root: the work tree.
        folder: name of the top folder.
        suffixes: of names.
        in_order: put the files in order and look for twins; with thousands of files that takes the longest.
    """
    walk = _Walk(tuple(suffix.lower() for suffix in suffixes))
    try:
        found = (root / folder).stat(follow_symlinks=False)
    except FileNotFoundError:
        return Listing()
    except OSError as error:
        return Listing(skipped=(Skipped(folder, _reason_of(error)),))
    if not stat.S_ISDIR(found.st_mode):
        return Listing(skipped=(Skipped(folder, _kind_of(found.st_mode) or "not a folder"),))
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        walk.enter(descriptor, folder, folder, 1)
    finally:
        os.close(descriptor)
    return walk.listing() if in_order else Listing(tuple(walk.files), tuple(walk.skipped))


@dataclass(slots=True)
class _Walk:
    """One pass over a folder, holding open only the folders on the way down."""

    suffixes: tuple[str, ...]
    files: list[FoundFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)

    def enter(self, parent: int, name: str, path: str, depth: int) -> None:
        """List the folder `name` of an open folder."""
        if depth > MAX_DEPTH:
            self._skip(path, f"deeper than {MAX_DEPTH} folders")
            return
        try:
            folder = os.open(name, _OPEN_FOLDER, dir_fd=parent)
        except OSError as error:
            self._skip(path, _reason_of(error))
            return
        try:
            self._list(folder, path, depth)
        except OSError as error:
            self._skip(path, _reason_of(error))
        finally:
            os.close(folder)

    def listing(self) -> Listing:
        """Return what was found, in order."""
        files = tuple(sorted(self.files, key=lambda file: path_order(file.path)))
        skipped = tuple(sorted(self.skipped, key=lambda item: item.path))
        twins = find_twins([file.path for file in files])
        return Listing(files, skipped, twins, tuple(sorted(self.hidden)))

    def _list(self, folder: int, path: str, depth: int) -> None:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        if depth > 1 and any(entry.name == ".git" for entry in found):
            self._skip(path, NESTED)
            return
        for entry in found:
            try:
                self._take(folder, entry, f"{path}/{entry.name}", depth)
            except FileNotFoundError:
                continue
            except OSError as error:
                self._skip(f"{path}/{entry.name}", _reason_of(error))

    def _take(self, folder: int, entry: os.DirEntry[str], path: str, depth: int) -> None:
        is_wanted = entry.name.lower().endswith(self.suffixes)
        if entry.name.startswith("."):
            if is_wanted and not entry.is_dir(follow_symlinks=False):
                self.hidden.append(path)
            return
        if entry.is_symlink():
            self._skip(path, LINK)
            return
        fault = name_fault(entry.name)
        is_folder = entry.is_dir(follow_symlinks=False)
        if fault and (is_wanted or is_folder):
            self._skip(path, fault)
        elif is_folder:
            if is_wanted:
                self._skip(path, LIKE_A_FILE)
            self.enter(folder, entry.name, path, depth + 1)
        elif is_wanted:
            self._take_file(entry, path)

    def _take_file(self, entry: os.DirEntry[str], path: str) -> None:
        found = entry.stat(follow_symlinks=False)
        reason = _kind_of(found.st_mode) or _size_fault(found.st_size)
        if reason:
            self._skip(path, reason)
        else:
            self.files.append(FoundFile(path, found))

    def _skip(self, path: str, reason: str) -> None:
        self.skipped.append(
            Skipped(path.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), reason)
        )


@contextmanager
def _folder_of(root: Path, names: Sequence[str]) -> Iterator[int | str]:
    """Open the folder `names` step by step; yield its descriptor, or why it must not be entered."""
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                yield f"below {LINK}"
                return
            inner = os.open(name, _OPEN_FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
            if _exists(".git", folder):
                yield f"inside {NESTED}"
                return
        yield folder
    finally:
        os.close(folder)


def _read_in(folder: int, name: str, path: str) -> ManagedFile | Skipped:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    reason = _kind_of(found.st_mode) or _size_fault(found.st_size)
    if reason:
        return Skipped(path, reason)
    descriptor = os.open(name, _OPEN_FILE, dir_fd=folder)
    try:
        found = os.fstat(descriptor)
        reason = _kind_of(found.st_mode)
        content = b"" if reason else _read_all(descriptor, found.st_size)
    finally:
        os.close(descriptor)
    reason = reason or _size_fault(len(content))
    return Skipped(path, reason) if reason else ManagedFile(path, content, found)


def _read_all(descriptor: int, expected: int) -> bytes:
    """Return all bytes of an open file, or a few more than are allowed."""
    parts = []
    room = MAX_FILE + 1
    size = min(expected, MAX_FILE) + 1
    while room > 0:
        part = os.read(descriptor, min(size, room))
        if not part:
            break
        parts.append(part)
        room -= len(part)
    return b"".join(parts)


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _kind_of(mode: int) -> str | None:
    """Say what a path is if it is no regular file."""
    if stat.S_ISREG(mode):
        return None
    if stat.S_ISLNK(mode):
        return LINK
    return "a folder" if stat.S_ISDIR(mode) else "not a regular file"


def _size_fault(size: int) -> str | None:
    return f"larger than {MAX_FILE // (1024 * 1024)} MiB" if size > MAX_FILE else None


def _reason_of(error: OSError) -> str:
    return f"unreadable: {error.strerror or error}"
