"""Writes that the operator's branch could not take yet, as durable files in the git dir.

One file a write, `<number>-<id>.json`; the number orders them. Beside them, while a commit is being made,
`landing.json` says what it puts where: after a kill it tells whether that commit reached the branch, and
which bytes on disk are gitmem's own. It also holds the write that has no file yet because it need not wait,
so that a write once begun is not lost. It is not made durable: nothing is promised before the branch moved.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from gitmem.branch_changes import PendingChange, PendingTag, PendingWrite
from gitmem.durable_file import remove_file, write_file

_FORMAT: Final = 1
_LANDING: Final = "landing.json"


@dataclass(frozen=True, slots=True)
class Landing:
    """What is about to be put on the branch.

    Attributes:
        tip: the branch's new value.
        commits: pending write id -> the commit that will hold it, None where it needs none.
        conflicts: pending write id -> its conflict copies.
        files: path -> blob id of the text that goes to disk.
        token: names the files that are written beside those of the work tree.
        fresh: the write that is being made, which has no file of its own.
    """

    tip: str
    commits: Mapping[str, str | None]
    conflicts: Mapping[str, tuple[str, ...]]
    files: Mapping[str, str]
    token: str
    fresh: PendingWrite | None = None


class PendingWrites:
    """The queue of one work tree; used under the home's lock, read without it.

    Args:
        folder: where the files are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> list[PendingWrite]:
        """Return all that wait, in order; a damaged file is left where it is and named by `damaged`."""
        found = (_parse(path) for path in self._files())
        return sorted((write for write in found if write is not None), key=lambda write: write.number)

    def damaged(self) -> list[str]:
        """Return the names of files that hold no pending write any more."""
        return [path.name for path in self._files() if _parse(path) is None]

    def put(self, write: PendingWrite) -> None:
        """Put a write into the queue at its number, or write its file anew; safe from a power cut."""
        write_file(self._path(write), json.dumps(_row(write)).encode())

    def drop(self, writes: Sequence[PendingWrite]) -> None:
        """Take writes out of the queue: they are on the branch, durably, or were never acknowledged."""
        for write in writes:
            remove_file(self._path(write))

    def sweep(self) -> None:
        """Remove what a killed process left of files that it was about to put here."""
        for path in self._folder.glob(".*.part"):
            remove_file(path)

    def note_landing(self, landing: Landing) -> None:
        """Say what is about to be put on the branch."""
        row = {
            "v": _FORMAT,
            "tip": landing.tip,
            "commits": dict(landing.commits),
            "conflicts": {key: list(paths) for key, paths in landing.conflicts.items()},
            "files": dict(landing.files),
            "token": landing.token,
            "fresh": None if landing.fresh is None else _row(landing.fresh),
        }
        self._overwrite_landing(json.dumps(row).encode())

    def read_landing(self) -> Landing | None:
        """Return what a process that was killed was about to put on the branch."""
        try:
            row = json.loads((self._folder / _LANDING).read_bytes())
            conflicts = {key: tuple(paths) for key, paths in row["conflicts"].items()}
            fresh = None if row["fresh"] is None else _from_row(row["fresh"])
            return Landing(row["tip"], row["commits"], conflicts, row["files"], row["token"], fresh)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def forget_landing(self) -> None:
        """Say that nothing is under way any more."""
        try:
            os.truncate(self._folder / _LANDING, 0)
        except FileNotFoundError:
            return

    def _overwrite_landing(self, content: bytes) -> None:
        # In place and short: a kill leaves all of it or nothing, and a file costs more to make than to fill.
        self._folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._folder / _LANDING, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            done = 0
            while done < len(content):
                done += os.write(descriptor, content[done:])
            os.truncate(descriptor, len(content))
        finally:
            os.close(descriptor)

    def _files(self) -> list[Path]:
        try:
            names = [path for path in self._folder.iterdir() if path.name[:1].isdigit()]
        except FileNotFoundError:
            return []
        return sorted(
            path for path in names if path.suffix == ".json" and path.name.partition("-")[0].isdigit()
        )

    def _path(self, write: PendingWrite) -> Path:
        return self._folder / f"{write.number:06d}-{write.id}.json"


def mint_write_id() -> str:
    """Return a new id for a pending write."""
    return secrets.token_hex(6)


def _row(write: PendingWrite) -> dict[str, Any]:
    return {
        "v": _FORMAT,
        "id": write.id,
        "number": write.number,
        "since": write.since,
        "operation": write.operation,
        "turn": write.turn,
        "author": write.author,
        "message": write.message,
        "reason": write.reason,
        "recorded": write.recorded,
        "tag": None if write.tag is None else [write.tag.name, write.tag.message],
        "changes": [
            {
                "path": change.path,
                "head": _encode(change.head),
                "base": _encode(change.base),
                "result": _encode(change.result),
            }
            for change in write.changes
        ],
    }


def _parse(path: Path) -> PendingWrite | None:
    try:
        write = _from_row(json.loads(path.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return replace(write, number=int(path.name.partition("-")[0]))


def _from_row(row: Mapping[str, Any]) -> PendingWrite:
    if row["v"] != _FORMAT or not row["changes"]:
        raise ValueError("not a pending write of this format")
    changes = tuple(
        PendingChange(str(one["path"]), _decode(one["head"]), _decode(one["base"]), _decode(one["result"]))
        for one in row["changes"]
    )
    return PendingWrite(
        id=str(row["id"]),
        number=int(row["number"]),
        since=float(row["since"]),
        operation=str(row["operation"]),
        turn=row["turn"],
        author=str(row["author"]),
        message=str(row["message"]),
        changes=changes,
        reason=str(row["reason"]),
        recorded=bool(row["recorded"]),
        tag=PendingTag(*map(str, row["tag"])) if row.get("tag") else None,
    )


def _encode(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode("ascii")


def _decode(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text, validate=True)
