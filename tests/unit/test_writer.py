"""What a work tree remembers of its writer: durable where it must be, checked where it is read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.writer import WriterState, mint_writer, read_writer, write_last, write_writer

ONE, TWO = "1" * 40, "2" * 40


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The writer's file, not there yet."""
    return tmp_path / "private" / "writer.json"


def test_all_of_it_reads_back(path: Path) -> None:
    """And the branch is named by the id."""
    state = WriterState("w0123abcd", ONE, TWO, "ledger/x", 7, {"refs/heads/gitmem/turns/w00000000": TWO})
    write_writer(path, state)
    assert read_writer(path) == state
    assert state.branch == "gitmem/turns/w0123abcd"


def test_ids_are_random(path: Path) -> None:
    """Two work trees never share one, unless a folder was copied."""
    assert len({mint_writer().writer for _ in range(100)}) == 100
    assert read_writer(path) is None


def test_the_last_commit_is_noted_alone(path: Path) -> None:
    """After each turn only that changes."""
    state = WriterState("w0123abcd", ONE, segment="ledger/x", number=1)
    write_writer(path, state)
    write_last(path, replace(state, last=TWO))
    assert read_writer(path) == replace(state, last=TWO)
    write_writer(path, replace(state, last=None))
    assert read_writer(path) == replace(state, last=None)


@pytest.mark.parametrize(
    "note", [b"", b"\0" * 51, b"w0123abcd", f"w9999abcd {TWO}\n".encode(), b"w0123abcd zz\n"]
)
def test_a_torn_or_foreign_note_is_passed_over(path: Path, note: bytes) -> None:
    """Then what was remembered before counts, and the ref itself is the position."""
    state = WriterState("w0123abcd", ONE)
    write_writer(path, state)
    path.with_name("last").write_bytes(note)
    assert read_writer(path) == state


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b'{"writer":"../x"}', b'{"writer":1}', b"\xff", b"[" * 10_000]
)
def test_an_unreadable_file_is_no_writer(path: Path, content: bytes) -> None:
    """A new one is minted; the old line stays."""
    path.parent.mkdir()
    path.write_bytes(content)
    assert read_writer(path) is None


def test_odd_fields_are_left_out(path: Path) -> None:
    """A damaged note costs time, never a wrong position."""
    odd = {
        "writer": "w0123abcd",
        "last": 1,
        "checkpoint": "x",
        "segment": 2,
        "number": "3",
        "merged": {"a": 1, "b": ONE},
    }
    path.parent.mkdir()
    path.write_text(json.dumps(odd))
    assert read_writer(path) == WriterState("w0123abcd", merged={"b": ONE})
