"""The spool: what was told survives a kill at any moment, a full disk and other processes."""

from __future__ import annotations

import errno
import json
import os
import threading
from pathlib import Path

import pytest

from fixtures import CounterClock
from gitmem import durable_file, spool_file
from gitmem.errors import HomeLocked, NotFound, UsageError
from gitmem.records import Event, mint_id, parse_event
from gitmem.spool import HELD_LIMIT, Spool, SpoolFile, read_turn

NOW = CounterClock().seconds
TURN = "turn_0123456789abcde"


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    """A spool whose folder is not there yet."""
    return Spool(tmp_path / "private" / "spool")


def say(text: str) -> Event:
    """Return an event."""
    return parse_event({"kind": "message", "role": "user", "text": text}, now=NOW)


def begin(spool: Spool, turn: str = TURN, *, held: bool = False) -> SpoolFile:
    """Open a turn with a session."""
    return spool.open_turn(turn, {"opened": "2026-03-02T09:00:00.000Z", "session": "s1"}, held=held)


def texts(path: Path) -> list[str]:
    """Return the texts of a spool file's events."""
    return [str(event.body["text"]) for event in read_turn(path).events]


def test_a_finished_turn_reads_back_as_told(spool: Spool) -> None:
    """The spool is the turn until it is sealed: every field of every event comes back."""
    file = begin(spool)
    told = [
        parse_event({"kind": "message", "role": "user", "text": "a\nb\u2028\0c", "x": [1, None]}, now=NOW),
        parse_event({"kind": "task", "task_id": "t1", "status": "running", "workspace": "w"}, now=NOW),
    ]
    for event in told:
        file.add(event)
    turn = read_turn(file.finish("completed", NOW))
    assert list(turn.events) == told
    assert (turn.turn, turn.end, turn.ended) == (TURN, "completed", "2026-03-02T09:00:00.000Z")
    assert turn.header["session"] == "s1"
    assert [path.name for path in spool.finished()] == [turn.path.name]


def test_what_is_remembered_is_what_was_written(spool: Spool) -> None:
    """A process that told all of a turn need not read it again; one that told a part does."""
    file = begin(spool)
    file.add(say("one"), say("two"), rules=["api-key"])
    path = file.finish("aborted", NOW)
    assert file.take_finished() == read_turn(path)
    assert file.take_finished() is None
    begin(spool, held=True).close()
    again = spool.reopen_held(TURN)
    again.add(say("three"))
    again.finish("completed", NOW)
    assert again.take_finished() is None


def test_redactions_come_back_with_their_records(spool: Spool) -> None:
    """A turn that several processes feed is reported whole by the last of them."""
    file = begin(spool)
    event = say("x")
    file.add(event, rules=["github-token", "api-key"])
    turn = read_turn(file.finish("completed", NOW))
    assert turn.redactions == (("github-token", event.id), ("api-key", event.id))


def test_turns_are_listed_in_the_order_in_which_they_ended(spool: Spool) -> None:
    """Seq follows time, whatever the ids are."""
    names = [mint_id("turn") for _ in range(5)]
    files = [begin(spool, name) for name in names]
    order = [3, 0, 4, 1, 2]
    for tick, number in enumerate(order):
        files[number].add(say("x"))
        files[number].finish("completed", NOW + tick)
    assert [read_turn(path).turn for path in spool.finished()] == [names[number] for number in order]


def test_an_open_turn_of_a_living_process_is_left_alone(spool: Spool) -> None:
    """Its lock says that it lives."""
    file = begin(spool)
    file.add(say("x"))
    assert spool.close_dead(NOW) == []
    assert file.path.exists()
    file.close()


def test_a_dead_process_leaves_an_interrupted_turn(spool: Spool) -> None:
    """What had come is kept and said to be cut short."""
    file = begin(spool)
    file.add(say("one"))
    file.add(say("two"))
    file.close()  # as the kernel does
    (closed,) = spool.close_dead(NOW)
    assert texts(closed) == ["one", "two"]
    assert read_turn(closed).end == "interrupted"
    assert spool.close_dead(NOW) == []


def test_a_dead_turn_in_which_nothing_happened_leaves_nothing(spool: Spool) -> None:
    """An agent that opened a turn and died did nothing that is worth a commit."""
    begin(spool).close()
    assert spool.close_dead(NOW) == []
    assert not [*spool.folder.iterdir()]


@pytest.mark.parametrize("tail", [b'{"kind":"mess', b"\0\0\0\0", b'{"kind":"message","id":1}', b"\xff\xfe"])
def test_a_torn_row_costs_only_itself(spool: Spool, tail: bytes) -> None:
    """A process that died while writing leaves half a row; the next process's rows are whole."""
    file = begin(spool, held=True)
    file.add(say("one"))
    file.close()
    with file.path.open("ab") as raw:
        raw.write(tail)
    again = spool.reopen_held(TURN)
    again.add(say("two"))
    assert texts(again.finish("completed", NOW)) == ["one", "two"]


def test_a_header_that_was_lost_loses_no_event(spool: Spool) -> None:
    """The turn's name is the file's; the header only adds to it."""
    file = begin(spool)
    file.add(say("one"))
    final = file.finish("completed", NOW)
    final.write_bytes(b"\0" * 80 + final.read_bytes().split(b"\n", 1)[1])
    assert texts(final) == ["one"]
    assert read_turn(final).turn == TURN


def test_foreign_files_are_not_turns(spool: Spool) -> None:
    """What somebody drops into the folder is neither sealed nor removed."""
    spool.folder.mkdir(parents=True)
    for name in ("x.turn", f"{TURN}.turn", "0000000000000000-evil.turn", ".x.open", "README"):
        (spool.folder / name).write_text('{"kind":"message"}\n')
    assert spool.finished() == []
    assert spool.close_dead(NOW) == []
    assert len([*spool.folder.iterdir()]) == 5


def test_one_id_is_one_turn(spool: Spool) -> None:
    """Two writers of one file would lose each other's events."""
    file = begin(spool)
    with pytest.raises(UsageError):
        begin(spool)
    file.close()


def test_several_processes_feed_one_turn(spool: Spool) -> None:
    """A hook at the prompt opens it, another at the end closes it."""
    begin(spool, held=True).close()
    assert spool.close_dead(NOW) == []
    assert spool.only_held() == TURN
    for text in ("one", "two"):
        file = spool.reopen_held(TURN)
        file.add(say(text))
        file.close()
    final = spool.reopen_held(TURN).finish("completed", NOW)
    assert texts(final) == ["one", "two"]
    with pytest.raises(NotFound):
        spool.reopen_held(TURN)
    with pytest.raises(UsageError):
        spool.only_held()


def test_the_turn_to_feed_has_to_be_named_where_there_are_two(spool: Spool) -> None:
    """A guess would put words into the wrong turn."""
    begin(spool, held=True).close()
    begin(spool, mint_id("turn"), held=True).close()
    with pytest.raises(UsageError) as caught:
        spool.only_held()
    assert len(caught.value.details["turns"]) == 2


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "", "turn_x y"])
def test_a_turn_id_is_never_a_path(spool: Spool, name: str) -> None:
    """Ids come from callers."""
    with pytest.raises((UsageError, NotFound)):
        spool.reopen_held(name)


def test_a_held_turn_is_closed_when_nobody_fed_it_for_a_day(spool: Spool) -> None:
    """The process that was to close it has died long ago."""
    file = begin(spool, held=True)
    file.add(say("one"))
    file.close()
    os.utime(file.path, (NOW, NOW))
    assert spool.close_dead(NOW + HELD_LIMIT - 1) == []
    (closed,) = spool.close_dead(NOW + HELD_LIMIT + 1)
    assert read_turn(closed).end == "interrupted"


def test_whoever_waits_too_long_for_a_held_turn_is_told(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stopped process must not stop the others for ever."""
    file = begin(spool, held=True)
    monkeypatch.setattr("gitmem.spool._PATIENCE", 0.01)
    with pytest.raises(HomeLocked):
        spool.reopen_held(TURN)
    file.close()


def test_a_turn_that_was_closed_meanwhile_is_not_reopened(spool: Spool) -> None:
    """Events added to a file that has its final name already would never be sealed."""
    file = begin(spool, held=True)
    file.add(say("one"))
    caught: list[BaseException] = []

    def add() -> None:
        try:
            spool.reopen_held(TURN)
        except NotFound as error:
            caught.append(error)

    thread = threading.Thread(target=add)
    thread.start()
    file.finish("completed", NOW)
    thread.join()
    assert len(caught) == 1


def test_turns_begin_beside_a_search_for_dead_ones(spool: Spool) -> None:
    """A file that is not locked yet looks dead; its owner notices and makes it again."""
    stop = threading.Event()

    def sweep() -> None:
        while not stop.is_set():
            spool.close_dead(NOW)

    thread = threading.Thread(target=sweep)
    thread.start()
    try:
        for number in range(150):
            file = begin(spool, f"turn_{number:015x}")
            file.add(say(str(number)))
            file.finish("completed", NOW + number)
    finally:
        stop.set()
        thread.join()
    assert [texts(path) for path in spool.finished()] == [[str(number)] for number in range(150)]
    assert {read_turn(path).end for path in spool.finished()} == {"completed"}


def test_a_full_disk_leaves_no_half_row(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a row would swallow the next one."""
    file = begin(spool)
    file.add(say("one"))
    real = os.write

    def half(descriptor: int, content: bytes) -> int:
        real(descriptor, content[: len(content) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(durable_file.os, "write", half)
        with pytest.raises(OSError, match="No space"):
            file.add(say("lost"))
    file.add(say("two"))
    assert texts(file.finish("completed", NOW)) == ["one", "two"]


def test_a_disk_that_refuses_even_to_cut_the_row_is_cut_later(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next row is not glued to the half one."""
    file = begin(spool)
    file.add(say("one"))
    real = os.write

    def half(descriptor: int, content: bytes) -> int:
        real(descriptor, content[:9])
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def fail(descriptor: int, size: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(durable_file.os, "write", half)
        patch.setattr(spool_file.os, "ftruncate", fail)
        with pytest.raises(OSError, match="Input/output"):
            file.add(say("lost"))
    file.add(say("two"))
    assert texts(file.finish("completed", NOW)) == ["one", "two"]


@pytest.mark.parametrize("call", ["write", "rename"])
def test_a_turn_that_could_not_be_finished_is_closed_as_interrupted(
    spool: Spool, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """It was not acknowledged, and what had come is kept all the same."""
    file = begin(spool)
    file.add(say("one"))

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path if call == "rename" else durable_file.os, call, fail)
        with pytest.raises(OSError, match="No space"):
            file.finish("completed", NOW)
    (closed,) = spool.close_dead(NOW + 1)
    assert texts(closed) == ["one"]
    assert read_turn(closed).end == "interrupted"


def test_a_spool_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    """A read-only home refuses a turn at once, with the system's own words; reading goes on."""
    (tmp_path / "file").write_text("x")
    spool = Spool(tmp_path / "file" / "spool")
    with pytest.raises(OSError, match="Not a directory"):
        begin(spool)
    assert spool.finished() == []
    assert spool.close_dead(NOW) == []


def test_a_discarded_turn_leaves_nothing(spool: Spool) -> None:
    """Nothing was told."""
    begin(spool).discard()
    assert not [*spool.folder.iterdir()]


def test_sealed_turns_go_when_they_are_let_go(spool: Spool) -> None:
    """Between commit and durability they are neither waiting nor gone."""
    file = begin(spool)
    file.add(say("one"))
    path = file.finish("completed", NOW)
    spool.mark_sealed(path)
    assert spool.finished() == []
    (sealed,) = spool.sealed()
    assert spool.unseal(sealed) == path
    spool.mark_sealed(path)
    spool.clear_sealed()
    assert not [*spool.folder.iterdir()]


def test_rows_are_json_lines(spool: Spool) -> None:
    """A person can read what waits with any tool."""
    file = begin(spool)
    file.add(say("naïve 計画"))
    rows = [json.loads(line) for line in file.finish("completed", NOW).read_text("utf-8").splitlines()]
    assert [min(row) for row in rows] == ["opened", "body", "at"]
    assert rows[1]["body"]["text"] == "naïve 計画"
