"""One spooled turn: a file of JSON lines, a header first, then the events, then how it ended."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from gitmem.durable_file import remove_file, sync_folder, write_all
from gitmem.records import LINKS, Event
from gitmem.times import format_time

End = Literal["completed", "aborted", "interrupted"]

#: Ending of a finished turn's file; its name is `<stamp>-<turn id>.turn`.
FINISHED: Final = ".turn"
_ENDS: Final = frozenset({"completed", "aborted", "interrupted"})
_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
_LINKS: Final = (*LINKS, "object")
_LOOK_BACK: Final = 4096
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class SpooledTurn:
    """A turn as the spool tells it.

    Attributes:
        header: `turn`, `opened` and, where given, `session`, `workspace`, `work_item`.
        redactions: the rule that hit and the id of the record, for each secret that was replaced.
        end: how it ended; None while it is open.
        ended: when, RFC 3339.
    """

    turn: str
    header: Mapping[str, Any]
    events: tuple[Event, ...]
    redactions: tuple[tuple[str, str], ...]
    end: End | None
    ended: str | None
    path: Path


class SpoolFile:
    """An open turn's file; every event goes to it as it comes.

    Args:
        path: where it is.
        turn: the turn's id.
        descriptor: the open file, locked; closed by `close`, `finish` or `discard`.
    """

    def __init__(self, path: Path, turn: str, descriptor: int) -> None:
        self.path = path
        self.turn = turn
        self._descriptor = descriptor
        self._is_torn = False
        self._header: Mapping[str, Any] | None = None
        self._events: list[Event] = []
        self._redactions: list[tuple[str, str]] = []
        self._finished: SpooledTurn | None = None

    def begin(self, header: Mapping[str, Any]) -> None:
        """Write the header."""
        self._header = {"turn": self.turn, **header}
        self._append(_row_bytes(self._header))

    def add(self, *events: Event, rules: Sequence[str] = ()) -> None:
        """Append events; they survive a kill from here on, a power cut only after `flush`.

        Args:
            events: several are written at once.
            rules: of the scanner, one for each secret that was replaced in the last event.
        """
        rows = [_event_row(event) for event in events]
        if rules:
            rows[-1]["rules"] = list(rules)
        self._append(b"".join(_row_bytes(row) for row in rows))
        if self._header is not None:
            self._events += events
            self._redactions += [(rule, events[-1].id) for rule in rules]

    def flush(self) -> None:
        """Make the events so far durable."""
        os.fsync(self._descriptor)
        sync_folder(self.path.parent)

    def finish(self, end: End, now: float, *, durable: bool = True) -> Path:
        """Write the end, make all of it durable under its final name, and let go of the file.

        Where that fails, the next process that looks for dead turns closes what had come as interrupted.

        Args:
            end: how the turn ended.
            now: seconds since 1970.
            durable: without it a power cut (not a kill) may lose the turn; an import can be repeated.

        Returns:
            The final path: from here on nothing can lose the turn.
        """
        try:
            self._append(_row_bytes({"end": end, "at": format_time(now)}))
            final = self.path.with_name(f"{_stamp(now)}-{self.turn}{FINISHED}")
            self.path.rename(final)
            self.path = final
            if durable:
                os.fsync(self._descriptor)
                sync_folder(final.parent)
            self._finished = self._as_told(end, format_time(now))
            return final
        finally:
            self.close()

    def take_finished(self) -> SpooledTurn | None:
        """Return the finished turn, once, if this process has told all of it; reading it again costs more."""
        finished, self._finished, self._events = self._finished, None, []
        return finished

    def discard(self) -> None:
        """Remove the file; for a turn in which nothing happened."""
        remove_file(self.path)
        self.close()

    def mend(self) -> None:
        """Cut off what a process left that died while it wrote."""
        _cut_torn_row(self._descriptor)

    def close(self) -> None:
        """Let go of the file and its lock."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _as_told(self, end: End, ended: str) -> SpooledTurn | None:
        if self._header is None:
            return None
        events, redactions = tuple(self._events), tuple(self._redactions)
        return SpooledTurn(self.turn, self._header, events, redactions, end, ended, self.path)

    def _append(self, rows: bytes) -> None:
        if self._is_torn:
            self.mend()
            self._is_torn = False
        try:
            write_all(self._descriptor, rows)
        except BaseException:  # a full disk: half a row would swallow the next one
            self._is_torn = True
            self.mend()
            self._is_torn = False
            raise


def read_turn(path: Path) -> SpooledTurn:
    """Read a spool file; rows that a kill or a power cut left torn are passed over.

    Raises:
        FileNotFoundError: another process sealed and removed it meanwhile.
    """
    header: Mapping[str, Any] = {}
    events: list[Event] = []
    redactions: list[tuple[str, str]] = []
    end: End | None = None
    ended: str | None = None
    for row in _rows(path.read_bytes()):
        if "kind" in row:
            event = _event_from(row)
            if event is not None:
                events.append(event)
                redactions += [(str(rule), event.id) for rule in row.get("rules", ())]
        elif row.get("end") in _ENDS:
            end, ended = row["end"], _time(row.get("at"))
        elif "turn" in row and not header:
            header = row
    return SpooledTurn(turn_of(path), header, tuple(events), tuple(redactions), end, ended, path)


def erase_events(path: Path, records: Container[str]) -> bool:
    """Overwrite the rows of some events, durably; say whether there were any.

    In place and with NUL bytes, which every reader passes over, so that a process that still tells the turn
    goes on behind them.
    """
    with path.open("r+b") as file:
        place, found = 0, False
        for line in file.read().split(b"\n"):
            if any(row.get("id") in records for row in _rows(line)):
                file.seek(place)
                file.write(b"\0" * len(line))
                found = True
            place += len(line) + 1
        file.flush()
        os.fsync(file.fileno())
    return found


def turn_of(path: Path) -> str:
    """Return the id of the turn that a spool file holds, which its name says."""
    return path.stem.rpartition("-")[2]


def _rows(content: bytes) -> Iterator[dict[str, Any]]:
    for line in content.split(b"\n"):
        try:
            row = json.loads(line.strip(b"\0"))
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


def _event_row(event: Event) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": event.kind, "id": event.id, "ts": event.ts, "body": event.body}
    for name in _LINKS:
        value = getattr(event, name)
        if value is not None:
            row[name] = value
    return row


def _event_from(row: Mapping[str, Any]) -> Event | None:
    kind, record_id, ts, body = (row.get(name) for name in ("kind", "id", "ts", "body"))
    if not (isinstance(kind, str) and isinstance(record_id, str) and _time(ts) and isinstance(body, dict)):
        return None
    links = {name: row[name] for name in _LINKS if isinstance(row.get(name), str)}
    return Event(record_id, kind, str(ts), body, **links)


def _time(value: object) -> str | None:
    return value if isinstance(value, str) and _TIME.fullmatch(value) else None


def _row_bytes(row: Mapping[str, Any]) -> bytes:
    return _ENCODER.encode(row).encode() + b"\n"


def _cut_torn_row(descriptor: int) -> None:
    """Cut a file behind its last line feed; a row holds none."""
    size = end = os.fstat(descriptor).st_size
    while end > 0:
        start = max(0, end - _LOOK_BACK)
        found = os.pread(descriptor, end - start, start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    if end != size:
        os.ftruncate(descriptor, end)


def _stamp(now: float) -> str:
    return f"{max(int(now * 1_000_000), 0):016x}"
