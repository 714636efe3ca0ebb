"""The words of the ledger: events as callers give them, records as the ledger holds them."""

from __future__ import annotations

import hashlib
import math
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeGuard

from gitmem.errors import InvalidRecord
from gitmem.times import format_time, parse_timestamp

Json = Mapping[str, Any]

#: Prefix of the ids of each kind; an id is `<prefix>_<15 lowercase hex>`.
ID_PREFIXES: Final[Mapping[str, str]] = {
    "session": "ses",
    "message": "msg",
    "tool_execution": "tool",
    "brief": "brief",
    "task": "task",
    "wait": "wait",
    "work_item": "work",
    "decision": "dec",
    "file": "file",
    "memory": "mem",
    "assembly": "asm",
    "episode": "ep",
    "turn": "turn",
}

#: Kinds that callers may give to a turn; the rest is minted by gitmem.
CALLER_KINDS: Final = frozenset(ID_PREFIXES) - {"memory", "assembly", "episode", "turn"}

#: Kinds whose records are whole snapshots of an object and name their predecessors.
LIFECYCLE_KINDS: Final = frozenset({"task", "wait", "work_item"})

#: Statuses after which nothing more happens to an object.
TERMINAL_STATUSES: Final = frozenset(
    {"completed", "failed", "cancelled", "interrupted", "resolved", "expired"}
)

#: A record's links to what it belongs to; they stand beside the body, not in it.
LINKS: Final = ("session", "work_item", "workspace")

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,80}")
#: How the types of JSON are called in messages; a truth value is a number to Python, so it stands first.
_JSON_TYPES: Final = (
    (str, "text"),
    (bool, "true or false"),
    (int | float, "a number"),
    (list | tuple, "a list"),
    (Mapping, "an object"),
    (type(None), "null"),
)
_CHOICES: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    ("session", "event"): frozenset({"start", "title", "end", "switch", "undo", "clear", "compact"}),
    ("message", "role"): frozenset({"user", "assistant", "system", "tool"}),
    ("tool_execution", "status"): frozenset({"success", "error", "interrupted"}),
    ("brief", "brief_kind"): frozenset({"ack", "result", "failure"}),
    ("task", "status"): frozenset(
        {"queued", "running", "cancelling", "completed", "failed", "cancelled", "interrupted"}
    ),
    ("wait", "wait_kind"): frozenset({"task", "external", "operator", "timer", "system"}),
    ("wait", "status"): frozenset({"active", "triggered", "resolved", "cancelled", "expired"}),
    ("work_item", "action"): frozenset({"create", "update", "pick", "complete", "drop"}),
}
_REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "session": ("event",),
    "message": ("role", "text"),
    "tool_execution": ("tool",),
    "brief": ("brief_kind", "text"),
    "task": ("task_id", "status"),
    "wait": ("wait_id", "status"),
    "work_item": ("action",),
    "decision": ("text",),
    "file": ("path",),
}
_TEXT_FIELDS: Final = frozenset(
    {"text", "tool", "title", "path", "because", "objective", "reason", "summary", "author", "model"}
)
_OBJECT_FIELDS: Final[Mapping[str, str]] = {
    "task": "task_id",
    "wait": "wait_id",
    "work_item": "work_item_id",
}
#: Deeper values are refused on writing, because Python's JSON reader recurses.
MAX_DEPTH: Final = 64
#: Largest event accepted, in bytes of UTF-8 text.
MAX_EVENT_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a turn, checked and named, not yet sealed into the ledger.

    Attributes:
        id: minted here, or derived from the source when imported.
        ts: when it happened, RFC 3339 in UTC with milliseconds.
        body: all that the caller worded.
        object: the id of the object whose snapshot this is (lifecycle kinds only).
    """

    id: str
    kind: str
    ts: str
    body: Json
    session: str | None = None
    work_item: str | None = None
    workspace: str | None = None
    object: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One decoded line of the ledger.

    Attributes:
        body: all that the caller worded; empty when the record is redacted.
        clock: 16 hex digits that order records across writers.
        object, revision, status, after: of lifecycle kinds only.
    """

    id: str
    kind: str
    ts: str
    turn: str
    body: Json
    writer: str
    seq: int
    clock: str
    session: str | None = None
    work_item: str | None = None
    workspace: str | None = None
    object: str | None = None
    revision: int | None = None
    status: str | None = None
    after: tuple[str, ...] = ()
    redacted: bool = False

    @property
    def source_ref(self) -> str:
        """The address under which `get` finds this record."""
        return record_ref(self.kind, self.id, self.object)


def record_of(event: Event, turn: str, *, writer: str = "", seq: int = 0, clock: str = "") -> Record:
    """Return an event of a turn as the record that it becomes, by default without a place in the ledger."""
    status = event.body.get("status") if event.object else None
    return Record(
        id=event.id,
        kind=event.kind,
        ts=event.ts,
        turn=turn,
        body=event.body,
        writer=writer,
        seq=seq,
        clock=clock,
        session=event.session,
        work_item=event.work_item,
        workspace=event.workspace,
        object=event.object,
        status=status if isinstance(status, str) else None,
    )


@dataclass(frozen=True, slots=True)
class Receipt:
    """What is true of a turn when it is reported.

    Attributes:
        committed: the turn's commit id, or None with `reason`.
        records: `{"id", "kind", "source_ref"}`, those of the events in the order given, the turn's last.
        redactions: `{"rule", "record"}` for each secret that was replaced.
        refused: `{"event", "code"}` for each event that conflicted with the ledger.
    """

    turn_id: str
    turn_index: int | None
    on_disk: bool
    committed: str | None
    branch: str
    reason: str | None
    indexed: bool
    pushed: bool
    records: Sequence[Mapping[str, str]]
    redactions: Sequence[Mapping[str, str]] = ()
    warnings: Sequence[str] = ()
    refused: Sequence[Mapping[str, Any]] = field(default=())


def record_ref(kind: str, record_id: str, object_id: str | None = None) -> str:
    """Return the source ref of a record; lifecycle kinds are addressed by their object."""
    if kind == "tool_execution":
        return f"tool_execution:{record_id}:cmd"
    if kind in LIFECYCLE_KINDS and object_id is not None:
        return f"{kind}:{object_id}"
    return f"{kind}:{record_id}"


def mint_id(kind: str) -> str:
    """Return a new random id for a record of `kind` (60 random bits)."""
    return f"{ID_PREFIXES[kind]}_{secrets.token_hex(8)[:15]}"


def derive_id(kind: str, *parts: str) -> str:
    """Return the id that an import always gives to the same source item."""
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{ID_PREFIXES[kind]}_{digest[:15]}"


def is_name(value: object) -> TypeGuard[str]:
    """Say whether `value` may stand in refs and envelopes."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def check_name(value: object, what: str) -> str:
    """Return `value` if it may stand in refs and envelopes, that is, matches `[A-Za-z0-9_.-]{1,80}`.

    Raises:
        InvalidRecord: it does not.
    """
    if is_name(value):
        return value
    shown = value if not isinstance(value, str) else value[:80]
    raise InvalidRecord(
        f"{what} must be 1 to 80 of A-Z a-z 0-9 _ . -, not {shown!r}",
        hint=f"Use a plain identifier such as {what}-7, without spaces.",
        field=what,
    )


def parse_event(raw: object, *, now: float, record_id: str | None = None) -> Event:
    """Check one event as a caller gives it and give it an id.

    Args:
        raw: an object with `kind` and the fields of that kind; unknown fields are kept.
        now: seconds since 1970, used when the event has no `ts`.
        record_id: the id to use instead of a new one (imports).

    Raises:
        InvalidRecord: a field is missing, malformed, too deep, too large or not a JSON value.
    """
    if not isinstance(raw, Mapping):
        raise InvalidRecord(f"an event is a JSON object, not {json_type(raw)}")
    kind = raw.get("kind")
    if not isinstance(kind, str) or kind not in CALLER_KINDS:
        raise InvalidRecord(f"unknown kind {kind!r}", hint=f"Kinds: {' '.join(sorted(CALLER_KINDS))}.")
    links = {name: check_name(raw[name], name) for name in LINKS if raw.get(name) is not None}
    fields = {k: v for k, v in raw.items() if k not in {"kind", "ts", *LINKS}}
    body = clean_json(fields)
    _check_body(kind, body)
    ts = now if raw.get("ts") is None else parse_timestamp(raw["ts"])
    return Event(
        id=record_id or mint_id(kind),
        kind=kind,
        ts=format_time(ts),
        body=body,
        object=_object_of(kind, body),
        **links,
    )


def clean_json(value: Any, depth: int = 0) -> Any:
    """Return `value` as strict JSON data: lone surrogates become U+FFFD, keys are text.

    Raises:
        InvalidRecord: NaN, an infinity, a huge number, a type JSON lacks, or nesting past `MAX_DEPTH`.
    """
    if depth > MAX_DEPTH:
        raise InvalidRecord(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _check_int(value)
    if isinstance(value, float):
        return _check_float(value)
    if isinstance(value, Mapping):
        return {_check_key(key): clean_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(item, depth + 1) for item in value]
    raise InvalidRecord(f"not a JSON value: {type(value).__name__}")


def json_type(value: object) -> str:
    """Return in the words of JSON what a value is: `a list`."""
    return next((name for kind, name in _JSON_TYPES if isinstance(value, kind)), type(value).__name__)


def clean_text(text: str) -> str:
    """Return `text` with each lone surrogate replaced by U+FFFD, so that it is valid UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _check_key(key: object) -> str:
    if not isinstance(key, str):
        raise InvalidRecord(f"a field name is text, not {json_type(key)}")
    return clean_text(key)


def _check_int(value: int) -> int:
    # Python refuses to read back integers past 4,300 digits; 2**2048 is 617 digits.
    if value.bit_length() > 2048:
        raise InvalidRecord("a number of more than 2,048 bits", hint="Store it as text.")
    return value


def _check_float(value: float) -> float:
    if not math.isfinite(value):
        raise InvalidRecord(f"JSON has no {value}", hint="Store it as text or null.")
    return value


def _check_body(kind: str, body: Mapping[str, Any]) -> None:
    missing = [name for name in _REQUIRED[kind] if body.get(name) is None]
    if missing:
        raise InvalidRecord(f"{kind}: {', '.join(missing)} missing", fields=missing)
    for name, value in body.items():
        choices = _CHOICES.get((kind, name))
        if choices is not None and value is not None and not (isinstance(value, str) and value in choices):
            raise InvalidRecord(f"{kind}: {name} is one of {', '.join(sorted(choices))}, not {value!r}")
        if name in _TEXT_FIELDS and value is not None and not isinstance(value, str):
            raise InvalidRecord(f"{kind}: {name} is text, not {json_type(value)}")
    size = sum(len(v) for v in body.values() if isinstance(v, str))
    if size > MAX_EVENT_BYTES:
        raise InvalidRecord(f"{kind}: larger than {MAX_EVENT_BYTES} bytes", size=size)


def _object_of(kind: str, body: Mapping[str, Any]) -> str | None:
    name = _OBJECT_FIELDS.get(kind)
    if name is None:
        return None
    value = body.get(name)
    if value is None and body.get("action") == "create":
        return mint_id(kind)
    if value is None:
        raise InvalidRecord(f"{kind}: {name} missing", fields=[name])
    return check_name(value, name)
