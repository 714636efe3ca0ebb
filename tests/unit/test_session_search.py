"""Hermes' `session_search` on the ledger: its four forms, and what it does better than Hermes' own."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fixtures import CounterClock
from gitmem import AgentHome
from gitmem.errors import UsageError
from gitmem.session_reply import REPLY_CHARS
from talks import contents, forget, found, happened, ids, said, talk


@pytest.fixture
def clock() -> CounterClock:
    """A clock that goes on by a second whenever it is looked at."""
    return CounterClock()


@pytest.fixture
def home(tmp_path: Path, clock: CounterClock) -> Iterator[AgentHome]:
    """A new home."""
    with AgentHome.init(tmp_path / "home", agent="aria", now=clock) as home:
        yield home


def numbered(count: int, special: int | None = None, word: str = "zebra") -> list[dict[str, Any]]:
    """Return messages, one of which holds a word."""
    texts = (f"{word} crossing" if number == special else f"talk {number}" for number in range(1, count + 1))
    return said(*texts)


def size(reply: dict[str, Any]) -> int:
    """Return how many characters a reply takes."""
    return len(json.dumps(reply, ensure_ascii=False))


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
            ({"query": ["port"]}, "query is text"),
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

    def test_refs_are_ids_too(self, home: AgentHome) -> None:
        """Refs come from other replies; they name the same."""
        (message,) = talk(home, "s1", said("Hello"))
        reply = home.session_search(session_id="session:s1", around_message_id=f"message:{message}")
        assert reply["session_id"] == "s1"
        assert reply["around_message_id"] == message


class TestDiscover:
    """By a question or a title."""

    def test_window_and_bookends(self, home: AgentHome) -> None:
        """Of 21 messages with a hit on the 11th: the window is 6 to 16, the bookends 1 to 3 and 19 to 21."""
        messages = talk(home, "s1", numbered(21, special=11), title="Crossings", source="cli", model="m1")
        reply = home.session_search("zebra")
        (result,) = reply["results"]
        assert (reply["mode"], reply["query"], reply["count"], reply["sessions_searched"]) == (
            "discover",
            "zebra",
            1,
            1,
        )
        assert ids(result["bookend_start"]) == messages[:3]
        assert ids(result["messages"]) == messages[5:16]
        assert ids(result["bookend_end"]) == messages[18:]
        assert (result["messages_before"], result["messages_after"]) == (5, 5)
        assert [one["id"] for one in result["messages"] if one.get("anchor")] == [messages[10]]
        assert result["match_message_id"] == messages[10]
        assert (result["matched_role"], result["snippet"]) == ("user", ">>>zebra<<< crossing")
        assert (result["title"], result["source"], result["model"]) == ("Crossings", "cli", "m1")
        assert "parent_session_id" not in result
        assert list(result["messages"][0]) == ["id", "role", "content", "timestamp"]
        assert isinstance(result["messages"][0]["timestamp"], float)

    def test_bookends_are_empty_where_the_window_ends(self, home: AgentHome) -> None:
        """Nothing is told twice."""
        talk(home, "s1", numbered(7, special=2))
        (result,) = home.session_search("zebra")["results"]
        assert (result["bookend_start"], result["bookend_end"]) == ([], [])
        assert (result["messages_before"], result["messages_after"]) == (1, 5)

    def test_window_drops_tools_and_bookends_drop_the_speechless(self, home: AgentHome) -> None:
        """Rows are counted before tools and the system are dropped; the anchor stays whoever said it."""
        run = {"kind": "tool_execution", "tool": "bash", "input": "ls", "output": "zebra.txt"}
        told = [*said("one", " "), run, *said("zebra here"), run, *said("system word", role="system")]
        messages = talk(home, "s1", told)
        (result,) = home.session_search("zebra here")["results"]
        assert ids(result["messages"]) == [messages[0], messages[1], messages[3]]
        assert (result["messages_before"], result["messages_after"]) == (3, 2)
        (by_tool,) = home.session_search("ls", role_filter="tool")["results"]
        assert by_tool["matched_role"] == "tool"
        assert [one["role"] for one in by_tool["messages"] if one.get("anchor")] == ["tool"]

    def test_role_filter(self, home: AgentHome) -> None:
        """Words of users and assistants are searched, unless others are named."""
        talk(home, "s1", [{"kind": "message", "role": "tool", "text": "zebra", "tool_name": "ls"}])
        assert found(home.session_search("zebra")) == []
        (result,) = home.session_search("zebra", role_filter=" Tool, system")["results"]
        assert result["matched_role"] == "tool"
        assert result["messages"][0]["tool_name"] == "ls"

    def test_one_result_for_each_conversation(self, home: AgentHome) -> None:
        """A conversation that went on under other ids is one."""
        talk(home, "root", said("zebra one"), title="Root")
        talk(home, "child", said("zebra two two zebra"), parent="root")
        talk(home, "other", said("zebra three"))
        reply = home.session_search("zebra", limit=10)
        assert max(found(reply)) in ("other", "root")
        assert len(reply["results"]) == 2
        hit = next(one for one in reply["results"] if one["session_id"] != "other")
        assert hit.get("parent_session_id") == ("root" if hit["session_id"] == "child" else None)

    def test_hidden_and_demoted_sources(self, home: AgentHome) -> None:
        """Programs' talk with themselves is not found; what runs by the clock comes last."""
        talk(home, "night", said("zebra zebra zebra zebra"), source="cron")
        talk(home, "sub", said("zebra zebra"), source="subagent")
        talk(home, "tool", said("zebra zebra"), source="tool")
        talk(home, "day", said("one zebra among many other words of an ordinary day"), source="cli")
        assert found(home.session_search("zebra", limit=10)) == ["day", "night"]
        assert found(home.session_search("zebra", limit=1)) == ["day"]
        assert found(home.session_search(limit=10)) == ["day", "night"]

    def test_sort(self, home: AgentHome) -> None:
        """By time among what is good; a word more is no reason to come first."""
        for name in ("old", "middle", "new"):
            talk(home, name, said(f"the zebra crossing, {name}"))
        talk(home, "weak", said("a crossing of two roads and nothing else that was ever asked for here"))
        newest = found(home.session_search("zebra crossing", sort=" NEWEST ", limit=10))
        assert newest == ["new", "middle", "old", "weak"]
        oldest = found(home.session_search("zebra crossing", sort="oldest", limit=10))
        assert oldest == ["old", "middle", "new", "weak"]
        assert found(home.session_search("zebra crossing", sort="sideways", limit=10))

    @pytest.mark.parametrize("query", ["Docker plan", "  `docker PLAN` ", '"Docker plan"'])
    def test_title(self, home: AgentHome, query: str) -> None:
        """A title that is the query leads to the beginning of its conversation, before every other result."""
        first = talk(home, "s1", said("Let us begin", "Yes"), title="Docker plan", source="cli")
        talk(home, "s2", said("the docker plan is the docker plan"))
        reply = home.session_search(query)
        assert found(reply) == ["s1", "s2"]
        top = reply["results"][0]
        assert (top["matched_role"], top["match_message_id"]) == ("session_title", first[0])
        assert top["snippet"] == "Let us begin"

    def test_continued_titles(self, home: AgentHome) -> None:
        """A number behind a title is a continuation; the most recent wins, or the number that is asked for."""
        talk(home, "a", said("first"), title="Plan")
        talk(home, "c", said("third"), title="Plan #3")
        talk(home, "b", said("second"), title="Plan #2")
        assert found(home.session_search("Plan", limit=1)) == ["b"]
        assert found(home.session_search("plan #3", limit=1)) == ["c"]
        talk(home, "b", [happened("title", title="Another matter")])
        assert found(home.session_search("plan", limit=1)) == ["c"]

    def test_nothing_found(self, home: AgentHome) -> None:
        """No result is an answer."""
        talk(home, "s1", said("Hello"))
        reply = home.session_search("zzzzqqqq")
        assert (reply["success"], reply["results"], reply["count"]) == (True, [], 0)
        assert reply["message"] == "Nothing found."
        assert reply["unmatched_terms"] == ["zzzzqqqq"]

    def test_messages_without_a_session(self, home: AgentHome) -> None:
        """A turn outside of any session is a conversation by itself."""
        messages = talk(home, None, said("zebra here", "indeed"))
        (result,) = home.session_search("zebra")["results"]
        assert result["session_id"].startswith("turn_")
        assert ids(home.session_search(session_id=result["session_id"])["messages"]) == messages


class TestQuery:
    """A question is words, whatever it looks like."""

    @pytest.mark.parametrize(
        "query",
        [
            "大别山项目",
            "大别山",
            "预算",
            "记忆",
            "守",
            "服务端",
            "ラーメン",
            "日本語のテスト",
            "검색",
            "한국어 세션",
            "龘",
        ],
    )
    def test_chinese_japanese_korean(self, home: AgentHome, query: str) -> None:
        """Found at any length, and marked."""
        texts = (
            "大别山项目的预算",
            "关于记忆的讨论",
            "服务端守护",
            "ラーメンと日本語のテスト",
            "한국어 세션 검색",
            "龘字",
        )
        for number, text in enumerate(texts):
            talk(home, f"s{number}", said(text))
        result = home.session_search(query)["results"][0]
        marked = result["snippet"].split(">>>")[1].partition("<<<")[0]
        assert marked[0] in query
        assert set(query.replace(" ", "")) <= set(contents(result["messages"])[0])

    @pytest.mark.parametrize(
        ("query", "text"),
        [
            ("youer", "修改youer服务端的计划"),
            ("PostgreSQL", "数据库迁移到PostgreSQL 16"),
            ("2.3.1", "we run v2.3.1 now"),
            ("C++", "rewritten in C++ last year"),
        ],
    )
    def test_glued_words(self, home: AgentHome, query: str, text: str) -> None:
        """Words glued to others, versions and names of languages are found."""
        talk(home, "s1", said(text))
        assert found(home.session_search(query)) == ["s1"]

    @pytest.mark.parametrize(
        "query", ["NOT zebra", "zebra AND", "zebra AND unheard", "(zebra", 'zebra"', "zebra OR"]
    )
    def test_operators_are_words(self, home: AgentHome, query: str) -> None:
        """Nothing in a question is syntax: it neither fails nor excludes."""
        talk(home, "s1", said("the zebra crossing"))
        assert found(home.session_search(query)) == ["s1"]

    def test_words_of_different_messages(self, home: AgentHome) -> None:
        """One absent word does not hide the rest; more words come first."""
        talk(home, "s1", said("a zebra"))
        talk(home, "s2", said("a quokka"))
        talk(home, "both", said("zebra and quokka"))
        assert found(home.session_search("zebra quokka"))[0] == "both"
        assert len(found(home.session_search("zebra quokka"))) == 3

    @pytest.mark.parametrize("query", ["*", '"', "((", "^", ":", "\x00", "\ud800", "a" * 50_000])
    def test_hostile_queries(self, home: AgentHome, query: str) -> None:
        """No query is an error."""
        talk(home, "s1", said("Hello"))
        reply = home.session_search(query)
        assert reply["success"] is True
        assert size(reply) < REPLY_CHARS
        json.dumps(reply).encode()


class TestTakenBack:
    """What was undone, cleared or forgotten is shown nowhere."""

    def nowhere(self, home: AgentHome, session: str, word: str, messages: list[str]) -> None:
        """Fail unless neither a search nor a reading shows some messages."""
        for query in (word, f"{word} 秘密"):
            assert found(home.session_search(query, limit=10)) == []
        read = home.session_search(session_id=session)
        assert not set(messages) & set(ids(read["messages"]))
        for message in messages:
            assert home.session_search(session_id=session, around_message_id=message)["success"] is False

    def test_undo(self, home: AgentHome) -> None:
        """An undo takes back the last question and everything since; another one the question before."""
        kept = talk(home, "s1", said("first question", "first answer"))
        gone = talk(home, "s1", said("quokka 秘密", "quokka answer"), happened("undo"))
        self.nowhere(home, "s1", "quokka", gone)
        assert ids(home.session_search(session_id="s1")["messages"]) == kept
        more = talk(home, "s1", said("third question"))
        assert ids(home.session_search(session_id="s1")["messages"]) == [*kept, *more]
        talk(home, "s1", happened("undo", count=2))
        assert ids(home.session_search(session_id="s1")["messages"]) == []
        talk(home, "s1", happened("undo"))
        assert home.session_search(session_id="s1")["message_count"] == 0

    def test_clear(self, home: AgentHome) -> None:
        """A cleared conversation begins anew."""
        gone = talk(home, "s1", said("quokka 秘密", "answer"), happened("compact"), said("quokka"))
        kept = talk(home, "s1", happened("clear"), said("afterwards"))
        self.nowhere(home, "s1", "quokka", gone)
        reply = home.session_search(session_id="s1")
        assert (ids(reply["messages"]), reply["message_count"]) == (kept, 1)
        assert home.session_search()["results"][0]["preview"] == "afterwards"

    def test_forgotten(self, home: AgentHome) -> None:
        """A receipt that comes in takes a message out of every reply at once."""
        kept, gone = talk(home, "s1", said("something else", "quokka 秘密"))
        assert found(home.session_search("quokka")) == ["s1"]
        forget(home, gone)
        self.nowhere(home, "s1", "quokka", [gone])
        assert ids(home.session_search(session_id="s1")["messages"]) == [kept]

    def test_forgotten_title(self, home: AgentHome) -> None:
        """A title is words too."""
        told = home.record([happened("start", title="Quokka"), *said("Hello")], session="s1")
        assert home.session_search(session_id="s1")["session_meta"]["title"] == "Quokka"
        forget(home, told.records[0]["id"])
        assert home.session_search(session_id="s1")["session_meta"]["title"] is None
        assert found(home.session_search("Quokka")) == []

    def test_retracted(self, home: AgentHome) -> None:
        """What was taken back is told as taken back."""
        messages = talk(home, "s1", said("The port is 22", "Noted"))
        home.retract(f"message:{messages[0]}", by="operator", reason="moved", replaced_by="The port is 2222")
        first, second = home.session_search(session_id="s1")["messages"]
        assert (first["retracted"]["with"], first["retracted"]["reason"]) == ("The port is 2222", "moved")
        assert "retracted" not in second


class TestContext:
    """Only what the one who asks has before his eyes is passed over."""

    def test_live_messages_are_passed_over(self, home: AgentHome) -> None:
        """What is in the context need not be told again; the reply says that there was something."""
        messages = talk(home, "s1", said("the zebra", "yes"))
        assert found(home.session_search("zebra")) == ["s1"]
        reply = home.session_search("zebra", current_session="s1")
        assert found(reply) == []
        assert reply["message"] == "Nothing found. 1 match in your own context passed over."
        scroll = home.session("s1").search(session_id="s1", around_message_id=messages[0])
        assert (scroll["success"], "context" in scroll["error"]) == (False, True)
        assert home.session("s1").search(session_id="s1")["message_count"] == 2
        assert found(home.session("s1").search()) == []
        assert found(home.session("s1").search("zebra")) == []

    def test_no_memory_black_hole(self, home: AgentHome) -> None:
        """What compaction took out of the context is found by the conversation itself, and can be read in."""
        old = talk(home, "s1", said("the zebra", "an answer 大别山"))
        summary = said("[CONTEXT SUMMARY]: of animals", role="assistant")
        talk(home, "s1", happened("compact"), summary, said("the quokka"))
        mine = home.session("s1")
        (result,) = mine.search("zebra")["results"]
        assert (result["session_id"], result["match_message_id"]) == ("s1", old[0])
        assert found(mine.search("大别山")) == ["s1"]
        assert found(mine.search("quokka")) == []
        scroll = mine.search(session_id="s1", around_message_id=old[0], window=1)
        assert ids(scroll["messages"]) == old
        assert scroll["next"] == {"session_id": "s1", "around_message_id": old[1]}

    def test_compaction_that_went_on_under_another_id(self, home: AgentHome) -> None:
        """The parent's words left the context with the old id."""
        talk(home, "old", said("the zebra"))
        talk(home, "new", said("the quokka"), parent="old", reason="compression")
        reply = home.session("new").search("zebra")
        assert found(reply) == ["old"]
        assert found(home.session("new").search("quokka")) == []

    def test_branch(self, home: AgentHome) -> None:
        """A branch began with what its parent held; what the parent said later it never saw."""
        talk(home, "main", said("the zebra"))
        talk(home, "side", said("the wombat"), parent="main", reason="branched")
        talk(home, "main", said("the quokka"))
        side = home.session("side")
        assert found(side.search("zebra")) == []
        assert found(side.search("quokka")) == ["main"]
        talk(home, "side", happened("compact"))
        assert found(side.search("zebra")) == ["main"]

    def test_a_subagent_has_not_seen_its_parent(self, home: AgentHome) -> None:
        """It was told its task and no more."""
        talk(home, "main", said("the zebra"))
        talk(home, "sub", said("count animals"), parent="main", source="subagent")
        assert found(home.session("sub").search("zebra")) == ["main"]

    def test_title_of_the_own_conversation(self, home: AgentHome) -> None:
        """It leads back only to what is no longer before one's eyes."""
        talk(home, "s1", said("Let us begin"), title="Docker plan")
        assert found(home.session("s1").search("Docker plan")) == []
        talk(home, "s1", happened("compact"), said("going on"))
        assert found(home.session("s1").search("Docker plan")) == ["s1"]

    def test_a_circle_of_parents(self, home: AgentHome) -> None:
        """Whatever somebody wrote, a search ends."""
        talk(home, "a", said("zebra"), parent="b")
        talk(home, "b", said("zebra"), parent="a", reason="branched")
        talk(home, "c", said("zebra"), parent="c", reason="branched")
        assert len(found(home.session_search("zebra", current_session="b"))) >= 1
        assert found(home.session_search(limit=10)) == ["c"]


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
            reply = home.session_search(**reply["next"], window=7)
            assert reply["messages"][reply["messages_before"]]["id"] == seen[-1]
            seen += ids(reply["messages"])[reply["messages_before"] + 1 :]
        assert seen == messages
        back = home.session_search(**reply["previous"], window=7)
        assert ids(back["messages"])[-1] in messages

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


class TestBounds:
    """No reply is longer than a model can bear, and nothing that was said is out of reach."""

    def whole(self, home: AgentHome, message: dict[str, Any]) -> str:
        """Return a message's text from its reply and from where the reply says the rest is."""
        text = str(message["content"])
        assert message.get("content_offset", 0) == 0
        while "next_offset" in message or len(text) < message.get("original_content_chars", 0):
            rest = home.get(message["source_ref"], offset=len(text), max_chars=20_000)
            text += rest.content
            if rest.next_offset is None:
                break
        return text

    def test_every_character_can_be_read(self, home: AgentHome) -> None:
        """What a reply cuts is marked, and `get` goes on where it ends: tools' output too."""
        texts = ["x" * 73_000 + "end", "日本語" * 5_000, "\x1b[0m" * 3_000, "short"]
        run = {"kind": "tool_execution", "tool": "bash", "input": "cat", "output": "y" * 30_000}
        talk(home, "s1", said(*texts), run)
        reply = home.session_search(session_id="s1")
        assert size(reply) <= REPLY_CHARS
        cut = [one.get("content_truncated", False) for one in reply["messages"]]
        assert cut == [True, True, True, False, True]
        assert reply["messages"][0]["original_content_chars"] == 73_003
        assert [self.whole(home, one) for one in reply["messages"]] == [*texts, "y" * 30_000]

    def test_window_and_bookend_limits(self, home: AgentHome) -> None:
        """A bookend shows at most 1,200 characters, a message of a window 4,000."""
        talk(
            home,
            "s1",
            said(*("b" * 9_000 for _ in range(3)), *("talk" for _ in range(6)), "zebra " + "w" * 9_000),
        )
        (result,) = home.session_search("zebra")["results"]
        assert {len(one["content"]) for one in result["bookend_start"]} == {1_200}
        assert max(len(one["content"]) for one in result["messages"]) == 4_000

    def test_a_hit_deep_in_a_long_message_is_seen(self, home: AgentHome) -> None:
        """The piece that is shown is the one that was found."""
        talk(home, "s1", said("word " * 14_000 + "zebra crossing here " + "word " * 1_000))
        (result,) = home.session_search("zebra crossing")["results"]
        anchor = result["messages"][0]
        assert "zebra crossing here" in anchor["content"]
        whole = home.get(
            anchor["source_ref"], offset=anchor["content_offset"], max_chars=len(anchor["content"])
        )
        assert whole.content == anchor["content"]

    @pytest.mark.parametrize("text", ["z" * 5_000, "\n" * 5_000 + "z", "说" * 5_000])
    def test_many_long_messages(self, home: AgentHome, text: str) -> None:
        """Ten results of long messages fit; the last ones may show only what was found."""
        for number in range(10):
            talk(home, f"s{number}", said(*(f"{text} {at}" for at in range(20)), "zebra"), title="t" * 500)
        home.catch_up()
        reply = home.session_search("zebra", limit=10)
        assert len(reply["results"]) == 10
        assert size(reply) <= REPLY_CHARS
        assert all(any(one.get("anchor") for one in result["messages"]) for result in reply["results"])
        assert reply["results"][0]["bookend_start"]

    def test_everything_is_long(self, home: AgentHome) -> None:
        """Names, calls and titles are bounded like texts."""
        call = [{"name": "x" * 9_000, "arguments": "\x00" * 9_000}]
        told = [
            {"kind": "message", "role": "tool", "text": "\x01" * 9_000, "tool_name": "\x02" * 500,
             "tool_call_id": "\x03" * 500, "tool_calls": call}
        ] * 45  # fmt: skip
        messages = talk(home, "s1", *told, title="\x04" * 5_000, source="s" * 900, model="\x05" * 900)
        for given in ({}, {"around_message_id": messages[22], "window": 20}):
            reply = home.session_search(session_id="s1", **given)
            assert reply["success"]
            assert size(reply) <= REPLY_CHARS

    def test_summaries_are_no_bookends(self, home: AgentHome) -> None:
        """A conversation begins and ends with somebody's words."""
        marks = ("[CONTEXT COMPACTION] of it all", " [CONTEXT SUMMARY]: of it all")
        start = said(marks[0], "first words")
        talk(home, "s1", start, numbered(14, special=8), said("last words", marks[1]))
        (result,) = home.session_search("zebra")["results"]
        assert contents(result["bookend_start"])[0] == "first words"
        assert contents(result["bookend_end"])[-1] == "last words"


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
        {"query": 7},
        {"session_id": "nowhere"},
        {"profile": "work"},
        {"q": "zebra"},
    ]
    for given in wrong:
        assert tools.call("session_search", given)["success"] is False
