"""Messages as models have them become events: nothing is lost, and data is never taken for text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from homes import new_home
from hypothesis import given
from hypothesis import strategies as st

from fixtures import CounterClock
from gitmem.errors import InvalidRecord
from gitmem.model_messages import read_messages
from gitmem.records import parse_event

DATA = "iVBORw0KGgoAAAANSUhEUg"


def events(*messages: Any) -> list[dict[str, Any]]:
    """Return the events of some messages."""
    return [event for _, event in read_messages(messages)]


def texts(content: Any) -> Any:
    """Return the text of a user's message with some content."""
    (event,) = events({"role": "user", "content": content})
    return event["text"]


class TestWords:
    """What somebody said."""

    @pytest.mark.parametrize(
        ("content", "text"),
        [
            ("hi", "hi"),
            (None, ""),
            ("", ""),
            ([], ""),
            ([{"type": "text", "text": "hi"}], "hi"),
            ([{"type": "input_text", "text": "a"}, {"type": "output_text", "text": "b"}], "a\nb"),
            (["a", {"text": "b"}], "a\nb"),
            ([{"type": "refusal", "refusal": "No."}], "No."),
        ],
    )
    def test_parts_are_text(self, content: Any, text: str) -> None:
        """Text comes as a text, as nothing, or in parts of several types."""
        assert texts(content) == text

    @pytest.mark.parametrize(
        ("part", "text"),
        [
            ({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}, "[image_url]"),
            (
                {"type": "image_url", "image_url": {"url": "https://a.example/b"}},
                "[image_url: https://a.example/b]",
            ),
            ({"type": "input_image", "image_url": f"data:image/png;base64,{DATA}"}, "[input_image]"),
            ({"type": "image", "source": {"type": "base64", "data": DATA}}, "[image]"),
            ({"type": "file", "file": {"filename": "a.pdf", "file_data": DATA}}, "[file: a.pdf]"),
            ({"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}}, "[input_audio]"),
            ({"type": "document", "title": "Plan", "source": {"data": DATA}}, "[document: Plan]"),
        ],
    )
    def test_other_parts_are_named(self, part: dict[str, Any], text: str) -> None:
        """A picture's data would fill the record and say nothing; that there was one is told."""
        assert texts([{"type": "text", "text": "see"}, part]) == f"see\n{text}"
        assert DATA not in str(events({"role": "user", "content": [part]}))

    def test_roles_of_other_programs(self) -> None:
        """`developer` is OpenAI's name for `system`, `function` its first name for `tool`."""
        first, second = events(
            {"role": "developer", "content": "x"}, {"role": "function", "name": "f", "content": "y"}
        )
        assert (first["role"], first["text"]) == ("system", "x")
        assert (second["role"], second["text"], second["tool_name"]) == ("tool", "y", "f")

    def test_thoughts_are_no_words(self) -> None:
        """What a model thought is kept beside what it said."""
        thought = {"type": "thinking", "thinking": "2222?", "signature": DATA}
        (event,) = events({"role": "assistant", "content": [thought, {"type": "text", "text": "Yes."}]})
        assert (event["text"], event["reasoning"]) == ("Yes.", "2222?")
        item = {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "so"}],
            "encrypted_content": DATA,
        }
        (event,) = events(item)
        assert event == {"kind": "message", "role": "assistant", "text": "", "reasoning": "so"}

    def test_spoken_words_and_refusals(self) -> None:
        """Where the content is empty, the words stand in another field."""
        audio = {"id": "a1", "data": DATA, "transcript": "Hello."}
        spoken, refused = events(
            {"role": "assistant", "content": None, "audio": audio},
            {"role": "assistant", "content": None, "refusal": "I cannot."},
        )
        assert (spoken["text"], refused["text"]) == ("Hello.", "I cannot.")
        assert DATA not in str(spoken)

    def test_plain_messages_and_other_events_stay(self) -> None:
        """What is an event already is passed on as it is, unknown fields too."""
        plain = {"role": "user", "text": "hi", "author": "Ana", "mood": 3}
        other = {"kind": "decision", "text": "2222"}
        assert events(plain, other) == [{"kind": "message", **plain}, other]

    def test_a_message_without_any_text_is_still_refused(self) -> None:
        """A misspelt field must not pass for an empty message."""
        (event,) = events({"role": "user", "contents": "hi"})
        with pytest.raises(InvalidRecord, match="text missing"):
            parse_event(event, now=0)


class TestTools:
    """Calls and what answered them."""

    def test_openai(self) -> None:
        """A call and the message of role `tool` that answers it are one run, with input and output."""
        call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"q": "x"}'}}
        told = events(
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "found"},
            {"role": "assistant", "content": "done"},
        )
        assert [event["kind"] for event in told] == ["message", "tool_execution", "message"]
        run = {
            "kind": "tool_execution",
            "tool": "f",
            "tool_call_id": "c1",
            "input": {"q": "x"},
            "output": "found",
        }
        assert told[1] == run

    def test_anthropic(self) -> None:
        """The results come in a user's message, and are not the user's words."""
        use = {"type": "tool_use", "id": "t1", "name": "f", "input": {"q": "x"}}
        image = {"type": "image", "source": {"type": "base64", "data": DATA}}
        content = [{"type": "text", "text": "broken"}, image]
        result = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": content}
        told = events(
            {"role": "assistant", "content": [{"type": "text", "text": "I look."}, use]},
            {"role": "user", "content": [result, {"type": "text", "text": "and now?"}]},
        )
        assert [event.get("text") for event in told] == ["I look.", None, "and now?"]
        assert (told[1]["output"], told[1]["status"]) == ("broken\n[image]", "error")

    def test_items_of_a_response(self) -> None:
        """OpenAI's responses have calls and results beside the messages."""
        told = events(
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}", "status": "completed"},
            {"type": "function_call_output", "call_id": "c1", "output": "found"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
        )
        run = {"kind": "tool_execution", "tool": "f", "tool_call_id": "c1", "input": {}, "output": "found"}
        assert told == [run, {"kind": "message", "role": "assistant", "text": "done"}]

    def test_a_call_without_a_result_proves_nothing(self) -> None:
        """It stays a field: as an execution without a status it would count as work that was done."""
        calls = [{"id": name, "function": {"name": "f", "arguments": "{}"}} for name in ("c1", "c2")]
        message = {"role": "assistant", "content": None, "tool_calls": calls, "ts": "2026-11-30T09:00:00Z"}
        told = events(message, {"role": "tool", "tool_call_id": "c2", "content": "x"})
        assert told[0]["tool_calls"] == calls[:1]
        assert (told[0]["text"], told[0]["ts"]) == ("", message["ts"])
        assert (told[1]["kind"], told[1]["tool_call_id"], told[1]["ts"]) == (
            "tool_execution",
            "c2",
            message["ts"],
        )
        item = {"type": "function_call", "call_id": "c3", "name": "f", "arguments": "{}"}
        assert events(item)[0]["tool_calls"] == [item]

    def test_a_result_without_its_call(self) -> None:
        """It is a message of role `tool`, with the id of the call."""
        (told,) = events({"role": "tool", "tool_call_id": "c9", "name": "f", "content": {"ok": True}})
        assert told == {
            "kind": "message", "role": "tool", "text": '{"ok": true}', "tool_call_id": "c9", "tool_name": "f",
        }  # fmt: skip

    @pytest.mark.parametrize("arguments", ["not json", "[1]", '{"n": NaN}', "[" * 100_000, '{"n": 1e999}'])
    def test_arguments_that_are_no_object_stay_text(self, arguments: str) -> None:
        """Models write broken JSON; the turn is recorded all the same."""
        call = {"id": "c1", "function": {"name": "f", "arguments": arguments}}
        told = events(
            {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c1", "content": ""}
        )
        assert told[0]["input"] == arguments
        assert parse_event(told[0], now=0).kind == "tool_execution"


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "text",
                    "content",
                    "source",
                    "id",
                    "name",
                    "tool_use_id",
                    "function",
                    "arguments",
                    "summary",
                ]
            ),
            inner | st.sampled_from(["text", "tool_use", "tool_result", "image", "reasoning"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "content",
                    "text",
                    "type",
                    "tool_calls",
                    "tool_call_id",
                    "audio",
                    "call_id",
                    "output",
                ]
            ),
            _VALUES | st.sampled_from(["user", "tool", "assistant", "function_call", "reasoning"]),
        ),
        max_size=4,
    )
)
def test_whatever_comes_is_an_event_or_none(messages: list[dict[str, Any]]) -> None:
    """No shape of a message breaks it; each event names the message it is of."""
    for number, event in read_messages(messages):
        assert 0 <= number < len(messages)
        assert event["kind"] in {"message", "tool_execution"}


def test_a_session_records_them(tmp_path: Path) -> None:
    """A whole turn of a model is found by what it called, and read with what came of it; errors name one."""
    with new_home(tmp_path / "home", now=CounterClock()) as home:
        session = home.session("s1")
        call = {
            "id": "c1",
            "type": "function",
            "function": {"name": "shell", "arguments": '{"command": "walrus"}'},
        }
        session.record(
            [
                {"role": "user", "content": [{"type": "text", "text": "Look."}]},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": "a penguin"},
                {"role": "assistant", "content": "Done."},
            ]
        )
        assert home.search("walrus").results[0].kind == "tool_execution"
        messages = session.search(session_id="s1")["messages"]
        told = [("user", "Look."), ("tool", "a penguin"), ("assistant", "Done.")]
        assert [(one["role"], one["content"]) for one in messages] == told
        with pytest.raises(InvalidRecord) as error:
            session.record(
                [{"role": "assistant", "tool_calls": [call]}, {"role": "narrator", "content": "x"}]
            )
        assert error.value.details["event"] == 1
        with pytest.raises(InvalidRecord, match="a message is a JSON object"):
            session.record(["hi"])  # type: ignore[list-item]
