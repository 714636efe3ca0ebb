"""Tests of `gitmem.execution_environment`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import UsageError
from gitmem.execution_environment import (
    ExecutionEnvironment,
    Instruction,
    NamedAbility,
    parse_environment,
    read_environment,
)

WHOLE = {
    "workspace_id": "ws1",
    "anchor": "/src/app",
    "cwd": "/src/app/web",
    "access_mode": "read-write",
    "instructions": ["Be brief.", {"path": "AGENTS.md", "text": "Use tabs."}],
    "skills": ["deploy", {"name": "review", "description": "Look at changes."}],
    "tools": [{"name": "shell", "input_schema": {"type": "object"}}],
    "execution_root_id": "run_1",
}


def test_everything_that_it_may_say() -> None:
    """Items may be text or objects; what is not known is left out and named."""
    found = parse_environment(json.dumps(WHOLE).encode("utf-8-sig"))
    assert found.instructions == (Instruction("Be brief."), Instruction("Use tabs.", "AGENTS.md"))
    assert found.skills == (NamedAbility("deploy"), NamedAbility("review", "Look at changes."))
    assert found.tools == (NamedAbility("shell"),)
    assert found.ignored == ("execution_root_id",)
    assert found.semantics == {
        "workspace_id": "ws1",
        "anchor": "/src/app",
        "cwd": "/src/app/web",
        "access_mode": "read-write",
        "tools": WHOLE["tools"],
    }


def test_nothing_need_be_said() -> None:
    """An empty object is an environment without a workspace."""
    assert parse_environment("{}") == ExecutionEnvironment()
    assert read_environment({"anchor": "", "cwd": None, "tools": None}) == ExecutionEnvironment()


@pytest.mark.parametrize(
    ("raw", "field", "said"),
    [
        ("[", "", "not JSON"),
        (b"\xff{}", "", "not UTF-8"),
        ("[" * 100_000, "", "not JSON"),
        ("[]", "", "a JSON object, not a list"),
        ('{"workspace_id": "a b"}', "workspace_id", "1 to 80"),
        ('{"workspace_id": 7}', "workspace_id", "1 to 80"),
        ('{"cwd": 7}', "cwd", "is text, not a number"),
        ('{"cwd": "/a\\n[tools]"}', "cwd", "one line"),
        ('{"tools": "shell"}', "tools", "is a list, not text"),
        ('{"tools": [7]}', "tools[0]", "is a name"),
        ('{"skills": ["a", {"name": " "}]}', "skills[1]", "is a name"),
        ('{"skills": [{"name": "a", "description": []}]}', "skills[0].description", "is text, not a list"),
        ('{"instructions": [{"path": "a"}]}', "instructions[0]", "with `text`"),
    ],
)
def test_what_is_wrong_is_named(raw: str | bytes, field: str, said: str) -> None:
    """The field, what it should be, and an example."""
    with pytest.raises(UsageError, match=said.replace("[", r"\[")) as wrong:
        parse_environment(raw)
    assert wrong.value.details["field"] == field
    assert wrong.value.exit_code == 2
    assert wrong.value.hint is not None
    assert "workspace_id" in wrong.value.hint


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*WHOLE, "name", "text"]), inner)
    ),
    max_leaves=10,
)


@given(json_values)
def test_any_json_is_read_or_refused(value: Any) -> None:
    """Nothing else happens, whatever a caller sends."""
    try:
        found = read_environment(value)
    except UsageError:
        return
    assert read_environment(value) == found
    json.dumps(dict(found.semantics))
