"""The objects of the ledger: for each task, wait and work item the snapshots that no other snapshot names."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from gitmem.errors import GitmemError, ObjectMissing
from gitmem.ledger import Ledger
from gitmem.ledger_format import Line, decode, split_segment
from gitmem.lifecycle_rules import Snapshot, find_heads
from gitmem.records import LIFECYCLE_KINDS

_SIGNS: Final = tuple(f'"kind":"{kind}"'.encode() for kind in sorted(LIFECYCLE_KINDS))


class Lifecycle:
    """Knows the heads of every object; reads each version of a segment once.

    Args:
        ledger: where the snapshots are.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._read: dict[str, tuple[str, ...]] = {}
        self._lines: dict[tuple[str, str], dict[str, Line]] = {}
        self._unwritten: dict[str, Snapshot] = {}
        self._receipts: frozenset[str] = frozenset()
        self._mutex = threading.RLock()

    def heads(self, kind: str, object_id: str) -> Sequence[Snapshot]:
        """Return the heads of one object with their whole bodies; none if it is not known."""
        with self._mutex:
            self._catch_up()
            lines = self._lines.get((kind, object_id), {})
            return find_heads(self._snapshot(line) for line in lines.values())

    def all_heads(self) -> Mapping[tuple[str, str], Sequence[Snapshot]]:
        """Return the heads of all objects by kind and object id."""
        with self._mutex:
            self._catch_up()
            return {
                key: find_heads(map(self._snapshot, lines.values())) for key, lines in self._lines.items()
            }

    def catch_up(self) -> None:
        """Read what is not known yet; the first time that is the whole ledger."""
        with self._mutex:
            self._catch_up()

    def note(self, lines: Iterable[Line], snapshots: Iterable[Snapshot]) -> None:
        """Take lines that were sealed here, before their commit can be read.

        Args:
            lines: of one turn.
            snapshots: the last of each object in it, whose long texts cannot be read back yet.
        """
        with self._mutex:
            self._take(lines)
            self._unwritten.update({snapshot.id: snapshot for snapshot in snapshots})

    def note_written(self) -> None:
        """Take what was noted as readable."""
        with self._mutex:
            self._unwritten.clear()

    def forget_notes(self) -> None:
        """Drop everything known; for a commit that failed after its lines were noted."""
        with self._mutex:
            self._read.clear()
            self._lines.clear()
            self._unwritten.clear()

    def _take(self, lines: Iterable[Line]) -> None:
        for line in lines:
            if line.object is not None:
                self._lines.setdefault((line.kind, line.object), {})[line.id] = line

    def _catch_up(self) -> None:
        segments = self._ledger.segments()
        receipts = self._ledger.receipts().records
        if receipts != self._receipts:  # what is forgotten has to be read again, as its stub
            self._read.clear()
            self._receipts = receipts
        for path, segment in segments.items():
            if self._read.get(path) != segment.blobs:
                with suppress(ObjectMissing):
                    content = self._ledger.read_segment(segment)
                    if any(sign in content for sign in _SIGNS):
                        self._take(line for line in split_segment(content) if isinstance(line, Line))
                    self._read[path] = segment.blobs

    def _snapshot(self, line: Line) -> Snapshot:
        unwritten = self._unwritten.get(line.id)
        if unwritten is not None:
            return unwritten
        try:
            return Snapshot.of(line, self._ledger.full_body(decode(line)))
        except GitmemError:
            return Snapshot.of(line)
