"""The objects of the ledger: for each task, wait and work item the snapshots that no other snapshot names."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from gitmem.errors import GitmemError, ObjectMissing
from gitmem.focus_rules import FocusState
from gitmem.layout import Layout
from gitmem.ledger import Ledger, Segment
from gitmem.ledger_format import Line, decode, split_segment
from gitmem.lifecycle_rules import Snapshot, reduce_heads
from gitmem.object_fold import ROWS_VERSION, ObjectFold, from_row, snapshot_rows
from gitmem.segment_facts import SegmentFacts
from gitmem.wait_rules import Wait, wait_from

#: Snapshots kept with their bodies.
_BODIES: Final = 512


class Lifecycle:
    """Knows the heads of every object; reads each version of a segment once.

    Args:
        layout: where the places of snapshots are kept from process to process.
        ledger: where the snapshots are.
    """

    def __init__(self, layout: Layout, ledger: Ledger) -> None:
        self._ledger = ledger
        self._facts = SegmentFacts(layout, ledger, "lifecycle", ROWS_VERSION, snapshot_rows)
        self._fold = ObjectFold()
        self._places: dict[str, str] = {}
        self._noted: dict[str, Line] = {}
        self._unwritten: dict[str, Snapshot] = {}
        self._bodies: OrderedDict[str, Snapshot] = OrderedDict()
        self._is_empty = True
        self._is_behind = True
        self._mutex = threading.RLock()

    def heads(self, kind: str, object_id: str) -> Sequence[Snapshot]:
        """Return the heads of one object with their whole bodies; none if it is not known."""
        with self._mutex:
            self._catch_up()
            return [self._whole(head) for head in self._fold.heads(kind, object_id)]

    def all_heads(self) -> Mapping[tuple[str, str], Sequence[Snapshot]]:
        """Return the heads of all objects by kind and object id."""
        with self._mutex:
            self._catch_up()
            return {key: self.heads(*key) for key in list(self._fold.objects())}

    def snapshot(self, kind: str, object_id: str, snapshot_id: str) -> Snapshot | None:
        """Return one snapshot of an object with its whole body."""
        with self._mutex:
            found = self._fold.snapshot(kind, object_id, snapshot_id)
            return None if found is None else self._whole(found)

    def status(self, kind: str, object_id: str) -> str | None:
        """Return an object's status as far as this process has read, None if it is not known."""
        with self._mutex:
            self._catch_up_if_behind()
            return self._fold.status(kind, object_id)

    def waits(self) -> Sequence[Wait]:
        """Return the waits that stand, as far as this process has read."""
        with self._mutex:
            self._catch_up_if_behind()
            if not self._fold.has_open("wait"):
                return ()
            heads = (self._fold.heads("wait", name) for name in self._fold.open("wait"))
            return [wait_of(self._whole(reduce_heads(found).winner)) for found in heads]

    def focus(self) -> FocusState:
        """Return where every session's focus is, as far as this process has read."""
        with self._mutex:
            self._catch_up_if_behind()
            return self._fold.focus()

    def fold(self) -> ObjectFold:
        """Return the objects as they are now; not to be changed, and it goes on with the ledger."""
        with self._mutex:
            self._catch_up()
            return self._fold

    def whole(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot of the fold with its body; a body that cannot be read counts as empty."""
        with self._mutex:
            return self._whole(snapshot)

    def rows(self) -> Mapping[str, Any]:
        """Return what was read of each segment so far, by path: rows of its snapshots, or None."""
        return self._facts.known()

    def catch_up(self) -> None:
        """Read what is not known yet; the whole ledger where nothing is kept of it."""
        with self._mutex:
            self._catch_up()

    @property
    def is_behind(self) -> bool:
        """Whether another writer may have added something since this process read."""
        return self._is_behind

    def fall_behind(self) -> None:
        """Take it that another writer added something."""
        self._is_behind = True

    def note(self, lines: Iterable[Line], snapshots: Iterable[Snapshot]) -> None:
        """Take lines that were sealed here, before their commit can be read.

        Args:
            lines: of one turn.
            snapshots: of all its objects' lines, with whole bodies: long texts cannot be read back yet.
        """
        with self._mutex:
            self._noted.update({line.id: line for line in lines if line.object is not None})
            for snapshot in snapshots:
                self._fold.take(snapshot)
                self._unwritten[snapshot.id] = snapshot

    def note_written(self) -> None:
        """Take what was noted as readable."""
        with self._mutex:
            self._unwritten.clear()

    def forget_notes(self) -> None:
        """Drop what was noted; for a commit that failed after its lines were noted."""
        with self._mutex:
            self._fold = ObjectFold()
            for known in (self._places, self._noted, self._unwritten, self._bodies):
                known.clear()
            self._is_empty = self._is_behind = True

    def _catch_up_if_behind(self) -> None:
        if self._is_behind:
            self._catch_up()

    def _catch_up(self) -> None:
        self._take_rows(self._facts.values().items() if self._is_empty else self._facts.catch_up())
        self._is_empty = self._is_behind = False

    def _take_rows(self, facts: Iterable[tuple[str, Any]]) -> None:
        for path, rows in facts:
            for row in rows or ():
                snapshot = from_row(row)
                self._fold.take(snapshot)
                self._places[snapshot.id] = path
                self._noted.pop(snapshot.id, None)
                self._bodies.pop(snapshot.id, None)

    def _whole(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot with its body; a body that cannot be read counts as empty."""
        known = self._unwritten.get(snapshot.id) or self._bodies.get(snapshot.id)
        if known is not None:
            return known
        line = self._noted.get(snapshot.id) or self._find(snapshot)
        if line is None:
            return snapshot
        whole = whole_snapshot(self._ledger, line)
        self._bodies[snapshot.id] = whole
        if len(self._bodies) > _BODIES:
            self._bodies.popitem(last=False)
        return whole

    def _find(self, snapshot: Snapshot) -> Line | None:
        segment = self._ledger.segments().get(self._places[snapshot.id])
        return None if segment is None else find_line(self._ledger, segment, snapshot.id)


def whole_snapshot(ledger: Ledger, line: Line) -> Snapshot:
    """Return a line's snapshot with its long texts; a body that cannot be read counts as empty."""
    try:
        record = decode(line)
        return Snapshot.of(record, ledger.full_body(record))
    except GitmemError:
        return Snapshot.of(line)


def find_line(ledger: Ledger, segment: Segment, record_id: str) -> Line | None:
    """Return a record's line in a segment, the last one with its id; None if it cannot be read."""
    wanted = f',"id":"{record_id}","turn"'.encode()
    with suppress(ObjectMissing):
        near = [raw for raw in ledger.read_segment(segment).split(b"\n") if wanted in raw]
        lines = [item for item in split_segment(b"\n".join(near)) if isinstance(item, Line)]
        return next((line for line in reversed(lines) if line.id == record_id), None)
    return None


def wait_of(snapshot: Snapshot) -> Wait:
    """Return the wait that a snapshot tells of."""
    return wait_from(snapshot.object, snapshot.status, snapshot.body, turn=snapshot.turn, at=snapshot.ts)
