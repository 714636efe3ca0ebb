"""Remembers what was retracted and rejected: asked by ref for what is shown, by text for what is proposed."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from gitmem.errors import GitmemError
from gitmem.judgement_rules import (
    LIFT,
    ROWS_VERSION,
    Judgement,
    JudgementIndex,
    JudgementRow,
    fold_judgements,
    from_row,
    judgement_body,
    judgement_of,
    judgement_row,
    subject_of,
    text_digests,
    to_row,
)
from gitmem.layout import Layout
from gitmem.ledger import Ledger, Segment, spooled_records
from gitmem.ledger_format import Line, decode_lines, split_segment
from gitmem.records import Event, Record, clean_text, mint_id, record_of
from gitmem.segment_facts import SegmentFacts
from gitmem.times import format_time

#: Stands for the clock of what has none yet: behind every clock of hex digits.
_LATEST: Final = "~"


class Judgements:
    """The judgements of one home, as its ledger and its spool have them. Safe in threads.

    Args:
        ledger: whose `memory` records judge.
        layout: where what was read of each segment is kept.
    """

    def __init__(self, ledger: Ledger, layout: Layout) -> None:
        self._ledger = ledger
        self._facts = SegmentFacts(layout, ledger, "judgements", ROWS_VERSION, _judging_rows)
        self._lock = threading.RLock()
        self._told: dict[str, Record] = {}
        self._last: tuple[object, JudgementIndex] | None = None
        self._sealed: tuple[Mapping[str, Segment], tuple[JudgementRow, ...]] | None = None

    def find(self, text: str) -> Judgement | None:
        """Return the judgement of a text, or of one that differs in case, spacing or full stop alone."""
        texts = self.index().texts
        if not texts:
            return None
        return self._read(next((texts[digest] for digest in text_digests(text) if digest in texts), None))

    def of(self, ref: str) -> Judgement | None:
        """Return the retraction of what a ref names, if it was retracted."""
        refs = self.index().refs
        return self._read(refs.get(subject_of(ref))) if refs else None

    def stands(self, record_id: str) -> bool:
        """Say whether a judgement holds: it was neither lifted nor made again since."""
        index = self.index()
        return record_id in index.refs.values() or record_id in index.texts.values()

    def is_judgement(self, ref: str) -> bool:
        """Say whether a ref names the record of a judgement."""
        record = self._find(ref.removeprefix("memory:"))
        return record is not None and judgement_of(record) is not None

    def retracted(self) -> Mapping[str, str]:
        """Return the refs that were retracted, with the ids of the records that say so."""
        return self.index().refs

    def retracted_at(self, segments: Mapping[str, Segment]) -> Mapping[str, str]:
        """Return the refs that were retracted when the ledger had these segments."""
        facts, today = self._facts.values(), self._ledger.segments()

        def rows() -> Iterator[JudgementRow]:
            for path, segment in segments.items():
                is_same = path in facts and today.get(path) == segment
                found = facts[path] if is_same else _judging_rows(self._ledger.read_segment(segment))
                yield from map(from_row, found)

        return fold_judgements(tuple(rows())).refs

    def among(
        self, refs: Iterable[str], segments: Mapping[str, Segment] | None = None
    ) -> dict[str, Judgement]:
        """Return the retractions of what some refs name.

        Args:
            refs: of records.
            segments: of the ledger as it was; None for now.
        """
        retracted = self.retracted() if segments is None else self.retracted_at(segments)
        found = {ref: self._read(retracted.get(subject_of(ref))) for ref in refs} if retracted else {}
        return {ref: judgement for ref, judgement in found.items() if judgement is not None}

    def index(self) -> JudgementIndex:
        """Return what stands now."""
        with self._lock:
            rows = self._sealed_rows()
            spooled = tuple(self._spooled_rows())
            key = (id(rows), spooled)
            if self._last is None or self._last[0] != key:
                self._last = (key, fold_judgements([*rows, *spooled]))
            return self._last[1]

    def remember(self, event: Event, turn: str) -> None:
        """Count a judging event that this process told, before its turn has ended."""
        with self._lock:
            self._told[event.id] = record_of(event, turn)

    def lifting(self, text: str, *, by: str, now: float) -> Event | None:
        """Return the event by which an operator who says a judged text again takes the judgement back."""
        judgement = self.find(text)
        if judgement is None:
            return None
        record = self._find(judgement.source_ref.removeprefix("memory:"))
        digests = record.body.get("digests") if record is not None else None
        known = digests if isinstance(digests, list) else list(text_digests(text))
        ref = record.body.get("ref") if record is not None else None
        return judgement_event(judgement_body(LIFT, by=by, ref=ref, digests=known), now=now)

    def _sealed_rows(self) -> tuple[JudgementRow, ...]:
        segments = self._ledger.segments()  # the same mapping as long as no line has moved
        if self._sealed is None or self._sealed[0] is not segments:
            rows = (from_row(row) for value in self._facts.values().values() for row in value)
            self._sealed = (segments, tuple(rows))
        return self._sealed[1]

    def _spooled_rows(self) -> Iterator[JudgementRow]:
        spooled = [record for turn in self._ledger.spooled() for record in spooled_records(turn)]
        for number, record in enumerate([*spooled, *self._told.values()]):
            row = judgement_row(record.id, record.kind, record.body, (_LATEST, "", number))
            if row is not None:
                yield row

    def _read(self, record_id: str | None) -> Judgement | None:
        record = self._find(record_id) if record_id is not None else None
        return judgement_of(record) if record is not None else None

    def _find(self, record_id: str) -> Record | None:
        record = self._ledger.find(record_id) or self._told.get(record_id)
        if record is None:
            return None
        with suppress(GitmemError):  # a long text that is gone leaves what the line has of it
            return replace(record, body=self._ledger.full_body(record))
        return record


def judgement_event(
    body: Mapping[str, Any], *, now: float, session: str | None = None, record_id: str | None = None
) -> Event:
    """Return a judging record as it is told to a turn; what is no text in it is replaced, as everywhere."""
    clean = {name: clean_text(value) if isinstance(value, str) else value for name, value in body.items()}
    return Event(record_id or mint_id("memory"), "memory", format_time(now), clean, session=session)


def _judging_rows(content: bytes) -> Sequence[Any]:
    """Return the rows of a segment; only lines that may judge are decoded."""
    if b'"judgement"' not in content:
        return []
    lines = [one for one in split_segment(content) if isinstance(one, Line) and one.kind == "memory"]
    rows = (judgement_row(r.id, r.kind, r.body, (r.clock, r.writer, r.seq)) for r in decode_lines(lines))
    return [to_row(row) for row in rows if row is not None]
