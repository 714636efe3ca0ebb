"""Import of JSON lines: conversations of other programs become turns, once, with their own times."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fixtures import git
from gitmem.importers.jsonl import ImportReport, import_jsonl
from turns import Desk, check_chains, make_desk

SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home's turn path."""
    return make_desk(tmp_path / "home")


def message(text: str, role: str = "user", **fields: Any) -> dict[str, Any]:
    """Return a line's object."""
    return {"kind": "message", "role": role, "text": text, **fields}


def load(desk: Desk, rows: Sequence[object], *, dry_run: bool = False) -> ImportReport:
    """Import rows; bytes and text stand for themselves, anything else is dumped."""
    lines = [
        row if isinstance(row, bytes) else (row if isinstance(row, str) else json.dumps(row)).encode() + b"\n"
        for row in rows
    ]
    return import_jsonl(
        lines,
        desk.recorder,
        known=desk.ledger.record_ids,
        forgotten=desk.ledger.receipts().records,
        dry_run=dry_run,
    )


def turns(desk: Desk) -> list[list[str]]:
    """Return the texts of each turn, in order."""
    found: dict[str, list[str]] = {}
    for record in desk.records():
        found.setdefault(record.turn, []).extend(
            [str(record.body["text"])] if record.kind == "message" else []
        )
    return list(found.values())


def test_a_user_message_begins_a_turn(desk: Desk) -> None:
    """Most exports know nothing of turns."""
    report = load(desk, [message("a"), message("b", "assistant"), message("c"), message("d", "assistant")])
    assert turns(desk) == [["a", "b"], ["c", "d"]]
    assert (report.turns, report.records, report.known, report.skipped) == (2, 4, 0, [])


def test_lines_of_one_turn_are_one_turn(desk: Desk) -> None:
    """Where the export knows better it is believed; a change of session ends a turn too."""
    rows = [
        message("a", turn=1, session="s1"),
        message("b", turn=1, session="s1"),
        message("c", turn="2", session="s1"),
        message("d", turn="2", session="s2"),
        message("e", "assistant", session="s2"),
    ]
    report = load(desk, rows)
    assert turns(desk) == [["a", "b"], ["c"], ["d"], ["e"]]
    assert report.sessions == 2
    assert [record.session for record in desk.records()] == ["s1"] * 5 + ["s2"] * 4


def test_records_keep_the_times_at_which_they_happened(desk: Desk) -> None:
    """A search by date finds what was said then; the ledger's own order is that of the import."""
    load(
        desk,
        [message("a", ts="2023-05-08T13:56:00Z"), message("b", "assistant", ts="2023-05-08T13:57:30+02:00")],
    )
    assert [record.ts for record in desk.records()] == [
        "2023-05-08T13:56:00.000Z",
        "2023-05-08T11:57:30.000Z",
        "2023-05-08T13:56:00.000Z",
    ]
    assert all(path.startswith("ledger/2026-03/02/") for path in desk.ledger.segments())


def test_the_same_file_again_adds_nothing(desk: Desk) -> None:
    """Ids come from the source; two equal lines are two records, both known the second time."""
    rows = [message("a"), message("yes", "assistant"), message("a"), message("yes", "assistant")]
    assert load(desk, rows).records == 4
    tip = git("rev-parse", desk.own_ref(), cwd=desk.layout.root)
    report = load(Desk(desk.layout.root), rows)
    assert (report.turns, report.records, report.known) == (0, 0, 4)
    assert git("rev-parse", desk.own_ref(), cwd=desk.layout.root) == tip


def test_a_longer_version_adds_what_is_new(desk: Desk) -> None:
    """The export is repeated each night."""
    rows = [message("a"), message("b", "assistant")]
    load(desk, rows)
    report = load(desk, [*rows, message("c", "assistant"), message("d")])
    assert (report.records, report.known) == (2, 2)
    assert turns(desk) == [["a", "b"], ["c"], ["d"]]


def test_ids_of_the_source_name_the_records(desk: Desk) -> None:
    """A line whose text was corrected in the source is still the line that is known."""
    load(desk, [message("a", source="chat", source_id="m1"), message("b", source="other", source_id="m1")])
    report = load(desk, [message("A!", source="chat", source_id="m1")])
    assert (report.records, report.known) == (0, 1)
    assert desk.texts() == ["a", "b"]


def test_two_machines_derive_the_same_ids(desk: Desk, tmp_path: Path) -> None:
    """What both imported is one record when their lines meet."""
    other = make_desk(tmp_path / "other")
    rows = [message("a", ts="2023-01-01T00:00:00Z"), message("b", "assistant", ts="2023-01-01T00:00:01Z")]
    load(desk, rows)
    load(other, rows)
    assert [record.id for record in desk.records()] == [record.id for record in other.records()]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("{", "not JSON"),
        ("[1]", "JSON object"),
        (b"\xff\xfe\x00\n", "not JSON"),
        ('{"kind":"message","role":"user","text":NaN}', "JSON has no"),
        ('{"kind":"nothing"}', "unknown kind"),
        ('{"kind":"message","role":"user"}', "text missing"),
        ('{"kind":"message","role":"user","text":"x","ts":"long ago"}', "not a time"),
        ('{"kind":"message","role":"user","text":"x","session":"a b"}', "session must be"),
        (
            json.dumps({"kind": "message", "role": "user", "text": "x", "session": SECRET}),
            "looks like a secret",
        ),
        ("[" * 100_000, "not JSON"),
        (f'{{"kind":"message","role":"user","text":"x","n":{"9" * 5000}}}', "not JSON"),
    ],
)
def test_a_bad_line_costs_only_itself(desk: Desk, row: str | bytes, reason: str) -> None:
    """It is named with its number, and nothing of it is written."""
    report = load(desk, [message("a"), row, message("b", "assistant")])
    assert [skipped.line for skipped in report.skipped] == [2]
    assert reason in report.skipped[0].reason
    assert SECRET not in report.skipped[0].reason
    assert turns(desk) == [["a", "b"]]


def test_blank_lines_and_marks_are_no_lines(desk: Desk) -> None:
    """Editors of other systems leave them."""
    rows = [b"\xef\xbb\xbf" + json.dumps(message("a")).encode() + b"\r\n", b"\r\n", b"  \n", b"\0\0"]
    report = load(desk, rows)
    assert (report.records, report.skipped) == (1, [])


def test_a_dry_run_says_the_same_and_writes_nothing(desk: Desk) -> None:
    """Duplicates within the file are counted as an import would count them."""
    rows = [message("a", source_id="1"), message("again", source_id="1"), message(f"x {SECRET}"), "{"]
    dry = load(desk, rows, dry_run=True)
    assert not desk.layout.spool.exists()
    assert desk.texts() == []
    wet = load(desk, rows)
    assert dry.dry_run
    assert (dry.turns, dry.records, dry.known, dry.redactions, len(dry.skipped)) == (2, 2, 1, 1, 1)
    assert (wet.turns, wet.records, wet.known, wet.redactions, len(wet.skipped)) == (2, 2, 1, 1, 1)
    assert desk.texts() == ["a", "x [redacted: github-token]"]


def test_what_was_forgotten_does_not_come_back(desk: Desk) -> None:
    """The file still holds it."""
    load(desk, [message("a"), message("b", "assistant")])
    gone = next(desk.records()).id
    other = Desk(desk.layout.root)
    report = import_jsonl(
        [json.dumps(message("a")).encode(), json.dumps(message("c")).encode()],
        other.recorder,
        known=frozenset,
        forgotten=frozenset({gone}),
    )
    assert (report.forgotten, report.records) == (1, 1)


def test_a_long_file_is_committed_in_packs_of_many_turns(desk: Desk) -> None:
    """And every turn is a commit, in order, with nothing left in the spool."""
    done: list[int] = []
    rows = [message(f"{number}", session=f"s{number // 10}") for number in range(100)]
    import_jsonl(
        [json.dumps(row).encode() for row in rows],
        desk.recorder,
        known=desk.ledger.record_ids,
        forgotten=frozenset(),
        progress=done.append,
    )
    assert desk.texts() == [str(number) for number in range(100)]
    assert done == [32, 64, 96]
    assert git("rev-list", "--count", desk.own_ref(), cwd=desk.layout.root) == "100"
    assert not [*desk.layout.spool.iterdir()]
    check_chains(desk.ledger)


def test_an_import_that_was_killed_is_completed_by_the_next(desk: Desk) -> None:
    """Turns that wait in the spool are known, and none is brought in twice."""
    rows = [message(str(number)) for number in range(50)]

    class Kill(BaseException):
        """The process dies here."""

    def kill(done: int) -> None:
        raise Kill

    lines = [json.dumps(row).encode() for row in rows]
    known = desk.ledger.record_ids
    with pytest.raises(Kill):
        import_jsonl(lines, desk.recorder, known=known, forgotten=frozenset(), progress=kill)
    other = Desk(desk.layout.root)
    report = load(other, rows)
    assert (report.known, report.records) == (32, 18)
    assert other.texts() == [str(number) for number in range(50)]
