"""The columns of a part: a line of their names, then 64-bit numbers, column by column."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from sys import byteorder
from typing import Final

from gitmem.search_index import IndexDamaged

_NAME: Final = "columns"
_WIDTH: Final = 8


class ColumnsFile:
    """Reads the columns of one part, each when it is first asked for.

    Args:
        folder: of the file; it may go as soon as this is made.
        size: how many documents the part has.
    """

    def __init__(self, folder: Path, size: int) -> None:
        with (folder / _NAME).open("rb") as file:
            line = file.readline()
            self._descriptor = os.dup(file.fileno())
        self._places = {name: len(line) + at * size * _WIDTH for at, name in enumerate(json.loads(line))}
        self._size = size
        self._read: dict[str, array[int]] = {}

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)

    def read(self, name: str) -> array[int]:
        """Return a column; one that the part was written without is all 0."""
        found = self._read.get(name)
        if found is None:
            found = self._read[name] = self._load(name)
        return found

    def _load(self, name: str) -> array[int]:
        if name not in self._places:
            return array("q", bytes(self._size * _WIDTH))
        content = os.pread(self._descriptor, self._size * _WIDTH, self._places[name])
        if len(content) != self._size * _WIDTH:
            raise IndexDamaged("a column is cut off")
        return _little(array("q", content))


def write_columns(folder: Path, columns: Mapping[str, Sequence[int]]) -> None:
    """Write the columns of a part."""
    with (folder / _NAME).open("xb") as file:
        file.write(json.dumps(list(columns)).encode("ascii") + b"\n")
        for values in columns.values():
            file.write(_little(array("q", values)))


def _little(values: array[int]) -> array[int]:
    """Return numbers with their bytes as the file has them, and the other way round."""
    if byteorder == "big":
        values.byteswap()
    return values
