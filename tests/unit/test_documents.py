"""What is searched of a record or a file, and under which address."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.documents import (
    CHUNK_CHARS,
    Document,
    analyze,
    chunks_of,
    entry_documents,
    from_row,
    note_documents,
    prose_documents,
    record_documents,
    split_text,
    to_row,
)
from gitmem.entries import Entry
from gitmem.ledger_format import decode, redact
from gitmem.note_text import make_note
from ledgers import sealed

TS = "2026-11-30T09:00:00.000Z"


def made(event: dict[str, object], **place: object) -> list[Document]:
    """Return the documents of an event."""
    return record_documents(decode(sealed(event, seq=1, **place)), "ledger/a.jsonl")


@pytest.mark.parametrize(
    ("event", "ref", "title", "text"),
    [
        ({"kind": "message", "role": "user", "text": "hi"}, "message:msg_", "user", "hi"),
        ({"kind": "message", "role": "user", "text": "hi", "author": "Ol"}, "message:msg_", "Ol", "hi"),
        ({"kind": "brief", "brief_kind": "result", "text": "done"}, "brief:brief_", "result", "done"),
        ({"kind": "tool_execution", "tool": "sh", "input": "ls"}, "tool_execution:tool_", "sh", "ls"),
        (
            {"kind": "tool_execution", "tool": "sh", "input": {"cmd": "ls", "n": 1}, "output": "out"},
            "tool_execution:tool_", "sh", 'ls\n{"n": 1}',
        ),
        ({"kind": "decision", "text": "yes", "because": "load"}, "decision:dec_", "decision", "yes\nload"),
        ({"kind": "session", "event": "start", "title": "T", "session": "s1"}, "session:s1", "T", "T"),
    ],
)  # fmt: skip
def test_records(event: dict[str, object], ref: str, title: str, text: str) -> None:
    """Each kind has its own words; a tool's output is not among them."""
    (document,) = made(event)
    assert document.source_ref.startswith(ref)
    assert (document.title, document.text, document.origin) == (title, text, "ledger/a.jsonl")
    assert document.kind == event["kind"]
    assert document.ts == TS


def test_lifecycle_records_say_which_object_they_are_of() -> None:
    """A snapshot carries what decides whether it counts."""
    event = {
        "kind": "work_item", "action": "update", "work_item_id": "w1", "objective": "Move staging",
        "todo": ["dump", "load"], "plan_status": "ready",
    }  # fmt: skip
    (document,) = made(event, revision=2, status="open", after=("work_00000000000000a",))
    assert document.source_ref == document.group == "work_item:w1"
    assert document.text == "Move staging\ndump\nload"
    assert document.state is not None
    assert document.state["after"] == ["work_00000000000000a"]
    assert document.metadata == {"plan_status": "ready", "status": "open", "revision": 2}


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "message", "role": "user", "text": " \n"},
        {"kind": "brief", "brief_kind": "ack", "text": "on it"},
        {"kind": "session", "event": "end", "session": "s1"},
        {"kind": "file", "path": "notes/a.md"},
    ],
)
def test_some_records_have_no_documents(event: dict[str, object]) -> None:
    """What says nothing is not found; some kinds are only read."""
    assert made(event) == []


def test_redacted_records_have_no_words() -> None:
    """Nothing of a forgotten record is searched; a snapshot still stands for its place in the order."""
    message = sealed({"kind": "message", "role": "user", "text": "secret"}, seq=1)
    assert record_documents(decode(redact(message)), "x") == []
    event = {"kind": "task", "task_id": "t1", "status": "running", "summary": "secret"}
    task = sealed(event, seq=1, revision=1, status="running", after=())
    (document,) = record_documents(decode(redact(task)), "x")
    assert analyze(document).counts == {}
    assert document.state is not None
    assert document.state["redacted"]


def test_notes_are_searched_by_section() -> None:
    """A section is a document of its own, and knows the note's title, tags and path."""
    text = "---\ntags: [ops]\n---\n# Staging\n\nintro\n\n## Ports\n\n2222\n\n```\n## no heading\n```\n"
    documents = note_documents(make_note("notes/infra/staging.md", text, "n1"), TS)
    assert [(d.title, d.line) for d in documents] == [("Staging", 4), ("Staging › Ports", 8)]
    assert "## no heading" in documents[1].text
    assert {d.source_ref for d in documents} == {"note:n1"}
    for term in ("op", "stage", "infra", "staging.md"):
        assert all(term in analyze(d).counts for d in documents), term


def test_a_note_without_a_body_is_found_by_its_title() -> None:
    """Front matter alone is a note."""
    (document,) = note_documents(make_note("notes/a.md", "---\ntitle: Staging\n---\n", "n1"), TS)
    assert "stage" in analyze(document).counts


def test_prose_and_entries() -> None:
    """Prose is cut at its headings, entries are whole."""
    documents = prose_documents(
        "memory/self.md", "agent_memory:self", "self memory", "# A\n\none\n\n# B\n\ntwo", TS
    )
    assert [(d.kind, d.title, d.line) for d in documents] == [
        ("agent_memory", "self memory › A", 1), ("agent_memory", "self memory › B", 5),
    ]  # fmt: skip
    (entry,) = entry_documents("memory/MEMORY.md", "memory entry", Entry("port 2222", "e1", 3), TS)
    assert (entry.source_ref, entry.line, entry.path) == ("entry:e1", 3, "memory/MEMORY.md")


@given(st.text(alphabet="ab .\n。", max_size=4000), st.integers(20, 400))
def test_pieces_put_together_are_the_text(text: str, size: int) -> None:
    """Cutting a long text loses nothing and leaves no piece much too long."""
    pieces = list(split_text(text, size))
    assert "".join(pieces) == text
    assert all(len(piece) <= size + size // 4 for piece in pieces)


def test_chunks_know_their_lines() -> None:
    """A hit in a long text says where it stands."""
    text = "".join(f"line {number}\n" for number in range(1, 2001))
    documents = chunks_of(Document("note:n", "note", "t", text, TS, "notes/a.md", path="notes/a.md", line=10))
    assert len(documents) > 5
    assert all(len(d.text) <= CHUNK_CHARS * 1.25 for d in documents)
    for document in documents:
        assert document.line is not None
        assert document.text.startswith(f"line {document.line - 9}\n")


@given(
    st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x))
)
def test_rows_give_documents_back(value: object) -> None:
    """A stored document is the one that was indexed."""
    document = Document("message:m", "message", "t", "x", TS, "o", record="m", metadata={"value": value})
    assert from_row(to_row(document)) == document
