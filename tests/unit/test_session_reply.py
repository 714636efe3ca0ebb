"""No reply of a session search is too long, and what it cuts can be read elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from homes import new_home

from fixtures import CounterClock
from gitmem import AgentHome
from gitmem.session_reply import REPLY_CHARS
from talks import contents, numbered, said, size, talk


@pytest.fixture
def home(tmp_path: Path) -> Iterator[AgentHome]:
    """A new home, whose clock goes on by a second whenever it is looked at."""
    with new_home(tmp_path / "home", now=CounterClock()) as home:
        yield home


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
        forms: list[dict[str, Any]] = [{}, {"around_message_id": messages[22], "window": 20}]
        for given in forms:
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
