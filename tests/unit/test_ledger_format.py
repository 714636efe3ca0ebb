"""Lines, segments and names of the ledger (L1-L6), on given examples."""

from __future__ import annotations

from hashlib import sha256

import pytest
from ledgers import EVENT, chain, sealed

from gitmem.errors import InvalidRecord, LedgerCorrupt
from gitmem.ledger_format import (
    LAST_CLOCK,
    NO_PREV,
    STUB,
    BadLine,
    Line,
    SegmentName,
    blob_path,
    decode,
    is_ahead,
    next_clock,
    parse_blob_path,
    parse_line,
    parse_segment_path,
    read_records,
    redact,
    segment_path,
    show_records,
    split_segment,
    union_segments,
)
from gitmem.records import parse_event

DAY = 1796029200.0  # 2026-11-30T09:00:00Z


def lines_of(content: bytes) -> list[Line]:
    return [item for item in split_segment(content) if isinstance(item, Line)]


def bad_of(content: bytes) -> list[tuple[int, str]]:
    return [(item.number, item.reason) for item in split_segment(content) if isinstance(item, BadLine)]


class TestLine:
    def test_bytes_are_the_specified_ones(self):
        """A line stands in the file exactly as L1 orders it, so that any tool finds its parts."""
        line = sealed({"kind": "message", "role": "user", "text": "Hi", "session": "s1"}, seq=1)

        assert line.pre == b'{"ts":"2026-11-30T09:00:00.000Z","kind":"message"'
        assert line.mid == (
            b',"body":{"role":"user","text":"Hi"},"session":"s1","salt":"00112233445566778899aabbccddeeff"'
        )
        assert line.post == (
            b',"id":"msg_000000000000001","turn":"turn_00000000000000a","v":1,"writer":"w0123abcd","seq":1,'
            b'"clock":"01a22baeb6800001","digest":"%b","prev":"%b"}'
            % (sha256(line.mid).hexdigest().encode(), b"0" * 64)
        )
        assert line.raw == line.pre + line.mid + line.post + b"\n"
        assert line.envelope_hash == sha256(line.pre + line.post).hexdigest()

    def test_lifecycle_fields_stand_in_the_envelope(self):
        """A redacted snapshot still says what it supersedes, because that is in POST (R2)."""
        event = {"kind": "task", "task_id": "t.1", "status": "running"}
        line = sealed(event, seq=2, revision=3, status="running", after=("task_00000000000000b",))

        assert (
            b'"object":"t.1","revision":3,"status":"running","after":["task_00000000000000b"],"digest"'
            in line.post
        )
        assert (line.object, line.revision, line.status) == ("t.1", 3, "running")
        assert redact(line).after == ("task_00000000000000b",)

    def test_redaction_keeps_envelope_and_chain(self):
        """A forgotten text leaves every hash of the chain as it was (L2)."""
        line = sealed(EVENT, seq=1)
        stub = redact(line)

        assert stub.mid == STUB
        assert stub.envelope_hash == line.envelope_hash
        assert parse_line(stub.raw) == stub
        assert decode(stub).redacted
        assert decode(stub).body == {}

    @pytest.mark.parametrize(
        "char", ["\x85", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x7f", "\x00", "\n"]
    )
    def test_line_separators_are_escaped(self, char):
        """Tools that split on more than line feeds still see one line (OPEN-LEDGER-04)."""
        line = sealed({"kind": "message", "role": "user", "text": f"a{char}b"}, seq=1)

        assert len(line.raw.decode().splitlines()) == 1
        assert decode(line).body["text"] == f"a{char}b"

    def test_lone_surrogates_are_replaced(self):
        """Undecodable tool output never makes a file that is not UTF-8 (OPEN-LEDGER-05)."""
        line = sealed({"kind": "tool_execution", "tool": "sh", "output": "a\ud800b\udcb2"}, seq=1)

        assert decode(line).body["output"] == "a\ufffdb\ufffd"

    @pytest.mark.parametrize(
        "change",
        [
            {"turn": "turn_x"},
            {"writer": "../../etc"},
            {"seq": 0},
            {"clock": "ffffffffffffffff"},
            {"prev": "00"},
            {"salt": 'x","id":"'},
        ],
    )
    def test_a_value_that_does_not_fit_is_refused(self, change):
        """Writing is strict: nothing goes into a line that a reader would not take."""
        with pytest.raises(InvalidRecord):
            sealed(EVENT, **{"seq": 1, **change})
