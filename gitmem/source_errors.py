"""Why a source ref leads to nothing: it names nothing here, or what it names is forgotten, lost, damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gitmem.errors import CorruptionError, GitmemError, Unavailable, UnknownSource
from gitmem.forgetting_record import forgetting_of, ref_digest
from gitmem.ledger import Ledger
from gitmem.ledger_format import BadLine, read_records
from gitmem.records import Record
from gitmem.refs import KINDS, SourceRef

#: Kinds of what stands in files of the operator's branch.
_KEPT_IN_FILES: Final = ("agent_memory", "workspace_profile", "note", "entry", "episode")


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


def is_forgotten_ref(ledger: Ledger, ref: str) -> bool:
    """Say whether a record of the ledger says that what a ref named was forgotten."""
    if not ledger.receipts().lines:
        return False
    digest = ref_digest(ref)
    subjects = (forgetting_of(record.kind, record.body) for record in ledger.find_all(digest.encode()))
    return any(what is not None and digest in what.refs for what in subjects)


@contextmanager
def forgotten_first(ledger: Ledger, ref: SourceRef) -> Iterator[None]:
    """Say of what leads to nothing that it was forgotten, where it was.

    Raises:
        Unavailable: so it is.
    """
    try:
        yield
    except (UnknownSource, Unavailable) as error:
        if error.details.get("reason") == "redacted" or not is_forgotten_ref(ledger, str(ref)):
            raise
        message = f"{ref} was forgotten"
        raise Unavailable(message, source_ref=str(ref), reason="redacted") from error


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
    """Return the error for a record that may be there and cannot be read; None where no damage hides it."""
    if ref.kind in _KEPT_IN_FILES:
        return None
    needle = f'"{ref.id}"'.encode()
    is_whole = True
    for segment in ledger.segments().values():
        try:
            content = ledger.read_segment(segment)
        except GitmemError:
            is_whole = False
            continue
        if needle in content and any(needle in line.raw for line in _bad_lines(content)):
            return _unreadable(ref, f"the line of {ref} in the ledger is damaged", "damaged")
    if is_whole:
        return None
    return _unreadable(ref, f"a part of the ledger is missing, and what is left has no {ref}", "missing")


def _bad_lines(content: bytes) -> Iterator[BadLine]:
    return (item for item in read_records(content) if isinstance(item, BadLine))


def _unreadable(ref: SourceRef, message: str, reason: str) -> Unavailable:
    return Unavailable(
        message,
        hint="`gitmem verify` tells more; another clone may have it whole.",
        source_ref=str(ref),
        reason=reason,
    )
