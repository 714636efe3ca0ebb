"""The ledger's files as bytes: segments and their union, reading order, clocks and names; no I/O.

A segment is a file of lines (`ledger_line`). Whatever stands between them is kept and named, never an error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Final

from gitmem.errors import LedgerCorrupt
from gitmem.ledger_line import (
    LAST_CLOCK,
    NO_PREV,
    STUB,
    BadLine,
    Line,
    bad_line,
    decode,
    parse_line,
    redact,
    seal,
)
from gitmem.records import Record

__all__ = [
    "CLOCK_TOLERANCE",
    "LAST_CLOCK",
    "NO_PREV",
    "SEGMENT_BYTES",
    "STUB",
    "BadLine",
    "Line",
    "SegmentName",
    "Shown",
    "blob_path",
    "decode",
    "decode_lines",
    "is_ahead",
    "next_clock",
    "number_lines",
    "parse_blob_path",
    "parse_line",
    "parse_segment_path",
    "read_records",
    "reading_order",
    "redact",
    "seal",
    "segment_path",
    "show_records",
    "split_segment",
    "union_segments",
]

#: A segment that has reached this size is closed before the next turn.
SEGMENT_BYTES: Final = 64 * 1024
#: A clock further ahead of the wall than this is listed, in milliseconds.
CLOCK_TOLERANCE: Final = 5 * 60 * 1000

_SEGMENT: Final = re.compile(r"ledger/([0-9]{4}-[0-9]{2})/([0-9]{2})/(w[0-9a-f]{8})-([0-9]{4,15})\.jsonl")
_BLOB: Final = re.compile(r"ledger/blobs/([0-9]{4}-[0-9]{2})/([0-9]{2})/([a-z]{1,16}_[0-9a-f]{15})")
_NOT_NUL: Final = re.compile(rb"[^\0]+")
_LINE_START: Final = b'{"ts":"'
_LINE_END: Final = re.compile(rb'"prev":"[0-9a-f]{64}"\}')
#: How often bytes that are no whole line are looked through for one; bounds what hostile bytes can cost.
_GLUED_WORK: Final = 64


@dataclass(frozen=True, slots=True, order=True)
class SegmentName:
    """What the path of a segment says; sorts by writer, then number.

    Attributes:
        number: counts through the writer's life; orders its segments.
        day: UTC day of sealing, `YYYY-MM-DD`; orders nothing.
    """

    writer: str
    number: int
    day: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A record in reading order.

    Attributes:
        contested: whether another record has the same id and another content.
    """

    record: Record
    contested: bool


def split_segment(content: bytes) -> list[Line | BadLine]:
    """Return the lines of a segment and the bytes between them, in order; never raises.

    A whole line is found also behind a torn one or a run of NUL bytes that a power cut left on the same
    physical line. A missing last line feed is no fault of a whole line.
    """
    return [item for _, item in number_lines(content)]


def read_records(content: bytes) -> Iterator[Record | BadLine]:
    """Yield the records of a segment in the order of the file, and what is none with number and reason."""
    for number, item in number_lines(content):
        if isinstance(item, BadLine):
            yield item
            continue
        try:
            yield decode(item)
        except LedgerCorrupt as error:
            yield BadLine(item.raw, number, error.message)


def decode_lines(lines: Iterable[Line]) -> Iterator[Record]:
    """Yield the records of lines; one whose middle cannot be read costs only itself and is passed over."""
    for line in lines:
        with suppress(LedgerCorrupt):
            yield decode(line)


def number_lines(content: bytes) -> Iterator[tuple[int, Line | BadLine]]:
    """Yield what `split_segment` returns, each with the number of its physical line, from 1."""
    physical = content.split(b"\n")
    tail = physical.pop()
    for number, raw in enumerate(physical, 1):
        item = parse_line(raw, number)
        if isinstance(item, Line) and item.is_intact:
            yield number, item
        else:
            for piece in _split_glued(raw, item, number):
                yield number, piece
    if tail:
        number = len(physical) + 1
        for piece in _split_glued(tail, parse_line(tail, number), number):
            is_cut = isinstance(piece, BadLine) and tail.endswith(piece.raw[:-1]) and b"\0" not in piece.raw
            yield number, bad_line(piece.raw[:-1], number, "cut off") if is_cut else piece


def _split_glued(raw: bytes, item: Line | BadLine, number: int) -> Iterator[Line | BadLine]:
    """Yield the whole lines within a physical line that is none as sealed, and the stretches around them."""
    if isinstance(item, Line) and item.is_intact:
        yield item
        return
    at = 0
    for start, end, line in _find_whole(raw):
        if at < start:
            yield bad_line(raw[at:start], number)
        yield line
        at = end
    if at == 0:
        yield item
    elif at < len(raw):
        yield bad_line(raw[at:], number)


def _find_whole(raw: bytes) -> list[tuple[int, int, Line]]:
    found: list[tuple[int, int, Line]] = []
    for stretch in _NOT_NUL.finditer(raw):
        found += reversed(list(_peel(raw, *stretch.span())))
    return found


def _peel(raw: bytes, start: int, end: int) -> Iterator[tuple[int, int, Line]]:
    """Yield start, end and line of what is whole in a stretch without NUL bytes, the last one first.

    A stretch of a longer line's body that looks like a line cannot be taken for one: its digest does not fit.
    """
    budget = _GLUED_WORK * (end - start)
    for found in reversed(list(_LINE_END.finditer(raw, start, end))):
        stop = at = found.end()
        while stop <= end and budget > 0 and (at := raw.rfind(_LINE_START, start, at)) >= 0:
            budget -= stop - at
            line = parse_line(raw[at:stop])
            if isinstance(line, Line) and line.is_intact:
                yield at, stop, line
                end = at


def union_segments(versions: Iterable[bytes]) -> bytes:
    """Return the union of versions of one segment: every line of each, once, in a fixed order.

    Commutative and idempotent for any bytes; associative too for versions whose lines stand in their order,
    as all that gitmem writes do. Of two lines with one envelope the stub wins, else the one that fits its
    digest. Where one version begins with all the others it is the result, byte for byte.
    """
    distinct = sorted(set(versions), key=len)
    if not distinct or all(distinct[-1].startswith(version) for version in distinct):
        return distinct[-1] if distinct else b""
    lines: dict[bytes, Line] = {}
    runs: dict[bytes, set[tuple[bytes, ...]]] = {}
    parts = [split_segment(version) for version in distinct]
    raws = {item.raw for part in parts for item in part}
    for version, part in zip(distinct, parts, strict=True):
        _gather(part[:-1] if _is_cut(version, part, raws) else part, lines, runs)
    return _join(lines, runs)


def _is_cut(version: bytes, part: Sequence[Line | BadLine], raws: set[bytes]) -> bool:
    """Say whether a version ends in the beginning of a line that only other versions have whole."""
    if version.endswith(b"\n") or not part or isinstance(part[-1], Line):
        return False
    tail = part[-1].raw[:-1]
    return any(raw.startswith(tail) for raw in raws.difference(item.raw for item in part))


def _gather(
    items: Sequence[Line | BadLine], lines: dict[bytes, Line], runs: dict[bytes, set[tuple[bytes, ...]]]
) -> None:
    anchor, run = b"", list[bytes]()
    for item in items:
        if isinstance(item, BadLine):
            run.append(item.raw)
            continue
        runs.setdefault(anchor, set()).add(tuple(run))
        anchor, run = item.envelope, []
        known = lines.get(anchor)
        if known is None or (known.mid != item.mid and _rank(known) < _rank(item)):
            lines[anchor] = item
    runs.setdefault(anchor, set()).add(tuple(run))


def _rank(line: Line) -> tuple[bool, bool, bytes]:
    return (line.redacted, line.fits, line.mid)


def _join(lines: dict[bytes, Line], runs: dict[bytes, set[tuple[bytes, ...]]]) -> bytes:
    order = sorted(lines.values(), key=lambda line: (line.seq, line.clock, line.envelope_hash))
    parts = [*_merge_runs(runs.get(b"", set()))]
    for line in order:
        parts.append(line.raw)
        parts += _merge_runs(runs[line.envelope])
    return b"".join(parts)


def _merge_runs(runs: set[tuple[bytes, ...]]) -> tuple[bytes, ...]:
    """Merge the bad lines that stand behind one good line, so that each version's keep their order."""
    merged: tuple[bytes, ...] = ()
    # The longest first: what was merged before takes the parts it was made of in without a change.
    for run in sorted(runs, key=lambda run: (-len(run), run)):
        if not _is_within(run, merged):
            merged = _merge_two(merged, run)
    return merged


def _merge_two(a: tuple[bytes, ...], b: tuple[bytes, ...]) -> tuple[bytes, ...]:
    merged = []
    i = j = 0
    later_a, later_b = Counter(a), Counter(b)
    while i < len(a) and j < len(b):
        x, y = a[i], b[j]
        # What both still have is taken from both at once; else the bytewise smaller comes first.
        x_waits, y_waits = later_b[x] > 0, later_a[y] > 0
        take_a = x == y or (y_waits if x_waits != y_waits else x < y)
        take_b = x == y or not take_a
        merged.append(x if take_a else y)
        if take_a:
            later_a[x] -= 1
            i += 1
        if take_b:
            later_b[y] -= 1
            j += 1
    return (*merged, *a[i:], *b[j:])


def _is_within(a: tuple[bytes, ...], b: tuple[bytes, ...]) -> bool:
    rest = iter(b)
    return all(item in rest for item in a)


def reading_order(line: Line) -> tuple[str, str, int, str]:
    """Return the key by which lines of all writers are read: clock, writer, seq, hash of the envelope."""
    return (line.clock, line.writer, line.seq, line.envelope_hash)


def show_records(records: Iterable[Record]) -> list[Shown]:
    """Return records, given in reading order, as they are shown.

    One id with equal content (an import made twice, a copied folder) appears once, at its first place; with
    different content each appears, contested.
    """
    variants: dict[str, list[Record]] = {}
    shown = []
    for record in records:
        known = variants.setdefault(record.id, [])
        if not any(_same_content(record, other) for other in known):
            known.append(record)
            shown.append(record)
    return [Shown(record, len(variants[record.id]) > 1) for record in shown]


def _same_content(a: Record, b: Record) -> bool:
    return replace(a, writer=b.writer, seq=b.seq, clock=b.clock) == b


def next_clock(wall_ms: int, highest: str) -> str:
    """Return the clock of a new line.

    Args:
        wall_ms: wall time in milliseconds since 1970.
        highest: the highest clock known here; `""` for none.
    """
    wall = f"{min(max(wall_ms, 0), int(LAST_CLOCK[:12], 16)):012x}0000"
    if wall > highest:
        return wall
    # A hostile line with the very last clock must not stop all writing: then clocks repeat, and seq orders.
    return min(f"{int(highest, 16) + 1:016x}", LAST_CLOCK)


def is_ahead(clock: str, wall_ms: int) -> bool:
    """Say whether a clock is further ahead of the wall than machines' clocks ordinarily differ."""
    return int(clock[:12], 16) > wall_ms + CLOCK_TOLERANCE


def segment_path(seconds: float, writer: str, number: int) -> str:
    """Return the path of a writer's segment that is begun at `seconds` since 1970."""
    return f"ledger/{_day_path(seconds)}/{writer}-{number:04d}.jsonl"


def parse_segment_path(path: str) -> SegmentName | None:
    """Read the path of a segment; None where it is none."""
    found = _SEGMENT.fullmatch(path)
    if found is None or not _is_day(found[1], found[2]):
        return None
    number = int(found[4])
    return SegmentName(found[3], number, f"{found[1]}-{found[2]}") if f"{number:04d}" == found[4] else None


def blob_path(seconds: float, record_id: str) -> str:
    """Return the path of the file that holds a record's long texts."""
    return f"ledger/blobs/{_day_path(seconds)}/{record_id}"


def parse_blob_path(path: str) -> str | None:
    """Return the id of the record whose long texts a path holds; None where it holds none."""
    found = _BLOB.fullmatch(path)
    return found[3] if found and _is_day(found[1], found[2]) else None


def _day_path(seconds: float) -> str:
    day = datetime.fromtimestamp(seconds, UTC)
    return f"{day.year:04d}-{day.month:02d}/{day.day:02d}"


def _is_day(month: str, day: str) -> bool:
    try:
        date.fromisoformat(f"{month}-{day}")
    except ValueError:
        return False
    return True
