"""What the one who asks has before his eyes is passed over, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import new_home

from fixtures import CounterClock
from gitmem import AgentHome
from gitmem.session_lineage import Roots, relatives
from gitmem.session_view import SessionFacts
from talks import found, happened, ids, said, talk


@pytest.fixture
def home(tmp_path: Path) -> Iterator[AgentHome]:
    """A new home, whose clock goes on by a second whenever it is looked at."""
    with new_home(tmp_path / "home", now=CounterClock()) as home:
        yield home


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
        assert scroll["next"] == {"session_id": "s1", "around_message_id": old[1], "window": 1}

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


class TestRoots:
    """Which conversation a session belongs to."""

    def test_each_session_is_asked_for_its_parent_once(self) -> None:
        """A line of many continuations is walked once, not from each of its sessions."""
        asked = 0

        def facts(name: str) -> SessionFacts:
            nonlocal asked
            asked += 1
            return SessionFacts(parent=str(int(name) - 1) if int(name) % 1000 else "")

        names = [str(number) for number in range(2000)]
        assert list(relatives("999", names, facts)) == names[:999]
        assert asked == len(names)

    def test_circles(self) -> None:
        """Of a circle, which somebody wrote, the least id is the first, from wherever it is reached."""
        parents = {"b": "c", "c": "a", "a": "b", "z": "c", "y": "z", "own": "own"}
        names = [*parents, "alone"]
        for order in (names, names[::-1]):
            roots = Roots(lambda name: SessionFacts(parent=parents.get(name, "")))
            found = {name: roots.of(name) for name in order}
            assert found == {**dict.fromkeys("abcyz", "a"), "own": "own", "alone": "alone"}
