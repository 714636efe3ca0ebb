"""The one file of a part: a line that lists what is in it, then tantivy's files and the columns."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Final

from gitmem.private_folder import open_own
from gitmem.search_index import IndexDamaged

PACKED: Final = ".part"
_NAME: Final = re.compile(r"[0-9a-z_.]*[0-9a-z]")
_CHUNK: Final = 1 << 20
_LONGEST_LINE: Final = 1 << 16


class _Counted:
    """A file of which a checksum is made as it is read or written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.checksum = 0

    def write(self, content: bytes) -> None:
        self.checksum = zlib.crc32(content, self.checksum)
        self._file.write(content)

    def read(self, size: int) -> bytes:
        return self._taken(self._file.read(size))

    def line(self) -> bytes:
        return self._taken(self._file.readline(_LONGEST_LINE))

    def _taken(self, content: bytes) -> bytes:
        self.checksum = zlib.crc32(content, self.checksum)
        return content


def pack(source: Path, target: Path) -> int:
    """Write the files of a folder into one, durably; return its checksum.

    tantivy's lock files are left out.
    """
    files = sorted(path for path in source.iterdir() if path.suffix != ".lock")
    listed = [[path.name, path.stat().st_size] for path in files]
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        counted = _Counted(file)
        counted.write(json.dumps(listed, separators=(",", ":")).encode("ascii") + b"\n")
        for path in files:
            with path.open("rb") as part:
                for chunk in _chunks(part):
                    counted.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    return counted.checksum


def unpack(source: Path, target: Path, checksum: int) -> None:
    """Write the files that `pack` took into a folder again, for reading only.

    Args:
        source: must be a plain file of this user.
        target: an empty folder.
        checksum: what `pack` returned.

    Raises:
        IndexDamaged: the file is not what was written.
    """
    with os.fdopen(open_own(source), "rb") as file:
        counted = _Counted(file)
        line = counted.line()
        for name, size in _listed(line, os.fstat(file.fileno()).st_size):
            _copy(counted, target / name, size)
    if counted.checksum != checksum:
        raise IndexDamaged(f"a part is not what was written: {source.name}")


def _listed(line: bytes, total: int) -> list[tuple[str, int]]:
    """Return names and sizes of the files in a part; nothing of them is trusted yet."""
    listed = [(str(name), int(size)) for name, size in json.loads(line)]
    names_fit = all(_NAME.fullmatch(name) for name, _ in listed)
    sizes = [size for _, size in listed]
    if not names_fit or min(sizes, default=0) < 0 or len(line) + sum(sizes) != total:
        raise IndexDamaged("the list of a part does not fit it")
    return listed


def _copy(source: _Counted, target: Path, size: int) -> None:
    with target.open("xb") as file:
        while size:
            chunk = source.read(min(size, _CHUNK))
            if not chunk:
                raise IndexDamaged("a part is cut off")
            file.write(chunk)
            size -= len(chunk)


def _chunks(file: IO[bytes]) -> Iterable[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk
