"""The spool: turns as they are told, on disk in the git dir until the turn line holds them durably.

Files: `<turn id>.open` while its process writes (it holds a lock on the file), `<turn id>.held` while several
processes feed one turn, `<stamp>-<turn id>.turn` once finished, `.sealed` instead of `.turn` once committed.
A spool file has no writer, seq, clock, chain or salt; those are given when it is sealed.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from gitmem.durable_file import remove_file, sync_folder
from gitmem.errors import HomeLocked, NotFound, UsageError
from gitmem.file_lock import try_lock
from gitmem.records import check_name
from gitmem.spare_files import SPARE, SpareFiles
from gitmem.spool_file import FINISHED, End, SpooledTurn, SpoolFile, erase_events, read_turn, turn_of

__all__ = ["End", "Spool", "SpoolFile", "SpooledTurn", "read_turn", "turn_of"]

_OPEN: Final = ".open"
_HELD: Final = ".held"
_SEALED: Final = ".sealed"
_TURN_ID: Final = r"turn_[0-9a-f]{15}"
_UNFINISHED: Final = re.compile(rf"{_TURN_ID}\.(?:open|held)")
_FINISHED: Final = re.compile(rf"[0-9a-f]{{16}}-{_TURN_ID}\.(?:turn|sealed)")
#: Seconds after which a turn fed by several processes counts as abandoned, since its last event.
HELD_LIMIT: Final = 86_400.0
#: Seconds to wait for another process that adds to a turn just now.
_PATIENCE: Final = 5.0
_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC


class Spool:
    """All spooled turns of one work tree.

    Args:
        folder: `layout.spool`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._spares = SpareFiles(folder)

    def open_turn(self, turn: str, header: Mapping[str, Any], *, held: bool = False) -> SpoolFile:
        """Begin a turn.

        Args:
            turn: its id.
            header: `opened` and, where given, `session`, `workspace`, `work_item`.
            held: several processes will feed it; it is not closed when one of them ends.

        Raises:
            UsageError: a turn of this id is open.
        """
        path = self.folder / f"{turn}{_HELD if held else _OPEN}"
        file = SpoolFile(path, turn, self._create(path))
        try:
            file.begin(header)
        except BaseException:
            file.discard()
            raise
        return file

    def reopen_held(self, turn: str) -> SpoolFile:
        """Return a turn that another process opened, to add to it or to finish it.

        Raises:
            NotFound: no such turn is open.
            HomeLocked: another process is adding to it for longer than one may wait.
        """
        path = self.folder / f"{check_name(turn, 'turn')}{_HELD}"
        try:
            descriptor = os.open(path, _FLAGS)
        except FileNotFoundError:
            raise NotFound(f"no open turn {turn}", hint="Open one with `gitmem turn open`.") from None
        file = SpoolFile(path, turn, descriptor)
        try:
            _wait_lock(descriptor, path)
            _check_still_open(path)
            file.mend()
        except BaseException:
            file.close()
            raise
        return file

    def is_open(self, turn: str) -> bool:
        """Say whether a turn of this id is being told, by whomever."""
        return any((self.folder / f"{turn}{ending}").exists() for ending in (_OPEN, _HELD))

    def only_held(self) -> str:
        """Return the id of the one turn that several processes feed.

        Raises:
            UsageError: there is none, or there are several.
        """
        names = [name for name in self._names() if _UNFINISHED.fullmatch(name) and name.endswith(_HELD)]
        turns = [name.removesuffix(_HELD) for name in names]
        if len(turns) == 1:
            return turns[0]
        if not turns:
            raise UsageError("no turn is open", hint="Open one with `gitmem turn open`.", turns=turns)
        raise UsageError(f"{len(turns)} turns are open", hint="Name one with --turn.", turns=turns)

    def held_by(self, session: str) -> str | None:
        """Return the id of a turn of this session that several processes feed, if there is one."""
        for name in self._names_of(_HELD):
            with suppress(OSError):
                if read_turn(self.folder / name).header.get("session") == session:
                    return name.removesuffix(_HELD)
        return None

    def told(self) -> Iterator[SpooledTurn]:
        """Yield every turn that has a file here, also those that are still told and those that are sealed."""
        for path in self._all():
            with suppress(OSError):
                yield read_turn(path)

    def erase(self, records: Container[str]) -> None:
        """Take the events of some records out of all turns, durably, whoever tells them."""
        for path in self._all():
            with suppress(FileNotFoundError):
                erase_events(path, records)

    def finished(self) -> list[Path]:
        """Return the files of finished turns that are not sealed yet, in the order in which they ended."""
        return self._paths(FINISHED)

    def sealed(self) -> list[Path]:
        """Return the files of turns that were committed and may not be durable on the line yet."""
        return self._paths(_SEALED)

    def mark_sealed(self, path: Path) -> None:
        """Note that a finished turn stands on the line."""
        path.rename(path.with_suffix(_SEALED))

    def unseal(self, path: Path) -> Path:
        """Take `mark_sealed` back: a power cut took the turn's commit from the line."""
        return path.rename(path.with_suffix(FINISHED))

    def clear_sealed(self, *, spares: int = 0) -> None:
        """Let go of all sealed turns; the line holds them durably.

        Args:
            spares: how many files to keep, emptied, for turns to come.
        """
        sealed = self.sealed()
        missing = spares - len(self._names_of(SPARE))
        for number, path in enumerate(sealed):
            if number < missing:
                self._spares.give(path)
            else:
                remove_file(path)
        if sealed:
            sync_folder(self.folder)

    def drop_spares(self) -> None:
        """Remove the files that were kept for turns to come."""
        for name in self._names_of(SPARE):
            remove_file(self.folder / name)

    def close_dead(self, now: float) -> list[Path]:
        """Finish, as interrupted, each turn whose process died with what had come.

        Returns:
            The final paths of the turns that were closed.
        """
        self._spares.clear()
        unfinished = [name for name in self._names() if _UNFINISHED.fullmatch(name)]
        return [path for path in (self._close_if_dead(name, now) for name in unfinished) if path]

    def _create(self, path: Path) -> int:
        """Return the descriptor of a new file, locked."""
        while True:
            try:
                spare = self._spares.take(path.name, _FLAGS)
                if spare is not None:
                    return spare
                descriptor = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o666)
            except FileExistsError:
                raise UsageError(f"turn {turn_of(path)} is open already") from None
            except FileNotFoundError:
                self.folder.mkdir(parents=True, exist_ok=True)
                continue
            try:
                _wait_lock(descriptor, path)
                if os.fstat(descriptor).st_nlink:
                    return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)  # a neighbour that looks for dead turns was faster, and found nothing in it

    def _close_if_dead(self, name: str, now: float) -> Path | None:
        path = self.folder / name
        try:
            descriptor = os.open(path, _FLAGS)
        except (FileNotFoundError, PermissionError):
            return None
        file = SpoolFile(path, turn_of(path), descriptor)
        try:
            if not try_lock(descriptor) or not path.exists():
                return None
            if name.endswith(_HELD) and now - os.fstat(descriptor).st_mtime < HELD_LIMIT:
                return None
            file.mend()
            if not read_turn(path).events:
                file.discard()
                return None
            return file.finish("interrupted", now)
        finally:
            file.close()

    def _all(self) -> list[Path]:
        names = (name for name in self._names() if _UNFINISHED.fullmatch(name) or _FINISHED.fullmatch(name))
        return [self.folder / name for name in names]

    def _paths(self, ending: str) -> list[Path]:
        return [self.folder / name for name in self._names_of(ending) if _FINISHED.fullmatch(name)]

    def _names_of(self, ending: str) -> list[str]:
        return [name for name in self._names() if name.endswith(ending)]

    def _names(self) -> list[str]:
        with suppress(FileNotFoundError, NotADirectoryError):
            return sorted(os.listdir(self.folder))  # noqa: PTH208 - names are enough, and every turn asks
        return []


def _check_still_open(path: Path) -> None:
    if not path.exists():  # another process finished it while we waited
        raise NotFound(f"turn {turn_of(path)} is closed", hint="Open a new one with `gitmem turn open`.")


def _wait_lock(descriptor: int, path: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not try_lock(descriptor):
        if time.monotonic() >= deadline:
            raise HomeLocked(f"another process keeps the turn {turn_of(path)}", hint="Try again.")
        time.sleep(0.002)
