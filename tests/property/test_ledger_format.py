"""The ledger's bytes under anything that can happen to them (L1-L6, V3)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from gitmem.forgotten import close_segment, merge_receipt_files, read_receipts, receipt_path
from gitmem.ledger_format import (
    Line,
    decode,
    next_clock,
    parse_line,
    read_records,
    redact,
    split_segment,
    union_segments,
)
from gitmem.long_text import LIMIT, join_long, split_long
from gitmem.records import clean_json
from ledgers import EVENT, join_lines, messages, sealed, tampered, with_middle

WHOLE = messages(1)[0].raw[:-1].decode()

#: What a caller might say to break out of his slice, or to be split in two.
HOSTILE = [
    ',"id":"',
    '"}',
    ',"redacted":true',
    '{"ts":"',
    f'"prev":"{"0" * 64}"}}',
    WHOLE,
    "\\",
    '\\"',
    '\\\\"',
    "\u2028\u2029\x85\x0b\x0c\x1c",
    "\r\n",
    "\0",
    "\x7f",
    "\ud800",
    "\udcb2x",
    "[{" * 300,
]
texts = st.lists(st.sampled_from(HOSTILE) | st.text(st.characters(codec=None), max_size=12), max_size=5).map(
    "".join
)
scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | texts
values = st.recursive(
    scalars | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
names = st.from_regex(r"[A-Za-z0-9_.-]{1,80}", fullmatch=True)
events = st.fixed_dictionaries(
    {"kind": st.just("message"), "role": st.just("user"), "text": texts},
    optional={"id": values, "redacted": values, "digest": values, "session": names, "workspace": names},
)

LINES = messages(4)
#: Bytes that are no line; with and without what makes a line.
GARBAGE = [
    b"",
    b"not json",
    b"[]",
    b"null",
    b'"x"',
    b"\xff\xfe",
    b"\0\0\0",
    LINES[0].raw[:-40],
    LINES[1].raw[40:-1],
]
garbage = st.sampled_from(GARBAGE) | st.binary(max_size=30).map(lambda raw: raw.replace(b"\n", b""))


def whole_lines(content: bytes) -> list[Line]:
    """Return the good lines of a segment."""
    return [item for item in split_segment(content) if isinstance(item, Line)]


def is_subsequence(old: Sequence[Any], new: Sequence[Any]) -> bool:
    """Say whether `old` is `new` with some items left out."""
    rest = iter(new)
    return all(item in rest for item in old)


class TestRecord:
    """One event, to a line and back."""

    @given(events)
    def test_any_record_survives(self, raw):
        """Whatever a caller words comes back, and its line is one line whatever splits it."""
        line = sealed(raw, seq=3)
        record = decode(line)
        body = clean_json(
            {key: value for key, value in raw.items() if key not in ("kind", "session", "workspace")}
        )

        assert record.body == body
        assert (record.session, record.workspace) == (raw.get("session"), raw.get("workspace"))
        assert parse_line(line.raw) == line
        assert split_segment(line.raw) == [line]
        assert len(line.raw.decode("utf-8").splitlines()) == 1
        assert line.is_intact

    @given(events)
    def test_any_record_can_be_redacted(self, raw):
        """Nothing that a caller worded is left, and no hash of the chain changes."""
        line = sealed({**raw, "text": "TOP-SECRET " + raw["text"]}, seq=3)
        stub = redact(line)

        assert parse_line(stub.raw) == stub
        assert (stub.envelope_hash, stub.digest) == (line.envelope_hash, line.digest)
        assert b"TOP-SECRET" not in stub.raw
        assert decode(stub).body == {}

    @given(st.binary(max_size=60) | texts.map(lambda text: text.encode("utf-8", "surrogatepass")))
    @example(b',"body":{}')
    def test_any_middle_is_read_or_named(self, middle):
        """A hostile middle with a right digest is a record or a named bad line, never another error."""
        for content in (
            middle,
            b',"body":{' + middle,
            b',"body":{"a":' + middle + b'},"salt":"' + b"0" * 32 + b'"',
        ):
            hostile = with_middle(LINES[1], content)
            records = list(read_records(LINES[0].raw + hostile.raw + LINES[2].raw))

            assert getattr(records[0], "id", None) == LINES[0].id
            assert getattr(records[-1], "id", None) == LINES[2].id


class TestDamage:
    """A segment whose bytes were cut, padded or overwritten."""

    @given(st.integers(0, 10_000))
    def test_any_truncation_keeps_whole_lines(self, size):
        """A file cut anywhere still holds each line that ended before the cut."""
        content = join_lines(LINES)
        size %= len(content) + 1
        kept = [line for end, line in zip(ends(LINES), LINES, strict=True) if end - 1 <= size]

        assert whole_lines(content[:size]) == kept

    @given(st.lists(events, min_size=1, max_size=4), st.integers(0, 10_000), st.integers(0, 500))
    def test_a_cut_anywhere_costs_only_the_lines_it_touches(self, raws, start, size):
        """Whatever was lost in the middle, every line before and behind it is read."""
        lines = [sealed(raw, seq=seq) for seq, raw in enumerate(raws, 1)]
        content = join_lines(lines)
        start %= len(content)

        assert untouched(lines, start, size) <= set(whole_lines(content[:start] + content[start + size :]))

    @given(st.integers(0, 10_000), st.integers(0, 5000), st.binary(max_size=40) | st.just(b"\0" * 4096))
    def test_bytes_put_anywhere_cost_only_the_lines_they_touch(self, start, size, put):
        """NUL runs, invalid UTF-8 and line feeds in or over lines hide no other line."""
        content = join_lines(LINES)
        start %= len(content) + 1

        assert untouched(LINES, start, size) <= set(
            whole_lines(content[:start] + put + content[start + size :])
        )

    @given(st.lists(st.sampled_from(LINES).map(lambda line: line.raw) | garbage | st.just(b"\n")))
    def test_no_byte_is_lost(self, parts):
        """What is no line is kept byte for byte, whatever glued it to what."""
        content = b"".join(parts)
        again = b"".join(item.raw for item in split_segment(content))

        assert again.replace(b"\n", b"") == content.replace(b"\n", b"")
        assert b"".join(item.raw for item in split_segment(again)) == again

    @given(st.binary())
    def test_nothing_is_ever_raised(self, content):
        """One bad file stops no start-up."""
        assert len(list(read_records(content))) == len(split_segment(content))


def ends(lines: Sequence[Line]) -> list[int]:
    """Return where each line ends in a segment of just these."""
    found = [0]
    for line in lines:
        found.append(found[-1] + len(line.raw))
    return found[1:]


def untouched(lines: Sequence[Line], start: int, size: int) -> set[Line]:
    """Return the lines of which no byte but a line feed is among `size` bytes from `start`."""
    spans = pairwise([0, *ends(lines)])
    return {
        line
        for line, (first, end) in zip(lines, spans, strict=True)
        if end - 1 <= start or (first >= start + size and first >= start)
    }


def position(line: Line) -> tuple[int, str, str]:
    """Return where a line stands in its segment."""
    return (line.seq, line.clock, line.envelope_hash)


#: Lines that may meet in one segment: a chain, branches of a fork at the same seq, snapshots.
POOL = sorted(
    [
        *LINES,
        *(sealed({**EVENT, "text": f"fork {n}"}, seq=n, record_id=f"msg_{n:014x}f") for n in (1, 2, 3)),
        *(
            sealed({**EVENT, "text": "late"}, seq=2, clock="0" * 15 + c, record_id=f"msg_{c * 15}")
            for c in "12"
        ),
        sealed({"kind": "wait", "wait_id": "w.1", "status": "active"}, seq=3, revision=1, status="active"),
    ],
    key=position,
)


@st.composite
def versions(draw: st.DrawFn, runs: st.SearchStrategy[list[bytes]], *, tamper: bool = True) -> bytes:
    """Return a version of the pool's segment: some lines in order, some as stubs, bad lines between."""
    items: list[Line | bytes] = [*draw(runs)]
    chosen: list[Line] = []
    for line in draw(st.lists(st.sampled_from(POOL), unique=True)):
        forms = [
            line,
            line,
            redact(line),
            *(tampered(line, b'"salt":"0', by) for by in (b'"salt":"1', b'"no":"0') if tamper),
        ]
        chosen.append(draw(st.sampled_from(forms)))
    for line in sorted(chosen, key=position):
        items += [line, *draw(runs)]
    return join_lines(items)


ordered_runs = (
    st.lists(st.sampled_from(GARBAGE), max_size=2, unique=True)
    .map(lambda run: sorted(r + b"\n" for r in run))
    .map(lambda run: [r[:-1] for r in run])
)
any_runs = st.lists(garbage, max_size=3)
anything = st.one_of(
    versions(any_runs),
    st.tuples(versions(any_runs), st.integers(0, 3000)).map(lambda cut: cut[0][: cut[1]]),
    st.lists(st.sampled_from(POOL), max_size=4).map(join_lines),
    st.binary(max_size=50),
)


class TestUnion:
    """The laws of L5."""

    @given(st.lists(versions(ordered_runs), min_size=3, max_size=3))
    def test_associative(self, three):
        """Machines that hear of versions in any order hold one file."""
        a, b, c = three
        whole = union_segments(three)

        assert union_segments([union_segments([a, b]), c]) == whole
        assert union_segments([a, union_segments([b, c])]) == whole
        assert union_segments([union_segments([c, a]), b]) == whole

    @given(anything, anything)
    def test_commutative_and_idempotent(self, a, b):
        """Nobody's version comes first, and hearing of one again changes nothing, whatever bytes it holds."""
        union = union_segments([a, b])

        assert union_segments([b, a]) == union
        assert union_segments([a, a]) == a
        assert union_segments([union, union]) == union
        assert set(split_raws(union_segments([union, a]))) == set(split_raws(union))

    @given(st.lists(versions(any_runs), min_size=2, max_size=3))
    def test_idempotent_with_each_version(self, several):
        """A version that was merged brings nothing more, so that sync comes to rest."""
        union = union_segments(several)

        for version in several:
            assert union_segments([union, version]) == union

    @given(st.lists(anything, min_size=1, max_size=3))
    def test_lossless(self, several):
        """Every envelope and every bad line of every version is there; nothing is ever removed."""
        union = split_segment(union_segments(several))
        envelopes = {item.envelope for item in union if isinstance(item, Line)}
        raws = {item.raw for item in union}
        known = {raw for version in several for raw in split_raws(version)}

        for version in several:
            for item in split_segment(version):
                if isinstance(item, Line):
                    assert item.envelope in envelopes
                elif item.raw not in raws:
                    # Only a torn tail gives way, to the line that it was the beginning of.
                    assert version.endswith(item.raw[:-1])
                    assert any(raw.startswith(item.raw[:-1]) for raw in known - {item.raw})

    @given(st.lists(versions(any_runs, tamper=False), min_size=2, max_size=3))
    def test_each_version_may_go_to_the_union(self, several):
        """V3: the old lines are a subsequence of the new, each equal or turned into the stub."""
        union = split_segment(union_segments(several))
        stubbed = {item.envelope for item in union if isinstance(item, Line) and item.redacted}

        for version in several:
            old = [
                redact(item).raw if isinstance(item, Line) and item.envelope in stubbed else item.raw
                for item in split_segment(version)
            ]
            assert is_subsequence(old, [item.raw for item in union])

    @given(st.lists(versions(any_runs), min_size=2, max_size=3))
    def test_the_best_middle_of_each_line_is_kept(self, several):
        """The stub wins, else the middle that was sealed, else one that every machine chooses alike."""
        union = {line.envelope: line for line in whole_lines(union_segments(several))}

        for line in (line for version in several for line in whole_lines(version)):
            kept = union[line.envelope]
            assert kept.redacted or not line.redacted
            assert kept.is_intact or not line.is_intact

    @given(versions(any_runs), st.integers(0, 5000), st.binary(max_size=30))
    def test_a_version_absorbs_its_own_beginnings(self, version, size, more):
        """A copy that was cut short, at any byte, adds nothing."""
        assert union_segments([version[:size], version, version + more]) == version + more


def split_raws(content: bytes) -> list[bytes]:
    """Return the raw bytes of what a segment holds."""
    return [item.raw for item in split_segment(content)]


class TestClosing:
    """F2 over any segment."""

    @given(anything, st.sets(st.sampled_from([line.id for line in POOL])))
    def test_no_forgotten_middle_is_left(self, content, ids):
        """Whatever stands around it, a forgotten record is its stub and the rest is as it was."""
        receipts = read_receipts({receipt_path("record", name): b"{}\n" for name in ids})
        closed = close_segment(content, receipts)

        before, after = split_segment(content), split_segment(closed)
        assert close_segment(closed, receipts) == closed
        assert [item.raw for item in after] == [
            redact(item).raw if isinstance(item, Line) and item.id in ids else item.raw for item in before
        ]

    @given(anything, anything, st.sets(st.sampled_from([line.id for line in POOL])))
    def test_closing_and_union_may_change_places(self, a, b, ids):
        """A receipt that arrives before or after a version forgets alike."""
        receipts = read_receipts({receipt_path("record", name): b"{}\n" for name in ids})

        late = close_segment(union_segments([a, b]), receipts)
        early = close_segment(union_segments([close_segment(a, receipts), b]), receipts)

        assert {line.raw for line in whole_lines(late)} == {line.raw for line in whole_lines(early)}

    @given(st.lists(st.binary(max_size=20), min_size=3, max_size=3))
    def test_receipt_files_merge_in_any_order(self, files):
        """Receipts converge as segments do."""
        a, b, c = files
        whole = merge_receipt_files(files)

        assert merge_receipt_files([merge_receipt_files([a, b]), c]) == whole
        assert merge_receipt_files([c, merge_receipt_files([b, a])]) == whole
        assert merge_receipt_files([whole, a]) == whole


class TestLongText:
    """L7 over any body."""

    @given(st.dictionaries(st.sampled_from(["text", "output", "blob", "x"]), values), st.integers(0, 3))
    def test_any_body_comes_back(self, fields, times):
        """Long or short, text or object, whatever its fields are named."""
        body = clean_json({name: stretch(value, times) for name, value in fields.items()})
        short, blob = split_long(body)

        assert join_long(short, blob) == body
        assert blob is None or len(blob) > LIMIT


def stretch(value: Any, times: int) -> Any:
    """Return a longer value of the same kind."""
    for _ in range(times):
        value = value * 30 if isinstance(value, str) else [value] * 9 if isinstance(value, list) else value
    return value


class TestClock:
    """L3 over any wall."""

    @given(st.integers(-(10**14), 10**15), st.integers(0, 0xE677D21FDBFFFFFE))
    def test_a_new_clock_is_above_all_known(self, wall, highest):
        """Time set back or forward, order of writing is kept."""
        known = f"{highest:016x}"
        clock = next_clock(wall, known)

        assert len(clock) == 16
        assert clock > known
