"""`docs/format.md`: every example is decoded, every list and number is the one in the code."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from gitmem import ledger_format, ledger_line, long_text, records, subjects
from gitmem.forgotten import close_segment, read_receipts
from gitmem.ledger_format import Line, decode, parse_line, redact, split_segment, union_segments

PAGE = (Path(__file__).parents[2] / "docs" / "format.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    """Return the fenced blocks with exactly this info string."""
    return re.findall(rf"^```{language}\n(.*?\n)```$", PAGE, re.MULTILINE | re.DOTALL)


def segment() -> list[Line]:
    """Return the lines of the worked example."""
    lines = [item for item in split_segment(blocks("jsonl")[0].encode()) if isinstance(item, Line)]
    assert len(lines) == 6
    return lines


class TestSegment:
    """The worked example is what gitmem reads."""

    def test_chain_and_digests_hold(self):
        """A reader who computes the hashes by the page gets those of the page."""
        lines = segment()
        prevs = ["0" * 64, *(sha256(line.pre + line.post).hexdigest() for line in lines)]

        assert b"".join(line.raw for line in lines).decode() == blocks("jsonl")[0]
        assert [line.prev for line in lines] == prevs[:-1]
        assert [line.seq for line in lines] == [1, 2, 3, 4, 5, 6]
        assert all(line.fits for line in lines)
        assert ledger_format.parse_segment_path("ledger/2026-11/30/w5e1f0a27-0001.jsonl") is not None
        assert "`ledger/2026-11/30/w5e1f0a27-0001.jsonl`" in PAGE

    def test_records_are_those_that_were_told(self):
        """Texts, links and snapshots come out as the page says."""
        question, answer, turn, running, done, _ = map(decode, segment())

        assert (question.body["text"], answer.body["text"]) == (
            "Which port does staging use?",
            "2222, since the move.",
        )
        assert (turn.id, turn.body) == (question.turn, {"turn_index": 1, "end": "completed"})
        assert (done.object, done.revision, done.status, done.after) == (
            "backup-7",
            2,
            "completed",
            (running.id,),
        )

    def test_the_slices_meet_where_the_page_cuts(self):
        """PRE, MID and POST of the second line, its digest and its envelope's hash."""
        slices, digest, envelope, _ = blocks("text")
        line = segment()[1]

        assert [row[6:].encode() for row in slices.splitlines()] == [line.pre, line.mid, line.post]
        assert digest.strip() == line.digest == sha256(line.mid).hexdigest()
        assert envelope.strip() == line.envelope_hash == segment()[2].prev

    def test_the_clock_is_the_time_that_the_page_gives(self):
        """The first 12 digits are milliseconds since 1970."""
        first, second = (row.split("   ")[0].replace(" ", "") for row in blocks("text")[3].splitlines())
        moment = datetime.fromtimestamp(int(first[:12], 16) / 1000, UTC)

        assert moment.isoformat(timespec="milliseconds").replace("+00:00", "Z") in blocks("text")[3]
        assert [first, second] == [line.clock for line in segment()[:2]]

    def test_the_program_reads_it(self):
        """The page's own reader, which knows nothing of gitmem, finds the same."""
        space: dict[str, Any] = {"__name__": "check"}
        exec(compile(blocks("python")[0], "format.md", "exec"), space)
        content = blocks("jsonl")[0].encode()

        assert list(space["check"](content))[1] == (2, segment()[1].id, "2222, since the move.", [])
        assert [row[3] for row in space["check"](content)] == [[]] * 6
        changed = content.replace(b"2222", b"2223")
        assert [row[3] for row in space["check"](changed)] == [[], ["body changed"], [], [], [], []]
        assert [row[3] for row in space["check"](b"".join(line.raw for line in segment()[3:]))] == [[]] * 3
        shortened = b"".join(line.raw for line in segment() if line.seq != 2)
        assert [row[3] for row in space["check"](shortened)] == [[], ["chain broken"], [], [], []]


class TestTurnLine:
    """The commit of a turn."""

    def test_the_commit_of_the_second_turn_is_the_one_shown(self):
        """Subject and trailers follow from the lines of the turn, and are read back."""
        (message,) = blocks("text turn commit")
        lines = segment()[3:]
        last = lines[-1]
        trailers = subjects.parse_trailers(message)
        chain = f"{last.writer}:{last.seq}:{last.envelope_hash}"

        assert message.startswith(subjects.turn_subject(2, [line.kind for line in lines]) + "\n")
        assert trailers["Gitmem-Chain"] == chain
        assert trailers["Gitmem-Turn"] == last.turn
        assert message == subjects.format_message(message.split("\n")[0], list(trailers.items()))

    def test_every_trailer_is_described(self):
        """A reader meets no trailer that the page does not know."""
        names = ("KIND", "TURN", "CHAIN", "HEAD", "HOME", "SESSION", "SOURCE", "REASON")
        trailers = {getattr(subjects, name) for name in names}

        assert {trailer for trailer in trailers if f"`{trailer}`" not in PAGE} == set()


class TestUnionAndForgetting:
    """Versions, stubs and receipts."""

    def test_the_union_is_the_one_shown(self):
        """The rules of the page make the third block of the first two."""
        (union,) = blocks("jsonl union")

        assert union_segments(block.encode() for block in blocks("jsonl version")).decode() == union

    def test_the_redacted_line_and_its_receipt(self):
        """The receipt's path and the stub belong to the second line."""
        path, line = blocks("text receipt")[0].splitlines()
        receipts = read_receipts({path: line.encode()})

        assert set(json.loads(line)) == {"at", "by", "reason"}
        assert blocks("jsonl redacted")[0].encode() == redact(segment()[1]).raw
        assert close_segment(segment()[1].raw, receipts).decode() == blocks("jsonl redacted")[0]
        assert parse_line(blocks("jsonl redacted")[0].encode()).envelope_hash == segment()[1].envelope_hash

    def test_a_long_text_is_described_as_it_is_made(self):
        """The field `blob` has the shape that the page shows."""
        shown = json.loads(blocks("json")[0])
        text = "".join(f"line {number}\n" for number in range(9000))
        short, _ = long_text.split_long({"tool": "shell", "output": text})

        assert shown["blob"] == short["blob"]
        assert "[… 85890 characters left out …]" in short["output"]
        assert "[… 85890 characters left out …]" in shown["output"]


class TestLists:
    """Tables and numbers."""

    def test_kinds_and_prefixes(self):
        """Every kind that gitmem writes is listed with the prefix of its ids."""
        rows = dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \| \w", PAGE, re.MULTILINE))

        assert rows == dict(records.ID_PREFIXES)

    def test_numbers(self):
        """Limits are the code's."""
        numbers = {
            "more than 16 KiB": long_text.LIMIT == 16 * 1024,
            "first 2,000 characters": long_text.HEAD == 2000,
            "last 1,000 characters": long_text.TAIL == 1000,
            "after a segment of 64 KiB or\nmore": ledger_format.SEGMENT_BYTES == 64 * 1024,
            f"above `{ledger_format.LAST_CLOCK}`": True,
            "five minutes ahead": ledger_format.CLOCK_TOLERANCE == 300_000,
            "deeper than 64 levels": records.MAX_DEPTH == 64,
            "deeper than\n200 levels": ledger_line.READ_DEPTH == 200,
        }

        assert [words for words, true in numbers.items() if words not in PAGE or not true] == []

    def test_terminal_statuses(self):
        """What beats an open head is listed in full."""
        listed = re.search(r"a terminal one \((.*?)\)", PAGE, re.DOTALL)

        assert listed is not None
        assert set(re.findall(r"`(\w+)`", listed[1])) == records.TERMINAL_STATUSES
