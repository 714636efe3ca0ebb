"""Chains of the ledger, checked on files alone: rule V1 of its format, for any number of writers.

Segments are taken one after the other, those of a writer in order. What a line follows is looked up among all
lines taken; at the end the rest is judged. Nothing here reads anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from gitmem.counted import counted
from gitmem.forgotten import Receipts
from gitmem.ledger_format import Line, number_lines, parse_segment_path, split_segment
from gitmem.ledger_line import EMPTY, NO_PREV, STUB, read_envelope
from gitmem.records import record_ref
from gitmem.verify_finding import Finding

#: Bytes of a hash.
_HASH: Final = 32
#: Stands before how many more lines of a file are as the one that is named.
_MORE: Final = "; and so with "


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line stands, and which line it is."""

    path: str
    number: int
    writer: str
    seq: int
    turn: str
    ref: str
    hash: str
    prev: str


class LedgerChains:
    """Takes segments and tells what is wrong with the chains in them.

    Args:
        receipts: what is forgotten, as known now.
    """

    def __init__(self, receipts: Receipts) -> None:
        self._receipts = receipts
        self._hashes: dict[str, _Hashes] = {}
        self._others: dict[tuple[str, int], set[str]] = {}
        self._waiting: list[Place] = []
        #: The segment that is being taken, and the highest number of its writer's lines before it.
        self._path = ""
        self._before = 0
        #: Hashes of its lines with numbers that came before it, too: those of a fork.
        self._forked: set[str] = set()
        self.lines = 0

    def learn(self, content: bytes) -> None:
        """Take lines that were checked before: others may follow them."""
        for item in split_segment(content):
            if isinstance(item, Line):
                self._know(item.writer, item.seq, item.envelope_hash)

    def learn_place(self, place: Place) -> None:
        """Take one line that was checked before."""
        self._know(place.writer, place.seq, place.hash)

    def check(self, path: str, content: bytes) -> list[Finding]:
        """Take one version of a segment; return what can be said of it by itself.

        Args:
            path: of the segment; those of a writer come in order, all versions of one together.
            content: as a tree holds it, not closed under receipts.
        """
        name = parse_segment_path(path)
        writer = name.writer if name is not None else ""
        if path != self._path:
            self._path, self._forked = path, set()
            self._before = self._hashes[writer].highest if writer in self._hashes else 0
        order = _Order(writer)
        at, count = self._take_whole(content, order)
        findings: list[Finding] = []
        empty: list[Finding] = []
        twice: list[Finding] = []
        for number, item in number_lines(content[at:] if at else content):
            place = number + count
            if isinstance(item, Line):
                if item.seq <= self._before and self._stands_elsewhere(item):
                    twice.append(_elsewhere(item, _place(path, place, item)))
                findings += self._check_line(path, place, item, order)
            else:
                among = empty if item.reason == EMPTY else findings
                among.append(Finding("bad_line", item.reason, path=path, line=place))
        return [*findings, *_first_of(empty), *_first_of(twice)]

    def _stands_elsewhere(self, line: Line) -> bool:
        """Say whether a line is known from another segment, not from another version of this one."""
        line_hash = line.envelope_hash
        if line_hash in self._forked:
            return False
        if self.holds(line.writer, line.seq, line_hash):
            return True
        self._forked.add(line_hash)
        return False

    def _check_line(self, path: str, number: int, line: Line, order: _Order) -> Iterator[Finding]:
        line_hash = line.envelope_hash
        if line.redacted != (line.id in self._receipts.records) or not line.is_intact:
            yield from _line_faults(line, _place(path, number, line), self._receipts)
        if not order.takes(line.writer, line.seq, line_hash):
            yield order.fault(line, _place(path, number, line))
        self._know(line.writer, line.seq, line_hash)
        if not self._follows(line.writer, line.seq, line.prev):
            self._waiting.append(_place(path, number, line))
        self.lines += 1

    def _take_whole(self, content: bytes, order: _Order) -> tuple[int, int]:
        """Take the lines at the start of a segment for as long as there is nothing to say of one.

        Returns:
            Where the first line begins of which there may be, and how many lines come before it.
        """
        forgotten = self._receipts.records
        at = count = 0
        while (end := content.find(b"\n", at)) >= 0:
            line = read_envelope(content[at:end])
            if line is None or line.seq <= self._before:
                break
            is_stub = line.mid == STUB
            if is_stub != (line.id in forgotten) or not (
                is_stub or sha256(line.mid).hexdigest() == line.digest
            ):
                break
            line_hash = sha256(line.envelope).hexdigest()
            if not self._follows(line.writer, line.seq, line.prev) or not order.takes(
                line.writer, line.seq, line_hash
            ):
                break
            self._know(line.writer, line.seq, line_hash)
            at, count = end + 1, count + 1
        self.lines += count
        return at, count

    def goes_on(self, content: bytes) -> bool:
        """Say whether the first line of a segment follows one that was taken."""
        first = next(iter(split_segment(content[: content.find(b"\n") + 1])), None)
        return (
            isinstance(first, Line) and first.seq > 1 and self._follows(first.writer, first.seq, first.prev)
        )

    def holds(self, writer: str, seq: int, line_hash: str) -> bool:
        """Say whether the line with this number is the one with this hash."""
        known = self._hashes.get(writer)
        if known is None:
            return False
        return known.get(seq) == line_hash or line_hash in self._others.get((writer, seq), ())

    def has(self, writer: str, seq: int) -> bool:
        """Say whether there is any line with this number."""
        return writer in self._hashes and self._hashes[writer].get(seq) is not None

    def forked(self) -> Mapping[tuple[str, int], frozenset[str]]:
        """Return the hashes of lines that share writer and number."""
        return {
            (writer, seq): frozenset({*others, self._hashes[writer].get(seq) or ""})
            for (writer, seq), others in self._others.items()
        }

    def waiting(self) -> Iterator[Place]:
        """Yield the lines whose predecessor has not come so far."""
        return (place for place in self._waiting if not self._follows(place.writer, place.seq, place.prev))

    def finish(self) -> list[Finding]:
        """Return what is wrong with the links between lines, now that all have come."""
        return [self._broken(place) for place in self.waiting()]

    def _know(self, writer: str, seq: int, line_hash: str) -> None:
        known = self._hashes.get(writer)
        if known is None:
            known = self._hashes[writer] = _Hashes()
        if known.add(seq, line_hash) != line_hash:
            self._others.setdefault((writer, seq), set()).add(line_hash)

    def _follows(self, writer: str, seq: int, prev: str) -> bool:
        return prev == NO_PREV if seq == 1 else self.holds(writer, seq - 1, prev)

    def _broken(self, place: Place) -> Finding:
        before = f"line {place.seq - 1} of {place.writer}"
        if place.seq > 1 and not self.has(place.writer, place.seq - 1):
            rule, message = "gap", f"{before} is missing: line {place.seq} follows it"
        else:
            rule, message = "broken", f"line {place.seq} of {place.writer} does not follow {before}"
            if place.seq == 1:
                message = f"line 1 of {place.writer} follows a line that there cannot be"
        return Finding(rule, message, path=place.path, line=place.number, source_ref=place.ref)


class _Hashes:
    """The hashes of a writer's lines by number, 32 bytes for each that comes in order.

    Attributes:
        highest: of the numbers.
    """

    def __init__(self) -> None:
        self.highest = 0
        self._row = bytearray()
        self._far: dict[int, bytes] = {}

    def get(self, seq: int) -> str | None:
        """Return the hash of a line; None where there is no such line."""
        end = _HASH * seq
        if end <= len(self._row):
            return self._row[end - _HASH : end].hex()
        far = self._far.get(seq) if self._far else None
        return far.hex() if far is not None else None

    def add(self, seq: int, line_hash: str) -> str:
        """Take the hash of a line, unless there is one; return the one that there is."""
        known = self.get(seq)
        if known is not None:
            return known
        self.highest = max(self.highest, seq)
        if _HASH * (seq - 1) == len(self._row):
            self._row += bytes.fromhex(line_hash)
        else:
            self._far[seq] = bytes.fromhex(line_hash)
        return line_hash


def places_in(path: str, content: bytes) -> Iterator[Place]:
    """Yield where each line of a segment stands."""
    for number, item in number_lines(content):
        if isinstance(item, Line):
            yield _place(path, number, item)


def has_line(path: str, content: bytes | None, line_hash: str) -> bool:
    """Say whether a line, named by its hash, stands in a version of a segment."""
    return content is not None and any(place.hash == line_hash for place in places_in(path, content))


def lines_with(signs: Iterable[bytes], content: bytes) -> Iterator[bytes]:
    """Yield each line once in which one of some signs is found, without its line feed, in order."""
    # One search for each sign: several times quicker than one for all of them.
    begins = {begin for sign in signs for begin in _lines_of(sign, content)}
    for begin in sorted(begins):
        end = content.find(b"\n", begin)
        yield content[begin : end if end >= 0 else len(content)]


def _lines_of(sign: bytes, content: bytes) -> Iterator[int]:
    """Yield where each line begins in which a sign is found."""
    at = content.find(sign)
    while at >= 0:
        yield content.rfind(b"\n", 0, at) + 1
        end = content.find(b"\n", at)
        at = content.find(sign, end) if end >= 0 else -1


def essence(message: str) -> str:
    """Return a finding's message without how many more there are of its kind."""
    return message.partition(_MORE)[0]


def faults_of(path: str, content: bytes, receipts: Receipts, known: Iterable[Place] = ()) -> set[str]:
    """Return the essence of the messages of what is wrong in one version of a segment.

    Args:
        path: of the segment.
        content: the version.
        receipts: what is forgotten.
        known: lines of other segments, which lines of this one may follow.
    """
    chains = LedgerChains(receipts)
    for place in known:
        chains.learn_place(place)
    return {essence(finding.message) for finding in [*chains.check(path, content), *chains.finish()]}


def _place(path: str, number: int, line: Line) -> Place:
    ref = record_ref(line.kind, line.id, line.object)
    return Place(path, number, line.writer, line.seq, line.turn, ref, line.envelope_hash, line.prev)


def _elsewhere(line: Line, place: Place) -> Finding:
    return _fault("duplicate", f"line {line.seq} of {line.writer} stands in an earlier segment, too", place)


def _first_of(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the first of some findings of a kind, which says how many more there are in its file."""
    if findings:
        first, more = findings[0], len(findings) - 1
        yield replace(first, message=f"{first.message}{_MORE}{counted(more, 'more line')}") if more else first


def _line_faults(line: Line, place: Place, receipts: Receipts) -> Iterator[Finding]:
    is_forgotten = line.id in receipts.records
    what = f"record {line.id}, line {line.seq} of {line.writer},"
    if line.redacted:
        if not is_forgotten:
            yield _fault("illegal_redaction", f"{what} is redacted, and no receipt says why", place)
    elif not line.fits:
        yield _fault("body", f"{what} has other words than were sealed", place)
    elif is_forgotten:
        message = f"{what} is forgotten, and this copy of the segment has its words still"
        yield Finding(
            "unredacted", message, "warning", path=place.path, line=place.number, source_ref=place.ref
        )


class _Order:
    """The order of the lines of one segment."""

    def __init__(self, writer: str) -> None:
        self._writer = writer
        self._last = 0
        self._seen: set[str] = set()

    def takes(self, writer: str, seq: int, line_hash: str) -> bool:
        """Say whether a line may stand behind those that were taken, and take it."""
        is_good = seq >= self._last and line_hash not in self._seen and writer == self._writer
        if is_good:
            self._last = seq
            self._seen.add(line_hash)
        return is_good

    def fault(self, line: Line, place: Place) -> Finding:
        """Say why a line may not stand where it stands."""
        what = f"line {line.seq} of {line.writer}"
        if place.hash in self._seen:
            return _fault("duplicate", f"{what} stands twice", place)
        self._seen.add(place.hash)
        if line.writer != self._writer:
            return _fault("inserted", f"{what} stands in a segment of {self._writer}", place)
        return _fault("reordered", f"{what} stands behind line {self._last}", place)


def _fault(rule: str, message: str, place: Place) -> Finding:
    return Finding(rule, message, path=place.path, line=place.number, source_ref=place.ref)
