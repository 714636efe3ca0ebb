"""The grammar of source refs: one text for one thing, and a reason for every text that is none (R1, R3)."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import InvalidRef
from gitmem.records import is_name
from gitmem.refs import KINDS, SourceRef, parse_ref


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("message:msg_00000000000000a", SourceRef("message", "msg_00000000000000a")),
        ("task:a.B-c_9", SourceRef("task", "a.B-c_9")),
        ("session:...", SourceRef("session", "...")),
        ("note:0123456789abcde@h1", SourceRef("note", "0123456789abcde", home="h1")),
        ("tool_execution:t1:cmd", SourceRef("tool_execution", "t1", selector="cmd")),
        ("tool_execution:t1:output@h1", SourceRef("tool_execution", "t1", selector="output", home="h1")),
        ("tool_execution:t1:batch_item:12:stderr", SourceRef("tool_execution", "t1", 12, "stderr")),
    ],
)
def test_refs(text: str, ref: SourceRef) -> None:
    """A ref reads as what it names and is written as the same text."""
    assert parse_ref(text) == ref
    assert str(ref) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        # In this order: of several faults the first is told.
        ("mess age:x", "contains whitespace"),
        ("message:x\n", "contains whitespace"),
        ("\u00a0message:x", "contains whitespace"),
        ("", "has no kind prefix"),
        ("/abs/x.md", "has no kind prefix"),
        ("tool_execution:", "has an empty identifier"),
        ("tool_execution::cmd", "has an empty identifier"),
        ("tool_execution:t/x:cmd", "looks like a path"),
        ("tool_execution:t", "is not tool_execution:<id>:<part>"),
        ("tool_execution:t:batch_item:1", "is not tool_execution:<id>:<part>"),
        ("tool_execution:t:item:1:cmd", "is not tool_execution:<id>:<part>"),
        ("tool_execution:t:artifact", "has a part other than cmd, stdout, stderr, output"),
        ("tool_execution:t:CMD", "has a part other than"),
        ("tool_execution:t:batch_item:0:cmd", "batch number"),
        ("tool_execution:t:batch_item:02:cmd", "batch number"),
        ("tool_execution:t:batch_item:abc:cmd", "batch number"),
        ("tool_execution:t:batch_item:+1:cmd", "batch number"),
        ("tool_execution:t:batch_item:\u0661:cmd", "batch number"),
        ("tool_execution:t:batch_item::cmd", "batch number"),
        ("message:", "has an empty identifier"),
        ("memory:", "has an empty identifier"),
        ("brief:https://h/x", "looks like a path, URL or query"),
        ("turn:../l/t", "looks like a path, URL or query"),
        ("work_item:w?raw=1", "looks like a path, URL or query"),
        ("skill:/abs/x.md", "looks like a path, URL or query"),
        ("message:a:b", "looks like a path, URL or query"),
        ("message:é", "looks like a path, URL or query"),
        ("message:a%2f", "looks like a path, URL or query"),
        ("skill:x", "has an unsupported prefix"),
        ("Message:x", "has an unsupported prefix"),
        ("message:x@", "names no home"),
        ("message:x@a@b", "names no home"),
        ("tool_execution:t:cmd@", "names no home"),
        ("tool_execution:t:cmd@a/b", "names no home"),
    ],
)
def test_what_is_no_ref(text: str, reason: str) -> None:
    """The reason says what to mend, and which kinds there are."""
    with pytest.raises(InvalidRef, match=reason) as caught:
        parse_ref(text)
    assert reason in caught.value.details["reason"]
    assert caught.value.details["allowed_prefixes"] == list(KINDS)


@pytest.mark.parametrize("value", [None, 5, b"message:x", ["message:x"]])
def test_what_is_no_text(value: object) -> None:
    """A model may send anything."""
    with pytest.raises(InvalidRef):
        parse_ref(value)  # type: ignore[arg-type]


@given(st.text(max_size=60) | st.from_regex(r"[a-z_]{1,14}:[a-z0-9:_.@+-]{0,40}", fullmatch=True))
def test_round_trip_or_reason(text: str) -> None:
    """Whatever the text: it is a ref that is written as the same text, or it is refused as none."""
    with suppress(InvalidRef):
        assert str(parse_ref(text)) == text


@given(st.from_regex(r"[A-Za-z0-9_.-]{1,80}", fullmatch=True), st.sampled_from(KINDS))
def test_every_name_stands_in_a_ref(name: str, kind: str) -> None:
    """Whatever a caller may call a task or a session, its ref can be read (R11)."""
    assert is_name(name)
    text = f"{kind}:{name}:cmd" if kind == "tool_execution" else f"{kind}:{name}"
    assert parse_ref(text).id == name
