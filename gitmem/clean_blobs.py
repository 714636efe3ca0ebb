"""Which versions of files have nothing that quarantine would hold; a cache that may be lost."""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from gitmem.durable_file import write_file

_FORMAT: Final = 1


class CleanBlobs:
    """The files that have nothing to be held, by path and blob.

    Args:
        file: keeps them from process to process.
    """

    def __init__(self, file: Path) -> None:
        self._path = file
        self._sign: str | None = None
        self._blobs: set[str] = set()
        self._seen: set[str] = set()
        self._is_new = False

    def has(self, sign: str, path: str, blob: str) -> bool:
        """Say whether a version of a file is known to be clean.

        Args:
            sign: stands for the rules; under another one nothing is known.
            path: of the file.
            blob: id of the version.
        """
        if self._sign != sign:
            self._sign, self._blobs = sign, _read_blobs(self._path, sign)
        name = _name_of(path, blob)
        self._seen.add(name)
        return name in self._blobs

    def add(self, path: str, blob: str) -> None:
        """Take a version as clean under the rules that were asked by last."""
        self._blobs.add(_name_of(path, blob))
        self._is_new = True

    def keep(self) -> None:
        """Write what is new, without what the branch has no more."""
        seen, self._seen = self._seen, set()
        if not self._is_new:
            return
        row: dict[str, Any] = {"format": _FORMAT, "sign": self._sign, "blobs": sorted(self._blobs & seen)}
        with suppress(OSError):
            write_file(self._path, json.dumps(row).encode(), durable=False)
            self._is_new = False


def _read_blobs(path: Path, sign: str) -> set[str]:
    try:
        row = json.loads(path.read_bytes())
        return set(row["blobs"]) if (row["format"], row["sign"]) == (_FORMAT, sign) else set()
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return set()


def _name_of(path: str, blob: str) -> str:
    # A file's name is judged too, and what a store holds is judged otherwise than a note.
    return f"{sha256(path.encode('utf-8', 'surrogatepass')).hexdigest()[:16]} {blob}"
