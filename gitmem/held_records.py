"""Records of other writers as they are judged here: each when it is read, all of them for a list."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

from gitmem import __version__
from gitmem.errors import GitmemError
from gitmem.findings import Finding
from gitmem.layout import Layout
from gitmem.ledger import Ledger
from gitmem.ledger_format import Line, decode_lines, parse_segment_path, split_segment
from gitmem.quarantine_rules import LOST, Held, JudgeIn, body_mark, record_rules
from gitmem.records import Record, record_ref
from gitmem.segment_facts import SegmentFacts
from gitmem.writer import writers_of

#: Of the rows that are kept of a segment.
_ROWS: Final = 2
#: Verdicts kept in a process.
_KEPT: Final = 20_000

#: Characters of a text whose being clean is remembered: names of fields and values as `user` come again in
#: every record.
_WORD: Final = 32
#: Such texts remembered in a process.
_WORDS: Final = 5_000

_Verdict = tuple[str, ...]


class HeldRecords:
    """Judges records. Safe in threads.

    A record of this repository's own writers is never judged here: its receipt has named what was found. But
    a snapshot of an object that came by sync repeats words of others, and is held with the one they came in.
    The records of a writer that was this home's before another copy of the folder went on under its name are
    judged like everybody's.

    Args:
        layout: knows the own writers; what was found is kept in its derived folder.
        ledger: the records.
        judge: the scanner.
        allowed: returns what this machine allows.
    """

    def __init__(
        self, layout: Layout, ledger: Ledger, judge: JudgeIn, allowed: Callable[[], frozenset[str]]
    ) -> None:
        self._layout = layout
        self._ledger = ledger
        self._judge = _WordJudge(judge, allowed)
        self._allowed = allowed
        self._own: frozenset[str] = frozenset()
        self._others: set[str] = set()
        self._known: tuple[frozenset[str], dict[tuple[str, str], _Verdict]] = (frozenset(), {})
        self._facts: tuple[frozenset[str], SegmentFacts] | None = None
        self._lock = threading.RLock()

    def is_own(self, writer: str) -> bool:
        """Say whether a writer is one of this repository's; a record without one is on no line yet."""
        if not writer or writer in self._own:
            return True
        if writer in self._others:
            return False
        self._own = writers_of(self._layout.common_dir)
        if writer not in self._own:
            self._others.add(writer)  # and stays one: a work tree's id is minted before its first record
        return writer in self._own

    def judge(self, record: Record) -> Held | None:
        """Return a record as it is held, whether released or not; None where nothing is wrong with it."""
        is_own = self.is_own(record.writer)
        if record.redacted or (is_own and not record.after):
            return None
        mark = body_mark(record.body)
        rules = self._rules(record, mark)
        if is_own and rules:
            return self._inherited(record)
        return _held(record, mark, rules) if rules else None

    def refuses(self, body: Mapping[str, Any]) -> bool:
        """Say whether the scanner refuses a record's words, whoever wrote them."""
        return bool(self._once(("", body_mark(body)), lambda: record_rules(body, self._judge)))

    def _inherited(self, record: Record) -> Held | None:
        """Return what is held of others among the snapshots that an own one goes on from."""
        waiting, seen = [*record.after], set(record.after)
        while waiting:
            before = self._ledger.find(waiting.pop())
            if before is None:
                continue
            if not self.is_own(before.writer):
                found = self.judge(before)
                if found is not None:
                    return found
            fresh = [name for name in before.after if name not in seen]
            seen.update(fresh)
            waiting += fresh
        return None

    def judge_at(self, origin: str, record_id: str, *, is_snapshot: bool) -> list[Held]:
        """Return what is held of the records with an id in a segment, which are one but for a collision.

        Args:
            origin: path of the segment, or what stands for the spool, where nothing is held.
            record_id: id of the record.
            is_snapshot: it is one of an object; an own one may go on from one of others.
        """
        name = parse_segment_path(origin)
        if name is None or (self.is_own(name.writer) and not is_snapshot):
            return []
        segment = self._ledger.segments().get(origin)
        if segment is None:
            return []
        near = _lines_with(self._ledger.read_segment(segment), f',"id":"{record_id}",'.encode())
        items = (item for raw in near for item in split_segment(raw))
        lines = [item for item in items if isinstance(item, Line) and item.id == record_id]
        found = (self.judge(record) for record in decode_lines(lines))
        return [one for one in found if one is not None]

    def items(self, goes_on: Callable[[], bool]) -> tuple[list[Held], int]:
        """Return all that are held, and how many segments were not looked at yet.

        Args:
            goes_on: is asked before each segment that is new.
        """
        facts = self._kept()
        facts.catch_up(goes_on)
        found = []
        for path, rows in facts.known().items():
            name = parse_segment_path(path)
            if name is not None and rows and not self.is_own(name.writer):
                found += [_from_row(row, name.writer) for row in rows]
        return sorted(found, key=lambda one: (one.at or "", one.id)), facts.left

    def _kept(self) -> SegmentFacts:
        allowed = self._allowed()
        with self._lock:
            if self._facts is None or self._facts[0] != allowed:
                sign = sha256(" ".join([__version__, *sorted(allowed)]).encode()).hexdigest()
                version = _ROWS << 32 | int(sign[:8], 16)
                facts = SegmentFacts(self._layout, self._ledger, "quarantine", version, self._extract)
                self._facts = (allowed, facts)
            return self._facts[1]

    def _extract(self, content: bytes) -> list[list[Any]] | None:
        lines = [item for item in split_segment(content) if isinstance(item, Line)]
        if not lines or self.is_own(lines[0].writer):
            return None
        found = (self.judge(record) for record in decode_lines(lines))
        return [_to_row(one) for one in found if one is not None] or None

    def _rules(self, record: Record, mark: str) -> _Verdict:
        return self._once((record.id, mark), lambda: self._look(record))

    def _once(self, key: tuple[str, str], look: Callable[[], _Verdict]) -> _Verdict:
        """Return a verdict that stands for as long as this machine allows the same."""
        allowed = self._allowed()
        with self._lock:
            if self._known[0] != allowed or len(self._known[1]) > _KEPT:
                self._known = (allowed, {})
            known = self._known[1]
        if key in known:
            return known[key]
        rules = look()
        if rules != (LOST,):  # its text may come with another fetch
            known[key] = rules
        return rules

    def _look(self, record: Record) -> _Verdict:
        try:
            body = self._ledger.full_body(record)
        except GitmemError:
            return (LOST,)
        return record_rules(body, self._judge)


class _WordJudge:
    """Judges texts, short ones that are clean once, as long as this machine allows the same."""

    def __init__(self, judge: JudgeIn, allowed: Callable[[], frozenset[str]]) -> None:
        self._judge = judge
        self._allowed = allowed
        self._clean: tuple[frozenset[str], set[bytes]] = (frozenset(), set())

    def __call__(self, text: str, scope: str) -> Sequence[Finding]:
        """Return what is wrong with a text."""
        if len(text) > _WORD:
            return self._judge(text, scope)
        allowed = self._allowed()
        if self._clean[0] != allowed or len(self._clean[1]) > _WORDS:
            self._clean = (allowed, set())
        clean = self._clean[1]
        # By digest: what is forgotten must not live on in here.
        key = sha256(f"{scope} {text}".encode("utf-8", "surrogatepass")).digest()
        if key in clean:
            return ()
        found = self._judge(text, scope)
        if not found:
            clean.add(key)
        return found


def _lines_with(content: bytes, needle: bytes) -> Iterator[bytes]:
    """Yield the lines that hold something; taking apart all of a segment for each hit would be slow."""
    at = content.find(needle)
    while at >= 0:
        start, end = content.rfind(b"\n", 0, at) + 1, content.find(b"\n", at)
        yield content[start : end + 1 if end >= 0 else len(content)]
        at = content.find(needle, end) if end >= 0 else -1


def _held(record: Record, mark: str, rules: _Verdict) -> Held:
    return Held(
        f"record:{record.id}",
        record_ref(record.kind, record.id, None),
        record.kind,
        rules,
        writer=record.writer,
        at=record.ts,
        mark=mark,
        aliases=tuple(_aliases(record)),
    )


def _aliases(record: Record) -> Iterator[str]:
    """Yield the refs of what a record is a part of, and of the object that it is a snapshot of."""
    yield f"turn:{record.turn}"
    if record.object is not None:
        yield f"{record.kind}:{record.object}"
    if record.kind == "session" and record.session is not None:
        yield f"session:{record.session}"


def _to_row(one: Held) -> list[Any]:
    return [one.id, one.source_ref, one.kind, list(one.rules), one.at, one.mark, list(one.aliases)]


def _from_row(row: list[Any], writer: str) -> Held:
    item, ref, kind, rules, at, mark, aliases = row
    return Held(item, ref, kind, tuple(rules), writer=writer, at=at, mark=mark, aliases=tuple(aliases))
