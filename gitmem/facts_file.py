"""The file that keeps what was read of each segment: one checked line for each, read again at its place."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from gitmem.durable_file import write_all, write_file

#: Hex digits of a line's check.
_CHECK: Final = 16

#: Path of a segment, blob ids of the versions that its lines hold, and the value as JSON.
Row = tuple[str, tuple[str, ...], bytes]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line stands in a file that is open.

    Attributes:
        length: of the line in bytes, without its end.
    """

    file: FactsFile
    offset: int
    length: int

    def read(self) -> bytes:
        """Return the value of the line as JSON.

        Raises:
            OSError: it cannot be read.
            ValueError: it is not what it was.
        """
        return self.file.row(os.pread(self.file.descriptor, self.length, self.offset))[2]


class FactsFile:
    """One version of the file, held open: another one that takes its place changes nothing in it.

    Args:
        path: of the file.
        head: its first line; of one that begins otherwise nothing is taken.

    Raises:
        OSError: it is not there, or cannot be read.
    """

    def __init__(self, path: Path, head: bytes) -> None:
        self.head = head
        self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._release = weakref.finalize(self, os.close, self.descriptor)

    def close(self) -> None:
        """Release it: what stands at a place cannot be read any more."""
        self.descriptor = -1
        self._release()

    def rows(self) -> Iterator[tuple[Row, Place] | None]:
        """Yield the lines behind the head, None for each that is damaged; nothing under another head."""
        with open(self.descriptor, "rb", closefd=False) as file:
            file.seek(0)
            offset = len(self.head) + 1
            if file.readline(offset + 1) != self.head + b"\n":
                yield None
                return
            for line in file:
                yield self._placed(line, offset)
                offset += len(line)

    def row(self, line: bytes) -> Row:
        """Return what a line says.

        Raises:
            ValueError: it does not fit its check.
        """
        check, _, content = line.partition(b" ")
        if check != _check(self.head, content):
            raise ValueError("a damaged line")
        decoder = json.JSONDecoder()
        text = content.decode("ascii")
        path, end = decoder.raw_decode(text, 1)
        blobs, end = decoder.raw_decode(text, end + 1)
        return str(path), tuple(blobs), content[end + 1 : -1]

    def is_at(self, path: Path) -> bool:
        """Say whether it is still the one at its path."""
        own = os.fstat(self.descriptor)
        with suppress(OSError):
            found = path.stat()
            return (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino)
        return False

    def add(self, path: Path, rows: Sequence[Row]) -> list[Place]:
        """Add lines at the end; return where they stand.

        Another process that adds at the same moment may move them; then they do not fit their places, and are
        taken for damaged.
        """
        lines = [_line(self.head, row) for row in rows]
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            begin = os.fstat(descriptor).st_size
            write_all(descriptor, b"".join(lines))
        finally:
            os.close(descriptor)
        return [*self._places(lines, begin)]

    def _placed(self, line: bytes, offset: int) -> tuple[Row, Place] | None:
        with suppress(ValueError, TypeError, RecursionError):
            if line.endswith(b"\n"):  # else it is torn
                return self.row(line[:-1]), Place(self, offset, len(line) - 1)
        return None

    def _places(self, lines: Iterable[bytes], offset: int) -> Iterator[Place]:
        for line in lines:
            yield Place(self, offset, len(line) - 1)
            offset += len(line)


def write_facts(path: Path, head: bytes, rows: Iterable[Row]) -> None:
    """Write the file anew.

    Raises:
        OSError: it cannot be written.
    """
    lines = (_line(head, row) for row in rows)
    write_file(path, head + b"\n" + b"".join(lines), durable=False)


def to_json(value: Any) -> bytes:
    """Return a value as the file has it."""
    return json.dumps(value, separators=(",", ":")).encode()


def _line(head: bytes, row: Row) -> bytes:
    path, blobs, value = row
    content = b"[%b,%b,%b]" % (to_json(path), to_json(blobs), value)
    return b"%b %b\n" % (_check(head, content), content)


def _check(head: bytes, content: bytes) -> bytes:
    # Of what another process wrote under other receipts or another version, nothing is taken.
    return sha256(head + b"\n" + content).hexdigest()[:_CHECK].encode()
