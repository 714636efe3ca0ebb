"""Files of the work tree as they are replaced: beside and moved, in real folders only, no link followed.

Every folder on the way is opened without following links and the file is moved inside the open folder, so a
link that is put there meanwhile cannot lead a write out of the home.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from gitmem.errors import HeadMoved, ProtectedPath
from gitmem.file_exchange import exchange, held_still, move_new
from gitmem.path_names import fold_path
from gitmem.tree_files import LINK, MAX_FILE, NESTED

_OPEN_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC

#: Seconds between the moment in which an editor opens a file and that in which it has filled it. On a
#: busy machine it takes longer than one thinks; whoever keeps a file open for long is not waited for.
_SAVING: Final = 0.5

#: Gives a new file or folder (open) to whom it belongs and the permissions it needs.
Grant = Callable[[int], None]


class Anything:
    """Whatever file is there."""


ANYTHING: Final = Anything()
#: What a file was: its stat data, None for no file.
Seen = os.stat_result | Anything | None


class ReplacedFile:
    """A file about to be replaced or removed; the new content lies beside it, durable."""

    def __init__(self, folder: int, name: str, token: str) -> None:
        self._folder = folder
        self._name = name
        self._token = token
        self._beside: str | None = None
        self._displaced: tuple[str, os.stat_result] | None = None
        self._own: os.stat_result | None = None

    @property
    def removes(self) -> bool:
        """Whether the file is to be removed: nothing lies beside it."""
        return self._beside is None

    def write_beside(self, content: bytes, mode: int | None, grant: Grant) -> None:
        """Write the new content, durably, without touching the file."""
        self._beside = _beside(self._name, self._token)
        _write(self._folder, self._beside, content, mode, grant)

    def drop(self) -> None:
        """Remove what was written beside and not moved, and what was displaced unless it was written since.

        An editor that had the file open then, or had just found it by its name, went on in it and saved;
        that is its last save, and it stands again; unless our text was saved over since, later than that.
        """
        if self._displaced is not None:
            left, seen = self._displaced
            with suppress(OSError), held_still(self._folder, left, wait=_SAVING):
                saved = self._stat(left)
                if not _same_file(saved, seen) and not self._is_saved_over(saved):
                    exchange(self._folder, left, self._name)
                os.unlink(left, dir_fd=self._folder)
        elif self._beside is not None:
            with suppress(OSError):
                os.unlink(self._beside, dir_fd=self._folder)

    def _is_saved_over(self, saved: os.stat_result) -> bool:
        found = self._stat(self._name)
        is_ours = self._own is not None and _same_file(found, self._own)
        return not is_ours and found.st_mtime_ns >= saved.st_mtime_ns

    def place(self, seen: Seen = ANYTHING) -> os.stat_result | None:
        """Put the new content in place; return its stat data, or None where the file was removed.

        Args:
            seen: what the file was when it was read, None where there was none. Whatever an editor saved
                since then stays.

        Raises:
            HeadMoved: the file is another one by now; nothing was done.
        """
        if self._beside is None:
            if self._folder >= 0:
                with suppress(FileNotFoundError):
                    os.unlink(self._name, dir_fd=self._folder)
            return None
        if not self._take_place(self._beside, seen):
            os.replace(self._beside, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        self._beside = None
        return os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)

    def _take_place(self, beside: str, seen: Seen) -> bool:
        """Move the new content to where the file that was seen still is; False where only a rename can."""
        if isinstance(seen, Anything):
            return False
        try:
            if seen is None:
                return move_new(self._folder, beside, self._name)
            own = self._stat(beside)
            with held_still(self._folder, self._name, wait=_SAVING) as hold:
                # Asked before, so that nobody reads our text in the place of a save that is not committed.
                if not _same_file(self._stat(self._name), seen):
                    raise self._moved()
                if not exchange(self._folder, beside, self._name):
                    return False
                if hold.is_awaited():  # an editor that found the old file by its name is about to save in it
                    self._take_back(beside, own)
                    raise self._moved()
        except (FileExistsError, FileNotFoundError) as error:
            raise self._moved() from error
        if _same_file(self._stat(beside), seen):
            self._displaced, self._own = (beside, seen), own
            return True
        self._take_back(beside, own)
        raise self._moved()

    def _take_back(self, beside: str, own: os.stat_result) -> None:
        exchange(self._folder, beside, self._name)
        if not _same_file(self._stat(beside), own):  # and saved once more: the last one is the editor's file
            os.replace(beside, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)

    def _stat(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self._folder, follow_symlinks=False)

    def _moved(self) -> HeadMoved:
        return HeadMoved(f"{self._name} changed meanwhile", hint="Read it again.", path=self._name)

    def settle(self) -> None:
        """Make the move durable."""
        if self._folder >= 0:
            os.fsync(self._folder)


def is_inside(path: str) -> bool:
    """Say whether a path, by its words alone, stays inside the work tree and out of any git dir."""
    names = path.split("/")
    return "\0" not in path and not any(
        name in {"", ".", ".."} or name.casefold() == ".git" for name in names
    )


def check_way(root: Path, path: str) -> None:
    """Refuse a path for a new file if its folders are not real folders of this repository.

    Raises:
        ProtectedPath: with the reason in words.
    """
    with _open_folder(root, path, path.split("/")[:-1]):
        return


def find_twin(root: Path, path: str) -> str | None:
    """Return a path on disk that is the same name as `path` on another machine, or None.

    Such names differ in case or Unicode form only; a file system that does not tell them apart would let one
    write into the other.
    """
    at, way = root, ""
    for name in path.split("/"):
        folded = fold_path(name)
        try:
            present = [other.name for other in at.iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return None
        if name not in present:
            return next((f"{way}{other}" for other in present if fold_path(other) == folded), None)
        at, way = at / name, f"{way}{name}/"
    return None


def stat_file(root: Path, path: str) -> os.stat_result | None:
    """Return a path's own stat data (a link's, not its target's), or None where nothing is."""
    try:
        return (root / path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


@contextmanager
def replaced_file(
    root: Path,
    path: str,
    content: bytes | None,
    *,
    mode: int | None,
    token: str,
    grant: Grant,
    most: int = MAX_FILE,
) -> Iterator[ReplacedFile]:
    """Write a file's new content beside it, durably; it is moved into place by `place`, else dropped.

    Args:
        root: the work tree.
        path: relative to it; folders are made if missing.
        content: the new content; None to remove the file and the folders that fall empty.
        mode: permission bits of the file it replaces, None for a new one.
        token: names the file beside it, so that one that a kill leaves can be found and removed.
        grant: called with every file and folder made, open.
        most: bytes that the content may have.

    Raises:
        ProtectedPath: the path leads through a link or into another repository, or the content is too large.
    """
    *parents, name = path.split("/")
    if content is not None and len(content) > most:
        raise _protected(path, f"larger than {most // (1024 * 1024)} MiB")
    try:
        with _open_folder(root, path, parents, make=content is not None, grant=grant) as folder:
            if folder is None:
                yield ReplacedFile(-1, name, token)
                return
            file = ReplacedFile(folder, name, token)
            try:
                if content is not None:
                    file.write_beside(content, mode, grant)
                yield file
            finally:
                file.drop()
    finally:
        _remove_empty(root, parents)


def remove_beside(root: Path, path: str, token: str) -> None:
    """Remove what a killed process left beside a file that it was about to replace."""
    *parents, name = path.split("/")
    with suppress(OSError, ProtectedPath), _open_folder(root, path, parents) as folder:
        if folder is not None:
            os.unlink(_beside(name, token), dir_fd=folder)


def _same_file(found: os.stat_result, seen: os.stat_result) -> bool:
    # Not by the time of its last change of state, which a rename is.
    return (found.st_ino, found.st_size, found.st_mtime_ns) == (seen.st_ino, seen.st_size, seen.st_mtime_ns)


def _beside(name: str, token: str) -> str:
    # Hidden, so that neither the watcher nor the catalog takes it for a note.
    return f".{name[:80]}.{token}.part"


def _write(folder: int, name: str, content: bytes, mode: int | None, grant: Grant) -> None:
    descriptor = os.open(name, _NEW_FILE, 0o666, dir_fd=folder)
    try:
        done = 0
        while done < len(content):
            done += os.write(descriptor, content[done:])
        grant(descriptor)
        if mode is not None:
            os.fchmod(descriptor, mode & 0o7777)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _open_folder(
    root: Path, path: str, names: Sequence[str], *, make: bool = False, grant: Grant | None = None
) -> Iterator[int | None]:
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            inner = _enter(folder, path, name, grant if make else None)
            if inner is None:
                yield None
                return
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _enter(folder: int, path: str, name: str, grant: Grant | None) -> int | None:
    made = False
    while True:
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            break
        except FileNotFoundError:
            if grant is None:
                return None
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=folder)
                made = True
    if stat.S_ISLNK(found.st_mode):
        raise _protected(path, f"below {LINK}")
    if not stat.S_ISDIR(found.st_mode):
        raise _protected(path, f"below {name}, which is a file")
    inner = os.open(name, _OPEN_FOLDER, dir_fd=folder)
    if made and grant is not None:
        grant(inner)
        os.fsync(folder)
    try:
        os.stat(".git", dir_fd=inner, follow_symlinks=False)
    except FileNotFoundError:
        return inner
    os.close(inner)
    raise _protected(path, f"inside {NESTED}")


def _remove_empty(root: Path, parents: Sequence[str]) -> None:
    # A top folder of the home stays, so that a person sees where things belong.
    for depth in range(len(parents), 1, -1):
        try:
            (root / "/".join(parents[:depth])).rmdir()
        except OSError:
            return


def _protected(path: str, reason: str) -> ProtectedPath:
    return ProtectedPath(f"{path}: {reason}", hint="Nothing was written.", path=path, reason=reason)
