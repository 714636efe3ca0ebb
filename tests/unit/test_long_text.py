"""Long texts move to a blob file and come back exactly (L7)."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest

from gitmem.errors import LedgerCorrupt
from gitmem.long_text import HEAD, LIMIT, TAIL, join_long, needs_blob, split_long

LONG = "".join(chr(0x4E00 + i % 5000) for i in range(LIMIT))


class TestSplit:
    """What moves and what stays."""

    def test_short_bodies_stay_as_they_are(self):
        """A text of exactly 16 KiB is not long."""
        body = {"text": "x" * LIMIT, "n": 1}

        assert split_long(body) == (body, None)
        assert not needs_blob(body)

    @pytest.mark.parametrize("text", ["x" * (LIMIT + 1), "é" * (LIMIT // 2 + 1), "😀" * (LIMIT // 4 + 1)])
    def test_the_limit_counts_bytes_of_utf8(self, text):
        """Whatever the script, a line stays small enough for eyes and diffs."""
        short, blob = split_long({"text": text})

        assert blob == text.encode()
        assert join_long(short, blob) == {"text": text}

    def test_head_and_tail_stay(self):
        """Search and people see how a long text begins and ends."""
        short, blob = split_long({"tool": "sh", "output": LONG})

        assert blob == LONG.encode()
        assert short["tool"] == "sh"
        assert short["output"].startswith(LONG[:HEAD] + "\n[… ")
        assert short["output"].endswith(" …]\n" + LONG[-TAIL:])
        assert short["blob"] == {
            "sha256": sha256(blob).hexdigest(),
            "bytes": len(blob),
            "fields": {"output": {"offset": 0, "bytes": len(blob), "chars": len(LONG)}},
        }

    def test_objects_move_as_json(self):
        """A tool's input that is an object comes back as that object."""
        body = {"input": {"files": [{"text": LONG}, None, 1.5]}, "output": LONG}
        short, blob = split_long(body)

        assert short["blob"]["fields"]["input"]["json"] is True
        assert len(json.dumps(short)) < 40_000
        assert needs_blob(short)
        assert join_long(short, blob) == body

    @pytest.mark.parametrize(
        "own",
        [
            "mine",
            None,
            {"a": 1},
            {"sha256": "x", "bytes": 0, "fields": {}},
            {"sha256": "x", "bytes": 5, "fields": {"a": 1}},
        ],
    )
    @pytest.mark.parametrize("text", ["short", LONG])
    def test_a_field_named_blob_survives(self, own, text):
        """The name is the caller's as much as any other, whatever he puts there."""
        body = {"blob": own, "text": text}
        short, blob = split_long(body)

        assert (blob is None) == (text == "short")
        assert needs_blob(short) == (blob is not None)
        assert join_long(short, blob) == body

    def test_a_long_field_named_blob_survives(self):
        """Also where that field itself is what has to move."""
        body = {"blob": LONG, "text": LONG}

        assert join_long(*split_long(body)) == body


class TestJoin:
    """What is not believed."""

    @pytest.mark.parametrize("change", [lambda b: None, lambda b: b[:-1], lambda b: b"y" + b[1:]])
    def test_another_blob_is_refused(self, change):
        """A long text that was swapped is corruption, not content."""
        short, blob = split_long({"text": LONG})

        with pytest.raises(LedgerCorrupt):
            join_long(short, change(blob))

    @pytest.mark.parametrize(
        "place",
        [
            None,
            [],
            {},
            {"offset": 0, "bytes": 10**9},
            {"offset": -1, "bytes": 2},
            {"offset": "0", "bytes": 2},
            {"offset": 1, "bytes": 3},
            {"offset": 0, "bytes": 2, "json": True},
        ],
    )
    def test_a_hostile_place_is_refused(self, place):
        """What a foreign line says about its blob is not believed."""
        blob = "éa{".encode()
        moved = {"sha256": sha256(blob).hexdigest(), "bytes": len(blob), "fields": {"text": place}}

        with pytest.raises(LedgerCorrupt):
            join_long({"text": "…", "blob": moved}, blob)
