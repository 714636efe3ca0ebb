"""Ledger lines to test with: sealed events with ids, salts and clocks that repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from gitmem.ledger_format import NO_PREV, Line, seal
from gitmem.records import ID_PREFIXES, parse_event

#: 2026-11-30T09:00:00Z
START = 1796029200.0
WRITER = "w0123abcd"
TURN = "turn_00000000000000a"
SALT = "00112233445566778899aabbccddeeff"
EVENT = {"kind": "message", "role": "user", "text": "Which port does staging use?"}


def sealed(raw: Mapping[str, Any], *, seq: int, **place: Any) -> Line:
    """Return the line of an event whose id and clock come from its seq, unless `place` says otherwise."""
    kind = raw["kind"]
    record_id = place.pop("record_id", f"{ID_PREFIXES[kind]}_{seq:015x}")
    values = {"turn": TURN, "writer": WRITER, "clock": f"{int(START * 1000):012x}{seq:04x}", "prev": NO_PREV}
    event = parse_event(raw, now=START, record_id=record_id)
    return seal(event, seq=seq, **{**values, "salt": SALT, **place})


def chain(events: Sequence[Mapping[str, Any]], **place: Any) -> list[Line]:
    """Return the lines of one writer, each naming the one before."""
    lines: list[Line] = []
    prev = NO_PREV
    for seq, event in enumerate(events, 1):
        lines.append(sealed(event, seq=seq, prev=prev, **place))
        prev = lines[-1].envelope_hash
    return lines


def messages(count: int) -> list[Line]:
    """Return a chain of `count` messages with different texts."""
    return chain([{**EVENT, "text": f"message {number}"} for number in range(1, count + 1)])


def tampered(line: Line, old: bytes, new: bytes) -> Line:
    """Return the line with a middle that is not the sealed one."""
    assert old in line.mid
    return replace(line, mid=line.mid.replace(old, new))


def with_middle(line: Line, middle: bytes) -> Line:
    """Return the line as a hostile writer would seal it around any middle: its digest fits."""
    digest = sha256(middle).hexdigest()
    return replace(
        line, mid=middle, post=line.post.replace(line.digest.encode(), digest.encode()), digest=digest
    )


def join_lines(items: Sequence[Line | bytes]) -> bytes:
    """Return a segment of lines and of other bytes, each on a physical line of its own."""
    return b"".join(item.raw if isinstance(item, Line) else item + b"\n" for item in items)
