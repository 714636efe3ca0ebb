"""Where the messages of every session stand, kept up to date by reading only what is new of the ledger."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from gitmem.errors import GitmemError
from gitmem.layout import Layout
from gitmem.ledger import Ledger, Segment, spooled_records
from gitmem.ledger_format import BadLine, decode_lines, parse_line, parse_segment_path
from gitmem.records import Record
from gitmem.segment_facts import SegmentFacts
from gitmem.session_rows import ROWS_VERSION, PartDraft, from_row, is_row, segment_rows, session_of
from gitmem.session_view import UNSEALED, PlacedPart, SessionFacts, SessionView, fold_facts, fold_session
from gitmem.spool import SpooledTurn

#: Bytes of segments from which messages were shown, kept as long as they are what the ledger has.
_MOST_BYTES: Final = 24 * 1024 * 1024
#: Rows of sessions that stay put together; some 250 bytes each.
_MOST_ROWS: Final = 200_000
#: Stands for the path of what is on no line yet.
_SPOOL: Final = ""


class SessionMap:
    """The sessions of one home: their order, what was undone in them, what their events say. Safe in threads.

    Nothing here is a text: messages are read from the ledger when they are shown, and are what it has then.

    Args:
        ledger: its records.
        layout: where what was read of each segment is kept.

    Attributes:
        version: another number whenever anything has changed.
    """

    def __init__(self, ledger: Ledger, layout: Layout) -> None:
        self.version = 0
        self._ledger = ledger
        self._kept = SegmentFacts(layout, ledger, "sessions", ROWS_VERSION, segment_rows)
        self._lock = threading.RLock()
        self._seen: tuple[object, object] = (None, None)
        self._segments: Mapping[str, Segment] = {}
        self._spooled: tuple[str, ...] = ()
        self._told: dict[str, Record] = {}
        self._parts: dict[str, dict[str, PlacedPart]] = {}
        self._values: dict[str, Mapping[str, Any]] = {}
        self._waiting: frozenset[str] = frozenset()
        self._facts: dict[str, SessionFacts] = {}
        self._views: OrderedDict[str, SessionView] = OrderedDict()
        self._rows = 0
        self._contents: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0

    def catch_up(self) -> None:
        """Learn what the ledger and the spool have now."""
        with self._lock:
            spooled = self._ledger.spooled()  # first, as a turn may go to its line meanwhile
            segments, receipts = self._ledger.segments(), self._ledger.receipts().records
            # Neither is made anew while nothing changes, and both are held here: the same object is the same.
            if self._seen[0] is not segments or self._seen[1] is not receipts:
                self._read_changed(segments, is_closed_anew=self._seen[1] is not receipts)
                self._seen = (segments, receipts)
            names = tuple(event.id for turn in spooled for event in turn.events)
            if names != self._spooled:
                self._read_spool(spooled)
                self._spooled = names

    def sessions(self) -> Sequence[str]:
        """Return the ids of all sessions."""
        with self._lock:
            return list(self._parts)

    def facts(self, session: str) -> SessionFacts:
        """Return what is known of a session as a whole; nothing of one that there is not."""
        with self._lock:
            found = self._facts.get(session)
            if found is None:
                found = fold_facts(list(self._parts.get(session, {}).values()))
                if session in self._parts:
                    self._facts[session] = found
            return found

    def view(self, session: str) -> SessionView | None:
        """Return what can be seen of a session; None where there is none of this id."""
        with self._lock:
            view = self._views.get(session)
            if view is not None:
                self._views.move_to_end(session)
                return view
            parts = self._parts.get(session)
            return None if parts is None else self._keep(session, fold_session(list(parts.values())))

    def view_before(self, session: str, clock: str) -> SessionView:
        """Return a session as it stood when the clock was at some point."""
        with self._lock:
            return fold_session(list(self._parts.get(session, {}).values()), until=clock)

    def read(self, view: SessionView, places: Iterable[int]) -> list[Record | None]:
        """Return the records at some places of a view; None for what was forgotten or cannot be read."""
        return [self._record(*view.where[at], view.ids[at]) for at in places]

    def read_row(self, part: PlacedPart, row: int) -> Record | None:
        """Return the record of any row."""
        return self._record(part, row, part.rows.ids.split()[row])

    def _record(self, part: PlacedPart, row: int, name: str) -> Record | None:
        if part.path == _SPOOL:
            return self._told.get(name) or self._found(name)
        content = self._content(part.path)
        start, length = part.rows.places[2 * row], part.rows.places[2 * row + 1]
        line = parse_line(content[start : start + length])
        # Somebody else may have appended or forgotten since: then the line stands elsewhere.
        if isinstance(line, BadLine) or line.id != name:
            return self._found(name)
        return None if line.redacted else next(decode_lines([line]), None)

    def _content(self, path: str) -> bytes:
        """Return a segment as it was when all was caught up, closed under what was forgotten then."""
        with self._lock:
            content = self._contents.get(path)
            if content is not None:
                self._contents.move_to_end(path)
                return content
            segment = self._segments.get(path)
        content = b""
        with suppress(GitmemError):
            content = b"" if segment is None else self._ledger.read_segment(segment)
        with self._lock:
            if self._segments.get(path) is segment and path not in self._contents:
                self._contents[path] = content
                self._bytes += len(content)
            while self._bytes > _MOST_BYTES and len(self._contents) > 1:
                self._bytes -= len(self._contents.popitem(last=False)[1])
        return content

    def _found(self, name: str) -> Record | None:
        record = self._ledger.find(name)
        return None if record is None or record.redacted else record

    def _read_changed(self, segments: Mapping[str, Segment], *, is_closed_anew: bool) -> None:
        present = self._kept.values()
        for path in [*self._values.keys() - present.keys()]:
            self._put(path, {})
        for path, value in present.items():
            if self._values.get(path) is not value:
                self._put(path, value)
        for path in list(self._contents):
            if is_closed_anew or self._segments.get(path) != segments.get(path):
                self._bytes -= len(self._contents.pop(path))
        self._segments = segments

    def _put(self, path: str, value: Mapping[str, Any]) -> None:
        """Take a segment's rows for what they are now; none where it is gone."""
        name = parse_segment_path(path)
        assert name is not None  # or it would be no segment
        for session in self._values.pop(path, {}).keys() - value.keys():
            self._drop_part(session, path)
        for session, row in value.items():
            self._put_part(session, PlacedPart(path, name.writer, name.number, from_row(row)))
        if value:
            self._values[path] = value

    def _put_part(self, session: str, part: PlacedPart) -> None:
        parts = self._parts.setdefault(session, {})
        if parts.get(part.path) != part:
            parts[part.path] = part
            self._forget_made(session)

    def _drop_part(self, session: str, path: str) -> None:
        parts = self._parts[session]
        del parts[path]
        if not parts:
            del self._parts[session]
        self._forget_made(session)

    def _read_spool(self, spooled: Sequence[SpooledTurn]) -> None:
        drafts: dict[str, PartDraft] = {}
        told: dict[str, Record] = {}
        for record in (record for turn in spooled for record in spooled_records(turn)):
            if is_row(record.kind):
                told[record.id] = record
                drafts.setdefault(session_of(record), PartDraft()).add(record, 0, 0)
        for session in self._waiting - drafts.keys():
            self._drop_part(session, _SPOOL)
        for session, draft in drafts.items():
            self._put_part(session, PlacedPart(_SPOOL, UNSEALED, 0, draft.part()))
        self._told, self._waiting = told, frozenset(drafts)

    def _forget_made(self, session: str) -> None:
        self.version += 1
        self._facts.pop(session, None)
        view = self._views.pop(session, None)
        if view is not None:
            self._rows -= len(view)

    def _keep(self, session: str, view: SessionView) -> SessionView:
        self._views[session] = view
        self._rows += len(view)
        while self._rows > _MOST_ROWS and len(self._views) > 1:
            self._rows -= len(self._views.popitem(last=False)[1])
        return view
