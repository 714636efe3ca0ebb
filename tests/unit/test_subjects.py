"""Commit messages follow a grammar, are read back by it and by Git, and carry nothing that acts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import git, make_repo
from gitmem import subjects
from gitmem.subjects import format_message, parse_subject, parse_trailers


def test_a_turn_counts_its_records() -> None:
    """The subject says how much happened and nothing of what was said."""
    kinds = ["message", "tool_execution", "message", "tool_execution", "tool_execution", "turn"]
    assert subjects.turn_subject(118, kinds) == "turn 118: 2 messages, 3 tools"
    assert subjects.turn_subject(1, ["message", "turn"], "interrupted") == "turn 1 (interrupted): 1 message"
    assert subjects.turn_subject(2, ["decision", "new_kind", "work_item"]) == (
        "turn 2: 1 decision, 1 work item, 1 other"
    )
    assert subjects.turn_subject(None, ["turn"]) == "turn: nothing"


def test_notes_are_named_below_their_folder() -> None:
    """A log of notes reads without the prefix that all of them share."""
    assert subjects.note_subject("edit", "notes/ops/staging.md") == "note: edit ops/staging.md"
    assert subjects.note_subject("move", "notes/a.md", "notes/b.md") == "note: move a.md to b.md"
    assert subjects.found_subject(["notes/staging.md"]) == "found: notes/staging.md"
    assert subjects.edit_subject(["a", "b"]) == "edit: 2 files"


def test_changes_of_a_store_are_counted() -> None:
    """How many entries came, changed and went, and how full it is; never a word of them."""
    told = subjects.memory_subject
    assert told("memory", 34, added=1) == "memory: + 1 entry (34 %)"
    assert told("memory", 0, changed=1, removed=2) == "memory: ~ 1, - 2 entries (0 %)"
    assert told("user", 100, added=2, removed=1) == "memory: + 2, - 1 user entry (100 %)"
    parsed = parse_subject(told("user", 8, added=1))
    assert parsed is not None
    assert (parsed.area, parsed.rest) == ("memory", "+ 1 user entry (8 %)")


def test_a_hostile_name_does_not_act_on_a_forge() -> None:
    """Forges act on `#12` and `@name`; a line feed would forge a trailer."""
    subject = subjects.note_subject("add", "notes/fixes #12 @root\n\nGitmem-Kind: turn.md")
    assert "#" not in subject
    assert "@" not in subject
    message = format_message(subject, [(subjects.KIND, "note"), (subjects.REASON, "closes #12\n\nfor @root")])
    assert parse_trailers(message) == {"Gitmem-Kind": "note", "Gitmem-Reason": "closes # 12 for @ root"}
    assert len(message.splitlines()[0]) < 90


def test_subjects_are_read_back() -> None:
    """The log is made from subjects alone, without opening a tree."""
    turn = parse_subject("turn 118 (aborted): 2 messages, 1 work item, 4 others\n\nx")
    assert turn is not None
    assert (turn.index, turn.state) == (118, "aborted")
    assert turn.counts == {"message": 2, "work_item": 1, "other": 4}
    note = parse_subject("note: edit staging.md")
    assert note is not None
    assert (note.area, note.action) == ("note", "edit")
    assert parse_subject("turn: nothing") is not None
    assert parse_subject("Fix the build") is None
    assert parse_subject("") is None


@given(
    st.lists(st.sampled_from(["message", "tool_execution", "work_item", "session", "memory"]), max_size=30)
)
def test_counts_survive(kinds: list[str]) -> None:
    """What is written is what is read."""
    parsed = parse_subject(subjects.turn_subject(7, kinds))
    assert parsed is not None
    assert parsed.counts == {kind: kinds.count(kind) for kind in kinds}


@given(st.text(), st.text(), st.text())
def test_any_text_leaves_the_shape_of_a_message(subject: str, reason: str, path: str) -> None:
    """Subject, blank line, trailers: whatever is put in."""
    message = format_message(subject or "x", [(subjects.KIND, "note"), (subjects.REASON, reason)])
    assert parse_trailers("x\n\n" + message.split("\n\n")[-1])["Gitmem-Kind"] == "note"
    assert set(parse_trailers("x\n\n" + message.split("\n\n")[-1])) <= {"Gitmem-Kind", "Gitmem-Reason"}
    assert "\n" not in subjects.note_subject("edit", path)
    message.encode()


def test_a_body_that_looks_like_trailers_is_not_taken_for_them() -> None:
    """Only the last paragraph counts, as in Git."""
    message = format_message("x", [(subjects.KIND, "edit")], "Gitmem-Kind: turn\nmore")
    assert parse_trailers(message) == {"Gitmem-Kind": "edit"}
    assert parse_trailers("Gitmem-Kind: turn\n") == {}
    assert parse_trailers("x\n\nnot a trailer\nGitmem-Kind: turn\n") == {}


@pytest.mark.parametrize("reason", ["because", "a: b: c", "终端口 2222", "  padded  ", "x" * 2000])
def test_git_reads_the_same_trailers(tmp_path: Path, reason: str) -> None:
    """`git log --format=%(trailers)` and gitmem agree."""
    repo = make_repo(tmp_path / "r")
    message = format_message(
        "note: edit a.md", [(subjects.KIND, "note"), (subjects.TURN, None), (subjects.REASON, reason)]
    )
    git("commit", "-q", "--allow-empty", "-F", "-", cwd=repo, stdin=message)
    shown = git("log", "-1", "--format=%(trailers:only,unfold)", cwd=repo)
    assert shown.strip().splitlines() == [f"{k}: {v}" for k, v in parse_trailers(message).items()]
