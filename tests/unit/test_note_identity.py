"""Which note is which: ids through edits, moves, removals and merges, as a pure rule."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from gitmem.note_identity import (
    NotesChange,
    NotesState,
    apply_change,
    derive_note_id,
    match_renames,
    merge_states,
)

A, B, C = ("notes/a.md", "notes/b.md", "notes/c.md")


def _after(state, present=None, removed=()):
    """Return the state behind one more commit."""
    state = state.copy()
    apply_change(state, NotesChange(present or {}, tuple(removed)))
    return state


def _ids(state):
    return {path: one.id for path, one in state.live.items()}


def test_an_id_is_made_of_path_and_earlier_introductions():
    """Someone without the code can compute it (I1)."""
    assert derive_note_id("notes/a.md", 0) == hashlib.sha256(b"notes/a.md\x000").hexdigest()[:15]
    assert _ids(_after(NotesState(), {A: "1"})) == {A: derive_note_id(A, 0)}


def test_an_edit_keeps_the_id():
    """Content does not count."""
    state = _after(_after(NotesState(), {A: "1"}), {A: "2"})
    assert state.live[A].id == derive_note_id(A, 0)
    assert state.live[A].blob == "2"


def test_a_new_note_under_an_old_name_is_another():
    """The old ref must say deleted, not the new text (OPEN-AGENT-16)."""
    removed = _after(_after(NotesState(), {A: "1"}), removed=[A])
    again = _after(removed, {A: "1"})
    assert again.live[A].id == derive_note_id(A, 1)
    assert again.gone == {derive_note_id(A, 0): (A, "1")}


def test_an_exact_rename_keeps_the_id_and_frees_the_name():
    """A moved note is the same note; what takes its name is not (OPEN-AGENT-15)."""
    moved = _after(_after(NotesState(), {A: "1"}), {B: "1"}, [A])
    assert _ids(moved) == {B: derive_note_id(A, 0)}
    assert moved.gone == {}
    again = _after(moved, {A: "9"})
    assert _ids(again) == {A: derive_note_id(A, 1), B: derive_note_id(A, 0)}


def test_only_an_exact_and_unambiguous_move_is_followed():
    """Two targets, two sources or an empty file say nothing (M4)."""
    assert match_renames({A: "1"}, {B: "1", C: "1"}) == {}
    assert match_renames({A: "1", B: "1"}, {C: "1"}) == {}
    assert match_renames({A: "1"}, {B: "2"}) == {}
    empty = hashlib.sha1(b"blob 0\0").hexdigest()
    assert match_renames({A: empty}, {B: empty}) == {}
    assert match_renames({A: "1", B: "2"}, {C: "1"}) == {C: A}


def test_a_merge_keeps_what_each_side_knows():
    """A note made and moved on the other side keeps its id here."""
    base = _after(NotesState(), {A: "1"})
    other = _after(_after(base, {B: "2"}), {C: "2"}, [B])
    merged = merge_states([base, other], NotesChange({C: "2"}))
    assert _ids(merged) == {A: derive_note_id(A, 0), C: derive_note_id(B, 0)}
    assert merged.next_id(B) == derive_note_id(B, 1)


def test_a_merge_does_not_depend_on_the_order_of_its_sides():
    """Two machines that merge one pair give the same ids."""
    base = _after(NotesState(), {A: "1"})
    one = _after(_after(base, removed=[A]), {A: "2"})
    two = _after(base, {A: "3"})
    first = merge_states([one, two], NotesChange({A: "3"}))
    second = merge_states([two, one], NotesChange({}))
    assert _ids(first) == _ids(second) == {A: derive_note_id(A, 0)}
    taken = merge_states([one, two], NotesChange({}))
    assert _ids(taken) == {A: derive_note_id(A, 1)}


def test_a_note_moved_to_two_places_is_one_note_and_a_new_one():
    """An id belongs to one path."""
    base = _after(NotesState(), {A: "1"})
    one, two = _after(base, {B: "1"}, [A]), _after(base, {C: "1"}, [A])
    for merged in (
        merge_states([one, two], NotesChange({C: "1"})),
        merge_states([two, one], NotesChange({B: "1"})),
    ):
        assert _ids(merged) == {B: derive_note_id(A, 0), C: derive_note_id(C, 0)}


def test_a_note_removed_on_one_side_only_is_gone_or_kept_as_the_merge_says():
    """The tree decides."""
    base = _after(NotesState(), {A: "1", B: "2"})
    one, two = _after(base, removed=[A]), _after(base, {B: "3"})
    gone = merge_states([one, two], NotesChange({B: "3"}))
    kept = merge_states([one, two], NotesChange({A: "1", B: "3"}))
    assert set(gone.gone) == {derive_note_id(A, 0)}
    assert _ids(kept)[A] == derive_note_id(A, 0)
    assert kept.gone == {}


_PATHS = st.sampled_from([A, B, C, "notes/d.md"])
_TREES = st.dictionaries(_PATHS, st.sampled_from(["1", "2", "3"]), max_size=4)


def _step(state, tree):
    present = {p: b for p, b in tree.items() if p not in state.live or state.live[p].blob != b}
    return _after(state, present, [p for p in state.live if p not in tree])


def _run(state, trees):
    for tree in trees:
        state = _step(state, tree)
    return state


@given(st.lists(_TREES, max_size=4), st.lists(_TREES, max_size=4), st.lists(_TREES, max_size=4), _TREES)
def test_ids_are_unique_whatever_happened(common, left, right, tree):
    """In any history with a merge each note has one id, and no live note counts as gone."""
    base = _run(NotesState(), common)
    one, two = _run(base, left), _run(base, right)

    def merge(first, second):
        present = {p: b for p, b in tree.items() if p not in first.live or first.live[p].blob != b}
        return merge_states(
            [first, second], NotesChange(present, tuple(p for p in first.live if p not in tree))
        )

    merged = merge(one, two)
    ids = _ids(merged)
    assert ids == _ids(merge(two, one))
    assert {path: note.blob for path, note in merged.live.items()} == tree
    assert len(set(ids.values())) == len(ids)
    assert not set(ids.values()) & set(merged.gone)
    fresh = [merged.next_id(path) for path in (A, B, C)]
    assert not set(fresh) & (set(ids.values()) | set(merged.gone))
