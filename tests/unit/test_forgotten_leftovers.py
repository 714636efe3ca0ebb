"""What the private folder keeps of files and calls: closed where it holds something forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import new_home

from gitmem import AgentHome
from gitmem.entries import entry_digest
from gitmem.forgotten import Receipts
from gitmem.forgotten_leftovers import clean_copies, clean_set_aside
from gitmem.git_objects import hash_object

WORD = "zebrafisch"
MEMORY = "memory/MEMORY.md"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[AgentHome]:
    """A new home."""
    with new_home(tmp_path / "home", operator=True) as opened:
        yield opened


def kept_copy(folder: Path, name: str, path: str, text: str) -> Path:
    """Leave a copy as an editor's session does that could not be taken."""
    place = folder / name
    place.mkdir(parents=True)
    (place / ".kept").write_text(path)
    (place / ".opened").write_text(text)
    (place / "file.md").write_text(text)
    return place


def test_copies_of_editors(tmp_path: Path) -> None:
    """An entry leaves a kept copy of its store; a copy of a forgotten file goes; others stay."""
    text = f"{WORD} is it.\n§\nTyped.\n"
    store = kept_copy(tmp_path, "a", MEMORY, text)
    note = kept_copy(tmp_path, "b", "notes/a.md", f"{WORD}\n")
    other = kept_copy(tmp_path, "c", "notes/c.md", "other\n")
    blob = hash_object("blob", f"{WORD}\n".encode())
    receipts = Receipts(entries=frozenset({entry_digest(f"{WORD} is it.")}), blobs=frozenset({blob}))
    clean_copies(tmp_path, receipts)
    assert [(store / name).read_text() for name in (".opened", "file.md")] == ["Typed.\n"] * 2
    assert not note.exists()
    assert (other / "file.md").read_text() == "other\n"


def test_what_was_set_aside(home: AgentHome) -> None:
    """A segment that somebody edited by hand keeps what they wrote, not the forgotten line."""
    receipt = home.record([{"kind": "message", "role": "user", "text": WORD}], session="s1")
    home.record([{"kind": "message", "role": "user", "text": "other"}], session="s1")
    path = next(home.layout.root.glob("ledger/*/*/*.jsonl"))
    name = str(path.relative_to(home.layout.root)).replace("/", "_")
    aside = home.layout.set_aside / f"20261130T101500-0a1b2c-{name}"
    aside.parent.mkdir(parents=True)
    aside.write_bytes(path.read_bytes() + b"written by hand\n")
    home.forget(str(receipt.records[0]["source_ref"]))
    clean_set_aside(home.layout, home.ledger)
    left = aside.read_text()
    assert WORD not in left
    assert "other" in left
    assert left.endswith("written by hand\n")


def test_a_long_text_that_was_set_aside(home: AgentHome) -> None:
    """It is named by its record, and goes with it."""
    with home.turn(session="s1") as turn:
        ref = turn.tool("bash", "cat", f"{WORD}\n" * 5_000)
    aside = home.layout.set_aside / f"20261130T101500-0a1b2c-ledger_blobs_2026-11_30_{ref.split(':')[1]}"
    aside.parent.mkdir(parents=True)
    aside.write_text(f"{WORD} edited\n")
    home.forget(ref)
    assert not aside.exists()
