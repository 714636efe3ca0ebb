"""Tests of `gitmem.guidance` and `gitmem.home_tools`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from homes import new_home

from fixtures import CounterClock
from gitmem import AgentHome
from gitmem.config import HomeConfig, MemoryFile
from gitmem.errors import UsageError
from gitmem.guidance import guide, tool_descriptions
from gitmem.scanner import scan

CONFIG = HomeConfig("h" + "0" * 15)
COMBINATORS = {"allOf", "anyOf", "oneOf", "enum", "not"}


@pytest.fixture
def home(tmp_path: Path, clock: CounterClock) -> AgentHome:
    """A new home."""
    return new_home(tmp_path / "home", now=clock)


def test_the_guide_is_short_and_says_what_matters() -> None:
    """It stands in every prompt, so each line of it has to earn its place."""
    text = guide(CONFIG)
    assert len(text) <= 2500
    for word in (
        "preference",
        "convention",
        "secrets",
        "`operations`",
        "80 %",
        "Good:",
        "Bad:",
        "memory_search",
    ):
        assert word in text
    assert text.count("Good:") >= 3


def test_the_guide_has_the_homes_own_limits() -> None:
    """A guide that names other limits than the tool's would send the model into refusals."""
    assert "2,200" in guide(CONFIG)
    memory = {**CONFIG.memory, "memory": MemoryFile(enabled=True, char_limit=5000)}
    memory["user"] = MemoryFile(enabled=False, char_limit=1375)
    text = guide(replace(CONFIG, memory=memory))
    assert "5,000 characters" in text
    assert "1,375" not in text
    assert "`user`: who" not in text


def only(*names: str) -> HomeConfig:
    """Return a home's facts with these memory files on, and no others."""
    memory = {name: replace(file, enabled=name in names) for name, file in CONFIG.memory.items()}
    return replace(CONFIG, memory=memory)


def test_the_guide_of_a_home_without_memory_says_so() -> None:
    """[real case] With everything off a model was still told how to write entries."""
    text = guide(only())
    assert "switched off" in text
    assert "memory_note" in text
    assert "memory_search" in text
    for word in ("Good:", "Where it goes", "old_text", "80 %", "`memory`"):
        assert word not in text
    assert "Good:" not in guide(only("self"))
    assert "Good:" in guide(only("user"))
    assert "\n\n\n" not in guide(only()) + guide(only("self")) + guide(only("user"))


def test_the_guide_passes_the_scanner() -> None:
    """A guide that the project's own scanner refused could not be kept in a home."""
    assert scan(guide(CONFIG)).findings == scan(guide(only())).findings == ()


def test_parameters_have_no_combinators_at_their_top() -> None:
    """Strict servers refuse the whole request for one of them."""
    for tool in tool_descriptions(CONFIG).values():
        jsonschema.Draft202012Validator.check_schema(tool.parameters)
        assert tool.parameters["type"] == "object"
        assert not COMBINATORS & set(tool.parameters)
        assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])


def test_the_memory_tool_has_the_shape_that_models_know() -> None:
    """Names, choices and the one required parameter are those of Hermes."""
    parameters = tool_descriptions(CONFIG)["memory"].parameters
    properties = parameters["properties"]
    assert set(properties) == {"action", "target", "content", "old_text", "operations"}
    assert properties["action"]["enum"] == ["add", "replace", "remove"]
    assert properties["target"]["enum"] == ["memory", "user"]
    assert parameters["required"] == ["target"]
    item = properties["operations"]["items"]
    assert set(item["properties"]) == {"action", "content", "old_text"}
    assert item["required"] == ["action"]


@pytest.mark.parametrize(
    ("shape", "inner"), [("openai", "parameters"), ("anthropic", "input_schema"), ("mcp", "inputSchema")]
)
def test_schemas_come_in_the_shapes_of_servers(home: AgentHome, shape: str, inner: str) -> None:
    """Each server wants the same facts under other names."""
    (one,) = home.tools(["memory"]).schemas(shape)
    tool = one["function"] if shape == "openai" else one
    assert tool["name"] == "memory"
    assert tool[inner]["required"] == ["target"]
    json.dumps(one)


def test_all_tools_are_there_by_default(home: AgentHome) -> None:
    """Whoever names none wants them all; a name that is none is a mistake of the program."""
    names = ("memory", "memory_search", "memory_get", "memory_note", "session_search")
    names = (*names, "memory_work", "memory_context")
    assert home.tools().names == names
    with pytest.raises(UsageError, match="no tool 'soul'"):
        home.tools(["soul"])
    with pytest.raises(UsageError, match="no shape"):
        home.tools().schemas("cobol")


def test_calls_do_what_they_say(home: AgentHome) -> None:
    """What a model writes with one tool it finds with another."""
    tools = home.tools(session="s1")
    reply = tools.call("memory", {"action": "add", "target": "memory", "content": "The kiln is in the shed."})
    assert reply["success"] is True
    added = tools.call(
        "memory_note", '{"action": "add", "title": "Kiln", "content": "Fires at 1200 degrees."}'
    )
    assert added["committed"]
    found = tools.call("memory_search", {"query": "kiln degrees", "limit": 5})
    refs = [hit["source_ref"] for hit in found["results"]]
    assert added["source_ref"] in refs
    read = tools.call("memory_get", {"source_ref": added["source_ref"], "max_chars": 5000})
    assert "1200" in read["memory"]["content"]
    shown = tools.call("memory_note", {"action": "show", "note": added["source_ref"]})
    assert shown["note"]["path"] == added["path"]
    assert tools.call("memory_note", {"action": "append", "note": added["path"], "content": "Slowly."})[
        "committed"
    ]
    assert tools.call("memory_note", {"action": "move", "note": added["path"], "target": "k.md"})["committed"]
    assert tools.call("memory_note", {"action": "edit", "note": "k.md", "title": "Oven"})["committed"]
    assert tools.call("memory_note", {"action": "remove", "note": "k.md"})["committed"]
    assert tools.call("memory_search", {"query": "kiln", "since": "2 days ago"})["results"] is not None


def test_a_search_is_narrowed_by_what_the_command_line_has(home: AgentHome) -> None:
    """A model narrows by kind, conversation, work item and time, each named as the command has it."""
    links = {"session": "s1", "work_item": "w1"}
    for kind in ({"kind": "message", "role": "user"}, {"kind": "decision"}):
        home.record([{**kind, "text": "The kiln is lit.", **links}])
    home.record([{"kind": "message", "role": "user", "text": "The kiln is cold."}], session="s2")
    tools = home.tools()

    def found(**narrowing: Any) -> list[str]:
        reply = tools.call("memory_search", {"query": "kiln", **narrowing})
        return sorted(f"{hit['kind']} {hit['session']}" for hit in reply["results"])

    assert found() == ["decision s1", "message s1", "message s2"]
    assert found(kind=["decision"]) == found(kind="decision") == ["decision s1"]
    assert found(kind=["decision", "message"], session="s1") == ["decision s1", "message s1"]
    assert found(work_item="w1") == ["decision s1", "message s1"]
    assert found(until="last year") == found(session="s9") == []
    assert set(tools.schemas("mcp")[1]["inputSchema"]["properties"]) == {
        "query", "limit", "kind", "session", "work_item", "since", "until",
    }  # fmt: skip


BAD: list[tuple[str, Any]] = [
    ("soul", {}),
    ("memory", None),
    ("memory", "{"),
    ("memory", "[1]"),
    ("memory", 7),
    ("memory", {"action": "add", "target": "soul", "content": "x"}),
    ("memory", {"action": 3, "target": ["memory"], "content": {}}),
    ("memory", {"action": "add", "target": "memory", "content": "x", "session": "no id at all"}),
    ("memory_search", {}),
    ("memory_search", {"query": "x", "limit": "many"}),
    ("memory_search", {"query": "x", "since": "once upon a time"}),
    ("memory_get", {}),
    ("memory_get", {"source_ref": "/etc/passwd"}),
    ("memory_get", {"source_ref": "message:msg_000000000000000"}),
    ("memory_get", {"source_ref": "agent_memory:self", "max_chars": 0}),
    ("memory_note", {}),
    ("memory_note", {"action": "add", "content": {"a": 1}}),
    ("memory_note", {"action": "edit", "note": "missing.md", "content": "x"}),
    ("memory_note", {"action": "show", "note": 5}),
    ("memory_note", {"action": "add", "title": "x", "tags": [1]}),
    ("memory_search", {"query": "kiln", "q": "oven"}),
    ("memory", {"action": "add", "target": "memory", "text": "x"}),
]


@pytest.mark.parametrize(("name", "arguments"), BAD)
def test_a_wrong_call_is_answered(home: AgentHome, name: str, arguments: Any) -> None:
    """A model that calls wrongly learns why; its program must not fall over."""
    reply = home.tools().call(name, arguments)
    assert reply["success"] is False
    assert isinstance(reply["error"], str)
    json.dumps(reply)


def test_an_unknown_argument_is_answered_with_the_known_ones(home: AgentHome) -> None:
    """What would be passed over was meant to say something."""
    reply = home.tools().call("memory_search", {"q": "port", "session": "s1"})
    assert "no argument 'q'" in reply["error"]
    assert "query" in reply["hint"]
    said = {
        "action": "add",
        "target": "memory",
        "new_text": "By the other name.",
        "session": "s1",
        "reason": "x",
    }
    assert home.tools().call("memory", said)["success"] is True
