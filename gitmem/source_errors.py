"""Why a source ref leads to nothing: it names nothing here, or what it names is forgotten, lost, damaged."""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.errors import CorruptionError, GitmemError, Unavailable, UnknownSource
from gitmem.ledger import Ledger
from gitmem.ledger_format import BadLine, read_records
from gitmem.records import Record
from gitmem.refs import KINDS, SourceRef


def unknown_source(text: str) -> UnknownSource:
    """Return the error for what names nothing in this home; it reveals nothing else."""
    return UnknownSource(
        f"nothing in this home is {text[:120]}",
        hint="Take source_ref from a search result.",
        source_ref=text[:120],
        allowed_prefixes=list(KINDS),
    )


def redacted_source(record: Record) -> Unavailable:
    """Return the error for a record that was forgotten."""
    return Unavailable(f"{record.source_ref} was forgotten", source_ref=record.source_ref, reason="redacted")


def lost_text(record: Record, error: GitmemError) -> Unavailable:
    """Return the error for a record whose long text cannot be read; head and tail must not pass for it."""
    reason = "damaged" if isinstance(error, CorruptionError) else "missing"
    return Unavailable(
        f"the long text of {record.source_ref} is {reason}",
        hint=error.hint or "Fetch it from another clone.",
        source_ref=record.source_ref,
        reason=reason,
    )


def damaged_record(ledger: Ledger, ref: SourceRef) -> Unavailable | None:
    """Return the error for a record whose line is there and cannot be read; None where no line has its id."""
    needle = f'"{ref.id}"'.encode()
    for line in _bad_lines(ledger, needle):
        if needle in line.raw:
            return Unavailable(
                f"the line of {ref} in the ledger is damaged",
                hint="`gitmem verify` tells more; another clone may have it whole.",
                source_ref=str(ref),
                reason="damaged",
            )
    return None


def _bad_lines(ledger: Ledger, needle: bytes) -> Iterator[BadLine]:
    """Yield the lines that cannot be read of all segments that hold some bytes."""
    for segment in ledger.segments().values():
        try:
            content = ledger.read_segment(segment)
        except GitmemError:  # a segment that is gone names nothing
            continue
        if needle in content:
            yield from (item for item in read_records(content) if isinstance(item, BadLine))
