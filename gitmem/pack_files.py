"""Packs as files: written durably beside Git's, and told apart from Git's.

A pack of gitmem's own making is named `pack-` and 40 hexadecimal digits: 8 of a marker, 2 of its level, 6
random ones, 24 of its checksum. Git takes the name for one of its own; it is never given twice, and it proves
its origin, because it agrees with the pack's trailer. Level 0 is
the pack of one turn; a merge makes one of the next level.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from gitmem.durable_file import remove_file, sync_folder, write_all
from gitmem.linked_file import LinkedFile
from gitmem.pack_format import PackAssembler, PackEntry
from gitmem.shared_files import grant

#: First digits of the names of own packs.
MARKER: Final = b"gitm".hex()
_NAME: Final = re.compile(rf"pack-{MARKER}([0-9a-f]{{2}})[0-9a-f]{{6}}([0-9a-f]{{24}})")
_PART: Final = re.compile(r"gitmem-(\d+)-[0-9a-f]{12}\.part")
_KEEP: Final = re.compile(rb"gitmem (\d+)(?: ([0-9a-f]{8}))?\s*")
#: What may lie beside a pack and goes with it.
_COMPANIONS: Final = (".rev", ".bitmap", ".mtimes")
_FORGOTTEN_AFTER: Final = 3600.0
_BUFFER: Final = 1 << 18
_MULTI: Final = "multi-pack-index"


@dataclass(frozen=True, slots=True)
class OwnPack:
    """A pack that gitmem made.

    Attributes:
        stem: path without `.pack`.
        size: bytes of the pack file.
        made: modification time in nanoseconds.
    """

    stem: Path
    level: int
    size: int
    made: int


@dataclass(frozen=True, slots=True)
class _Access:
    shared: str | None
    mode: int | None


def write_pack_files(
    folder: Path,
    entries: Iterable[PackEntry],
    count: int,
    *,
    level: int = 0,
    keep: LinkedFile | None = None,
    shared: str | None = None,
    mode: int | None = None,
    durable: bool = True,
    newest: int | None = None,
) -> Path:
    """Write a pack and its index durably; both are complete before either has its name.

    Args:
        folder: `objects/pack`.
        entries: the entries, no id twice, the base of each delta among them.
        count: how many entries there are.
        level: 0 for a turn, else the level of a merge.
        keep: makes a `.keep` file first, so that neither `git repack` nor `git gc` takes the pack.
        shared: `core.sharedRepository`.
        mode: permission bits, where `shared` is not known.
        durable: fsync the folder too; the content is durable in any case.
        newest: whole seconds since 1970; the pack's time is later. Of an object in two packs Git's index of
            many packs names the later pack.

    Returns:
        The pack's path without its ending.
    """
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
    access = _Access(shared, mode)
    with _undone_on_failure() as made:
        pack, trailer, index = _write_pack_part(folder, entries, count, made, access)
        index_part = _new_part(folder, made)
        _write_part(index_part, [index], access)
        if newest is not None:
            later = max(newest + 1, int(os.stat(pack).st_mtime))  # noqa: PTH116
            os.utime(pack, (later, later))
        name = f"pack-{MARKER}{level:02x}{secrets.token_hex(3)}{trailer.hex()[:24]}"
        stem = f"{folder}/{name}"
        if keep is not None:
            keep.make(_add(made, f"{stem}.keep"))
        os.rename(pack, _add(made, f"{stem}.pack"))  # noqa: PTH104 - on the way of every turn
        os.rename(index_part, _add(made, f"{stem}.idx"))  # noqa: PTH104
        if durable:
            sync_folder(folder)
    return folder / name


@contextmanager
def _undone_on_failure() -> Iterator[list[str]]:
    """Remove the files that were noted, newest first, if the context fails."""
    made: list[str] = []
    try:
        yield made
    except BaseException:
        for path in reversed(made):
            with suppress(OSError):
                os.unlink(path)  # noqa: PTH108
        raise


@contextmanager
def kept_pack(
    folder: Path,
    entries: list[PackEntry],
    *,
    keep: LinkedFile,
    shared: str | None = None,
    durable: bool = True,
) -> Iterator[None]:
    """Write a pack of level 0 and hold its `.keep` until the context ends."""
    stem = write_pack_files(folder, entries, len(entries), keep=keep, shared=shared, durable=durable)
    try:
        yield
    finally:
        stem.with_suffix(".keep").unlink(missing_ok=True)


def own_packs(folder: Path) -> list[OwnPack]:
    """Return the complete packs named as own ones that no `.keep` holds, oldest first."""
    packs = []
    for stem, level in _free_packs(folder):
        with suppress(FileNotFoundError):
            status = stem.with_suffix(".pack").stat()
            packs.append(OwnPack(stem, level, status.st_size, status.st_mtime_ns))
    return sorted(packs, key=lambda pack: (pack.made, pack.stem.name))


def levels_of(folder: Path) -> Counter[int]:
    """Return how many packs `own_packs` would return of each level, for one listing of the folder."""
    return Counter(level for _, level in _free_packs(folder))


def is_own(stem: Path, trailer: bytes) -> bool:
    """Say whether a pack's name proves, against its trailer, that gitmem made it."""
    found = _NAME.fullmatch(stem.name)
    return found is not None and trailer.hex().startswith(found[2])


def remove_pack(stem: Path) -> bool:
    """Remove a pack, index first, so that no reader finds an object in a pack that is gone.

    Returns:
        Whether there was one to remove; what a `.keep` holds is left.
    """
    if stem.with_suffix(".keep").exists():
        return False
    removed = [remove_file(stem.with_suffix(ending)) for ending in (".idx", *_COMPANIONS, ".pack")]
    return removed[-1]


def indexed_together(folder: Path) -> set[str]:
    """Return the names of the packs, without endings, that Git's index of many packs has."""
    return {name.removesuffix(".idx") for name in _names_in_multi_pack_index(folder) if name}


def drop_stale_index(folder: Path) -> None:
    """Remove Git's index of many packs where it names one that is gone, as `git repack` does.

    Git looks for an object where that index has it, and in no other pack that it names: a copy there would be
    missed. Without the index every pack is searched.
    """
    if any(not (folder / f"{name}.pack").exists() for name in indexed_together(folder)):
        remove_file(folder / _MULTI)


def stale_files(folder: Path) -> list[Path]:
    """Return `.keep` files and parts of packs that a dead process of gitmem left.

    A process of another machine or container cannot be asked whether it lives: what it left is stale after
    an hour, as is what carries the number of a living process.
    """
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are enough
    except FileNotFoundError:
        return []
    stale = []
    for name in names:
        with suppress(FileNotFoundError, PermissionError):
            if name.endswith((".keep", ".part")) and _is_stale(folder / name, name):
                stale.append(folder / name)
    return stale


def keep_file(source: Path) -> LinkedFile:
    """Return what makes `.keep` files of this process.

    Args:
        source: where one of them is kept; renewed each minute, because an old one counts as left behind.
    """
    return LinkedFile(source, keep_text, fresh_for=60.0)


def keep_text() -> bytes:
    """Return the content of a `.keep` file of this process."""
    return f"gitmem {os.getpid()} {_machine()}\n".encode()


def _free_packs(folder: Path) -> Iterator[tuple[Path, int]]:
    try:
        names = set(os.listdir(folder))  # noqa: PTH208 - names are enough, and it is called after every turn
    except FileNotFoundError:
        return
    indexed_together = _names_in_multi_pack_index(folder) if _MULTI in names else ()
    for name in names:
        found = _NAME.fullmatch(name.removesuffix(".pack")) if name.endswith(".pack") else None
        if found is None or f"{found[0]}.idx" not in names or f"{found[0]}.keep" in names:
            continue
        if f"{found[0]}.idx" not in indexed_together:
            yield folder / found[0], int(found[1], 16)


def _names_in_multi_pack_index(folder: Path) -> set[str]:
    """Return the packs that Git has indexed together; Git merges those itself, and misses one that goes."""
    try:
        content = (folder / _MULTI).read_bytes()
    except FileNotFoundError:
        return set()
    # 12 bytes of header; then for each chunk 4 bytes of name and 8 of offset, and one row more for the end.
    for at in range(12, 12 + 12 * content[6], 12) if len(content) > 12 else ():
        if content[at : at + 4] == b"PNAM":
            start, end = (int.from_bytes(content[row + 4 : row + 12], "big") for row in (at, at + 12))
            return {name.decode("utf-8", "replace") for name in content[start:end].split(b"\0")}
    return set()


def _is_stale(path: Path, name: str) -> bool:
    part = _PART.fullmatch(name)
    if part is not None:
        return _is_dead(int(part[1])) or _age(path) > _FORGOTTEN_AFTER
    if not name.endswith(".keep"):
        return False
    found = _KEEP.fullmatch(path.read_bytes()[:100])
    if found is None:
        # Killed before its text was written; the pack would have come next.
        alone = _NAME.fullmatch(path.stem) and not path.with_suffix(".pack").exists()
        return bool(alone) and _age(path) > _FORGOTTEN_AFTER
    here = found[2] is None or found[2].decode() == _machine()
    return (here and _is_dead(int(found[1]))) or _age(path) > _FORGOTTEN_AFTER


def _is_dead(process: int) -> bool:
    if process > 2**31 - 1:
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _age(path: Path) -> float:
    return time.time() - path.stat().st_mtime


@cache
def _machine() -> str:
    return hashlib.sha256(os.fsencode(os.uname().nodename)).hexdigest()[:8]


def _write_pack_part(
    folder: Path, entries: Iterable[PackEntry], count: int, made: list[str], access: _Access
) -> tuple[str, bytes, bytes]:
    assembler = PackAssembler(count)
    closing: list[bytes] = []

    def pieces() -> Iterator[bytes]:
        yield assembler.header
        for entry in entries:
            yield assembler.add(entry)
        closing.extend(assembler.finish())
        yield closing[0]

    part = _new_part(folder, made)
    _write_part(part, pieces(), access)
    return part, closing[0], closing[1]


def _write_part(path: str, pieces: Iterable[bytes], access: _Access) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
    try:
        waiting = bytearray()
        for piece in pieces:
            waiting += piece
            if len(waiting) >= _BUFFER:
                write_all(descriptor, bytes(waiting))
                waiting.clear()
        write_all(descriptor, bytes(waiting))
        grant(descriptor, access.shared)
        if access.mode is not None:
            os.fchmod(descriptor, access.mode)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _new_part(folder: Path, made: list[str]) -> str:
    # Not `tmp_…`, which `git prune` deletes at any age, nor `.pack` or `.idx`, which Git would read.
    return _add(made, f"{folder}/gitmem-{os.getpid()}-{secrets.token_hex(6)}.part")


def _add(made: list[str], path: str) -> str:
    made.append(path)
    return path
