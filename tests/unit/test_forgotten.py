"""Receipts of forgetting and what is closed under them (F1-F3)."""

from __future__ import annotations

from hashlib import sha256

import pytest

from gitmem.forgotten import (
    Receipts,
    close_line,
    close_segment,
    join_receipts,
    merge_receipt_files,
    read_receipts,
    receipt_path,
)
from gitmem.ledger_format import blob_path, redact
from ledgers import messages

ENTRY = sha256(b"Staging listens on 2222").hexdigest()
BLOB = "ab" * 20
LINE = b'{"at":"2026-11-30T09:00:00.000Z","by":"operator","reason":"asked"}\n'


def forget(*ids: str) -> Receipts:
    """Return the receipts of forgotten records."""
    return read_receipts({receipt_path("record", name): LINE for name in ids})


class TestReadReceipts:
    """What is in force."""

    def test_paths_say_what_is_forgotten(self):
        """Each kind of receipt has its folder; records fan out by the first two hex of their id (L7)."""
        receipts = read_receipts(
            {
                "ledger/forgotten/record/00/msg_000000000000001.jsonl": LINE,
                f"ledger/forgotten/entry/{ENTRY}.jsonl": LINE,
                f"ledger/forgotten/blob/{BLOB}.jsonl": LINE,
                "ledger/forgotten/purge/p1.jsonl": LINE,
            }
        )

        assert receipts.records == {"msg_000000000000001"}
        assert receipts.is_forgotten_entry("Staging listens on 2222")
        assert not receipts.is_forgotten_entry("Staging listens on 2223")
        assert receipts.is_forgotten_blob(BLOB)
        assert receipts.purges == {"p1"}
        assert receipts.lines["record", "msg_000000000000001"] == (LINE[:-1],)

    @pytest.mark.parametrize(
        ("kind", "name"), [("record", "msg_0f0000000000001"), ("entry", ENTRY), ("purge", "p")]
    )
    def test_written_paths_are_read_back(self, kind, name):
        """What `forget` writes is what every reader honours."""
        assert set(read_receipts({receipt_path(kind, name): LINE}).lines) == {(kind, name)}

    @pytest.mark.parametrize(
        "path",
        [
            "forgotten/record/00/msg_000000000000001.jsonl",
            "ledger/forgotten/record/msg_000000000000001.jsonl",
        ],
    )
    def test_other_ways_to_say_it_are_read(self, path):
        """A path relative to `ledger/` and one that does not fan out forget just as well."""
        assert read_receipts({path: LINE}).records == {"msg_000000000000001"}

    @pytest.mark.parametrize(
        "path",
        [
            "ledger/forgotten/record/ff/msg_000000000000001.jsonl",
            "ledger/forgotten/record/../msg_000000000000001.jsonl",
            "ledger/forgotten/record/00/msg_1.jsonl",
            f"ledger/forgotten/entry/{ENTRY[:-1]}.jsonl",
            "ledger/forgotten/other/x.jsonl",
            "ledger/2026-11/30/w0123abcd-0001.jsonl",
        ],
    )
    def test_other_paths_forget_nothing(self, path):
        """A stray file under `ledger/` costs only itself."""
        assert read_receipts({path: LINE}) == Receipts()

    def test_damaged_lines_still_forget(self):
        """A receipt whose bytes were damaged must not bring a forgotten text back."""
        assert (
            forget("msg_000000000000001").records
            == read_receipts({"ledger/forgotten/record/00/msg_000000000000001.jsonl": b'{"at":\0\0'}).records
        )

    def test_an_empty_file_is_no_receipt(self):
        """A receipt is a line (F1); a file without one forgets nothing."""
        assert read_receipts({"ledger/forgotten/record/00/msg_000000000000001.jsonl": b"\n"}) == Receipts()

    def test_in_force_is_the_union(self):
        """What any line has forgotten is forgotten here."""
        both = join_receipts([forget("msg_000000000000001"), forget("msg_000000000000002"), Receipts()])

        assert both == forget("msg_000000000000002", "msg_000000000000001")

    def test_files_merge_as_sorted_sets_of_lines(self):
        """Two people who forget one thing make one receipt with both reasons, in one order everywhere."""
        assert merge_receipt_files([b"b\na\n", b"a\nc"]) == b"a\nb\nc\n"


class TestClose:
    """What receipts do to what is read."""

    def test_a_forgotten_record_becomes_its_stub(self):
        """Every tree written and everything read shows the stub, with the chain as it was (F2)."""
        lines = messages(3)
        content = b"".join(line.raw for line in lines)

        closed = close_segment(content, forget(lines[1].id))

        assert closed == lines[0].raw + redact(lines[1]).raw + lines[2].raw
        assert b"message 2" not in closed
        assert close_segment(closed, forget(lines[1].id)) == closed
        assert close_line(lines[0], forget(lines[1].id)) is lines[0]

    def test_the_rest_keeps_its_bytes(self):
        """Torn tails, empty lines and foreign text are not gitmem's to rewrite."""
        lines = messages(2)
        content = b"\n\0\0\n" + lines[0].raw + b"foreign\n" + lines[1].raw + b'{"ts":"2026'

        closed = close_segment(content, forget(lines[1].id))

        assert closed == b"\n\0\0\n" + lines[0].raw + b"foreign\n" + redact(lines[1]).raw + b'{"ts":"2026'

    def test_a_record_glued_to_a_torn_line_is_closed_too(self):
        """A forgotten text cannot hide behind a power cut."""
        lines = messages(2)

        closed = close_segment(lines[0].raw[:40] + b"\0\0" + lines[1].raw, forget(lines[1].id))

        assert closed == lines[0].raw[:40] + b"\0\0\n" + redact(lines[1]).raw

    def test_an_id_quoted_in_a_text_forgets_nothing(self):
        """A body that names a forgotten record keeps its own words."""
        line = messages(1)[0]
        content = line.raw.replace(b"message 1", b'see {\\"x\\":1,\\"id\\":\\"msg_00000000000000f\\"}')

        assert close_segment(content, forget("msg_00000000000000f")) == content

    def test_the_long_text_goes_with_its_record(self):
        """A blob file of a forgotten record has to leave the tree."""
        assert forget("msg_000000000000001").is_forgotten_path(blob_path(0, "msg_000000000000001"))
        assert not forget("msg_000000000000001").is_forgotten_path(blob_path(0, "msg_000000000000002"))
