"""Who writes: the id of this work tree's writer, and where its turn line stood last."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from gitmem.durable_file import write_file
from gitmem.layout import TURN_LINES

_WRITER: Final = re.compile(r"w[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class WriterState:
    """What a work tree remembers of its turn line.

    Attributes:
        writer: `w` and 8 hex digits.
        last: the last own commit; a ref that does not contain it was moved by somebody else.
        checkpoint: an own commit known to be durable; turns up to it are out of the spool for good.
        segment: path of the segment that `last` wrote to; saves a search.
        merged: other lines' tips that `last` contains, by ref name.
    """

    writer: str
    last: str | None = None
    checkpoint: str | None = None
    segment: str | None = None
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
    except (FileNotFoundError, ValueError):
        return None
    if not isinstance(data, dict) or not _WRITER.fullmatch(str(data.get("writer"))):
        return None
    return WriterState(**{f.name: _known(data[f.name]) for f in fields(WriterState) if f.name in data})


def write_writer(path: Path, state: WriterState, *, durable: bool) -> None:
    """Remember; durably where the id is new, for a turn the ref itself is the position."""
    write_file(path, json.dumps(asdict(state), indent=1).encode() + b"\n", durable=durable)


def _known(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): str(v) for k, v in value.items()}
    return value if value is None else str(value)
