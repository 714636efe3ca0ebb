"""Work refs: pointers from a work item to the evidence of what is being done."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeGuard

from gitmem.graphemes import cut_at
from gitmem.records import Json, clean_text

#: In the order in which refs of equal status and recency stand.
REF_KINDS: Final = (
    "file",
    "tool_execution",
    "issue",
    "pr",
    "url",
    "memory",
    "task",
    "wait",
    "workspace",
    "other",
)
#: `stale`: what it names is gone. `resolved`: it ended. `archived`: active, but pushed out by newer ones.
REF_STATUSES: Final = ("active", "stale", "resolved", "archived")

#: Code points of a ref; a longer one points at nothing that anybody could open.
MOST_REF: Final = 1_000
#: Code points that are kept of a title and of a reason.
MOST_TITLE: Final = 240
MOST_REASON: Final = 140
#: Fields of the metadata, and code points of a value there.
MOST_METADATA: Final = 12
MOST_VALUE: Final = 240

_KIND_ORDER: Final = {kind: place for place, kind in enumerate(REF_KINDS)}
_STATUS_ORDER: Final = {status: place for place, status in enumerate(REF_STATUSES)}
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class WorkRef:
    """A pointer to something that a work item is about, as evidence showed it.

    Attributes:
        ref: what it points to: a path, an address, `github:owner/repo#12`, or a source ref.
        title: None where the ref says as much.
        reason: what the evidence was, in a few words.
        last_seen, first_seen: when evidence named it, RFC 3339.
        source_ref: the record that is the evidence.
        clock: of the last turn that named it; empty before that turn is sealed. Across turns it says what is
            newer, because times are what callers say.
        judged: clock and time of the last evidence about its status; empty where it was only named.
    """

    kind: str
    ref: str
    status: str = "active"
    title: str | None = None
    reason: str | None = None
    last_seen: str = ""
    first_seen: str = ""
    source_ref: str | None = None
    metadata: Json = field(default_factory=dict)
    clock: str = ""
    judged: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What makes two refs one; GitHub takes owners and repositories in any case for the same."""
        return self.kind, ref_name(self.kind, self.ref)

    @property
    def stamp(self) -> tuple[str, str]:
        """How new it is."""
        return self.clock, self.last_seen


def ref_name(kind: str, ref: str) -> str:
    """Return by what a ref of some kind is told from others."""
    return ref.lower() if kind in ("issue", "pr") else ref


def in_order(refs: Iterable[WorkRef]) -> list[WorkRef]:
    """Return refs as they are shown: by status, the newest first, then by kind and ref."""
    # Sorting is stable: the last key sorted by is the first that counts.
    found = sorted(refs, key=lambda ref: (_KIND_ORDER[ref.kind], ref.ref))
    found.sort(key=lambda ref: ref.stamp, reverse=True)
    found.sort(key=lambda ref: _STATUS_ORDER[ref.status])
    return found


def bounded_text(text: str, limit: int) -> str:
    """Return one line of at most `limit` code points, with an ellipsis where something was cut off."""
    line = " ".join(text[: limit * 4].split())
    if len(line) <= limit and len(text) <= limit * 4:
        return line
    return line[: cut_at(line, limit - 1)] + "…"


def ref_to_json(ref: WorkRef) -> dict[str, Any]:
    """Return a ref as it stands in the record of its turn, which knows the clock itself."""
    data: dict[str, Any] = {"kind": ref.kind, "ref": ref.ref, "status": ref.status}
    optional = {
        "title": ref.title,
        "reason": ref.reason,
        "last_seen": ref.last_seen,
        "first_seen": ref.first_seen if ref.first_seen != ref.last_seen else None,
        "judged_at": ref.judged.partition(" ")[2],
        "source_ref": ref.source_ref,
        "metadata": dict(ref.metadata),
    }
    return data | {name: value for name, value in optional.items() if value}


def refs_to_json(refs: Iterable[WorkRef]) -> list[dict[str, Any]]:
    """Return refs as the record of their turn holds them."""
    return [ref_to_json(ref) for ref in refs]


def _ref_from_json(raw: object, *, clock: str, ts: str) -> WorkRef | None:
    """Return the ref that `ref_to_json` made this of; None where it is none.

    Args:
        raw: any JSON value; what is wrong in it is left out, as lines come from other machines too.
        clock: of the turn in whose record it stands.
        ts: of that record, for a ref that does not say when it was seen.
    """
    if not isinstance(raw, Mapping):
        return None
    kind, ref, status = raw.get("kind"), raw.get("ref"), raw.get("status")
    if not (_is_one_of(kind, REF_KINDS) and _is_one_of(status, REF_STATUSES) and _is_text(ref, MOST_REF)):
        return None
    last = _time(raw.get("last_seen")) or ts
    judged = _time(raw.get("judged_at"))
    return WorkRef(
        kind,
        clean_text(ref),
        status,
        last_seen=last,
        first_seen=min(_time(raw.get("first_seen")) or last, last),
        metadata=_metadata(raw.get("metadata")),
        clock=clock,
        judged=f"{clock} {judged}" if judged else "",
        title=_text(raw.get("title"), MOST_TITLE),
        reason=_text(raw.get("reason"), MOST_REASON),
        source_ref=_text(raw.get("source_ref"), MOST_REF),
    )


def refs_from_json(raw: object, *, clock: str, ts: str) -> tuple[WorkRef, ...]:
    """Return the refs of a turn's record; nothing where there is no list of them.

    Args:
        raw: any JSON value.
        clock: of that record.
        ts: of that record.
    """
    if not isinstance(raw, list | tuple):
        return ()
    found = (_ref_from_json(item, clock=clock, ts=ts) for item in raw)
    return tuple(ref for ref in found if ref is not None)


def _metadata(raw: object) -> dict[str, Any]:
    if not isinstance(raw, Mapping):
        return {}
    known = {name: value for name, value in raw.items() if _is_text(name, 40) and _is_plain(value)}
    return dict(list(known.items())[:MOST_METADATA])


def _is_plain(value: object) -> bool:
    return isinstance(value, bool | int) or _is_text(value, MOST_VALUE)


def _is_one_of(value: object, names: tuple[str, ...]) -> TypeGuard[str]:
    return isinstance(value, str) and value in names


def _text(value: object, limit: int) -> str | None:
    return clean_text(value) if _is_text(value, limit) else None


def _is_text(value: object, limit: int) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= limit and not value.isspace()


def _time(value: object) -> str:
    return value if isinstance(value, str) and _TIME.fullmatch(value) else ""
