"""The turns that belong to each work item, and the work refs that they found."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from gitmem.errors import GitmemError
from gitmem.ledger_format import Line, decode, split_segment
from gitmem.records import is_name
from gitmem.work_ref_merge import RefFold, WorkRefs

#: Of the rows that `turn_rows` makes.
ROWS_VERSION: Final = 1

#: Work items whose turns are kept in memory, and those whose work refs are, which are many more.
_READ: Final = 64
_FOLDED: Final = 16

_SIGN: Final = b'"kind":"turn"'
_FIELD: Final = b'"work_item":"'


@dataclass(frozen=True, slots=True, order=True)
class TurnPlace:
    """A turn of a work item, in the order of the ledger.

    Attributes:
        path: of the segment that holds its record.
        has_refs: it found any.
    """

    clock: str
    writer: str
    seq: int
    turn: str
    ts: str
    path: str
    has_refs: bool


class WorkTurns:
    """Knows in which segments the turns of every work item are.

    Args:
        rows: returns the rows of a segment.
    """

    def __init__(self, rows: Callable[[str], Iterable[Sequence[Any]] | None]) -> None:
        self._rows = rows
        self._paths: dict[str, dict[str, None]] = {}
        self._read: OrderedDict[str, list[TurnPlace]] = OrderedDict()

    def take(self, path: str, rows: Iterable[Sequence[Any]]) -> None:
        """Take a segment that is new or has changed."""
        for item in {row[0] for row in rows}:
            self._paths.setdefault(item, {})[path] = None
        for item in [item for item in self._read if path in self._paths.get(item, {})]:
            del self._read[item]

    def of(self, item: str) -> Sequence[TurnPlace]:
        """Return a work item's turns, the first one first."""
        if item not in self._read:
            self._read[item] = self._find(item)
            if len(self._read) > _READ:
                self._read.popitem(last=False)
        self._read.move_to_end(item)
        return self._read[item]

    def _find(self, item: str) -> list[TurnPlace]:
        found: dict[str, TurnPlace] = {}
        for path in sorted(self._paths.get(item, {})):
            for of, turn, ts, clock, writer, seq, has_refs in self._rows(path) or ():
                if of == item:
                    found[turn] = TurnPlace(clock, writer, seq, turn, ts, path, has_refs)
        return sorted(found.values())

    def last_at(self, item: str) -> str:
        """Return when the last turn of a work item ended, empty if it has none."""
        turns = self.of(item)
        return turns[-1].ts if turns else ""


class RefReader:
    """The work refs of work items; a turn that is read once is not read again.

    Args:
        read: returns the work refs that a turn's record holds.
    """

    def __init__(self, read: Any) -> None:
        self._read = read
        self._folds: OrderedDict[str, tuple[list[TurnPlace], RefFold]] = OrderedDict()

    def refs(self, item: str, turns: Sequence[TurnPlace]) -> WorkRefs:
        """Return the work refs that some turns of a work item amount to."""
        wanted = [turn for turn in turns if turn.has_refs]
        done, fold = self._folds.get(item, ([], RefFold()))
        if wanted[: len(done)] != done:
            done, fold = [], RefFold()
        for turn in wanted[len(done) :]:
            fold.add(self._read(turn))
        self._folds[item] = wanted, fold
        self._folds.move_to_end(item)
        if len(self._folds) > _FOLDED:
            self._folds.popitem(last=False)
        return fold.refs()


def turn_rows(content: bytes) -> list[list[Any]] | None:
    """Return the turns of a segment that belong to a work item as rows of ids, times and places."""
    if _SIGN not in content or _FIELD not in content:
        return None
    return list(_rows(content))


def _rows(content: bytes) -> Iterator[list[Any]]:
    near = b"\n".join(raw for raw in content.split(b"\n") if _SIGN in raw and _FIELD in raw)
    for line in split_segment(near):
        if not isinstance(line, Line) or line.kind != "turn":
            continue
        with suppress(GitmemError):
            body: Mapping[str, Any] = decode(line).body
            item = body.get("work_item")
            if is_name(item):
                yield [item, line.id, line.ts, line.clock, line.writer, line.seq, bool(body.get("work_refs"))]
