"""Where messages stand is learned once, kept without a word, and never trusted more than the ledger."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from homes import new_home

from fixtures import CounterClock, commit_all, flip_byte, git, set_identity
from gitmem import AgentHome
from gitmem.ledger import Segment
from gitmem.session_map import SessionMap
from talks import contents, forget, happened, ids, said, talk


@pytest.fixture
def home(tmp_path: Path) -> Iterator[AgentHome]:
    """A new home, whose clock goes on by a second whenever it is looked at."""
    with new_home(tmp_path / "home", now=CounterClock()) as home:
        yield home


def fill(home: AgentHome, turns: int) -> list[str]:
    """Record turns that take several segments; return the ids of all messages."""
    return [
        one for number in range(turns) for one in talk(home, "s1", said(f"{number} " + "x" * 9_000, "yes"))
    ]


def test_a_process_reads_only_what_is_new(home: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another process kept is used, whole segments are not read again for one more turn."""
    messages = fill(home, 40)
    SessionMap(home.ledger, home.layout).catch_up()
    read: list[str] = []
    real = home.ledger.read_segment

    def watched(segment: Segment) -> bytes:
        read.append(segment.path)
        return real(segment)

    monkeypatch.setattr(home.ledger, "read_segment", watched)
    fresh = SessionMap(home.ledger, home.layout)
    fresh.catch_up()
    view = fresh.view("s1")
    assert view is not None
    assert list(view.ids) == messages
    assert len(home.ledger.segments()) > 4
    assert len(read) <= 1  # the last one, if a turn came since the file was written
    more = talk(home, "s1", said("one more"))
    fresh.catch_up()
    assert len(read) <= 3
    again = fresh.view("s1")
    assert again is not None
    assert list(again.ids) == [*messages, *more]


def test_nothing_changes_nothing_is_read(home: AgentHome) -> None:
    """The view is the same object until something of its session changes."""
    talk(home, "s1", said("one"))
    sessions = SessionMap(home.ledger, home.layout)
    sessions.catch_up()
    view = sessions.view("s1")
    talk(home, "s2", said("two"))
    sessions.catch_up()
    assert sessions.view("s1") is view
    talk(home, "s1", said("three"))
    sessions.catch_up()
    assert sessions.view("s1") is not view
    assert sessions.view("nowhere") is None


@pytest.mark.parametrize("damage", [flip_byte, Path.unlink, lambda path: path.write_bytes(b"")])
def test_a_damaged_file_costs_only_time(home: AgentHome, damage: Any) -> None:
    """What was kept is made again from the ledger."""
    messages = fill(home, 40)
    SessionMap(home.ledger, home.layout).catch_up()
    (kept,) = home.layout.derived.glob("facts/sessions.json")
    damage(kept)
    fresh = SessionMap(home.ledger, home.layout)
    fresh.catch_up()
    view = fresh.view("s1")
    assert view is not None
    assert list(view.ids) == messages


def test_a_record_that_was_forgotten_since(home: AgentHome) -> None:
    """Who looked before a receipt came in reads nothing of it afterwards."""
    first, second = talk(home, "s1", said("the secret", "the answer"))
    sessions = SessionMap(home.ledger, home.layout)
    sessions.catch_up()
    view = sessions.view("s1")
    assert view is not None
    forget(home, first)
    old = sessions.read(view, [0, 1])
    assert [None if one is None else one.id for one in old] == [None, second]
    sessions.catch_up()
    new = sessions.view("s1")
    assert new is not None
    assert list(new.ids) == [second]


def test_what_waits_while_lines_change(home: AgentHome) -> None:
    """A turn that waits in the spool stays in its conversation, whatever comes in with the lines."""
    first, second = talk(home, "s1", said("one", "two"))
    with home.turn(session="s1") as turn:
        turn.message("user", "three")
        turn.spool_only()
    assert contents(home.session_search(session_id="s1")["messages"]) == ["one", "two", "three"]
    forget(home, first)
    assert contents(home.session_search(session_id="s1")["messages"]) == ["two", "three"]
    home.apply_spool()
    assert contents(home.session_search(session_id="s1")["messages"]) == ["two", "three"]
    assert ids(home.session_search(session_id="s1")["messages"])[0] == second


def test_a_line_that_goes_away(home: AgentHome) -> None:
    """What is on no line any more is in no conversation."""
    talk(home, "s1", said("one"))
    sessions = SessionMap(home.ledger, home.layout)
    sessions.catch_up()
    assert sessions.sessions() == ["s1"]
    for path in (home.layout.common_dir / "refs" / "heads" / "gitmem" / "turns").iterdir():
        path.unlink()
    home.layout.writer_file.unlink()  # else the line is taken as gitmem left it
    sessions.catch_up()
    assert sessions.sessions() == []
    assert sessions.view("s1") is None


def test_threads(home: AgentHome) -> None:
    """While one tells turns, others read: each sees a beginning of the conversation, in order."""
    talk(home, "s1", said("0"))
    wrong: list[object] = []
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            shown = contents(home.session_search(session_id="s1")["messages"])
            if shown != [str(number) for number in range(len(shown))]:
                wrong.append(shown)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(1, 25):
        talk(home, "s1", said(str(number)))
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert home.session_search(session_id="s1")["message_count"] == 25


def test_two_writers(home: AgentHome, tmp_path: Path) -> None:
    """Work trees have lines of their own; a conversation that both told reads in order of their clocks."""
    set_identity(tmp_path / "home")
    commit_all(tmp_path / "home")
    git("worktree", "add", "-q", "--detach", str(tmp_path / "second"), cwd=tmp_path / "home")
    expected = []
    with AgentHome.open(tmp_path / "second", now=CounterClock(1_772_500_000.0)) as second:
        for number in range(3):
            expected += talk(home, "s1", said(f"first {number}"))
            expected += talk(second, "s1", said(f"second {number}"))
        talk(second, "s1", happened("undo"))
        assert ids(home.session_search(session_id="s1")["messages"]) == expected[:-1]
        assert ids(second.session_search(session_id="s1")["messages"]) == expected[:-1]
