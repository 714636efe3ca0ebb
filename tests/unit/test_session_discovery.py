"""Conversations are found by a question or by their title, whatever the question looks like."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import new_home

from fixtures import CounterClock
from gitmem import AgentHome
from gitmem.session_reply import REPLY_CHARS
from talks import contents, found, happened, ids, numbered, said, size, talk


@pytest.fixture
def home(tmp_path: Path) -> Iterator[AgentHome]:
    """A new home, whose clock goes on by a second whenever it is looked at."""
    with new_home(tmp_path / "home", now=CounterClock()) as home:
        yield home


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

    def test_words_of_neighbours(self, home: AgentHome) -> None:
        """Who stands beside a word did not say it: a tool's word, or one taken back, finds nobody else."""
        tool = {"kind": "message", "role": "tool", "text": "zebra"}
        talk(home, "s1", said("what is it"), tool, said("it is an animal", role="assistant"))
        assert found(home.session_search("zebra")) == []
        assert found(home.session_search("zebra", role_filter="user,assistant,tool")) == ["s1"]

    def test_author(self, home: AgentHome) -> None:
        """Who is named in a question spoke of it."""
        talk(home, "s1", [{"kind": "message", "role": "user", "text": "I keep bees", "author": "Caroline"}])
        assert found(home.session_search("Caroline")) == ["s1"]

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
        """A number behind a title is a continuation; the most recent wins, or the one that is asked for."""
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
