"""The audit trail as a list."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures import CounterClock, commit_all, git, write_files
from gitmem.errors import UsageError
from gitmem.history import History, LogQuery
from turns import HOME_ID, Desk, make_desk

START = 1_772_442_000.0  # 2026-03-02 09:00 UTC


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Three turns in two sessions on two days, and two commits of the operator."""
    clock = CounterClock(START)
    desk = make_desk(tmp_path / "home", clock=clock)
    commit(desk, "notes/a.md", "one", START + 10)
    desk.say("Which port does staging use?", "s1")
    clock.advance(86_400)
    desk.say("And production?", "s1")
    desk.say("你好", "s2")
    commit(desk, "memory/self.md", "two", START + 90_000)
    return desk


def commit(desk: Desk, path: str, text: str, seconds: float) -> None:
    """Commit one file as the operator at a fixed time."""
    root = desk.layout.root
    write_files(root, {path: text})
    git("add", path, cwd=root)
    when = f"{int(seconds)} +0000"
    git("commit", "-qm", f"write {path}", cwd=root, env={"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when})


def history(desk: Desk) -> History:
    """Return the history of a desk's home."""
    return History(desk.repository, desk.ledger, HOME_ID, "aria")


def test_days_and_commits(desk: Desk) -> None:
    """Without a grouping commits stand one by one and turns by day, newest first (contract: `log`)."""
    page = history(desk).log(LogQuery())
    assert [(entry.kind, entry.title) for entry in page.commits] == [
        ("edit", "write memory/self.md"),
        ("day", "2 turns in 2 sessions"),
        ("edit", "write notes/a.md"),
        ("day", "1 turn in 1 session"),
    ]
    assert page.cursor is None
    assert {entry.author for entry in page.commits if entry.kind == "edit"} == {"operator"}


def test_by_turn(desk: Desk) -> None:
    """Each turn shows what the user said first, its session and what it holds."""
    page = history(desk).log(LogQuery(by="turn", kind="turn"))
    assert [(e.title, e.session) for e in page.commits] == [
        ("你好", "s2"),
        ("And production?", "s1"),
        ("Which port does staging use?", "s1"),
    ]
    assert page.commits[0].counts == {"message": 1}


def test_a_turn_without_a_word_of_the_user_shows_what_the_agent_did(desk: Desk) -> None:
    """An alarm at night or a timer begins turns too; an empty line would say nothing."""
    desk.recorder.record([{"kind": "brief", "brief_kind": "result", "text": "Backups are\nwell."}])
    desk.recorder.record([{"kind": "tool_execution", "tool": "shell", "input": "make", "status": "success"}])
    titles = [entry.title for entry in history(desk).log(LogQuery(by="turn", kind="turn")).commits]
    assert titles[:2] == ["", "Backups are well."]


def test_by_session(desk: Desk) -> None:
    """A session is its turns, with the first thing that was said."""
    page = history(desk).log(LogQuery(by="session", kind="session"))
    assert [(e.id, e.counts["turns"]) for e in page.commits] == [("s2", 1), ("s1", 2)]
    assert page.commits[1].title == "2 turns: Which port does staging use?"


def test_pages_join(desk: Desk) -> None:
    """Pages end in a cursor and together give the whole list."""
    whole = history(desk).log(LogQuery(by="turn")).commits
    skip, found = 0, []
    for _ in range(10):
        page = history(desk).log(LogQuery(by="turn", limit=2, skip=skip))
        found += page.commits
        if page.cursor is None:
            break
        skip = int(page.cursor)
    assert found == list(whole)
    assert len(found) == 5


def test_path_and_time(desk: Desk) -> None:
    """A path leaves the turns out; since and until cut by the time of the thing itself."""
    log = history(desk).log
    assert [e.title for e in log(LogQuery(path="notes")).commits] == ["write notes/a.md"]
    assert [e.title for e in log(LogQuery(path="notes/a.md")).commits] == ["write notes/a.md"]
    assert log(LogQuery(path="note")).commits == []
    assert [e.title for e in log(LogQuery(by="turn", since=START + 50_000, kind="edit")).commits] == [
        "write memory/self.md"
    ]
    assert len(log(LogQuery(by="turn", until=START + 50_000, kind="turn")).commits) == 1


def test_a_summary_sums_up_what_was_asked_for(desk: Desk) -> None:
    """`--kind turn`, `--session` and times choose turns; days and sessions are made of those."""
    log = history(desk).log
    assert [e.title for e in log(LogQuery(kind="turn")).commits] == [
        "2 turns in 2 sessions",
        "1 turn in 1 session",
    ]
    assert [e.title for e in log(LogQuery(kind="day", session="s1")).commits] == ["1 turn in 1 session"] * 2
    assert [e.title for e in log(LogQuery(by="session", kind="turn", until=START + 50_000)).commits] == [
        "1 turn: Which port does staging use?"
    ]
    assert log(LogQuery(by="turn", kind="day")).commits == []


def test_author(desk: Desk) -> None:
    """The author is agent, operator, or part of a name."""
    log = history(desk).log
    assert {e.kind for e in log(LogQuery(author="agent")).commits} == {"day"}
    assert {e.kind for e in log(LogQuery(author="operator")).commits} == {"edit"}
    assert len(log(LogQuery(author="olivia")).commits) == 2
    assert log(LogQuery(author="nobody")).commits == []


def test_limits(desk: Desk) -> None:
    """A limit outside 1 to 1000 is a wrong call."""
    for limit in (0, 1001):
        with pytest.raises(UsageError):
            history(desk).log(LogQuery(limit=limit))


def test_empty_home(tmp_path: Path) -> None:
    """A repository without any commit and any turn has an empty list."""
    assert history(make_desk(tmp_path / "home")).log(LogQuery()).commits == []


def test_a_kind_that_is_none_is_named(desk: Desk) -> None:
    """A slip of the pen is no empty log; what a later gitmem wrote into a commit is a kind."""
    with pytest.raises(UsageError) as caught:
        history(desk).log(LogQuery(kind="notes"))
    assert "turn, day, session, note" in (caught.value.hint or "")
    assert history(desk).log(LogQuery(kind="forget")).commits == []
    commit_all(desk.layout.root, "dream: of sheep\n\nGitmem-Kind: dream\n")
    assert [entry.kind for entry in history(desk).log(LogQuery(kind="dream")).commits] == ["dream"]
