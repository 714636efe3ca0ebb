"""What a call of the memory tool is proposed as: edits that come to the same as the call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gitmem.entries import Entry, make_entry
from gitmem.entry_edits import edit_entries
from gitmem.memory_call import Call, parse_call
from gitmem.memory_gate import edits_of
from gitmem.memory_rules import Change, apply_call

WORDS = ["alpha", "beta", "alpha beta", "gamma", "delta gamma", "a"]
ROWS = st.one_of(
    st.fixed_dictionaries({"action": st.just("add"), "content": st.sampled_from(WORDS)}),
    st.fixed_dictionaries(
        {"action": st.just("replace"), "content": st.sampled_from(WORDS), "old_text": st.sampled_from(WORDS)}
    ),
    st.fixed_dictionaries({"action": st.just("remove"), "old_text": st.sampled_from(WORDS)}),
)


@given(st.lists(st.sampled_from(WORDS), unique=True), st.lists(ROWS, min_size=1, max_size=5), st.booleans())
def test_the_edits_come_to_what_the_call_comes_to(
    present: list[str], rows: list[dict[str, Any]], batch: bool
) -> None:
    """Approving a proposal is making the call that was proposed."""
    before = [make_entry(text) for text in present]
    call = _call(rows) if batch else parse_call("memory", operations=None, **rows[0])
    assert isinstance(call, Call)
    change = apply_call(call, before, 10_000)
    if not isinstance(change, Change):
        return
    edits = edits_of(call, before)
    assert _texts(edit_entries(before, edits)) == _texts(change.entries)
    assert not {edit.before for edit in edits if edit.before} - set(present)


def _call(rows: list[dict[str, Any]]) -> Call:
    call = parse_call("memory", operations=rows)
    assert isinstance(call, Call)
    return call


def _texts(entries: Sequence[Entry]) -> list[str]:
    return [entry.text for entry in entries]


def test_a_chain_is_one_edit() -> None:
    """What came and went within a batch was never there."""
    rows = [
        {"action": "replace", "old_text": "alpha", "content": "beta"},
        {"action": "replace", "old_text": "beta", "content": "gamma"},
        {"action": "add", "content": "x"},
        {"action": "remove", "old_text": "x"},
    ]
    before = [make_entry("alpha")]
    (edit,) = edits_of(_call(rows), before)
    assert (edit.before, edit.after) == ("alpha", "gamma")
