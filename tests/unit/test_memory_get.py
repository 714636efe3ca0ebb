"""Reading what a ref names: every kind, whole and in parts, without any index (R rows)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_home import SearchHome

from gitmem.errors import AmbiguousMatch, InvalidRef, Unavailable, UnknownSource, UsageError
from gitmem.json_view import to_json
from gitmem.ledger_format import Line
from gitmem.memory_files import file_id
from gitmem.records import parse_event
from gitmem.spool import SpooledTurn


@pytest.fixture
def home(tmp_path: Path) -> SearchHome:
    """An empty home; its index is never made."""
    return SearchHome.in_memory(tmp_path)


def content(home: SearchHome, ref: str) -> str:
    """Return the text that a ref names."""
    return home.reader.get(ref).content


@pytest.mark.parametrize(
    ("ref", "reason"),
    [
        ("/abs/x.md", "has no kind prefix"),
        ("skill:/abs/x.md", "looks like a path"),
        ("brief:https://h/x", "looks like a path"),
        ("turn:../l/t", "looks like a path"),
        ("work_item:w?raw=1", "looks like a path"),
        ("message:", "empty identifier"),
        ("message:a\n", "whitespace"),
        ("tool_execution:t", "is not tool_execution"),
        ("tool_execution:t:batch_item:0:cmd", "batch number"),
        ("tool_execution:t:batch_item:02:cmd", "batch number"),
        ("tool_execution:t:batch_item:+1:cmd", "batch number"),
        ("tool_execution:t:artifact", "part other than"),
        ("skill:x", "unsupported prefix"),
        ("a\udcffb", "has no kind prefix"),
        ('x"y', "has no kind prefix"),
    ],
)
def test_what_is_no_ref_is_refused_with_a_reason(home: SearchHome, ref: str, reason: str) -> None:
    """A ref is never taken for a path, a URL or a query (R1, R3)."""
    with pytest.raises(InvalidRef, match=reason) as caught:
        home.reader.get(ref)
    assert "message" in caught.value.details["allowed_prefixes"]


@pytest.mark.parametrize(
    "ref",
    [
        "message:msg_00000000000000a", "note:0123456789abcde", "entry:0123456789abcde", "task:t9",
        "turn:turn_00000000000000b", "session:s9", "episode:e9", "file:0123456789abcde", "agent_memory:self",
        "agent_memory:other",
        "tool_execution:tool_00000000000000a:cmd", "memory:mem_00000000000000a", "workspace_profile:x",
        "message:msg_00000000000000a@other", "0123456789abcde", "nothing", "msg_0123",
    ],
)  # fmt: skip
def test_what_is_not_here_is_unknown(home: SearchHome, ref: str) -> None:
    """A well-formed ref that names nothing is not found; nothing else is revealed (R5)."""
    home.say("staging")
    with pytest.raises(UnknownSource) as caught:
        home.reader.get(ref)
    assert caught.value.code == "memory_source_not_found"
    assert caught.value.hint


def test_a_ref_of_this_home_may_say_so(home: SearchHome) -> None:
    """The home's own id behind a ref changes nothing."""
    record = home.say("staging")
    assert content(home, f"message:{record.id}@home1") == "staging"


@pytest.mark.parametrize("size", [0, -1, 50_001, "x", None, True, 1.5, "9" * 5000, [1]])
def test_sizes_out_of_range_are_invalid(home: SearchHome, size: object) -> None:
    """One to fifty thousand characters (R8)."""
    record = home.say("staging")
    with pytest.raises(UsageError, match="max_chars"):
        home.reader.get(f"message:{record.id}", max_chars=size)
    with pytest.raises(UsageError, match="offset"):
        home.reader.get(f"message:{record.id}", offset=-1)


def test_sizes_may_be_text(home: SearchHome) -> None:
    """Agents send numbers as text (R8)."""
    record = home.say("staging")
    assert home.reader.get(f"message:{record.id}", max_chars="100", offset="2").content == "aging"
    assert home.reader.get(f"message:{record.id}", max_chars=100.0, offset=2.0).content == "aging"
    memory = home.reader.get(f"message:{record.id}", max_chars=1)
    assert (memory.content, memory.truncated, memory.next_offset, memory.total_chars) == ("s", True, 1, 7)


#: Text of what breaks where it is cut: CR and LF, marks, astral characters, joined emoji.
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=300) | st.text(
    st.sampled_from("a \r\n\u0301\u200d👩🇩𠮷混ทีﬁ\ufeff"), min_size=1, max_size=300
)


@given(TEXTS, st.integers(1, 40))
def test_parts_put_together_are_the_text(
    tmp_path_factory: pytest.TempPathFactory, text: str, size: int
) -> None:
    """Going on from next_offset gives every character once, in any script, of every kind (R9)."""
    home = SearchHome.in_memory(tmp_path_factory.mktemp("home"))
    said = home.say(text)
    ran = home.bent.append({"kind": "tool_execution", "tool": "t", "input": text, "output": {"stdout": text}})
    home.write({"notes/a.md": text, "memory/self.md": text, "episodes/2026-03/04-x-9e70.md": text})
    note = home.reader.get("notes/a.md").source_ref
    refs = [f"message:{said.id}", f"tool_execution:{ran.id}:cmd", f"tool_execution:{ran.id}:stdout", note]
    wanted = said.body["text"]
    assert [read_in_parts(home, ref, size) for ref in refs[:3]] == [wanted] * 3
    whole = text.removeprefix("\ufeff")
    assert [read_in_parts(home, ref, size) for ref in (note, "agent_memory:self")] == [whole] * 2


def read_in_parts(home: SearchHome, ref: str, size: int) -> str:
    """Return all parts of what a ref names, put together."""
    parts = []
    offset: int | None = 0
    while offset is not None:
        memory = home.reader.get(ref, offset=offset, max_chars=size)
        assert memory.truncated == (memory.next_offset is not None)
        assert len(memory.content) == min(size, memory.total_chars - offset)
        parts.append(memory.content)
        offset = memory.next_offset
    return "".join(parts)


def test_a_long_text_is_whole(home: SearchHome) -> None:
    """A text that lives in a blob is read back from it, to its last character (R10)."""
    text = "".join(f"line {number} 行\n" for number in range(20_000))
    record = home.say(text)
    assert "blob" in record.body
    memory = home.reader.get(f"message:{record.id}", max_chars=50_000)
    assert memory.total_chars == len(text)
    assert memory.truncated
    rest = home.reader.get(f"message:{record.id}", offset=len(text) - 10)
    assert rest.content == text[-10:]
    assert rest.next_offset is None
    assert home.reader.get(f"message:{record.id}", offset=len(text) + 5).content == ""


def test_a_long_text_that_is_gone_says_so(home: SearchHome) -> None:
    """Head and tail must not pass for the whole."""
    record = home.say("x" * 40_000)
    output = {"kind": "tool_execution", "tool": "shell", "input": "ls", "output": "y" * 40_000}
    tool = home.bent.append(output)
    home.bent.blobs.update({record.id: b"another text", tool.id: b""})
    for ref in (f"message:{record.id}", f"tool_execution:{tool.id}:output", record.id):
        with pytest.raises(Unavailable) as caught:
            home.reader.get(ref)
        assert caught.value.details["reason"] == "damaged"
        assert caught.value.hint


@pytest.mark.parametrize("damage", ["middle", "cut", "zeros"])
def test_a_damaged_line_is_told_from_one_that_never_was(home: SearchHome, damage: str) -> None:
    """A ref that was printed once answers that its record is damaged, not that there is none (R11)."""
    home.say("before")
    record = home.say("staging")
    home.say("after")
    (lines,) = home.bent.contents.values()
    raw = lines[1].raw if isinstance(lines[1], Line) else lines[1]
    bent = {
        "middle": raw.replace(b'"staging"', b'"staging'),
        "cut": raw[: raw.index(b'"digest"')] + b"\n",
        "zeros": b"\0" * 9 + raw[9:],
    }
    lines[1] = bent[damage]
    for ref in (f"message:{record.id}", f"brief:{record.id}"):
        with pytest.raises(Unavailable) as caught:
            home.reader.get(ref)
        assert caught.value.details["reason"] == "damaged"
    with pytest.raises(UnknownSource):
        home.reader.get("message:msg_000000000000000")


def test_messages(home: SearchHome) -> None:
    """The exact text, and where it belongs."""
    record = home.say("  Staging?\r\n", author="Olivia", session="s1", workspace="k1")
    memory = home.reader.get(f"message:{record.id}")
    assert memory.content == "  Staging?\r\n"
    assert (memory.kind, memory.title, memory.updated_at) == ("message", "Olivia", record.ts)
    assert memory.metadata["session"] == "s1"
    assert memory.metadata["workspace_id"] == "k1"
    assert memory.metadata["role"] == "user"


def test_a_ref_of_another_kind_is_unknown(home: SearchHome) -> None:
    """The kind is part of the address."""
    record = home.say("staging")
    with pytest.raises(UnknownSource):
        home.reader.get(f"brief:{record.id}")


def test_acknowledgements_are_not_shown(home: SearchHome) -> None:
    """R11: an ack is no outcome, but its ref, which a receipt printed, is answered by `unavailable`."""
    ack = home.bent.append({"kind": "brief", "brief_kind": "ack", "text": "on it"})
    result = home.bent.append({"kind": "brief", "brief_kind": "result", "text": "done"})
    with pytest.raises(Unavailable):
        home.reader.get(f"brief:{ack.id}")
    assert content(home, f"brief:{result.id}") == "done"


def test_tools(home: SearchHome) -> None:
    """Command and outputs by their parts; what a tool's output is not, is empty."""
    record = home.bent.append(
        {"kind": "tool_execution", "tool": "shell", "input": {"command": "ls -l", "cwd": "/srv"},
         "output": {"stdout": "a\nb\n", "stderr": "oops\n"}, "status": "error", "exit_code": 1}
    )  # fmt: skip
    ref = f"tool_execution:{record.id}"
    assert content(home, f"{ref}:cmd") == 'ls -l\n{"cwd": "/srv"}'
    assert content(home, f"{ref}:stdout") == "a\nb\n"
    assert content(home, f"{ref}:stderr") == "oops\n"
    assert content(home, f"{ref}:output") == "a\nb\noops\n"
    assert home.reader.get(f"{ref}:cmd").metadata["status"] == "error"
    plain = home.bent.append({"kind": "tool_execution", "tool": "web", "input": "q", "output": "text"})
    assert content(home, f"tool_execution:{plain.id}:cmd") == "q"
    assert content(home, f"tool_execution:{plain.id}:output") == "text"
    assert content(home, f"tool_execution:{plain.id}:stdout") == "text"
    assert content(home, f"tool_execution:{plain.id}:stderr") == ""
    assert content(home, plain.id) == "q"


@pytest.mark.parametrize(
    ("given_", "output"),
    [
        (["ls", "pwd"], ["a", "/srv"]),
        ({"items": [{"command": "ls"}, {"command": "pwd"}]}, {"results": ["a", {"stdout": "/srv"}]}),
        ({"commands": ["ls", "pwd"]}, {"outputs": ["a", "/srv"]}),
    ],
)
def test_batches(home: SearchHome, given_: object, output: object) -> None:
    """One call of a batch has an address of its own, and so has the batch."""
    record = home.bent.append({"kind": "tool_execution", "tool": "many", "input": given_, "output": output})
    ref = f"tool_execution:{record.id}"
    assert content(home, f"{ref}:batch_item:2:cmd") == "pwd"
    assert content(home, f"{ref}:batch_item:2:stdout") == "/srv"
    assert content(home, f"{ref}:batch_item:1:output") == "a"
    assert "pwd" in content(home, f"{ref}:output") or "/srv" in content(home, f"{ref}:output")
    with pytest.raises(UnknownSource):
        home.reader.get(f"{ref}:batch_item:3:cmd")


def test_objects_are_their_latest_snapshot(home: SearchHome) -> None:
    """A task is what it is now (R13); a snapshot's own id reads that snapshot."""
    first = home.bent.append(
        {"kind": "task", "task_id": "t1", "status": "running", "summary": "move staging"},
        revision=1, status="running", after=(),
    )  # fmt: skip
    home.bent.append(
        {"kind": "task", "task_id": "t1", "status": "completed", "summary": "moved", "detail": "took 12 min"},
        revision=2, status="completed", after=(first.id,),
    )  # fmt: skip
    memory = home.reader.get("task:t1")
    assert "took 12 min" in memory.content
    assert memory.content.startswith("status: completed")
    assert memory.metadata["status"] == "completed"
    assert memory.metadata["revision"] == 2
    assert content(home, "t1") == memory.content
    assert content(home, f"task:{first.id}").startswith("status: running")


def test_replies_are_bounded(home: SearchHome) -> None:
    """Only `content` may be long, and that as long as was asked for: titles and metadata are beginnings."""
    turn = "turn_0000000000000cc"
    long = "long é " * 2000
    work = {"kind": "work_item", "action": "create", "work_item_id": "x2", "objective": long}
    home.bent.append(work, revision=1, status="open", after=(), turn=turn)
    ran = {"kind": "tool_execution", "tool": "shell", "input": "ls", "summary": long}
    tool = home.bent.append(ran, turn=turn)
    for number in range(600):
        home.say(f"message {number}", turn=turn, source_refs=["message:x"] * 900)
    home.bent.append({"kind": "session", "event": "title", "title": long, "session": "s1"})
    for ref in ("work_item:x2", f"tool_execution:{tool.id}:cmd", f"turn:{turn}", "session:s1"):
        memory = home.reader.get(ref, max_chars=10)
        assert len(memory.content) == min(10, memory.total_chars)
        assert len(json.dumps(to_json(memory))) < 20_000, ref
    assert home.reader.get("work_item:x2").title.endswith("…")


def test_diverged_objects_name_the_others(home: SearchHome) -> None:
    """Two snapshots that do not know one another: the terminal one counts, the other is named."""
    place = {"revision": 1, "after": ()}
    done = {"kind": "task", "task_id": "t1", "status": "completed", "summary": "done"}
    runs = {"kind": "task", "task_id": "t1", "status": "running", "summary": "runs"}
    home.bent.append(done, status="completed", **place)
    other = home.bent.append(runs, status="running", **place)
    memory = home.reader.get("task:t1")
    assert "done" in memory.content
    assert memory.metadata["diverged"] == [other.id]


def test_turns_read_as_conversations(home: SearchHome) -> None:
    """A turn is shown as a person reads it, with the refs of its records."""
    turn = "turn_0000000000000cc"
    asked = home.say("Which port?", turn=turn)
    tool = {"kind": "tool_execution", "tool": "shell", "input": {"command": "ss -l"}, "output": "22\n2222\n"}
    home.bent.append(tool, turn=turn)
    home.say("2222", role="assistant", turn=turn)
    home.say("another turn")
    memory = home.reader.get(f"turn:{turn}")
    assert memory.content == "user: Which port?\n\n$ shell: ss -l\n22\n2222\n\nassistant: 2222"
    assert asked.source_ref in memory.metadata["records"]
    assert content(home, turn) == memory.content


def test_sessions_list_their_turns(home: SearchHome) -> None:
    """A session is its title and its turns, each with how it began."""
    home.bent.append({"kind": "session", "event": "title", "title": "Ports", "session": "s1", "model": "m1"})
    home.say("Which port\ndoes staging use?", session="s1", turn="turn_0000000000000cc")
    home.say("other", session="s2")
    memory = home.reader.get("session:s1")
    assert memory.title == "Ports"
    assert "turn:turn_0000000000000cc  Which port does staging use?" in memory.content
    assert "other" not in memory.content
    assert memory.metadata["model"] == "m1"
    assert content(home, "s1") == memory.content


def test_decisions_and_other_records(home: SearchHome) -> None:
    """What has a text is its text; anything else is its fields."""
    decision = home.bent.append({"kind": "decision", "text": "Use a machine of its own", "because": "load"})
    assert content(home, f"decision:{decision.id}") == "Use a machine of its own\n\nBecause: load"
    changed = home.bent.append({"kind": "file", "path": "notes/a.md"})
    assert '"path": "notes/a.md"' in content(home, f"file:{changed.id}")


def test_authored_files(home: SearchHome) -> None:
    """Stores, prose, entries, notes, episodes and files, byte for byte as they are on disk."""
    home.write(
        {
            "memory/MEMORY.md": "Staging listens on 2222\n§\nBackups at 3\n",
            "memory/self.md": "\ufeffI am aria.\r\n",
            "notes/staging.md": "---\nid: n-0001\ntags: [ops]\n---\n# Staging\n\nport 2222\n",
            "episodes/2026-03/04-move-9e70.md": "---\nid: ep_1\n---\n# Moved\n",
        }
    )
    assert content(home, "agent_memory:memory") == "Staging listens on 2222\n§\nBackups at 3\n"
    assert content(home, "agent_memory:self") == "I am aria.\r\n"
    note = home.reader.get("note:n-0001")
    assert note.content.startswith("---\nid: n-0001")
    assert (note.title, note.metadata["path"], note.metadata["tags"]) == (
        "Staging",
        "notes/staging.md",
        ["ops"],
    )
    assert content(home, "n-0001") == note.content
    assert content(home, "notes/staging.md") == note.content
    assert content(home, "episode:ep_1").endswith("# Moved\n")
    assert content(home, f"file:{file_id('notes/staging.md')}") == note.content
    home.catch_up()
    (entry,) = home.search("backups").results
    assert content(home, entry.source_ref) == "Backups at 3"
    assert home.reader.get(entry.source_ref).metadata == {"path": "memory/MEMORY.md", "line": 3}


def test_a_deleted_file_is_not_found(home: SearchHome) -> None:
    """What an editor removed is gone for `get` at once (R15)."""
    home.write({"memory/operator.md": "orders"})
    assert content(home, "agent_memory:operator") == "orders"
    (home.root / "memory/operator.md").unlink()
    with pytest.raises(UnknownSource):
        home.reader.get("agent_memory:operator")


def test_a_linked_file_is_not_read(home: SearchHome, tmp_path: Path) -> None:
    """A memory file that is a link may lead out of the home (OPEN-AGENT-10)."""
    (tmp_path / "secret").write_text("secret")
    (home.root / "memory").mkdir()
    (home.root / "memory/self.md").symlink_to(tmp_path / "secret")
    with pytest.raises(Unavailable, match="link"):
        home.reader.get("agent_memory:self")


def test_forgotten_records_are_unavailable(home: SearchHome) -> None:
    """A redacted ref answers so, and never with a text."""
    record = home.say("secret", turn="turn_0000000000000cc")
    home.say("other", turn="turn_0000000000000cc")
    home.redact(record)
    with pytest.raises(Unavailable) as caught:
        home.reader.get(f"message:{record.id}")
    assert caught.value.code == "memory_source_unavailable"
    assert caught.value.details["reason"] == "redacted"
    assert "secret" not in content(home, "turn:turn_0000000000000cc")
    assert f"{record.id} was forgotten" in content(home, "turn:turn_0000000000000cc")


def test_short_forms(home: SearchHome) -> None:
    """The beginning of an id is enough if it is the only one."""
    home.say("one", record_id="msg_0123456789abcde")
    home.say("two", record_id="msg_0123999999abcde")
    assert content(home, "msg_0123456789abcde") == "one"
    assert content(home, "msg_01234") == "one"
    with pytest.raises(AmbiguousMatch) as caught:
        home.reader.get("msg_0123")
    assert caught.value.details["matches"] == ["message:msg_0123456789abcde", "message:msg_0123999999abcde"]


def test_spooled_records_are_read(home: SearchHome) -> None:
    """What is acknowledged resolves before it is on a line."""
    event = parse_event(
        {"kind": "message", "role": "user", "text": "staging", "session": "s1"}, now=1796029200.0
    )
    home.bent.spool = [
        SpooledTurn("turn_0000000000000cc", {}, (event,), (), "completed", event.ts, Path("x"))
    ]
    assert content(home, f"message:{event.id}") == "staging"
    assert content(home, "turn:turn_0000000000000cc") == "user: staging"
    assert "turn:turn_0000000000000cc" in content(home, "session:s1")
