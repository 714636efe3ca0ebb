"""Loose tags go into packed-refs, each file removed under its own lock and only if it did not change.

Git's own `git pack-refs` takes branches along that were packed once, a turn line too, which each turn would
then have to look for in the whole list. Here only tags are packed: they never move, and they are what grows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitmem.durable_file import remove_file, sync_folder, write_all
from gitmem.errors import CorruptionError, HomeLocked, ObjectMissing
from gitmem.git_lock import MARK, git_lock
from gitmem.git_objects import decode_path, encode_path
from gitmem.git_refs import is_ref_name, parse_ref_file
from gitmem.layout import Layout
from gitmem.linked_file import LinkedFile
from gitmem.shared_files import grant

#: Returns what an id is in the end: of an annotated tag what it names, else None; missing objects raise.
Peel = Callable[[str], str | None]

_TAGS: Final = "refs/tags"
_HEADER: Final = b"# pack-refs with: peeled fully-peeled sorted \n"
_LINE: Final = re.compile(rb"([0-9a-f]{40}) ([^\n]+)\n(?:\^([0-9a-f]{40})\n)?")
_LOCK: Final = ".lock"
_CHUNK: Final = 256
#: Tags for which packed-refs is held at once: for some tenths of a second.
_ROUND: Final = 4096


@dataclass(frozen=True, slots=True)
class RefReport:
    """What was done with loose tags.

    Attributes:
        found: how many there were.
        packed: how many of them packed-refs has now.
        removed: how many files went.
        clashing: names that stand where another ref needs a folder, or the other way round; left alone.
        finished: whether all were looked at within the time.
    """

    found: int = 0
    packed: int = 0
    removed: int = 0
    clashing: tuple[str, ...] = ()
    finished: bool = True


@dataclass(frozen=True, slots=True)
class _Row:
    value: str
    peeled: str | None


class RefPacking:
    """Packs loose tags; one run at a time, which the caller sees to.

    Args:
        layout: where refs lie.
        peel: peels an id.
        shared: `core.sharedRepository`.
        pause: called between small steps.
        checkpoint: called with a name between any two steps; tests let it raise.
    """

    def __init__(
        self,
        layout: Layout,
        peel: Peel,
        *,
        shared: str | None,
        pause: Callable[[], object],
        checkpoint: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._common = layout.common_dir
        self._file = layout.common_dir / "packed-refs"
        self._peel = peel
        self._shared = shared
        self._pause = pause
        self._step = checkpoint
        # An own file: a lock that is a link to it was left by a run that was killed, for there is one at a
        # time.
        kept = layout.common_dir / "gitmem" / "maintenance-mark"
        self._kept = kept
        self._mark = LinkedFile(kept, lambda: MARK)

    def run(self, is_over: Callable[[], bool], *, dry_run: bool = False) -> RefReport:
        """Pack loose tags, until the time is over.

        Raises:
            HomeLocked: Git is packing refs, or a lock was left behind.
            CorruptionError: packed-refs cannot be understood; nothing was changed.
            OSError: the disk is full, for example; all refs are as they were.
        """
        loose = loose_tags(self._common)
        if not dry_run:
            self._remove_left_over()
        if not loose or dry_run:
            return RefReport(len(loose), len(loose))
        self._remove_stale(self._file)
        packed = removed = 0
        clashing: list[str] = []
        names = [*loose]
        for first in range(0, len(names), _ROUND):
            rows = self._peeled({name: loose[name] for name in names[first : first + _ROUND]})
            done, found = self._pack(rows)
            packed, clashing = packed + len(done), clashing + found
            removed += self._remove_all(done)
            if is_over():
                return RefReport(len(loose), packed, removed, tuple(clashing), finished=False)
        return RefReport(len(loose), packed, removed, tuple(clashing))

    def _pack(self, peeled: Mapping[str, _Row]) -> tuple[dict[str, _Row], list[str]]:
        """Write loose refs into packed-refs; return those that are there now, and those that clash."""
        with git_lock(self._file, mark=self._mark) as lock:
            self._step("locked")
            rows = self._rows()
            clashing = [*clashes(peeled, rows)]
            # Under the lock, which whoever deletes a tag holds until its file is gone.
            now = _values(self._common, peeled.keys() - {*clashing})
            packed = {name: peeled[name] for name, value in now.items() if value == peeled[name].value}
            if any(rows.get(name) != row for name, row in packed.items()):
                self._replace({**rows, **packed}, lock)
            self._step("replaced")
        return packed, clashing

    def _peeled(self, loose: Mapping[str, str]) -> dict[str, _Row]:
        rows = {}
        for name, value in loose.items():
            with suppress(ObjectMissing, CorruptionError):
                rows[name] = _Row(value, self._peel(value))
        return rows

    def _rows(self) -> dict[str, _Row]:
        """Return what packed-refs has, each ref with its peeled value."""
        if self._file.is_symlink():
            raise CorruptionError("packed-refs is a link to another file", hint="Run `git pack-refs --all`.")
        try:
            content = self._file.read_bytes()
        except FileNotFoundError:
            return {}
        header = content[: content.find(b"\n") + 1] if content.startswith(b"#") else b""
        rows: dict[str, _Row] = {}
        at = len(header)
        for found in _LINE.finditer(content, at):
            if found.start() != at:
                break
            at = found.end()
            value, name = found[1].decode("ascii"), decode_path(found[2])
            rows[name] = _Row(value, self._peeled_before(header, found))
        if at != len(content):
            raise CorruptionError(f"packed-refs cannot be understood from byte {at}", hint="Run `git fsck`.")
        return rows

    def _peeled_before(self, header: bytes, found: re.Match[bytes]) -> str | None:
        """Return the peeled value that a line has; one whose header does not promise it is looked up."""
        tags_only = b" peeled" in header and found[2].startswith(_TAGS.encode() + b"/")
        if found[3] is not None or b" fully-peeled" in header or tags_only:
            return None if found[3] is None else found[3].decode("ascii")
        with suppress(ObjectMissing, CorruptionError):
            return self._peel(found[1].decode("ascii"))
        return None

    def _replace(self, rows: Mapping[str, _Row], lock: Path) -> None:
        beside = self._file.with_name("packed-refs.gitmem-new")
        remove_file(beside)  # what a kill left
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            try:
                write_all(descriptor, b"".join([_HEADER, *_lines(rows)]))
                grant(descriptor, self._shared)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            self._step("written")
            _check_mark(lock)
            beside.replace(self._file)
        except BaseException:
            remove_file(beside)
            raise
        sync_folder(self._file.parent)

    def _remove_all(self, packed: Mapping[str, _Row]) -> int:
        removed = 0
        folders: set[Path] = set()
        for number, (name, row) in enumerate(packed.items()):
            removed += self._remove(name, row.value)
            folders.add((self._common / name).parent)
            if number % _CHUNK == _CHUNK - 1:
                self._pause()
        for folder in sorted(folders, reverse=True):
            _remove_empty(folder, self._common / _TAGS)
        return removed

    def _remove(self, name: str, value: str) -> bool:
        """Remove one ref's file, under its lock and unless it changed; what somebody holds is left."""
        path = self._common / name
        with suppress(HomeLocked, FileExistsError, NotADirectoryError):
            if not path.exists():
                return False
            try:
                return self._remove_locked(path, value)
            except HomeLocked:
                self._remove_stale(path)
            return self._remove_locked(path, value)
        return False

    def _remove_locked(self, path: Path, value: str) -> bool:
        with git_lock(path, wait=0, mark=self._mark):
            self._step("ref locked")
            return _read(path) == value and remove_file(path)

    def _remove_left_over(self) -> None:
        """Remove locks of tags whose files are gone: a run was killed before it let go of them."""
        for folder, _, names in os.walk(self._common / _TAGS):
            for name in names:
                if name.endswith(_LOCK):
                    self._remove_stale(Path(folder) / name.removesuffix(_LOCK))

    def _remove_stale(self, path: Path) -> None:
        """Remove a lock that a killed run of maintenance left: it is a link to this file of its own."""
        lock = path.with_name(path.name + _LOCK)
        with suppress(OSError):
            if lock.samefile(self._kept):
                lock.unlink()


def loose_tags(common_dir: Path, most: int | None = None) -> dict[str, str]:
    """Return loose tags with their values, up to a number; what is no plain id is left out."""
    found: dict[str, str] = {}
    for name in _names(common_dir):
        value = _read(common_dir / name)
        if value is not None:
            found[name] = value
        if most is not None and len(found) >= most:
            break
    return found


def count_loose_tags(common_dir: Path, most: int) -> int:
    """Return how many loose tags there are, counted up to a number and not read."""
    return sum(1 for _, _ in zip(range(most), _names(common_dir), strict=False))


def clashes(names: Iterable[str], packed: Iterable[str]) -> Iterator[str]:
    """Yield the names that need a folder where a packed ref stands, or stand where one needs a folder."""
    known = {*packed}
    folders = {folder for name in known for folder in _above(name)}
    for name in names:
        if name in folders or not known.isdisjoint(_above(name)):
            yield name


def _above(name: str) -> Iterator[str]:
    at = name.find("/")
    while at >= 0:
        yield name[:at]
        at = name.find("/", at + 1)


def _names(common_dir: Path) -> Iterator[str]:
    pending = [_TAGS]
    while pending:
        folder = pending.pop()
        try:
            entries = sorted(os.scandir(common_dir / folder), key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        for entry in entries:
            name = f"{folder}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                pending.append(name)
            elif entry.is_file(follow_symlinks=False) and is_ref_name(name):
                yield name


def _check_mark(lock: Path) -> None:
    """Refuse to go on where somebody took the lock for one that was left behind."""
    if not lock.exists() or lock.read_bytes() != MARK:
        raise HomeLocked("packed-refs.lock is somebody else's now", hint="Try again.", lock=lock.name)


def _values(common_dir: Path, names: Iterable[str]) -> dict[str, str]:
    read = {name: _read(common_dir / name) for name in names}
    return {name: value for name, value in read.items() if value is not None}


def _read(path: Path) -> str | None:
    try:
        found = parse_ref_file(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    return None if found is None else found.id


def _lines(rows: Mapping[str, _Row]) -> Iterator[bytes]:
    for name in sorted(rows, key=encode_path):
        yield rows[name].value.encode() + b" " + encode_path(name) + b"\n"
        peeled = rows[name].peeled
        if peeled is not None:
            yield b"^" + peeled.encode() + b"\n"


def _remove_empty(folder: Path, top: Path) -> None:
    """Remove a folder and those above it as far as they are empty, as Git does."""
    with suppress(OSError):
        while folder != top:
            folder.rmdir()
            folder = folder.parent
