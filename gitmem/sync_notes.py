"""What is remembered of each remote between two syncs: how the last one went, and which tags it has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from gitmem.durable_file import write_file
from gitmem.errors import HomeLocked
from gitmem.file_lock import file_lock
from gitmem.layout import Layout

_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class SyncNote:
    """What is remembered of one remote.

    Attributes:
        tried: when a sync last ended, well or not; seconds since 1970.
        done: when one last ended well.
        failures: how many have failed in a row.
        error: why the last one failed.
        reason: why HEAD's branch stayed behind what was pushed.
        blocked: paths that kept it there, and why.
        warnings: what the last one refused or found out of place.
        tags: names of the tags of episodes that the remote has.
        tampered: what the last one found there that must not be.
    """

    tried: float | None = None
    done: float | None = None
    failures: int = 0
    error: str | None = None
    reason: str | None = None
    blocked: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    tags: Sequence[str] = ()
    tampered: Sequence[str] = ()


class SyncNotes:
    """Keeps the notes, in the git dir; a cache that may be lost.

    Args:
        layout: where they lie; linked work trees share them.
    """

    def __init__(self, layout: Layout) -> None:
        self._folder = layout.common_dir / "gitmem" / "sync"

    def read(self, remote: str) -> SyncNote:
        """Return what is remembered of a remote; an empty note where that is nothing."""
        try:
            row = json.loads(self._file(remote).read_bytes())
            if row.pop("format") != _FORMAT:
                return SyncNote()
            known = {one.name for one in fields(SyncNote)}
            return SyncNote(**{name: value for name, value in row.items() if name in known})
        except (OSError, ValueError, TypeError, AttributeError, KeyError):
            return SyncNote()

    def write(self, remote: str, note: SyncNote) -> None:
        """Remember of a remote."""
        row: dict[str, Any] = {"format": _FORMAT, **asdict(note)}
        write_file(self._file(remote), json.dumps(row, indent=1).encode() + b"\n", durable=False)

    def forget(self, remote: str) -> None:
        """Forget a remote."""
        self._file(remote).unlink(missing_ok=True)

    @contextmanager
    def lock(self, remote: str, *, wait: float) -> Iterator[None]:
        """Be the only one here that syncs with a remote.

        Raises:
            HomeLocked: another process does.
        """
        try:
            with file_lock(self._folder / f"{remote}.lock", wait=wait):
                yield
        except HomeLocked as error:
            if error.details.get("lock") != f"{remote}.lock":
                raise
            message = f"another process syncs with {remote} just now"
            raise HomeLocked(message, hint="Try again.", lock=f"{remote}.lock") from error

    def _file(self, remote: str) -> Path:
        return self._folder / f"{remote}.json"
