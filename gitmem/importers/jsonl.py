"""Import of JSON lines: turn events plus `session`, `turn`, `ts`, `source` and `source_id`.

Consecutive lines of one `turn` are one turn; without `turn` a user message begins one. Ids come from the
source, so that the same file, or a longer version of it, can be imported again without doubling anything.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final

from gitmem.errors import GitmemError, InvalidRecord
from gitmem.records import Event, check_name, derive_id, json_type, parse_event
from gitmem.redaction import redact_values
from gitmem.turn import refuse_secret_names
from gitmem.turn_line import BATCH
from gitmem.turn_recorder import TurnRecorder

#: What a line says about its place; everything else is the event.
_PLACE: Final = ("turn",)
#: Seconds to wait for the home's lock between two batches.
_LOCK_WAIT: Final = 30.0


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that was not imported, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or would do.

    Attributes:
        turns, records: how many were imported.
        sessions: how many sessions they belong to.
        known: records that the ledger holds already.
        forgotten: records that were forgotten here and are not brought back.
        redactions: secrets that were replaced.
        skipped: lines that could not be imported.
        dry_run: nothing was written.
    """

    turns: int
    records: int
    sessions: int
    known: int
    forgotten: int
    redactions: int
    skipped: Sequence[Skipped]
    dry_run: bool


@dataclass(slots=True)
class _Tally:
    turns: int = 0
    records: int = 0
    known: int = 0
    forgotten: int = 0
    redactions: int = 0
    sessions: set[str] = field(default_factory=set)
    skipped: list[Skipped] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Item:
    """One good line: its event, with the turn that it names, if it names one."""

    line: int
    event: Event
    turn: str | None


def import_jsonl(
    lines: Iterable[bytes],
    recorder: TurnRecorder,
    *,
    known: Callable[[], frozenset[str]],
    forgotten: frozenset[str],
    dry_run: bool = False,
    progress: Callable[[int], None] = lambda done: None,  # noqa: ARG005
) -> ImportReport:
    """Import JSON lines as turns.

    Args:
        lines: the file's lines as bytes.
        recorder: opens turns and commits them.
        known: returns the ids of all records that the ledger and the spool hold.
        forgotten: ids of records that must not come back.
        dry_run: only say what would be done.
        progress: called with the number of turns so far.
    """
    tally = _Tally()
    seen = set(known())
    for group in _turns(_items(lines, recorder.now(), tally)):
        fresh = _unknown(group, seen, forgotten, tally)
        if not fresh:
            continue
        tally.turns += 1
        tally.records += len(fresh)
        tally.sessions.update(item.event.session for item in fresh if item.event.session)
        if dry_run:
            tally.redactions += sum(len(redact_values(item.event.body)[1]) for item in fresh)
            continue
        tally.redactions += _spool_turn(recorder, fresh)
        if tally.turns % BATCH == 0:
            recorder.line.commit_spooled(wait=_LOCK_WAIT)
            progress(tally.turns)
    if tally.turns and not dry_run:
        recorder.line.commit_spooled(wait=_LOCK_WAIT)
        recorder.line.settle()
    return ImportReport(
        tally.turns,
        tally.records,
        len(tally.sessions),
        tally.known,
        tally.forgotten,
        tally.redactions,
        tally.skipped,
        dry_run,
    )


def _items(lines: Iterable[bytes], now: float, tally: _Tally) -> Iterator[_Item]:
    same: Counter[str] = Counter()
    for number, raw in enumerate(lines, 1):
        text = raw.strip(b" \t\r\n\0\xef\xbb\xbf")
        if not text:
            continue
        digest = sha256(text).hexdigest()
        same[digest] += 1
        try:
            yield _item(number, text, (digest, str(same[digest])), now)
        except GitmemError as error:
            tally.skipped.append(Skipped(number, error.message))
        except (ValueError, RecursionError) as error:
            tally.skipped.append(Skipped(number, f"not JSON: {str(error)[:120]}"))


def _item(number: int, text: bytes, name: tuple[str, str], now: float) -> _Item:
    raw = json.loads(text)
    if not isinstance(raw, Mapping):
        raise InvalidRecord(f"an event is a JSON object, not {json_type(raw)}")
    turn = raw.get("turn")
    event = {field: value for field, value in raw.items() if field not in _PLACE}
    parsed = refuse_secret_names(parse_event(event, now=now))
    record_id = derive_id(parsed.kind, *_source_key(raw, name))
    return _Item(number, replace(parsed, id=record_id), None if turn is None else str(turn))


def _source_key(raw: Mapping[str, Any], name: tuple[str, str]) -> tuple[str, ...]:
    source = str(raw.get("source") or "jsonl")
    if raw.get("source_id") is not None:
        return source, str(raw.get("kind")), str(raw["source_id"])
    # Without an id of its own the line is its own name; the same line again is the next of its kind.
    return source, *name


def _turns(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    group: list[_Item] = []
    for item in items:
        if group and _begins_turn(item, group[-1]):
            yield group
            group = []
        group.append(item)
    if group:
        yield group


def _begins_turn(item: _Item, last: _Item) -> bool:
    if item.event.session != last.event.session or item.turn != last.turn:
        return True
    if item.turn is not None:
        return False
    return item.event.kind == "message" and item.event.body.get("role") == "user"


def _unknown(group: Sequence[_Item], seen: set[str], forgotten: frozenset[str], tally: _Tally) -> list[_Item]:
    fresh = []
    for item in group:
        if item.event.id in forgotten:
            tally.forgotten += 1
        elif item.event.id in seen:
            tally.known += 1
        else:
            seen.add(item.event.id)
            fresh.append(item)
    return fresh


def _spool_turn(recorder: TurnRecorder, items: Sequence[_Item]) -> int:
    events = [item.event for item in items]
    turn_id = derive_id("turn", *(event.id for event in events))
    turn = recorder.open(
        session=next((check_name(e.session, "session") for e in events if e.session), None),
        turn_id=turn_id,
        ts=max(event.ts for event in events),
    )
    for event in events:
        turn.tell(event)
    turn.spool_only(durable=False)
    return len(turn.findings.redactions)
