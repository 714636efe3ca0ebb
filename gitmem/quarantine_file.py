"""What this machine remembers of quarantine: what was released, and what came from elsewhere.

It lies in the git dir and travels nowhere, so that two machines may judge one text differently and still have
one tree. Looked at whenever it is asked, so that a release holds in every process at once.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitmem.durable_file import write_file
from gitmem.errors import CorruptionError, HomeLocked
from gitmem.file_lock import file_lock
from gitmem.layout import Layout
from gitmem.quarantine_rules import Held, mark_of

_FORMAT: Final = 1
_WAIT: Final = 5.0


@dataclass(frozen=True, slots=True)
class Release:
    """One item that an operator let through here.

    Attributes:
        id: of the item.
        mark: of its content; other content is judged anew.
        parts: marks of the texts that are let through with it, wherever they stand.
        ref: by which it was named.
        at: RFC 3339.
    """

    id: str
    mark: str
    parts: tuple[str, ...]
    ref: str
    at: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """All of it.

    Attributes:
        releases: by id of the item.
        origins: whether a text came from elsewhere, by its key.
        parts: marks of all texts that are let through.
    """

    releases: Mapping[str, Release] = field(default_factory=dict)
    origins: Mapping[str, bool] = field(default_factory=dict)
    parts: frozenset[str] = frozenset()


class QuarantineFile:
    """Reads and writes it. Safe in threads and beside other processes.

    Args:
        layout: it lies in the git dir that linked work trees share.
    """

    def __init__(self, layout: Layout) -> None:
        self._file = layout.common_dir / "gitmem" / "quarantine.json"
        self._lock = threading.Lock()
        self._read: tuple[object, Remembered] = (None, Remembered())

    def read(self) -> Remembered:
        """Return what is remembered now; nothing is released where the file cannot be read."""
        try:
            found = self._file.stat()
        except OSError:
            return Remembered()
        mark = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        with self._lock:
            if self._read[0] != mark:
                self._read = (mark, self._parse())
            return self._read[1]

    def lets(self, text: str) -> bool:
        """Say whether a text was let through with what was released."""
        parts = self.read().parts
        return bool(parts) and mark_of(text) in parts

    def release(self, releases: Iterable[Release]) -> None:
        """Remember releases, durably.

        Raises:
            HomeLocked: another process writes the file just now.
            CorruptionError: what is there cannot be read, and would be lost.
        """
        fresh = {one.id: one for one in releases}
        self._change(lambda old: replace(old, releases={**old.releases, **fresh}))

    def hold(self, ids: Iterable[str]) -> None:
        """Take releases back, durably."""
        gone = set(ids)
        self._change(
            lambda old: replace(old, releases={k: v for k, v in old.releases.items() if k not in gone})
        )

    def remember_origin(self, key: str, *, came: bool) -> None:
        """Remember whether a text came from elsewhere; where that cannot be written it is found out again."""
        with suppress(OSError, HomeLocked, CorruptionError):
            self._change(lambda old: replace(old, origins={**old.origins, key: came}), durable=False)

    def _change(self, change: Callable[[Remembered], Remembered], *, durable: bool = True) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with file_lock(self._file.with_suffix(".lock"), wait=_WAIT):
            content = json.dumps(_to_json(change(self._parse(strict=True))), indent=1).encode() + b"\n"
            write_file(self._file, content, durable=durable)

    def _parse(self, *, strict: bool = False) -> Remembered:
        try:
            return _from_json(json.loads(self._file.read_bytes()))
        except FileNotFoundError:
            return Remembered()
        except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            if strict:
                hint = f"Look at {self._file}; without it everything that came by sync is judged anew."
                raise CorruptionError("what was released here cannot be read", hint=hint) from error
            return Remembered()


class NamedItems:
    """The items that a sync has named; a cache that may be lost, and then they are named again.

    Args:
        layout: it lies in the derived folder.
    """

    def __init__(self, layout: Layout) -> None:
        self._file = layout.derived / "facts" / "quarantine-named.json"

    def news(self, items: Sequence[Held]) -> list[Held]:
        """Return the items that were not named yet, and remember all of these and no others."""
        known: set[str] = set()
        with suppress(OSError, ValueError, TypeError, RecursionError):
            known = set(json.loads(self._file.read_bytes()))
        ids = {one.id for one in items}
        if ids != known:
            with suppress(OSError):
                write_file(self._file, json.dumps(sorted(ids)).encode(), durable=False)
        return [one for one in items if one.id not in known]


def _to_json(known: Remembered) -> dict[str, Any]:
    rows = [
        {"id": one.id, "mark": one.mark, "parts": list(one.parts), "ref": one.ref, "at": one.at}
        for one in known.releases.values()
    ]
    return {"format": _FORMAT, "released": rows, "came": dict(known.origins)}


def _from_json(data: Any) -> Remembered:
    if data["format"] != _FORMAT:
        raise ValueError(f"format {data['format']}")
    rows = [
        Release(str(r["id"]), str(r["mark"]), tuple(map(str, r["parts"])), str(r["ref"]), str(r["at"]))
        for r in data["released"]
    ]
    origins = {str(key): value is True for key, value in data["came"].items()}
    parts = frozenset(part for one in rows for part in one.parts)
    return Remembered({one.id: one for one in rows}, origins, parts)
