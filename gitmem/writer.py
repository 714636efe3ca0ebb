"""Who writes: the id of this work tree's writer, and where its turn line stood last."""

from __future__ import annotations

import json
import os
import re
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from gitmem.durable_file import write_all, write_file
from gitmem.layout import TURN_LINES

_WRITER: Final = re.compile(r"w[0-9a-f]{8}")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
#: Beside the writer's file: the last own commit alone, written in place after each turn.
_LAST: Final = "last"


@dataclass(frozen=True, slots=True)
class WriterState:
    """What a work tree remembers of its turn line.

    Attributes:
        writer: `w` and 8 hex digits.
        last: the last own commit; a ref that does not contain it was moved by somebody else.
        checkpoint: an own commit known to be durable; turns up to it are out of the spool for good.
        segment: path of the segment that `last` wrote to; saves a search.
        number: the highest number of an own segment in the tree of `last`.
        merged: other lines' tips that `last` contains, by ref name.
    """

    writer: str
    last: str | None = None
    checkpoint: str | None = None
    segment: str | None = None
    number: int = 0
    merged: dict[str, str] = field(default_factory=dict)

    @property
    def ref(self) -> str:
        """The full name of the own branch."""
        return TURN_LINES + self.writer

    @property
    def branch(self) -> str:
        """The short name of the own branch, as receipts show it."""
        return self.ref.removeprefix("refs/heads/")


def mint_writer() -> WriterState:
    """Return a new writer that has not written yet."""
    return WriterState("w" + secrets.token_hex(4))


def read_writer(path: Path) -> WriterState | None:
    """Return what was remembered, or None where there is nothing or it is unreadable."""
    try:
        data = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not _WRITER.fullmatch(str(data.get("writer"))):
        return None
    state = WriterState(
        str(data["writer"]),
        last=_commit(data.get("last")),
        checkpoint=_commit(data.get("checkpoint")),
        segment=_text(data.get("segment")),
        number=_count(data.get("number")),
        merged=_merged(data.get("merged")),
    )
    return replace(state, last=_read_last(path, state.writer) or state.last)


def writers_of(common_dir: Path) -> frozenset[str]:
    """Return the writers of all work trees of a repository."""
    folder = common_dir / "gitmem"
    files = [folder / "main" / "writer.json", *folder.glob("worktrees/*/writer.json")]
    states = (read_writer(file) for file in files)
    return frozenset(state.writer for state in states if state is not None)


def write_writer(path: Path, state: WriterState) -> None:
    """Remember all of it, durably: a writer id that is lost begins a second line."""
    write_file(path, json.dumps(asdict(state), indent=1).encode() + b"\n")
    write_last(path, state)


def write_last(path: Path, state: WriterState, *, durable: bool = False) -> None:
    """Remember only the last own commit; should a power cut lose the note, the ref is the position."""
    if state.last is None:
        with suppress(FileNotFoundError):
            path.with_name(_LAST).unlink()
        return
    # In place and of one length: after a kill it holds the old note or the new one.
    descriptor = os.open(path.with_name(_LAST), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        write_all(descriptor, f"{state.writer} {state.last}\n".encode())
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_last(path: Path, writer: str) -> str | None:
    try:
        found = path.with_name(_LAST).read_bytes().decode("ascii", "replace").split()
    except FileNotFoundError:
        return None
    return _commit(found[1]) if len(found) == 2 and found[0] == writer else None


def _commit(value: Any) -> str | None:
    return value if isinstance(value, str) and _COMMIT.fullmatch(value) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _merged(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {str(ref): tip for ref, tip in value.items() if _commit(tip)}
