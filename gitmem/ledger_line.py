"""One line of the ledger as bytes: three slices and a line feed; sealed, split, redacted, decoded.

A line is `PRE MID POST LF`. PRE and POST, the envelope, hold only what gitmem mints; MID holds all that a
caller worded and can be replaced by a stub without touching the envelope. See `docs/format.md`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, NamedTuple

from gitmem.errors import InvalidRecord, LedgerCorrupt
from gitmem.records import LIFECYCLE_KINDS, LINKS, Event, Json, Record, clean_json, clean_text

#: MID of a redacted line.
STUB: Final = b',"redacted":true'
#: Why bytes are no line that are blanks or a carriage return.
EMPTY: Final = "empty"
#: `prev` of a writer's first line.
NO_PREV: Final = "0" * 64
#: The last clock of the year 9999; a later one makes a line bad.
LAST_CLOCK: Final = "e677d21fdbffffff"
#: Deeper bodies are bad: a fixed bound, because Python's own depends on the caller's stack.
READ_DEPTH: Final = 200

_NAME: Final = r"[A-Za-z0-9_.-]{1,80}"
_ID: Final = r"[a-z]{1,16}_[0-9a-f]{15}"
_COUNT: Final = r"[1-9][0-9]{0,17}"
_PRE: Final = re.compile(
    rb'\{"ts":"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z)","kind":"(%b)"'
    % _NAME.encode()
)
_POST_START: Final = b',"id":"'
_POST: Final = re.compile(
    rf',"id":"({_ID})","turn":"(turn_[0-9a-f]{{15}})","v":1,"writer":"(w[0-9a-f]{{8}})","seq":({_COUNT})'
    rf',"clock":"([0-9a-f]{{16}})"(?:,"object":"({_NAME})","revision":({_COUNT}),"status":"({_NAME})"'
    rf',"after":\[((?:"{_ID}"(?:,"{_ID}")*)?)\])?,"digest":"([0-9a-f]{{64}})","prev":"([0-9a-f]{{64}})"\}}'
)
_BODY_START: Final = b',"body":{'
_ENVELOPE_KEYS: Final = frozenset(
    {"ts", "kind", "id", "turn", "v", "writer", "seq", "clock", "digest", "prev"}
    | {"object", "revision", "status", "after", "redacted"}
)
_SALT: Final = re.compile(r"[0-9a-f]{32}")
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029]")
_NESTING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Line:
    """A line whose envelope is well formed; what its middle holds is known only to `decode`.

    Attributes:
        pre, mid, post: the three slices, without the line feed.
        object, revision, status, after: of lifecycle kinds only.
    """

    pre: bytes
    mid: bytes
    post: bytes
    id: str
    turn: str
    kind: str
    ts: str
    writer: str
    seq: int
    clock: str
    digest: str
    prev: str
    object: str | None = None
    revision: int | None = None
    status: str | None = None
    after: tuple[str, ...] = ()

    @property
    def raw(self) -> bytes:
        """The whole line with its line feed."""
        return b"%b%b%b\n" % (self.pre, self.mid, self.post)

    @property
    def envelope(self) -> bytes:
        """The bytes that no redaction changes."""
        return self.pre + self.post

    @property
    def envelope_hash(self) -> str:
        """SHA-256 of the envelope: `prev` of the writer's next line, and the name of this one."""
        return sha256(self.pre + self.post).hexdigest()

    @property
    def redacted(self) -> bool:
        """Whether the middle is the stub."""
        return self.mid == STUB

    @property
    def fits(self) -> bool:
        """Whether the middle is the one that was sealed, by its digest."""
        return sha256(self.mid).hexdigest() == self.digest

    @property
    def is_intact(self) -> bool:
        """Whether the middle is the one that was sealed, or the stub."""
        return self.mid == STUB or self.fits


@dataclass(frozen=True, slots=True)
class BadLine:
    """Bytes in a segment that are no line; they are kept, counted and passed over.

    Attributes:
        raw: the bytes, ending in a line feed also where the file has none.
        number: of the line in the file, from 1; stretches of one physical line share it.
        reason: why it is none, for people.
    """

    raw: bytes
    number: int
    reason: str


class SealedLine(NamedTuple):
    """Of a line whose envelope is well formed what a check of chains needs; made quicker than a `Line`.

    Attributes:
        envelope: the bytes that no redaction changes.
    """

    envelope: bytes
    mid: bytes
    id: str
    writer: str
    seq: int
    digest: str
    prev: str


def parse_line(raw: bytes, number: int = 0) -> Line | BadLine:
    """Split one line into its slices and read its envelope; the line feed may be missing."""
    content = raw.removesuffix(b"\n")
    slices = _cut(content)
    if slices is None:
        return bad_line(content, number)
    pre, mid, post, kind, ts, fields = slices
    record_id, turn, writer, seq, clock, name, revision, status, after, digest, prev = fields
    fault = _fault(kind, ts, clock, name)
    if fault:
        return bad_line(content, number, fault)
    if name is None:
        return Line(pre, mid, post, record_id, turn, kind, ts, writer, int(seq), clock, digest, prev)
    heads = tuple(after[1:-1].split('","')) if after else ()
    return Line(
        pre, mid, post, record_id, turn, kind, ts, writer, int(seq), clock, digest, prev,
        name, int(revision), status, heads,
    )  # fmt: skip


def read_envelope(content: bytes) -> SealedLine | None:
    """Read of a line, without its line feed, what a check of chains needs; None where it is bad."""
    slices = _cut(content)
    if slices is None:
        return None
    pre, mid, post, kind, ts, fields = slices
    if _fault(kind, ts, fields[4], fields[5]) is not None:
        return None
    return SealedLine(pre + post, mid, fields[0], fields[2], int(fields[3]), fields[9], fields[10])


def _cut(content: bytes) -> tuple[bytes, bytes, bytes, str, str, Sequence[Any]] | None:
    """Return a line's three slices, its kind and time, and the fields of its end; None for no line."""
    start = _PRE.match(content)
    at = content.rfind(_POST_START)
    if start is None or at < start.end() or b"\0" in content:
        return None
    mid, post = content[start.end() : at], content[at:]
    end = _POST.fullmatch(post.decode("ascii", "replace"))
    if end is None or not (mid.startswith(_BODY_START) or mid == STUB) or not _is_utf8(mid):
        return None
    return start[0], mid, post, start[2].decode("ascii"), start[1].decode("ascii"), end.groups()


def _fault(kind: str, ts: str, clock: str, name: str | None) -> str | None:
    if clock > LAST_CLOCK:
        return "clock past the year 9999"
    if kind in LIFECYCLE_KINDS and name is None:
        return "lifecycle fields missing"
    try:
        datetime.fromisoformat(ts)
    except ValueError:
        return "no such time"
    return None


def bad_line(content: bytes, number: int, reason: str | None = None) -> BadLine:
    """Return bytes (without line feed) that are no line, with the reason that can be seen in them."""
    return BadLine(content + b"\n", number, reason or _reason(content))


def _reason(content: bytes) -> str:
    if not content.strip(b" \t\r"):
        return EMPTY
    if not content.strip(b"\0"):
        return "only NUL bytes"
    if b"\0" in content:
        return "NUL bytes in it"
    return "not a ledger line" if _is_utf8(content) else "not UTF-8"


def _is_utf8(content: bytes) -> bool:
    if content.isascii():
        return True
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def seal(
    event: Event,
    *,
    turn: str,
    writer: str,
    seq: int,
    clock: str,
    prev: str,
    salt: str,
    revision: int | None = None,
    status: str | None = None,
    after: Sequence[str] = (),
) -> Line:
    """Return the line of an event; what it returns can be read back.

    Args:
        event: checked, its long texts moved out, its snapshot computed.
        turn: id of the turn that carries it.
        writer: id of the work tree that seals it.
        seq: one more than the writer's last line, from 1.
        clock: from `next_clock`.
        prev: the envelope hash of the writer's line before, `NO_PREV` for none.
        salt: 32 random hex digits; keeps a redacted text from being guessed by its digest.
        revision: of lifecycle kinds: the snapshot's number.
        status: of lifecycle kinds: the object's status.
        after: of lifecycle kinds: ids of the records it follows.

    Raises:
        InvalidRecord: a value does not fit its place in a line.
    """
    pre = f'{{"ts":"{event.ts}","kind":"{event.kind}"'.encode()
    mid = _format_middle(event, salt)
    post = f',"id":"{event.id}","turn":"{turn}","v":1,"writer":"{writer}","seq":{seq},"clock":"{clock}"'
    if event.object is not None:
        heads = ",".join(f'"{head}"' for head in after)
        post += f',"object":"{event.object}","revision":{revision},"status":"{status}","after":[{heads}]'
    post += f',"digest":"{sha256(mid).hexdigest()}","prev":"{prev}"}}'
    return _checked(pre, mid, post.encode(), salt)


def _checked(pre: bytes, mid: bytes, post: bytes, salt: str) -> Line:
    line = parse_line(pre + mid + post)
    if isinstance(line, BadLine) or line.mid != mid or not _SALT.fullmatch(salt):
        raise InvalidRecord("an event does not make a ledger line", pre=pre.decode(), post=post.decode())
    return line


def _format_middle(event: Event, salt: str) -> bytes:
    parts = [f',"body":{_dump(clean_json(event.body))}']
    links = {"session": event.session, "work_item": event.work_item, "workspace": event.workspace}
    parts += [f',"{name}":{_dump(value)}' for name, value in links.items() if value is not None]
    return "".join([*parts, f',"salt":"{salt}"']).encode()


def _dump(value: Json | str) -> str:
    text = _ENCODER.encode(value)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def redact(line: Line) -> Line:
    """Return the line with the stub as its middle; envelope and chain stay as they are."""
    return replace(line, mid=STUB)


def decode(line: Line) -> Record:
    """Read a line's middle.

    Raises:
        LedgerCorrupt: it is not the JSON that stands there; `read_records` turns that into a `BadLine`.
    """
    middle = {} if line.redacted else _parse_middle(line)
    return Record(
        id=line.id,
        kind=line.kind,
        ts=line.ts,
        turn=line.turn,
        body=middle.get("body", {}),
        writer=line.writer,
        seq=line.seq,
        clock=line.clock,
        session=middle.get("session"),
        work_item=middle.get("work_item"),
        workspace=middle.get("workspace"),
        object=line.object,
        revision=line.revision,
        status=line.status,
        after=line.after,
        redacted=line.redacted,
    )


def _parse_middle(line: Line) -> dict[str, Any]:
    try:
        _check_nesting(line.mid)
        middle: dict[str, Any] = _DECODER.decode("{" + line.mid[1:].decode("utf-8") + "}")
        if b"\\ud" in line.mid or b"\\uD" in line.mid:
            middle = _replace_surrogates(middle)
    except (ValueError, RecursionError) as error:
        raise _corrupt(line, str(error) or type(error).__name__) from error
    _check_middle(line, middle)
    return middle


def _check_middle(line: Line, middle: Mapping[str, Any]) -> None:
    misplaced = _ENVELOPE_KEYS & middle.keys()
    if misplaced:
        raise _corrupt(line, f"{', '.join(sorted(misplaced))} in the wrong slice")
    if not isinstance(middle.get("body"), dict):
        raise _corrupt(line, "body is not an object")
    for name in LINKS:
        if name in middle and not _is_name(middle[name]):
            raise _corrupt(line, f"{name} is not a plain identifier")
    salt = middle.get("salt")
    if not isinstance(salt, str) or not _SALT.fullmatch(salt):
        raise _corrupt(line, "salt missing")


def _is_name(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(_NAME, value) is not None


def _corrupt(line: Line, reason: str) -> LedgerCorrupt:
    return LedgerCorrupt(f"unreadable middle: {reason}", writer=line.writer, seq=line.seq, id=line.id)


def _check_nesting(mid: bytes) -> None:
    if mid.count(b"{") + mid.count(b"[") <= READ_DEPTH:
        return
    depth = 0
    for token in _NESTING.finditer(mid):
        depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(token[0], 0)
        if depth > READ_DEPTH:
            raise ValueError("nested too deep")


def _replace_surrogates(value: Any) -> Any:
    """Return JSON data that a foreign writer escaped carelessly as data that can be written as UTF-8."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(key): _replace_surrogates(item) for key, item in value.items()}
    return [_replace_surrogates(item) for item in value] if isinstance(value, list) else value


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key twice")
    return fields


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number out of range")
    return value


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_no_key_twice, parse_float=_finite, parse_constant=_refuse_constant
)
