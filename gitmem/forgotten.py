"""Receipts of forgetting, and closing what is read under them: lines, segments, entries, blobs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, Literal

from gitmem.ledger_format import BadLine, Line, parse_blob_path, redact, split_segment

#: What a receipt can be about: a record, an entry's text, a file's content, a purge of history.
ReceiptKind = Literal["record", "entry", "blob", "purge"]

#: Folder of the receipts in a turn line's tree.
FOLDER: Final = "ledger/forgotten"

# A record's receipt stands in the folder of the first two hex digits of its id, or without that folder.
_PATH: Final = re.compile(
    r"(?:ledger/)?forgotten/(?:"
    r"record/(?:(?P<fan>[0-9a-f]{2})/)?(?P<record>[a-z]{1,16}_(?P<two>[0-9a-f]{2})[0-9a-f]{13})"
    r"|entry/(?P<entry>[0-9a-f]{64})"
    r"|blob/(?P<blob>[0-9a-f]{40})"
    r"|purge/(?P<purge>[A-Za-z0-9_.-]{1,80})"
    r")\.jsonl"
)
_ID: Final = re.compile(rb',"id":"([a-z]{1,16}_[0-9a-f]{15})"')


@dataclass(frozen=True, slots=True)
class Receipts:
    """All receipts in force.

    Attributes:
        records: ids of forgotten records.
        entries: SHA-256 of forgotten entries.
        blobs: Git blob ids of forgotten files.
        purges: ids of purges of history.
        lines: the lines of each receipt, sorted, by kind and id; who forgot what, when and why.
    """

    records: frozenset[str] = frozenset()
    entries: frozenset[str] = frozenset()
    blobs: frozenset[str] = frozenset()
    purges: frozenset[str] = frozenset()
    lines: Mapping[tuple[ReceiptKind, str], tuple[bytes, ...]] = field(default_factory=dict)

    def is_forgotten_blob(self, blob_id: str) -> bool:
        """Say whether a file with this Git blob id has to go, under any name."""
        return blob_id in self.blobs

    def is_forgotten_entry(self, text: str) -> bool:
        """Say whether an entry with this text has to leave its store."""
        return (
            bool(self.entries) and sha256(text.encode("utf-8", "surrogatepass")).hexdigest() in self.entries
        )

    def is_forgotten_path(self, path: str) -> bool:
        """Say whether a path of a turn line's tree holds the long texts of a forgotten record."""
        return bool(self.records) and parse_blob_path(path) in self.records


def receipt_path(kind: ReceiptKind, name: str) -> str:
    """Return the path of a receipt in a turn line's tree."""
    if kind == "record":
        return f"{FOLDER}/record/{name.partition('_')[2][:2]}/{name}.jsonl"
    return f"{FOLDER}/{kind}/{name}.jsonl"


def is_receipt_path(path: str) -> bool:
    """Say whether a receipt stands at a path of a turn line's tree."""
    return _parse_path(path) is not None


def read_receipts(files: Mapping[str, bytes]) -> Receipts:
    """Read receipts by their paths, which begin at `ledger/` or at `forgotten/`; other paths are passed over.

    The path is what forgets: a receipt whose lines are damaged is in force like any other.
    """
    lines: dict[tuple[ReceiptKind, str], tuple[bytes, ...]] = {}
    for path, content in files.items():
        key = _parse_path(path)
        if key is not None:
            merged = _lines_of([content, *(line + b"\n" for line in lines.get(key, ()))])
            if merged:
                lines[key] = tuple(merged)
    return _receipts(lines)


def join_receipts(parts: Iterable[Receipts]) -> Receipts:
    """Return the union of receipts that were read in several places; that union is what is in force."""
    lines: dict[tuple[ReceiptKind, str], tuple[bytes, ...]] = {}
    for part in parts:
        for key, own in part.lines.items():
            lines[key] = tuple(sorted({*lines.get(key, ()), *own}))
    return _receipts(lines)


def merge_receipt_files(versions: Iterable[bytes]) -> bytes:
    """Return the union of versions of one receipt: the sorted set of their lines."""
    return b"".join(line + b"\n" for line in _lines_of(versions))


def close_line(line: Line, receipts: Receipts) -> Line:
    """Return the line, as its stub if its record is forgotten."""
    return redact(line) if line.id in receipts.records and not line.redacted else line


def close_segment(content: bytes, receipts: Receipts) -> bytes:
    """Return a segment in which each forgotten record is its stub, whoever's it is; the rest is untouched."""
    if not _names_forgotten(content, receipts):
        return content
    return b"\n".join(
        _close_physical(raw, receipts) if _names_forgotten(raw, receipts) else raw
        for raw in content.split(b"\n")
    )


def close_leftover(found: bytes, content: bytes, receipts: Receipts) -> bytes:
    """Return what stood in a segment's place without the texts of forgotten records.

    Torn and edited lines cannot be closed, and a line tells its id behind its text: one that begins as a
    forgotten record's does is left out.

    Args:
        found: what was found there.
        content: what the segment is, closed under the receipts.
        receipts: in force.
    """
    if not receipts.records or found == content:
        return found
    stubs = [line.pre for line in _lines(content) if line.redacted and line.id in receipts.records]
    kept = [_without_forgotten(raw, stubs, receipts) for raw in found.split(b"\n")]
    return b"\n".join(raw for raw in kept if raw is not None)


def _without_forgotten(raw: bytes, stubs: Iterable[bytes], receipts: Receipts) -> bytes | None:
    """Return a physical line of a leftover, closed; None where nothing of it is kept."""
    items = split_segment(raw)
    kept = [
        close_line(item, receipts) if isinstance(item, Line) else item
        for item in items
        if isinstance(item, Line)
        or not (_names_forgotten(item.raw, receipts) or any(pre in item.raw for pre in stubs))
    ]
    return b"".join(item.raw for item in kept).removesuffix(b"\n") if kept or not items else None


def _lines(content: bytes) -> Iterator[Line]:
    return (item for item in split_segment(content) if isinstance(item, Line))


def _close_physical(raw: bytes, receipts: Receipts) -> bytes:
    items = split_segment(raw)
    if not any(isinstance(item, Line) and item.id in receipts.records for item in items):
        return raw
    closed = (item if isinstance(item, BadLine) else close_line(item, receipts) for item in items)
    return b"".join(item.raw for item in closed).removesuffix(b"\n")


def _names_forgotten(content: bytes, receipts: Receipts) -> bool:
    if not receipts.records:
        return False
    return any(found[1].decode("ascii") in receipts.records for found in _ID.finditer(content))


def _parse_path(path: str) -> tuple[ReceiptKind, str] | None:
    found = _PATH.fullmatch(path)
    if found is None or found["fan"] not in (None, found["two"]):
        return None
    kinds: tuple[ReceiptKind, ...] = ("record", "entry", "blob", "purge")
    return next((kind, found[kind]) for kind in kinds if found[kind])


def _lines_of(versions: Iterable[bytes]) -> list[bytes]:
    return sorted({line for version in versions for line in version.split(b"\n") if line})


def _receipts(lines: Mapping[tuple[ReceiptKind, str], tuple[bytes, ...]]) -> Receipts:
    def named(kind: ReceiptKind) -> frozenset[str]:
        return frozenset(name for of, name in lines if of == kind)

    return Receipts(named("record"), named("entry"), named("blob"), named("purge"), dict(lines))
