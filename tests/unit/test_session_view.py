"""What was undone, cleared, forgotten or retracted, in every form of a session search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import new_home

from fixtures import CounterClock
from gitmem import AgentHome
from talks import forget, found, happened, ids, said, talk


@pytest.fixture
def home(tmp_path: Path) -> Iterator[AgentHome]:
    """A new home, whose clock goes on by a second whenever it is looked at."""
    with new_home(tmp_path / "home", now=CounterClock()) as home:
        yield home


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
