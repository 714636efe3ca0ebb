"""What an act of forgetting says: ids and digests alone, the same bytes each time, nothing out of place."""

from __future__ import annotations

import json

import pytest

from gitmem.forgetting_record import (
    FORGOTTEN,
    Forgetting,
    forgetting_event,
    forgetting_of,
    receipts_of,
    ref_digest,
)
from gitmem.forgotten import read_receipts

AT = "2026-11-30T10:00:00.000Z"
RECORD, ENTRY, BLOB = "msg_29c1b289e752219", "a" * 64, "b" * 40
WHAT = Forgetting(
    frozenset({RECORD}), frozenset({ENTRY}), {BLOB: "notes/a.md"}, frozenset({ref_digest("x:y")})
)


def test_it_reads_back() -> None:
    """The record is the whole of it: whoever seals the turn makes the receipts from it alone."""
    event = forgetting_event(WHAT, at=AT, by="operator", reason="private")
    assert forgetting_of(event.kind, event.body) == WHAT
    assert forgetting_event(WHAT, at=AT, by="operator", reason="private") == event


def test_its_receipts() -> None:
    """One for each thing, with who, when and why; a file's with its path. Sealing it again makes the same."""
    event = forgetting_event(WHAT, at=AT, by="operator", reason="private")
    files = receipts_of([event])
    receipts = read_receipts(files)
    assert (receipts.records, receipts.entries, receipts.blobs) == ({RECORD}, {ENTRY}, {BLOB})
    told = [json.loads(content) for content in files.values()]
    assert all(one["at"] == AT and one["by"] == "operator" and one["reason"] == "private" for one in told)
    assert [one["path"] for one in told if "path" in one] == ["notes/a.md"]
    assert receipts_of([event]) == files


def test_what_is_known_is_left_out() -> None:
    """The second time nothing is new."""
    receipts = read_receipts(WHAT.files(at=AT, by="agent", reason=None))
    assert WHAT.without(receipts).names == ()
    assert Forgetting(frozenset({"msg_000000000000000"})).without(receipts).names == (
        "record/msg_000000000000000",
    )


@pytest.mark.parametrize(
    "body",
    [
        {"target": "memory", "action": "forget", "records": [RECORD]},
        {"target": FORGOTTEN, "action": "add", "records": [RECORD]},
    ],
)
def test_other_records_forget_nothing(body: dict[str, object]) -> None:
    """Only a record that says so does."""
    assert forgetting_of("memory", body) is None
    assert forgetting_of("message", {"target": FORGOTTEN, "action": "forget"}) is None


def test_malformed_names_lead_nowhere() -> None:
    """A name becomes a path: what is no id is passed over."""
    body = {
        "target": FORGOTTEN,
        "action": "forget",
        "records": ["../../x", RECORD, 7],
        "entries": ["short", ENTRY],
        "blobs": [["../x", "p"], [BLOB], [BLOB, "p"], "x"],
        "refs": [None],
    }
    assert forgetting_of("memory", body) == Forgetting(
        frozenset({RECORD}), frozenset({ENTRY}), {BLOB: "p"}, frozenset()
    )
