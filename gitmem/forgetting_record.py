"""What one act of forgetting says in the ledger: its record, of ids and digests alone, and its receipts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from gitmem.forgotten import ReceiptKind, Receipts, receipt_path
from gitmem.records import Event, Json, derive_id

#: Target and action of the `memory` records by which things are forgotten.
FORGOTTEN: Final = "forgotten"
FORGET: Final = "forget"

_RECORD: Final = re.compile(r"[a-z]{1,16}_[0-9a-f]{15}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_BLOB: Final = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What is to be forgotten.

    Attributes:
        records: ids.
        entries: SHA-256 of entries' texts.
        blobs: Git blob id of a file's version -> a path that had it.
        refs: digests of the source refs that name nothing else, as `ref_digest` gives them.
    """

    records: frozenset[str] = frozenset()
    entries: frozenset[str] = frozenset()
    blobs: Mapping[str, str] = field(default_factory=dict)
    refs: frozenset[str] = frozenset()

    def __or__(self, other: Forgetting) -> Forgetting:
        """Return what either names."""
        return Forgetting(
            self.records | other.records,
            self.entries | other.entries,
            {**self.blobs, **other.blobs},
            self.refs | other.refs,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The receipts, as `kind/id`."""
        return tuple(f"{kind}/{name}" for kind, name, _ in self._receipts())

    def without(self, receipts: Receipts) -> Forgetting:
        """Return what is not forgotten yet."""
        return Forgetting(
            self.records - receipts.records,
            self.entries - receipts.entries,
            {blob: path for blob, path in self.blobs.items() if blob not in receipts.blobs},
            self.refs,
        )

    def files(self, *, at: str, by: str, reason: str | None) -> dict[str, bytes]:
        """Return the receipts as files of a turn line's tree, by path.

        Args:
            at: when, RFC 3339.
            by: `agent` or `operator`.
            reason: why, in words.
        """
        found = {}
        for kind, name, path in self._receipts():
            row = {"at": at, "by": by, "reason": reason, "path": path}
            text = json.dumps({k: v for k, v in row.items() if v}, ensure_ascii=False, separators=(",", ":"))
            found[receipt_path(kind, name)] = f"{text}\n".encode()
        return found

    def _receipts(self) -> Iterable[tuple[ReceiptKind, str, str | None]]:
        for record in sorted(self.records):
            yield "record", record, None
        for entry in sorted(self.entries):
            yield "entry", entry, None
        for blob, path in sorted(self.blobs.items()):
            yield "blob", blob, path or None


def ref_digest(ref: str) -> str:
    """Return by what a ref is known whose object is forgotten; ids of sessions are callers' words."""
    return sha256(f"ref\0{ref}".encode()).hexdigest()


def forgetting_event(what: Forgetting, *, at: str, by: str, reason: str | None) -> Event:
    """Return the record of an act of forgetting; the same act at the same time has the same id."""
    body: dict[str, Any] = {"target": FORGOTTEN, "action": FORGET, "by": by, "reason": reason}
    body |= {"records": sorted(what.records), "entries": sorted(what.entries), "refs": sorted(what.refs)}
    body["blobs"] = [[blob, path] for blob, path in sorted(what.blobs.items())]
    told = {name: value for name, value in body.items() if value not in (None, [])}
    return Event(derive_id("memory", FORGET, at, *what.names), "memory", at, told)


def forgetting_of(kind: str, body: Json) -> Forgetting | None:
    """Return what a record says is to be forgotten; None for every other record."""
    if kind != "memory" or (body.get("target"), body.get("action")) != (FORGOTTEN, FORGET):
        return None
    blobs = body.get("blobs")
    pairs = blobs if isinstance(blobs, list) else []
    return Forgetting(
        _matching(body.get("records"), _RECORD),
        _matching(body.get("entries"), _DIGEST),
        {str(one[0]): str(one[1]) for one in pairs if _is_pair(one)},
        _matching(body.get("refs"), _DIGEST),
    )


def receipts_of(events: Iterable[Event]) -> dict[str, bytes]:
    """Return the receipts of a turn's events, as files of a turn line's tree."""
    files: dict[str, bytes] = {}
    for event in events:
        what = forgetting_of(event.kind, event.body)
        if what is not None:
            reason = event.body.get("reason")
            by = "operator" if event.body.get("by") == "operator" else "agent"
            told = reason if isinstance(reason, str) else None
            for path, content in what.files(at=event.ts, by=by, reason=told).items():
                files[path] = files.get(path, b"") + content
    return files


def _matching(values: object, pattern: re.Pattern[str]) -> frozenset[str]:
    found = values if isinstance(values, list) else []
    return frozenset(one for one in found if isinstance(one, str) and pattern.fullmatch(one))


def _is_pair(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(one, str) for one in value)
        and _BLOB.fullmatch(value[0]) is not None
    )
