"""The objects of the ledger: for each task, wait and work item the snapshots that no other snapshot names."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from gitmem.errors import GitmemError, ObjectMissing
from gitmem.layout import Layout
from gitmem.ledger import Ledger, Segment
from gitmem.ledger_format import Line, decode, split_segment
from gitmem.lifecycle_rules import Snapshot, find_heads
from gitmem.records import LIFECYCLE_KINDS
from gitmem.segment_facts import SegmentFacts

_SIGNS: Final = tuple(f'"kind":"{kind}"'.encode() for kind in sorted(LIFECYCLE_KINDS))
#: Of the rows that `extract_snapshots` makes.
_VERSION: Final = 1


class Lifecycle:
    """Knows the heads of every object; reads each version of a segment once.

    Args:
        layout: where the places of snapshots are kept from process to process.
        ledger: where the snapshots are.
    """

    def __init__(self, layout: Layout, ledger: Ledger) -> None:
        self._ledger = ledger
        self._facts = SegmentFacts(layout, ledger, "lifecycle", _VERSION, extract_snapshots)
        self._objects: dict[tuple[str, str], dict[str, Snapshot]] = {}
        self._places: dict[str, str] = {}
        self._noted: dict[str, Line] = {}
        self._unwritten: dict[str, Snapshot] = {}
        self._is_empty = True
        self._mutex = threading.RLock()

    def heads(self, kind: str, object_id: str) -> Sequence[Snapshot]:
        """Return the heads of one object with their whole bodies; none if it is not known."""
        with self._mutex:
            self._catch_up()
            return self._whole_heads(self._objects.get((kind, object_id), {}))

    def all_heads(self) -> Mapping[tuple[str, str], Sequence[Snapshot]]:
        """Return the heads of all objects by kind and object id."""
        with self._mutex:
            self._catch_up()
            return {key: self._whole_heads(snapshots) for key, snapshots in self._objects.items()}

    def catch_up(self) -> None:
        """Read what is not known yet; the whole ledger where nothing is kept of it."""
        with self._mutex:
            self._catch_up()

    def note(self, lines: Iterable[Line], snapshots: Iterable[Snapshot]) -> None:
        """Take lines that were sealed here, before their commit can be read.

        Args:
            lines: of one turn.
            snapshots: the last of each object in it, whose long texts cannot be read back yet.
        """
        with self._mutex:
            for line in lines:
                if line.object is not None:
                    self._noted[line.id] = line
                    self._take(Snapshot.of(line, {}))
            self._unwritten.update({snapshot.id: snapshot for snapshot in snapshots})

    def note_written(self) -> None:
        """Take what was noted as readable."""
        with self._mutex:
            self._unwritten.clear()

    def forget_notes(self) -> None:
        """Drop what was noted; for a commit that failed after its lines were noted."""
        with self._mutex:
            for known in (self._objects, self._places, self._noted, self._unwritten):
                known.clear()
            self._is_empty = True

    def _take(self, snapshot: Snapshot) -> None:
        self._objects.setdefault((snapshot.kind, snapshot.object), {})[snapshot.id] = snapshot

    def _catch_up(self) -> None:
        self._take_rows(self._facts.values().items() if self._is_empty else self._facts.catch_up())
        self._is_empty = False

    def _take_rows(self, facts: Iterable[tuple[str, Any]]) -> None:
        for path, rows in facts:
            for row in rows or ():
                snapshot = _from_row(row)
                self._take(snapshot)
                self._places[snapshot.id] = path
                self._noted.pop(snapshot.id, None)

    def _whole_heads(self, snapshots: Mapping[str, Snapshot]) -> Sequence[Snapshot]:
        return [self._whole(head) for head in find_heads(snapshots.values())]

    def _whole(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot with its body; a body that cannot be read counts as empty."""
        unwritten = self._unwritten.get(snapshot.id)
        if unwritten is not None:
            return unwritten
        line = self._noted.get(snapshot.id) or self._find(snapshot)
        if line is None:
            return snapshot
        try:
            return Snapshot.of(line, self._ledger.full_body(decode(line)))
        except GitmemError:
            return Snapshot.of(line)

    def _find(self, snapshot: Snapshot) -> Line | None:
        segment = self._ledger.segments().get(self._places[snapshot.id])
        if segment is None:
            return None
        with suppress(ObjectMissing):
            return self._find_in(segment, snapshot)
        return None

    def _find_in(self, segment: Segment, snapshot: Snapshot) -> Line | None:
        wanted = f',"id":"{snapshot.id}","turn"'.encode()
        near = [raw for raw in self._ledger.read_segment(segment).split(b"\n") if wanted in raw]
        lines = [item for item in split_segment(b"\n".join(near)) if isinstance(item, Line)]
        return next((line for line in reversed(lines) if line.id == snapshot.id), None)


def extract_snapshots(content: bytes) -> list[list[Any]] | None:
    """Return the envelopes of a segment's lifecycle lines as rows; None where there is none.

    No caller's text is in them, so that what is kept of them never has to be forgotten.
    """
    if not any(sign in content for sign in _SIGNS):
        return None
    lines = (item for item in split_segment(content) if isinstance(item, Line) and item.object is not None)
    return [
        [line.id, line.kind, line.object, line.revision, line.status, list(line.after),
         line.clock, line.writer, line.seq, line.redacted]
        for line in lines
    ]  # fmt: skip


def _from_row(row: Sequence[Any]) -> Snapshot:
    name, kind, object_id, revision, status, after, clock, writer, seq, redacted = row
    return Snapshot(name, kind, object_id, revision, status, tuple(after), clock, writer, seq, {}, redacted)
