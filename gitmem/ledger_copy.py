"""Keeps the copy of the ledger on disk equal to the turn lines, looking closely only at what changed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final

from gitmem.disk_copy import DiskCopy
from gitmem.durable_file import remove_leftovers, write_file
from gitmem.file_lock import file_lock
from gitmem.layout import Layout
from gitmem.ledger import Ledger

#: Path -> versions of the file, then length and time of the file that was found equal to their union, and the
#: receipts that were in force, whose turn need not hold the segment; for a folder of long texts its trees on
#: the lines, then its time when nothing was missing.
_Seen = dict[str, list[object]]
_NAME: Final = "ledger-copy.json"


class LedgerCopy:
    """Restores segments and receipts that are missing or differ, and long texts that are missing.

    Args:
        ledger: what the files should hold.
        disk: writes them.
        layout: where they are; what was seen is kept in its derived folder.
    """

    def __init__(self, ledger: Ledger, disk: DiskCopy, layout: Layout) -> None:
        self._ledger = ledger
        self._disk = disk
        self._layout = layout
        self._file = layout.derived / _NAME
        self._seen: _Seen | None = None
        self._marked: tuple[frozenset[str], str] = (frozenset(), "")

    def reconcile(self, *, wait: float = 0.0) -> list[str]:
        """Make the copy whole again.

        Returns:
            The paths at which foreign bytes were found and set aside.

        Raises:
            HomeLocked: a turn is being written.
        """
        if self._disk.is_tracked():
            return []
        seen = _read(self._file) if self._seen is None else self._seen
        mark = self._mark()
        suspects = [path for path, blobs in self._files() if self._state(path, blobs, mark) != seen.get(path)]
        folders = self._ledger.long_text_folders()
        touched = [
            path for path, trees in folders.items() if self._folder_state(path, trees) != seen.get(path)
        ]
        foreign: list[str] = []
        if suspects or touched:
            with file_lock(self._layout.home_lock, wait=wait):
                for folder in {str(PurePosixPath(path).parent) for path in suspects} | {*touched}:
                    remove_leftovers(self._layout.root / folder)
                foreign = self._restore(suspects, seen)
                self._restore_long_texts({path: folders[path] for path in touched}, seen)
            write_file(self._file, json.dumps(seen).encode(), durable=False)
        self._seen = seen
        return foreign

    def is_left_alone(self) -> bool:
        """Say whether there is no copy of gitmem's: HEAD's tree has files in its place."""
        return self._disk.is_tracked()

    def is_as_left(self, path: str, blobs: Sequence[str]) -> bool:
        """Say whether a file was found equal to these versions and was not touched since, by its times."""
        if self._seen is None:
            self._seen = _read(self._file)
        return self._state(path, blobs, self._mark()) == self._seen.get(path)

    def _files(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield path and versions of each segment and each receipt."""
        yield from ((path, segment.blobs) for path, segment in self._ledger.segments().items())
        yield from self._ledger.receipt_files().items()

    def _restore(self, suspects: Sequence[str], seen: _Seen) -> list[str]:
        foreign = []
        mark = self._mark()
        segments, receipts = self._ledger.segments(), self._ledger.receipt_files()  # as after the last turn
        for path in suspects:
            segment = segments.get(path)
            if segment is not None:
                blobs: Sequence[str] = segment.blobs
                content = self._ledger.read_segment(segment)
            elif path in receipts:
                blobs = receipts[path]
                content = self._ledger.read_receipt_file(blobs)
            else:
                continue  # of a line that was taken away meanwhile
            if self._disk.restore(path, content):
                foreign.append(path)
            seen[path] = self._state(path, blobs, mark)
        return foreign

    def _restore_long_texts(self, folders: Mapping[str, Sequence[str]], seen: _Seen) -> None:
        # They are written once: one that is there is what it was, or an edit that no reader takes for truth.
        for folder, trees in folders.items():
            for path, content in self._ledger.long_texts(folder, trees, known=self._names_in(folder)):
                self._disk.restore(path, content)
            seen[folder] = self._folder_state(folder, trees)

    def _names_in(self, folder: str) -> frozenset[str]:
        try:
            return frozenset(os.listdir(self._layout.root / folder))  # noqa: PTH208 - names are enough
        except OSError:
            return frozenset()

    def _folder_state(self, folder: str, trees: Sequence[str]) -> list[object]:
        """Return what changes when a long text comes to a folder or goes."""
        try:
            return [*trees, (self._layout.root / folder).lstat().st_mtime_ns]
        except OSError:
            return [*trees, -1]

    def _mark(self) -> str:
        """Return what changes when a record is forgotten."""
        records = self._ledger.receipts().records
        if self._marked[0] is not records:
            names = " ".join(sorted(records)).encode()
            self._marked = (records, sha256(names).hexdigest() if records else "")
        return self._marked[1]

    def _state(self, path: str, blobs: Sequence[str], mark: str) -> list[object]:
        try:
            found = (self._layout.root / path).lstat()
        except OSError:
            return [*blobs, -1, -1, mark]
        return [*blobs, found.st_size, found.st_mtime_ns, mark]


def _read(path: Path) -> _Seen:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
