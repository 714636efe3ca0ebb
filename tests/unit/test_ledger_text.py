"""Ledger and stores as Git shows them: sentences, each of one record, whatever the bytes are."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.ledger_format import redact
from gitmem.ledger_text import memory_sentence, render_ledger
from gitmem.long_text import split_long
from gitmem.records import ID_PREFIXES
from gitmem.store_text import render_store
from ledgers import EVENT, chain, join_lines, messages, sealed, tampered, with_middle

AT = "2026-11-30 09:00:00"


def told(raw: dict[str, Any], **place: Any) -> str:
    """Return the text of one event's line."""
    return render_ledger(sealed(raw, seq=1, **place).raw)


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (EVENT, "user: Which port does staging use?"),
        ({**EVENT, "author": "Olivia", "model": "m1"}, "Olivia: Which port does staging use?\n    model: m1"),
        (
            {
                "kind": "tool_execution",
                "tool": "shell",
                "input": {"cmd": "ls"},
                "output": "a\nb\n",
                "status": "error",
            },
            'ran shell (error): {"cmd": "ls"}\n    a\n    b',
        ),
        ({"kind": "tool_execution", "tool": "shell", "status": "success"}, "ran shell"),
        ({"kind": "brief", "brief_kind": "result", "text": "done"}, "reported (result): done"),
        (
            {"kind": "decision", "text": "use 2222", "because": "it moved"},
            "decided: use 2222\n    because it moved",
        ),
        ({"kind": "session", "event": "title", "title": "Ports", "session": "s1"}, "session s1 title: Ports"),
        ({"kind": "file", "path": "notes/a.md", "work_item": "w1"}, "changed notes/a.md\n    work item: w1"),
    ],
)
def test_a_record_is_a_sentence(event: dict[str, Any], sentence: str) -> None:
    """Who did what, then every other field: none is hidden."""
    assert told(event) == f"{AT}  {sentence}\n"


def test_a_snapshot_tells_its_state() -> None:
    """The envelope's status counts, not what a caller calls so."""
    event = {"kind": "task", "task_id": "t1", "status": "running", "summary": "copying"}
    line = told(event, revision=3, status="running", after=["task_00000000000000a", "task_00000000000000b"])
    assert line == f"{AT}  task t1: running (revision 3 of 2 heads)\n    summary: copying\n"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            {"action": "add", "entries": {"before": [], "after": ["a1"]}, "reason": "said so"},
            "added 1 entry (entry:a1) to memory/MEMORY.md, because said so",
        ),
        (
            {"action": "remove", "entries": {"before": ["a1", "b2"], "after": []}},
            "removed 2 entries (entry:a1, entry:b2) from memory/MEMORY.md",
        ),
        (
            {"action": "replace", "entries": {"before": ["a1"], "after": ["b2"]}},
            "replaced 1 entry (entry:a1) by 1 entry (entry:b2) in memory/MEMORY.md",
        ),
        (
            {"action": "batch", "entries": {"before": [], "after": []}},
            "put entries of memory/MEMORY.md in another order",
        ),
        (
            {"action": "add", "entries": {"before": [3], "after": []}},
            'added memory/MEMORY.md\nentries: {"before": [3], "after": []}',
        ),
        ({"action": "wipe"}, "wipe memory/MEMORY.md"),
        ({"action": "append", "files": [{"path": "memory/self.md"}]}, "appended to memory/self.md"),
        (
            {"action": "move", "target": "note", "files": [{"path": "notes/a.md"}, {"path": "notes/b.md"}]},
            "moved note notes/a.md to notes/b.md",
        ),
    ],
)
def test_a_change_of_memory_is_a_sentence(body: dict[str, Any], sentence: str) -> None:
    """Which entries came and went is told by their refs; what is told otherwise is not hidden."""
    files = [{"path": "memory/MEMORY.md"}]
    assert memory_sentence({"target": "memory", "files": files, **body}) == f"memory: {sentence}"


def test_kinds_that_gitmem_writes_and_kinds_of_the_future() -> None:
    """A kind that this gitmem does not know is read by its fields."""
    (line,) = chain([EVENT])
    middle = (
        b',"body":{"action":"add","target":"memory","files":[{"path":"memory/MEMORY.md"}]},"salt":"%b"'
        % (b"0" * 32)
    )
    memory = with_middle(line, middle)
    text = render_ledger(memory.raw.replace(b'"kind":"message"', b'"kind":"memory"'))
    assert text == f"{AT}  memory: added memory/MEMORY.md\n"
    future = with_middle(line, b',"body":{"mood":"good","n":1},"salt":"%b"' % (b"0" * 32))
    text = render_ledger(future.raw.replace(b'"kind":"message"', b'"kind":"feeling"'))
    assert text == f"{AT}  feeling:\n    mood: good; n: 1\n"
    turn = with_middle(
        line, b',"body":{"turn_index":7,"end":"completed"},"session":"s1","salt":"%b"' % (b"0" * 32)
    )
    text = render_ledger(turn.raw.replace(b'"kind":"message"', b'"kind":"turn"'))
    assert text == f"{AT}  turn 7 of session s1 completed ({line.id})\n"


def test_what_is_redacted_damaged_or_changed_is_named() -> None:
    """A diff of a redaction shows which record went; a changed middle is no longer what was sealed."""
    one, two, three = messages(3)
    content = join_lines([redact(one), b"garbage \x1b[2J", tampered(two, b"message 2", b"message 9"), three])
    assert render_ledger(content).splitlines() == [
        f"{AT}  [message {one.id}: redacted]",
        "[no record: not a ledger line] garbage ␛[2J",
        f"{AT}  [not as it was sealed] user: message 9",
        f"{AT}  user: message 3",
    ]
    assert render_ledger(content[:-20]).splitlines()[-1].startswith("[no record: cut off] {")


def test_each_record_stands_for_itself() -> None:
    """Text of a segment that grew begins with the text it had, so that a diff shows the new records only."""
    lines = messages(5)
    texts = [render_ledger(join_lines(lines[:count])) for count in range(1, 6)]
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))


def test_long_texts_are_cut_and_say_so() -> None:
    """A page of output does not bury the turn; what was moved to a blob is pointed at."""
    assert told({**EVENT, "text": "x" * 1234}) == f"{AT}  user: {'x' * 1000}… (234 more characters)\n"
    body, _ = split_long({"role": "user", "text": "y" * 20_000})
    text = told({**EVENT, **body})
    assert text.endswith("    the whole text is in ledger/blobs, 20000 bytes\n")
    assert len(text) < 1200


def test_nothing_in_a_text_acts_on_a_terminal() -> None:
    """Escape sequences that an agent heard are shown as signs, in every place a caller words."""
    hostile = "\x1b]0;owned\x07\r\x08\x9b"
    events = [{**EVENT, "text": hostile, "author": hostile}, {**EVENT, "x": {hostile: hostile}, hostile: 1}]
    text = render_ledger(join_lines([*chain(events), hostile.encode(), b"\x1b\xff"]))
    assert not set(text) & {chr(code) for code in (*range(10), *range(11, 32), *range(127, 160))}


def test_receipts_and_long_texts_are_read_too() -> None:
    """All files of the ledger have one attribute."""
    receipt = b'{"at":"2026-11-30T10:02:11.000Z","by":"operator","reason":"asked by the user"}\n'
    assert render_ledger(receipt) == "2026-11-30 10:02:11  forgotten by operator; reason: asked by the user\n"
    assert render_ledger(b"line 0\nline 1\x07\n") == "line 0\nline 1␇\n"
    assert render_ledger(b"") == ""


@given(st.lists(st.one_of(st.binary(max_size=40), st.integers(0, 20)), max_size=6))
def test_it_never_fails(parts: list[bytes | int]) -> None:
    """Cuts, repetitions and foreign bytes in a segment give a text of whole lines, the same each time."""
    whole = join_lines(messages(3))
    content = b"".join(part if isinstance(part, bytes) else whole[part * 30 :] for part in parts)
    text = render_ledger(content)
    assert text == render_ledger(content)
    assert "\x1b" not in text
    render_store(content)


def test_every_kind_of_caller_has_a_sentence_or_its_fields() -> None:
    """No kind is told as nothing."""
    (line,) = chain([EVENT])
    for kind in ID_PREFIXES:
        plain = with_middle(line, b',"body":{"text":"seen","role":"x"},"salt":"%b"' % (b"0" * 32))
        raw = plain.raw.replace(b'"kind":"message"', b'"kind":"%b"' % kind.encode())
        if kind in {"task", "wait", "work_item"}:
            extra = b',"object":"o","revision":1,"status":"open","after":[],"digest"'
            raw = raw.replace(b',"digest"', extra)
        assert "seen" in render_ledger(raw)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", ""),
        ("A fact.\n§\nTwo\nlines.\n".encode(), "A fact.\n\nTwo\nlines.\n"),
        ("A\r\n §\t\r\nB\r\n".encode(), "A\n\nB\n"),
        ("\ufeffA § B\n".encode(), "A § B\n"),
        (b"\x1b[31mred \xff", "␛[31mred \ufffd"),
        ("A\n§\nA\n§\n\n§\n".encode(), "A\n\nA\n\n\n\n"),
    ],
)
def test_a_store_is_paragraphs(content: bytes, text: str) -> None:
    """Line by line as the file, so that blame and diff name its lines; doubles and blanks are not hidden."""
    assert render_store(content) == text
