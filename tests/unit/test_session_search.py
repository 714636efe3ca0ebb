"""Hermes' `session_search` on the ledger: which form is meant, scrolling, reading, browsing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from homes import new_home

from fixtures import CounterClock
from gitmem import AgentHome
from gitmem.errors import UsageError
from talks import contents, found, happened, ids, numbered, said, talk


@pytest.fixture
def clock() -> CounterClock:
    """A clock that goes on by a second whenever it is looked at."""
    return CounterClock()


@pytest.fixture
def home(tmp_path: Path, clock: CounterClock) -> Iterator[AgentHome]:
    """A new home."""
    with new_home(tmp_path / "home", now=clock) as home:
        yield home


class TestForms:
    """Which of the four is meant is told by the arguments alone."""

    def test_precedence(self, home: AgentHome) -> None:
        """Scroll beats read beats discover beats browse; blank arguments are none."""
        (message,) = talk(home, "s1", said("The staging port is 2222"))
        modes = [
            home.session_search("port", session_id="s1", around_message_id=message),
            home.session_search("port", session_id="s1"),
            home.session_search("port", session_id=" ", around_message_id=message),
            home.session_search("  ", around_message_id=message),
            home.session_search(),
        ]
        assert [one["mode"] for one in modes] == ["scroll", "read", "discover", "browse", "browse"]

    @pytest.mark.parametrize(
        ("limit", "count"), [(None, 3), (1, 1), ("2", 2), (0, 1), (99, 10), ("many", 3), (True, 3), ([], 3)]
    )
    def test_limit(self, home: AgentHome, limit: Any, count: int) -> None:
        """A limit is brought within 1 to 10; what is no number is 3."""
        for number in range(12):
            talk(home, f"s{number}", said("The port is open"))
        assert len(home.session_search(limit=limit)["results"]) == count
        assert len(home.session_search("port", limit=limit)["results"]) == count

    @pytest.mark.parametrize(
        ("window", "used"), [(None, 5), ("3", 3), (0, 1), (99, 20), ("wide", 5), (-7, 1)]
    )
    def test_window(self, home: AgentHome, window: Any, used: int) -> None:
        """A window is brought within 1 to 20; what is no number is 5."""
        messages = talk(home, "s1", numbered(60))
        reply = home.session_search(session_id="s1", around_message_id=messages[30], window=window)
        assert reply["window"] == used
        assert (reply["messages_before"], reply["messages_after"]) == (used, used)

    def test_errors(self, home: AgentHome) -> None:
        """What cannot be answered is a reply that says why."""
        (message,) = talk(home, "s1", said("Hello"))
        (other,) = talk(home, "s2", said("Hello again"))
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"session_id": "nowhere"}, "no session nowhere"),
            ({"session_id": "nowhere", "around_message_id": message}, "no session nowhere"),
            ({"session_id": "s1", "around_message_id": other}, "is no message of session s1"),
            ({"session_id": "s1", "around_message_id": "msg_000000000000000"}, "is no message"),
            ({"session_id": "s1", "around_message_id": 17}, "the id of a message"),
            ({"session_id": 5}, "session_id is text"),
            ({"query": "port", "profile": "work"}, "'work' is another home"),
            ({"session_id": "work/s1"}, "'work' is another home"),
            ({"session_id": "/s1"}, "not a session"),
        ]
        for given, error in wrong:
            reply = home.session_search(**given)
            assert reply["success"] is False
            assert error in reply["error"], given
        with pytest.raises(UsageError):
            home.session_search(current_session="no id at all")

    @pytest.mark.parametrize(
        ("query", "text"),
        [(1246, "order 1246"), (7.0, "lane 7"), (True, "it is true"), (["emu"], "an emu")],
    )
    def test_a_query_is_text(self, home: AgentHome, query: Any, text: str) -> None:
        """Models send a number where they look for a number; like `memory_search` this one looks for it."""
        talk(home, "s1", said(text))
        assert found(home.session_search(query)) == ["s1"]
        assert found(home.tools().call("session_search", {"query": query})) == ["s1"]

    def test_refs_are_ids_too(self, home: AgentHome) -> None:
        """Refs come from other replies; they name the same."""
        (message,) = talk(home, "s1", said("Hello"))
        reply = home.session_search(session_id="session:s1", around_message_id=f"message:{message}")
        assert reply["session_id"] == "s1"
        assert reply["around_message_id"] == message


class TestScroll:
    """Around one message, and on."""

    def test_reply(self, home: AgentHome) -> None:
        """All roles, the anchor marked, no bookends."""
        run = {"kind": "tool_execution", "tool": "bash", "input": {"command": "ls"}, "output": "a.txt"}
        messages = talk(home, "s1", said("one"), run, said("two", role="system"), source="cli")
        reply = home.session_search(session_id="s1", around_message_id=messages[1], window=1)
        assert list(reply) == [
            "success",
            "mode",
            "session_id",
            "around_message_id",
            "session_meta",
            "window",
            "messages",
            "messages_before",
            "messages_after",
        ]
        assert list(reply["session_meta"]) == ["when", "source", "model", "title"]
        assert (reply["session_meta"]["source"], reply["session_meta"]["model"]) == ("cli", "unknown")
        assert ids(reply["messages"]) == messages
        tool = reply["messages"][1]
        assert (tool["role"], tool["content"], tool["tool_name"], tool["anchor"]) == (
            "tool",
            "a.txt",
            "bash",
            True,
        )
        assert tool["tool_calls"] == [{"name": "bash", "arguments": {"command": "ls"}}]

    def test_calls_of_a_message(self, home: AgentHome) -> None:
        """What a model called and what answered it is told as it was recorded."""
        calls = [{"id": "c1", "function": {"name": "ls"}}]
        event = {"kind": "message", "role": "assistant", "text": "", "tool_calls": calls}
        answer = {"kind": "message", "role": "tool", "text": "a.txt", "tool_call_id": "c1", "tool_name": "ls"}
        talk(home, "s1", event, answer)
        first, second = home.session_search(session_id="s1")["messages"]
        assert (first["tool_calls"], first["content"]) == (calls, "")
        assert (second["tool_call_id"], second["tool_name"]) == ("c1", "ls")

    def test_there_and_back(self, home: AgentHome) -> None:
        """`next` and `previous` lead through all of a conversation; the boundary row appears in both."""
        messages = talk(home, "s1", numbered(50))
        reply = home.session_search(session_id="s1", around_message_id=messages[0], window=7)
        seen = ids(reply["messages"])
        assert "previous" not in reply
        while "next" in reply:
            reply = home.session_search(**reply["next"])
            assert reply["messages"][reply["messages_before"]]["id"] == seen[-1]
            seen += ids(reply["messages"])[reply["messages_before"] + 1 :]
        assert seen == messages
        back = home.session_search(**reply["previous"])
        assert ids(back["messages"])[-1] in messages

    def test_a_step_keeps_the_window(self, home: AgentHome) -> None:
        """Who reads on with 20 messages a step is not led on with 5 after the first."""
        talk(home, "s1", numbered(120))
        reply = home.session_search(session_id="s1")
        for _ in range(3):
            assert reply["next"]["window"] == 20
            reply = home.session_search(**reply["next"])
            assert reply["window"] == 20
        assert reply["previous"]["window"] == 20

    def test_rebound_to_a_relative(self, home: AgentHome) -> None:
        """An anchor in another session of the conversation is followed there, with a warning."""
        (old,) = talk(home, "old", said("the zebra"))
        talk(home, "new", said("the quokka"), parent="old")
        reply = home.session_search(session_id="new", around_message_id=old)
        assert reply["session_id"] == "old"
        assert "old" in reply["warning"]

    def test_what_was_told_just_now(self, home: AgentHome) -> None:
        """A turn is seen at once: when it waits in the spool, and when it went to its line."""
        talk(home, "s1", said("one"))
        assert home.session_search(session_id="s1")["message_count"] == 1
        with home.turn(session="s1") as turn:
            turn.message("user", "two")
            turn.spool_only()
        assert contents(home.session_search(session_id="s1")["messages"]) == ["one", "two"]
        assert found(home.session_search("two")) == ["s1"]
        home.apply_spool()
        assert contents(home.session_search(session_id="s1")["messages"]) == ["one", "two"]

    def test_another_process(self, home: AgentHome, tmp_path: Path, clock: CounterClock) -> None:
        """What another process told is there at the next call, on its own line too."""
        talk(home, "s1", said("one"))
        assert home.session_search(session_id="s1")["message_count"] == 1
        with AgentHome.open(tmp_path / "home", now=clock) as other:
            talk(other, "s1", said("two", "three"))
        assert contents(home.session_search(session_id="s1")["messages"]) == ["one", "two", "three"]
        with AgentHome.open(tmp_path / "home", now=clock) as third:
            assert contents(third.session_search(session_id="s1")["messages"]) == ["one", "two", "three"]


class TestRead:
    """A conversation by its id."""

    @pytest.mark.parametrize(("count", "shown"), [(1, 1), (30, 30), (31, 30), (80, 30)])
    def test_long_ones_are_cut(self, home: AgentHome, count: int, shown: int) -> None:
        """Up to 30 messages in full; of more the first 20 and the last 10, and the way to the rest."""
        messages = talk(home, "s1", numbered(count))
        reply = home.session_search(session_id="s1")
        assert (reply["message_count"], reply["truncated"], len(reply["messages"])) == (
            count,
            count > 30,
            shown,
        )
        assert ids(reply["messages"]) == (messages if count <= 30 else [*messages[:20], *messages[-10:]])
        assert ("message" in reply) == (count > 30)
        if count > 30:
            rest = home.session_search(**reply["next"])
            assert messages[20] in ids(rest["messages"])

    def test_when_is_local_time(self, home: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
        """`November 30, 2026 at 09:59 AM`, as clocks show it here."""
        monkeypatch.setenv("TZ", "Asia/Shanghai")
        time.tzset()
        try:
            home.record([{**said("Hello")[0], "ts": "2026-11-30T01:59:00Z"}], session="s1")
            home.record([{**said("Hello")[0], "ts": "2026-07-04T16:05:00Z"}], session="s2")
            meta = [home.session_search(session_id=name)["session_meta"] for name in ("s1", "s2")]
        finally:
            monkeypatch.undo()
            time.tzset()
        assert meta[0]["when"] == "November 30, 2026 at 09:59 AM"
        assert meta[1]["when"] == "July 05, 2026 at 12:05 AM"


class TestBrowse:
    """The latest conversations."""

    def test_reply(self, home: AgentHome) -> None:
        """By last activity; neither children nor the conversation that asks."""
        talk(
            home,
            "first",
            said("\n Which port\ndoes staging use? " + "x" * 80, "22"),
            title="Ports",
            source="cli",
        )
        talk(home, "second", said("Hello"))
        talk(home, "side", said("zebra"), parent="second", reason="branched")
        talk(home, "empty", happened("start", title="Nothing said"))
        talk(home, "first", said("and now?"))
        reply = home.session_search(limit=10)
        assert found(reply) == ["first", "second"]
        top = reply["results"][0]
        assert list(top) == [
            "session_id",
            "title",
            "source",
            "started_at",
            "last_active",
            "message_count",
            "preview",
        ]
        assert (top["title"], top["source"], top["message_count"]) == ("Ports", "cli", 3)
        assert top["preview"] == f"Which port does staging use? {'x' * 31}..."
        assert top["started_at"] < top["last_active"]
        assert found(home.session_search(current_session="first")) == ["second"]

    def test_a_conversation_that_went_on_elsewhere(self, home: AgentHome) -> None:
        """It was active when its continuation was."""
        talk(home, "long", said("Hello"))
        talk(home, "short", said("Hello"))
        talk(home, "long-2", said("Hello again"), parent="long")
        assert found(home.session_search()) == ["long", "short"]

    def test_no_conversations(self, home: AgentHome) -> None:
        """An empty home is no error."""
        reply = home.session_search()
        assert (reply["success"], reply["results"], reply["count"]) == (True, [], 0)


def test_the_tool_answers_as_the_method(home: AgentHome) -> None:
    """A model calls it by Hermes' name and arguments; the session of the tools is the one that asks."""
    messages = talk(home, "s1", said("the zebra", "yes"))
    tools = home.tools(session="s9")
    assert found(tools.call("session_search", {"query": "zebra"})) == ["s1"]
    scroll = tools.call(
        "session_search", {"session_id": "s1", "around_message_id": messages[0], "window": "1"}
    )
    assert ids(scroll["messages"]) == messages
    assert found(home.tools(session="s1").call("session_search", {"query": "zebra"})) == []
    wrong: list[dict[str, Any]] = [
        {"session_id": "nowhere"},
        {"profile": "work"},
        {"q": "zebra"},
    ]
    for given in wrong:
        assert tools.call("session_search", given)["success"] is False
