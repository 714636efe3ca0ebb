"""Facts for which a memory store had no room: kept in the ledger, told to the operator until there is room.

A model that cannot make room would drop them; so each is recorded once, where search finds it. A small file
in the private folder counts what was refused since the store last took something; losing it loses no fact.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from gitmem.authoring import Provenance
from gitmem.curated import STORES
from gitmem.durable_file import write_file
from gitmem.errors import GitmemError
from gitmem.graphemes import cut_at
from gitmem.layout import Layout
from gitmem.ledger import Ledger
from gitmem.memory_call import TARGETS, Call
from gitmem.records import Event, derive_id
from gitmem.times import format_time
from gitmem.turn_recorder import TurnRecorder

#: The action of the ledger's record.
REFUSED: Final = "refused"

_LISTED: Final = 20
#: Code points that are kept of one text and of a call's; what is longer is no fact.
_MOST_OF_TEXT: Final = 16_384
_MOST_OF_CALL: Final = 65_536
_LARGEST_FILE: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Refusals:
    """What one store refused for lack of room since it last took something.

    Attributes:
        count: how many facts.
        since: when the first of them came, RFC 3339.
        refs: source refs of the last ones.
    """

    count: int
    since: str
    refs: tuple[str, ...]


class RefusedFacts:
    """Keeps what found no room.

    Args:
        layout: where the file is.
        recorder: takes the records.
        ledger: knows which facts are kept already.
        now: the wall clock, seconds since 1970.
    """

    def __init__(
        self, layout: Layout, recorder: TurnRecorder, ledger: Ledger, now: Callable[[], float]
    ) -> None:
        self._path = layout.private / "refused.json"
        self._recorder = recorder
        self._ledger = ledger
        self._now = now
        self._told: set[str] = set()

    def keep(self, call: Call, by: Provenance) -> None:
        """Keep the new texts of a call that was refused; what fails here must not change the answer."""
        with suppress(GitmemError, OSError):
            at = format_time(self._now())
            events = [self._event(call.target, text, at, by) for text in _bounded(call)]
            fresh = [event for event in events if not self._is_known(event.id)]
            if fresh:
                self._record(fresh, by)
            self._count(call.target, [f"memory:{event.id}" for event in events], at)

    def clear(self, target: str) -> None:
        """Begin again: the store took something."""
        if self._path.exists():
            rows = self._read()
            if rows.pop(target, None) is not None:
                self._write(rows)

    def since_last_success(self) -> dict[str, Refusals]:
        """Return, by store, what was refused; stores that refused nothing are left out."""
        return {target: found for target in TARGETS if (found := _refusals(self._read().get(target)))}

    def _event(self, target: str, text: str, at: str, by: Provenance) -> Event:
        body: dict[str, Any] = {"target": target, "action": REFUSED, "text": text}
        body["reason"] = f"{STORES[target]} had no room"
        if by.source is not None:
            body["source"] = by.source
        return Event(derive_id("memory", REFUSED, target, text), "memory", at, body, session=by.session_id)

    def _is_known(self, record_id: str) -> bool:
        return record_id in self._told or self._ledger.find(record_id) is not None

    def _record(self, events: list[Event], by: Provenance) -> None:
        turn = by.open_turn or self._recorder.open(session=by.session_id)
        for event in events:
            turn.tell(event)
            self._told.add(event.id)
        if by.open_turn is None:
            turn.spool_only()

    def _count(self, target: str, refs: list[str], at: str) -> None:
        rows = self._read()
        before = _refusals(rows.get(target)) or Refusals(0, at, ())
        fresh = [ref for ref in refs if ref not in before.refs]
        if fresh:
            kept = [*before.refs, *fresh][-_LISTED:]
            rows[target] = {"count": before.count + len(fresh), "since": before.since, "refs": kept}
            self._write(rows)

    def _read(self) -> dict[str, Any]:
        with suppress(OSError, ValueError, RecursionError):
            with self._path.open("rb") as file:
                rows = json.loads(file.read(_LARGEST_FILE))
            if isinstance(rows, dict):
                return rows
        return {}

    def _write(self, rows: Mapping[str, Any]) -> None:
        with suppress(OSError):
            write_file(self._path, json.dumps(rows).encode(), durable=False)


def _bounded(call: Call) -> Iterator[str]:
    """Yield what is kept of a call's texts: their beginnings, and of long ones only a few."""
    room = _MOST_OF_CALL
    for _, text in call.new_texts:
        if room <= 0:
            return
        kept = text[: cut_at(text, _MOST_OF_TEXT)]
        room -= len(kept)
        left = len(text) - len(kept)
        yield f"{kept}\n[{left:,} characters more were not kept]" if left else kept


def _refusals(row: object) -> Refusals | None:
    if not isinstance(row, Mapping):
        return None
    count, since, refs = row.get("count"), row.get("since"), row.get("refs")
    if not isinstance(count, int) or not isinstance(since, str) or not isinstance(refs, list):
        return None
    return Refusals(count, since, tuple(str(ref) for ref in refs)) if count > 0 else None
