"""The ledger as it is read: all lines and the spool, closed under what was forgotten, past all damage."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from fixtures import git
from gitmem.errors import CorruptionError, NotFound, ObjectMissing
from gitmem.ledger import Segment, spooled_records
from gitmem.ledger_format import Line
from turns import Desk, again, lines_of, make_desk, put_on_line

OTHER = "refs/remotes/origin/gitmem/turns/w0000000a"
SEGMENT = "ledger/2026-03/02/w0000000a-0001.jsonl"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home's turn path."""
    return make_desk(tmp_path / "home")


def join(lines: list[Line]) -> bytes:
    """Return lines as a segment."""
    return b"".join(line.raw for line in lines)


def test_a_home_without_turns_is_empty(desk: Desk) -> None:
    """Absence is no error."""
    ledger = desk.ledger
    assert (dict(ledger.tips()), dict(ledger.segments()), ledger.spooled()) == ({}, {}, [])
    assert ledger.find("msg_000000000000000") is None
    assert ledger.find_turn("turn_000000000000000") == []
    assert list(ledger.find_all(b"x")) == []
    assert list(ledger.lines_newest_first()) == []
    assert ledger.record_ids() == frozenset()
    assert ledger.receipts().records == frozenset()


def test_records_are_found_on_the_line_and_in_the_spool(desk: Desk) -> None:
    """What is acknowledged can be read at once, committed or not."""
    desk.say("one")
    turn = desk.recorder.open(session="s2")
    turn.message("user", "two")
    turn.spool_only()
    ledger = again(desk).ledger
    on_line = next(desk.records())
    (waiting,) = ledger.spooled()
    (spooled,) = spooled_records(waiting)
    assert ledger.find(on_line.id) == on_line
    assert ledger.find(spooled.id) == spooled
    assert (spooled.body["text"], spooled.session, spooled.writer) == ("two", "s2", "")
    assert [record.kind for record in ledger.find_turn(on_line.turn)] == ["message", "turn"]
    assert ledger.find_turn(turn.id) == [spooled]
    assert {on_line.id, spooled.id, on_line.turn} == ledger.record_ids()
    assert ledger.full_body(spooled) == {"role": "user", "text": "two"}


def test_newest_first_reads_no_more_than_is_asked_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of what happened last does not read the history."""
    for number in range(12):
        desk.say(f"{number} {'x' * 15_000}")
    ledger = again(desk).ledger
    read: list[str] = []
    real = ledger.read_segment

    def note(segment: Segment) -> bytes:
        read.append(segment.path)
        return real(segment)

    monkeypatch.setattr(ledger, "read_segment", note)
    lines = ledger.lines_newest_first()
    assert next(lines).kind == "turn"
    assert len(read) == 1
    numbers = [line.seq for line in lines]
    assert numbers == sorted(numbers, reverse=True)
    assert len(read) == len(ledger.segments()) == 3


def test_lines_of_several_writers_are_merged_by_clock(desk: Desk) -> None:
    """One order for all."""
    put_on_line(desk.layout.root, OTHER, {SEGMENT: join(lines_of(["a", "b"], clock=1_772_441_000))})
    desk.say("c")
    assert desk.texts() == ["a", "b", "c"]


def test_versions_of_a_segment_are_one(desk: Desk) -> None:
    """Each remote has its own age of it; what any has is read once."""
    root = desk.layout.root
    lines = lines_of(["a", "b", "c", "d"])
    put_on_line(root, OTHER, {SEGMENT: join(lines[:3])})
    put_on_line(root, "refs/remotes/two/gitmem/turns/w0000000a", {SEGMENT: join(lines)})
    put_on_line(root, "refs/remotes/three/gitmem/turns/w0000000a", {SEGMENT: join(lines[2:])})
    (segment,) = desk.ledger.segments().values()
    assert len(segment.blobs) == 3
    assert list(segment.blobs) == sorted(segment.blobs)
    assert desk.texts() == ["a", "b", "c", "d"]
    assert desk.ledger.read_segment(segment) == join(lines)


def test_one_id_twice_in_a_segment_is_found_newest(desk: Desk) -> None:
    """Two copies of a folder imported the same."""
    (old,) = lines_of(["old"], clock=1_772_441_000)
    (new,) = lines_of(["new"], first=old.id)
    put_on_line(desk.layout.root, OTHER, {SEGMENT: old.raw + new.raw})
    found = desk.ledger.find(old.id)
    assert found
    assert found.body["text"] == "new"


def test_long_texts_come_back_or_say_why_not(desk: Desk) -> None:
    """Gone and damaged are two answers; a good version on another line is taken."""
    root = desk.layout.root
    long = "計" * 9_000
    desk.say(long)
    record = next(desk.records())
    assert desk.ledger.full_body(record)["text"] == long
    (path,) = [
        row
        for row in git("ls-tree", "-r", "--name-only", desk.own_ref(), cwd=root).split("\n")
        if "blobs" in row
    ]
    ref = desk.own_ref()
    desk.layout.writer_file.unlink()  # or the line would be read as it was before
    put_on_line(root, ref, {path: None})
    with pytest.raises(NotFound):
        again(desk).ledger.full_body(record)
    put_on_line(root, OTHER, {"ledger/blobs/2025-01/01/" + record.id: b"tampered"})
    with pytest.raises(CorruptionError):
        again(desk).ledger.full_body(record)
    put_on_line(
        root,
        "refs/remotes/two/gitmem/turns/w0000000b",
        {"ledger/blobs/2024-01/01/" + record.id: long.encode()},
    )
    assert again(desk).ledger.full_body(record)["text"] == long


def test_a_missing_segment_costs_only_itself(desk: Desk) -> None:
    """What is whole is read, what is not is named."""
    root = desk.layout.root
    desk.say("one")
    other = {SEGMENT: join(lines_of(["gone"])), SEGMENT.replace("0001", "0002"): b"{}\n"}
    put_on_line(root, OTHER, other)
    blob = git("rev-parse", f"{OTHER}:{SEGMENT}", cwd=root)
    (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    ledger = again(desk).ledger
    assert [line.kind for line in ledger.lines_newest_first()] == ["turn", "message"]
    assert ledger.find("msg_000000000000000") is None
    assert len(ledger.record_ids()) == 2
    with pytest.raises(ObjectMissing):
        ledger.read_segment(ledger.segments()[SEGMENT])
    assert blob in ledger.damaged()


def test_a_version_that_is_missing_is_made_up_for_by_another(desk: Desk) -> None:
    """Any whole version is better than none."""
    root = desk.layout.root
    lines = lines_of(["a", "b"])
    put_on_line(root, OTHER, {SEGMENT: join(lines[:1])})
    put_on_line(root, "refs/remotes/two/gitmem/turns/w0000000a", {SEGMENT: join(lines)})
    blob = git("rev-parse", f"{OTHER}:{SEGMENT}", cwd=root)
    (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert again(desk).texts() == ["a", "b"]


def test_a_tip_without_its_trees_is_left_out(desk: Desk) -> None:
    """A part of it could be read, but not what it forgot."""
    root = desk.layout.root
    desk.say("one")
    put_on_line(
        root, OTHER, {SEGMENT: join(lines_of(["x"])), "ledger/forgotten/blob/" + "a" * 40 + ".jsonl": b"{}\n"}
    )
    tree = git("rev-parse", f"{OTHER}:ledger/forgotten/blob", cwd=root)
    (root / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    ledger = again(desk).ledger
    assert [segment.writer for segment in ledger.segments().values()] == [desk.own_ref()[-9:]]
    assert list(ledger.damaged()) == [git("rev-parse", OTHER, cwd=root)]
    assert ledger.receipts().blobs == frozenset()


def test_what_waits_in_the_spool_is_closed_too(desk: Desk) -> None:
    """A receipt that came while a turn waits hides it like any record."""
    turn = desk.recorder.open()
    turn.message("user", "gone")
    turn.message("user", "stays")
    turn.spool_only()
    gone = turn.findings.records[0]["id"]
    path = f"ledger/forgotten/record/{gone.partition('_')[2][:2]}/{gone}.jsonl"
    put_on_line(desk.layout.root, OTHER, {path: b"{}\n"})
    (waiting,) = desk.ledger.spooled()
    assert [event.body["text"] for event in waiting.events] == ["stays"]
    assert desk.ledger.find(gone) is None


def test_a_turn_is_never_between_spool_and_line(desk: Desk) -> None:
    """Whoever takes the spool first and the lines after it finds every turn, once or twice."""
    desk.say("first")
    reader = again(desk).ledger
    told: list[str] = []
    stop = threading.Event()
    missing: list[str] = []

    def read() -> None:
        while not stop.is_set():
            expected = list(told)
            found = reader.record_ids()
            missing.extend(turn for turn in expected if turn not in found)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for number in range(60):
            with desk.recorder.open() as turn:
                turn.message("user", str(number))
            told.append(turn.findings.records[0]["id"])
    finally:
        stop.set()
        thread.join()
    assert missing == []


def test_threads_read_while_turns_come(desk: Desk) -> None:
    """Caches are shared and stay whole."""
    errors: list[BaseException] = []
    stop = threading.Event()
    ledger = desk.ledger

    def read() -> None:
        try:
            while not stop.is_set():
                list(ledger.lines_newest_first())
                ledger.find("msg_000000000000000")
                ledger.receipts()
        except BaseException as error:  # noqa: BLE001 - it is what the test looks for
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(30):
        desk.say(f"{number} {'x' * 12_000}")
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(desk.texts()) == 30
