"""The spool: turns as they are told, on disk in the git dir until the turn line holds them durably.

Files: `<turn id>.open` while its process writes (it holds a lock on the file), `<turn id>.held` while several
processes feed one turn, `<stamp>-<turn id>.turn` once finished. Each is JSON lines: a header, the events, an
end. A spool file has no writer, seq, clock, chain or salt; those are given when it is sealed.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from gitmem.durable_file import remove_file, sync_folder
from gitmem.errors import NotFound, UsageError
from gitmem.file_lock import try_lock
from gitmem.records import Event, check_name
from gitmem.times import format_time

End = Literal["completed", "aborted", "interrupted"]

_OPEN: Final = ".open"
_HELD: Final = ".held"
_NEW: Final = ".new"
_FINISHED: Final = ".turn"
#: Seconds after which a turn fed by several processes counts as abandoned, since its last event.
HELD_LIMIT: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class SpooledTurn:
    """A turn as the spool tells it.

    Attributes:
        header: `turn`, `opened` and, where given, `session`, `workspace`, `work_item`.
        end: how it ended; None while it is open.
        ended: when, RFC 3339.
    """

    turn: str
    header: Mapping[str, Any]
    events: tuple[Event, ...]
    end: End | None
    ended: str | None
    path: Path


class SpoolFile:
    """An open turn's file; every event goes to it as it comes."""

    def __init__(self, path: Path, turn: str, descriptor: int) -> None:
        self.path = path
        self.turn = turn
        self._descriptor = descriptor

    def add(self, event: Event) -> None:
        """Append one event; it survives a kill from here on, a power cut only after `flush`."""
        self._append(_event_row(event))

    def flush(self) -> None:
        """Make the events so far durable."""
        os.fsync(self._descriptor)
        sync_folder(self.path.parent)

    def finish(self, end: End, now: float) -> Path:
        """Write the end, make all of it durable under its final name, and let go of the file.

        Returns:
            The final path: from here on nothing can lose the turn.
        """
        self._append({"end": end, "at": format_time(now)})
        os.fsync(self._descriptor)
        final = self.path.with_name(f"{_stamp(now)}-{self.turn}{_FINISHED}")
        self.path.rename(final)
        sync_folder(final.parent)
        self.close()
        return final

    def discard(self) -> None:
        """Remove the file; for a turn in which nothing happened."""
        remove_file(self.path)
        self.close()

    def close(self) -> None:
        """Let go of the file and its lock."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _append(self, row: Mapping[str, Any]) -> None:
        size = os.fstat(self._descriptor).st_size
        try:
            _write_all(self._descriptor, _row_bytes(row))
        except BaseException:  # a full disk: half a row would swallow the next one
            os.ftruncate(self._descriptor, size)
            raise


class Spool:
    """All spooled turns of one work tree.

    Args:
        folder: `layout.spool`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open_turn(self, turn: str, header: Mapping[str, Any], *, held: bool = False) -> SpoolFile:
        """Begin a turn.

        Args:
            turn: its id.
            header: `opened` and, where given, `session`, `workspace`, `work_item`.
            held: several processes will feed it; it is not closed when one of them ends.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        # Locked before it has a name that `close_dead` looks for, or a neighbour could take it for dead.
        unborn = self.folder / f"{turn}{_NEW}"
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(unborn, flags, 0o666)
        try:
            try_lock(descriptor)
            _write_all(descriptor, _row_bytes({"turn": turn, **header}))
            path = unborn.rename(self.folder / f"{turn}{_HELD if held else _OPEN}")
        except BaseException:
            os.close(descriptor)
            remove_file(unborn)
            raise
        return SpoolFile(path, turn, descriptor)

    def reopen_held(self, turn: str) -> SpoolFile:
        """Return a turn that another process opened, to add to it or to finish it.

        Raises:
            NotFound: no such turn is open.
        """
        path = self.folder / f"{check_name(turn, 'turn')}{_HELD}"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        except FileNotFoundError:
            raise NotFound(f"no open turn {turn}", hint="Open one with `gitmem turn open`.") from None
        _wait_lock(descriptor)
        if not path.exists():  # finished by another process while we waited
            os.close(descriptor)
            raise NotFound(f"turn {turn} is closed", hint="Open a new one with `gitmem turn open`.")
        _end_torn_line(descriptor)
        return SpoolFile(path, turn, descriptor)

    def only_held(self) -> str:
        """Return the id of the one turn that several processes feed.

        Raises:
            UsageError: there is none, or there are several.
        """
        turns = [name[: -len(_HELD)] for name in self._names() if name.endswith(_HELD)]
        if len(turns) == 1:
            return turns[0]
        hint = "Name it with --turn." if turns else "Open one with `gitmem turn open`."
        raise UsageError(f"{len(turns)} turns are open", hint=hint, turns=turns)

    def finished(self) -> list[Path]:
        """Return the files of finished turns in the order in which they ended."""
        return [self.folder / name for name in self._names() if name.endswith(_FINISHED)]

    def close_dead(self, now: float) -> list[Path]:
        """Finish, as interrupted, each turn whose process died with what had come.

        Returns:
            The final paths of the turns that were closed.
        """
        return [path for path in (self._close_if_dead(name, now) for name in self._names()) if path]

    def _close_if_dead(self, name: str, now: float) -> Path | None:
        if not name.endswith((_OPEN, _HELD)):
            return None
        path = self.folder / name
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        file = SpoolFile(path, name.rpartition(".")[0], descriptor)
        try:
            if not try_lock(descriptor) or not path.exists():
                return None
            if name.endswith(_HELD) and now - os.fstat(descriptor).st_mtime < HELD_LIMIT:
                return None
            if not read_turn(path).events:
                file.discard()
                return None
            _end_torn_line(descriptor)
            return file.finish("interrupted", now)
        finally:
            file.close()

    def _names(self) -> list[str]:
        try:
            return sorted(path.name for path in self.folder.iterdir())
        except FileNotFoundError:
            return []


def read_turn(path: Path) -> SpooledTurn:
    """Read a spool file; a torn last line (its process died writing it) is passed over.

    Raises:
        FileNotFoundError: another process sealed and removed it meanwhile.
    """
    rows = list(_rows(path.read_bytes()))
    header = rows[0] if rows and "turn" in rows[0] else {}
    end = rows[-1] if rows and "end" in rows[-1] else {}
    turn = header.get("turn") or path.stem.rpartition("-")[2]
    events = tuple(_event_from(row) for row in rows if "kind" in row)
    return SpooledTurn(turn, header, events, end.get("end"), end.get("at"), path)


def _rows(content: bytes) -> Iterator[dict[str, Any]]:
    for line in content.split(b"\n"):
        try:
            row = json.loads(line.strip(b"\0"))
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def _event_row(event: Event) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": event.kind, "id": event.id, "ts": event.ts, "body": event.body}
    for name in ("session", "work_item", "workspace", "object"):
        value = getattr(event, name)
        if value is not None:
            row[name] = value
    return row


def _event_from(row: Mapping[str, Any]) -> Event:
    links = {name: row.get(name) for name in ("session", "work_item", "workspace", "object")}
    return Event(row["id"], row["kind"], row["ts"], row["body"], **links)


def _row_bytes(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _write_all(descriptor: int, content: bytes) -> None:
    with memoryview(content) as rest:
        done = 0
        while done < len(rest):
            done += os.write(descriptor, rest[done:])


def _end_torn_line(descriptor: int) -> None:
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        _write_all(descriptor, b"\n")


def _wait_lock(descriptor: int) -> None:
    while not try_lock(descriptor):
        time.sleep(0.002)


def _stamp(now: float) -> str:
    return f"{int(now * 1_000_000):016x}"
