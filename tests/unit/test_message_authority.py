"""Tests of `gitmem.message_authority`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.message_authority import origin_name, voice_of

OTHERS = [
    "timer",
    "task",
    "system",
    "channel:general",
    "webhook",
    "callback",
    {"kind": "timer"},
    {"channel": 1},
    7,
]


@pytest.mark.parametrize(
    ("body", "voice"),
    [
        ({"role": "user"}, "operator"),
        ({"role": "user", "origin": "operator"}, "operator"),
        ({"role": "user", "authority": "operator_instruction"}, "operator"),
        ({"role": "user", "authority": "trusted_operator", "origin": {"kind": "operator"}}, "operator"),
        ({"role": "user", "authority": "runtime_instruction"}, "runtime"),
        ({"role": "user", "origin": "timer"}, "runtime"),
        ({"role": "user", "origin": {"task": "t1"}}, "runtime"),
        ({"role": "user", "origin": "channel:general"}, "external"),
        ({"role": "user", "authority": "integration_signal"}, "external"),
        ({"role": "user", "authority": "invented"}, "external"),
        ({"role": "user", "authority": ["operator_instruction"]}, "external"),
        ({"role": "system"}, "runtime"),
        ({"role": "system", "origin": "webhook"}, "external"),
        ({"role": "system", "authority": "operator_instruction"}, "runtime"),
        ({"role": "assistant", "authority": "operator_instruction"}, "assistant"),
        ({"role": "tool", "authority": "operator_instruction"}, "tool"),
    ],
)
def test_whose_voice_a_message_is(body: dict[str, Any], voice: str) -> None:
    """Role, authority and origin each can take trust away, none gives it back."""
    assert voice_of(body) == voice


@given(
    st.sampled_from(OTHERS), st.sampled_from(["user", "system", "assistant", "tool"]), st.text(max_size=30)
)
def test_nobody_else_is_the_operator(origin: Any, role: str, authority: str) -> None:
    """A timer, a task or a channel that claims the operator's authority does not get it."""
    claims = {"role": role, "origin": origin, "authority": "operator_instruction"}
    assert voice_of(claims) != "operator"
    assert voice_of({"role": "user", "authority": f"x{authority}"}) != "operator"


@pytest.mark.parametrize(
    ("origin", "name"),
    [("channel:general", "channel"), ({"type": "timer"}, "timer"), ({"task": 1}, "task"),
     ({"a": 1, "b": 2}, ""), ({"kind": 3}, ""), (None, ""), ([], "")],
)  # fmt: skip
def test_names_of_origins(origin: Any, name: str) -> None:
    """Origins come as text and as objects."""
    assert origin_name(origin) == name
