"""Lines, segments and names of the ledger (L1-L6), on given examples."""

from __future__ import annotations

from hashlib import sha256

import pytest

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
    decode_lines,
    is_ahead,
    next_clock,
    parse_blob_path,
    parse_line,
    parse_segment_path,
    read_records,
    reading_order,
    redact,
    segment_path,
    show_records,
    split_segment,
    union_segments,
)
from ledgers import EVENT, join_lines, messages, sealed, tampered, with_middle

DAY = 1796029200.0  # 2026-11-30T09:00:00Z


def lines_of(content: bytes) -> list[Line]:
    """Return the whole lines."""
    return [item for item in split_segment(content) if isinstance(item, Line)]


def bad_of(content: bytes) -> list[tuple[int, str]]:
    """Return number and reason of what is no line."""
    return [(item.number, item.reason) for item in split_segment(content) if isinstance(item, BadLine)]


class TestLine:
    """One line, written and read."""

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


class TestDecode:
    """What a middle may hold, and what makes it unreadable."""

    def test_links_and_unknown_fields_come_back(self):
        """What a caller gave is there again, also what gitmem has no name for."""
        raw = {**EVENT, "session": "s", "work_item": "w", "workspace": "x", "mood": {"a": [1, None, "é"]}}
        record = decode(sealed(raw, seq=7))

        assert (record.session, record.work_item, record.workspace) == ("s", "w", "x")
        assert record.body == {"role": "user", "text": EVENT["text"], "mood": {"a": [1, None, "é"]}}
        assert record.source_ref == "message:msg_000000000000007"

    def test_an_unknown_kind_is_read(self):
        """A later gitmem's records are kept and shown, not refused."""
        line = sealed(EVENT, seq=1)
        later = parse_line(line.raw.replace(b'"kind":"message"', b'"kind":"dream.v2"'))

        assert isinstance(later, Line)
        assert decode(later).kind == "dream.v2"

    def test_unknown_fields_of_the_middle_are_passed_over(self):
        """A later gitmem may add a link; its lines stay readable here."""
        line = sealed(EVENT, seq=1)
        later = with_middle(line, line.mid.replace(b',"salt"', b',"mood":"calm","salt"'))

        assert decode(later).body == decode(line).body

    @pytest.mark.parametrize(
        ("old", "new", "reason"),
        [
            (b'"text":', b'"role":"x","text":', "a key twice"),
            (b',"salt"', b',"seq":1,"salt"', "seq in the wrong slice"),
            (b',"salt"', b',"redacted":true,"salt"', "redacted in the wrong slice"),
            (b',"salt"', b',"body":{},"salt"', "a key twice"),
            (b',"salt"', b',"session":"../x","salt"', "session is not a plain identifier"),
            (b',"salt":"00', b',"salt":"0', "salt missing"),
            (b'"role":"user"', b'"n":' + b"[" * 201 + b"]" * 201, "nested too deep"),
            (b'"role":"user"', b'"n":' + b"[" * 100_000, "nested too deep"),
            (b'"role":"user"', b'"n":' + b"9" * 5000, "int"),
            (b'"role":"user"', b'"n":1e999', "a number out of range"),
            (b'"role":"user"', b'"n":NaN', "NaN is not JSON"),
            (b'"role":"user"', b'"n":-Infinity', "-Infinity is not JSON"),
            (b'"role":"user"', b'"n":"\x01"', "control character"),
            (b'"role":"user"', b'"role":user', "Expecting value"),
            (b'"},"salt"', b'","salt"', ""),
        ],
    )
    def test_an_unreadable_middle_costs_only_itself(self, old, new, reason):
        """A hostile body with a right digest is named with number and reason, and the next line is read."""
        first, middle, last = messages(3)
        hostile = with_middle(middle, middle.mid.replace(old, new))

        with pytest.raises(LedgerCorrupt):
            decode(hostile)
        assert [record.id for record in decode_lines([first, hostile, last])] == [first.id, last.id]
        records = list(read_records(first.raw + b"\n" + hostile.raw + last.raw))

        assert [getattr(record, "id", None) for record in records] == [first.id, None, None, last.id]
        assert records[2].number == 3
        assert reason in records[2].reason
        assert records[2].raw == hostile.raw

    def test_escaped_surrogates_of_a_foreign_writer_are_replaced(self):
        """Nothing raises later at index or Git time (OPEN-LEDGER-05)."""
        line = sealed(EVENT, seq=1)
        foreign = with_middle(
            line, line.mid.replace(b'"user"', b'"\\ud800x\\uDCB2","\\ud83d\\ude00":["\\udfff"]')
        )

        assert decode(foreign).body["role"] == "\ufffdx\ufffd"
        assert decode(foreign).body["😀"] == ["\ufffd"]

    def test_brackets_in_texts_are_no_nesting(self):
        """A text of brackets is as good as any."""
        text = "[{" * 500 + '"' + "[" * 500
        assert decode(sealed({**EVENT, "text": text}, seq=1)).body["text"] == text


class TestSplit:
    """Good lines out of whatever a segment holds."""

    @pytest.mark.parametrize(
        ("bad", "reason"),
        [
            (b"", "empty"),
            (b"  \r", "empty"),
            (b"not json", "not a ledger line"),
            (b"[]", "not a ledger line"),
            (b"null", "not a ledger line"),
            (b'"x"', "not a ledger line"),
            (b"{}", "not a ledger line"),
            (b"<<<<<<< HEAD", "not a ledger line"),
            (b"\xff\xfe", "not UTF-8"),
            (b"\0" * 4096, "only NUL bytes"),
            (messages(1)[0].raw[:-9], "not a ledger line"),
            (messages(1)[0].raw[9:-1], "not a ledger line"),
            (messages(1)[0].raw[:-1].replace(b"message 1", b"\xff"), "not UTF-8"),
            (messages(1)[0].raw[:-1].replace(b'"v":1', b'"v":2'), "not a ledger line"),
            (messages(1)[0].raw[:-1].replace(b'"seq":1', b'"seq":01'), "not a ledger line"),
            (messages(1)[0].raw[:-1].replace(b'"seq":1', b'"seq":1,"seq":2'), "not a ledger line"),
            (messages(1)[0].raw[:-1].replace(b"2026-11-30", b"2026-02-30"), "no such time"),
            (messages(1)[0].raw[:-1].replace(b'"clock":"0', b'"clock":"f'), "clock past the year 9999"),
            (
                messages(1)[0].raw[:-1].replace(b'"kind":"message"', b'"kind":"task"'),
                "lifecycle fields missing",
            ),
        ],
    )
    def test_a_bad_line_costs_only_itself(self, bad, reason):
        """Good records on both sides are served, the bad one is numbered and kept (OPEN-LEDGER-03)."""
        lines = messages(2)
        content = lines[0].raw + bad + b"\n" + lines[1].raw

        assert split_segment(content) == [lines[0], BadLine(bad + b"\n", 2, reason), lines[1]]

    def test_a_torn_last_line_swallows_nothing(self):
        """The next append may be glued to a fragment; neither takes the other with it (LEDGER-01)."""
        lines = messages(3)
        torn = lines[2].raw[:50]

        assert lines_of(lines[0].raw + torn) == lines[:1]
        assert bad_of(lines[0].raw + torn) == [(2, "cut off")]
        assert lines_of(lines[0].raw + torn + lines[1].raw + lines[2].raw) == lines
        assert bad_of(lines[0].raw + torn + lines[1].raw) == [(2, "not a ledger line")]

    def test_a_missing_line_feed_is_no_fault(self):
        """A line that lost only its line feed is whole, alone, before another and before a fragment."""
        a, b = messages(2)

        assert split_segment(a.raw[:-1]) == [a]
        assert split_segment(a.raw[:-1] + b.raw[:-1]) == [a, b]
        assert lines_of(a.raw[:-1] + b.raw[:60] + b"\n" + b.raw) == [a, b]

    def test_nul_padding_hides_nothing(self):
        """What a power cut left as NUL bytes is named, what stands around it is read (OPEN-LEDGER-02)."""
        a, b = messages(2)
        gap = b"\0" * 4096

        assert split_segment(a.raw + gap + b.raw) == [a, BadLine(gap + b"\n", 2, "only NUL bytes"), b]
        assert split_segment(a.raw[:-1] + gap + b.raw)[::2] == [a, b]
        assert split_segment(a.raw[:77] + gap + b.raw)[1] == b
        assert bad_of(a.raw[:77] + gap + b.raw) == [(1, "NUL bytes in it")]
        assert bad_of(a.raw[:77] + gap + b.raw[77:]) == [(1, "NUL bytes in it")]
        assert bad_of(gap) == [(1, "only NUL bytes")]

    def test_a_redacted_line_is_found_behind_a_torn_one(self):
        """Stubs are recognised by their shape; there is no digest to check."""
        a, b = messages(2)

        assert lines_of(a.raw[:60] + redact(b).raw) == [redact(b)]

    def test_a_tampered_line_is_a_line(self):
        """Its envelope is still a link of the chain; `verify` names the body."""
        line = tampered(messages(1)[0], b"message 1", b"message 9")

        assert split_segment(line.raw) == [line]
        assert not line.is_intact

    def test_a_body_that_quotes_a_line_is_one_line(self):
        """A line inside a body, as a text or as an object, is not taken for a line."""
        quoted = messages(1)[0]
        inner = {"ts": quoted.ts, "kind": "message", "body": {}, "id": quoted.id, "prev": NO_PREV}
        line = sealed({**EVENT, "text": quoted.raw.decode(), "line": inner, "more": [inner]}, seq=2)

        assert split_segment(line.raw) == [line]
        assert lines_of(quoted.raw[:50] + line.raw[:-1] + quoted.raw) == [line, quoted]

    def test_hostile_bytes_cost_bounded_work(self):
        """A megabyte of beginnings and ends of lines is looked through in about a second."""
        line = messages(1)[0].raw[:-1]
        begin, end = line[:60], line[-80:]

        assert lines_of(begin * 4000 + end * 10_000) == []
        assert len(lines_of(line * 2000)) == 2000


class TestUnion:
    """Versions of one segment become one (L5)."""

    def test_lines_of_both_sides_stand_in_order_of_seq(self):
        """A fork keeps both branches, and no line twice."""
        a, b, c = messages(3)
        fork = sealed(
            {**EVENT, "text": "other"}, seq=2, prev=a.envelope_hash, record_id="msg_00000000000000f"
        )
        first, second = sorted([b, fork], key=lambda line: (line.clock, line.envelope_hash))

        union = union_segments([join_lines([a, b, c]), join_lines([a, fork])])

        assert union == join_lines([a, first, second, c])

    def test_the_stub_wins_then_the_sealed_middle(self):
        """What was forgotten stays forgotten, and tampering is outvoted."""
        a, b = messages(2)
        wrong = tampered(a, b"message 1", b"message 9")

        assert union_segments([join_lines([wrong]), join_lines([a, b])]) == join_lines([a, b])
        assert union_segments([join_lines([wrong, b]), join_lines([redact(a)])]) == join_lines([redact(a), b])

    def test_the_longer_of_two_versions_is_kept_byte_for_byte(self):
        """A version that begins with the other is its future, whatever stands in it."""
        a, b = messages(2)
        longer = b.raw + a.raw + b"\0\0" + b.raw[:30] + b"\n\n" + a.raw

        for size in (0, len(b.raw), len(b.raw) + 7, len(longer)):
            assert union_segments([longer, longer[:size]]) == longer
        assert union_segments([]) == b""

    def test_a_bad_line_stays_behind_the_good_line_it_followed(self):
        """Moved to the end it would break V3 for the version that held it."""
        a, b, c = messages(3)

        union = union_segments([join_lines([b"top", a, b"x", b"", c]), join_lines([a, b"y", b, b"z"])])

        assert union == join_lines([b"top", a, b"x", b"", b"y", b, b"z", c])

    @pytest.mark.parametrize(
        ("one", "other", "union"),
        [
            ("ab", "bc", "abc"),
            ("ca", "ab", "cab"),
            ("ba", "ab", "aba"),
            ("ab", "bab", "bab"),
            ("aa", "a", "aa"),
            ("da", "bc", "bcda"),
        ],
    )
    def test_bad_lines_behind_one_line_keep_both_orders(self, one, other, union):
        """Each version's own order of bad lines is found again, with as few of them twice as that allows."""
        line = messages(1)[0]
        a, b, whole = (join_lines([line, *(c.encode() for c in run)]) for run in (one, other, union))

        assert union_segments([a, b]) == whole
        assert union_segments([whole, a]) == whole
        assert union_segments([whole, b]) == whole

    def test_a_line_that_stands_twice_is_kept_once(self):
        """What stands behind either of them comes behind the one, and comes to rest there."""
        line = messages(1)[0]
        twice, other = join_lines([line, b"a", line, b"c", b"b"]), join_lines([line, b"b", b"a", b"a"])
        union = union_segments([twice, other])

        assert union.count(line.raw) == 1
        assert union_segments([union, twice]) == union
        assert union_segments([union, other]) == union

    def test_a_torn_tail_gives_way_to_its_line(self):
        """The fragment of a line that another version has whole is no line of its own."""
        a, b, c = messages(3)
        fork = sealed({**EVENT, "text": "other"}, seq=3, record_id="msg_00000000000000f", clock="0" * 16)

        assert union_segments(
            [a.raw + b.raw[:99], join_lines([a, b, c]), join_lines([a, fork])]
        ) == join_lines([a, b, fork, c])
        assert union_segments([a.raw + b.raw[:99], join_lines([a, fork])]) == join_lines(
            [a, b.raw[:99], fork]
        )


class TestReadingOrder:
    """Records of all writers in one order, each once (L6)."""

    def test_clock_writer_seq_and_hash_decide(self):
        """Every machine reads in the same order, whatever it heard first."""
        first = sealed(EVENT, seq=9, writer="wffffffff", clock="0" * 16)
        second = sealed(EVENT, seq=2, writer="w00000000", clock="0" * 15 + "1")
        third = sealed(EVENT, seq=1, writer="w00000001", clock="0" * 15 + "1")
        forked = sealed({**EVENT, "text": "b"}, seq=1, writer="w00000001", clock="0" * 15 + "1")
        last = sorted([third, forked], key=lambda line: line.envelope_hash)

        assert sorted([forked, second, third, first], key=reading_order) == [first, second, *last]

    def test_equal_content_is_shown_once(self):
        """An import made on two machines is one record."""
        a = sealed(EVENT, seq=1)
        again = sealed(EVENT, seq=5, writer="wffffffff", salt="f" * 32, record_id=a.id)

        shown = show_records([decode(a), decode(again)])

        assert [(item.record.writer, item.contested) for item in shown] == [(a.writer, False)]

    def test_different_content_is_shown_and_flagged(self):
        """Of two texts under one id neither is silently chosen."""
        a = sealed(EVENT, seq=1)
        other = sealed({**EVENT, "text": "no"}, seq=1, writer="wffffffff", record_id=a.id)

        shown = show_records([decode(a), decode(other), decode(sealed(EVENT, seq=2))])

        assert [(item.record.body["text"], item.contested) for item in shown] == [
            (EVENT["text"], True),
            ("no", True),
            (EVENT["text"], False),
        ]


class TestClock:
    """A hybrid clock as text (L3)."""

    def test_the_wall_counts_where_it_is_ahead(self):
        """A new line is later than every line known, and close to the wall where that allows it."""
        assert next_clock(0x18BCFE56800, "") == "018bcfe568000000"
        assert next_clock(0x18BCFE56800, "018bcfe567ffffff") == "018bcfe568000000"
        assert next_clock(0x18BCFE56800, "018bcfe568000000") == "018bcfe568000001"
        assert next_clock(0x18BCFE56800, "018bcfe56800ffff") == "018bcfe568010000"
        assert next_clock(-5, "") == "0" * 16

    def test_the_last_clock_stops_nobody(self):
        """A hostile line in the year 9999 must not make every later line bad."""
        assert next_clock(1, LAST_CLOCK) == LAST_CLOCK
        assert next_clock(10**20, "") == LAST_CLOCK[:12] + "0000"
        assert isinstance(parse_line(sealed(EVENT, seq=1, clock=LAST_CLOCK).raw), Line)

    def test_a_clock_far_ahead_is_told(self):
        """More than five minutes ahead of the wall is listed (OPEN-LEDGER-09)."""
        assert not is_ahead("0000000493e0ffff", 0)
        assert is_ahead("0000000493e10000", 0)


class TestNames:
    """Paths of segments and blobs (L4, L7)."""

    def test_paths_are_those_of_the_day_in_utc(self):
        """The folder is the day of sealing, whatever the machine's time zone."""
        assert segment_path(DAY, "w0123abcd", 7) == "ledger/2026-11/30/w0123abcd-0007.jsonl"
        assert segment_path(DAY, "w0123abcd", 12345) == "ledger/2026-11/30/w0123abcd-12345.jsonl"
        assert blob_path(DAY, "tool_000000000000001") == "ledger/blobs/2026-11/30/tool_000000000000001"

    def test_paths_are_read_back(self):
        """A segment's place in its writer's life is a number, not a text."""
        name = parse_segment_path("ledger/2026-11/30/w0123abcd-12345.jsonl")

        assert name == SegmentName("w0123abcd", 12345, "2026-11-30")
        assert SegmentName("w0123abcd", 9999, "2026-12-01") < name
        assert parse_blob_path("ledger/blobs/2026-11/30/tool_000000000000001") == "tool_000000000000001"

    @pytest.mark.parametrize(
        "path",
        [
            "ledger/2026-13/30/w0123abcd-0001.jsonl",
            "ledger/2026-02/30/w0123abcd-0001.jsonl",
            "ledger/2026-11/30/w0123abcd-001.jsonl",
            "ledger/2026-11/30/w0123abcd-00001.jsonl",
            "ledger/2026-11/30/W0123ABCD-0001.jsonl",
            "ledger/2026-11/30/w0123abcd-0001.jsonl\n",
            "ledger/2026-11/30/../w0123abcd-0001.jsonl",
            "x/ledger/2026-11/30/w0123abcd-0001.jsonl",
            "ledger/2026-11/30/w0123abcd-٠٠٠١.jsonl",
            "ledger/blobs/2026-13/30/tool_000000000000001",
            "ledger/blobs/2026-11/30/../../x",
        ],
    )
    def test_other_paths_are_none(self, path):
        """A path of a foreign tree is never taken for more than it is."""
        assert parse_segment_path(path) is None
        assert parse_blob_path(path) is None
