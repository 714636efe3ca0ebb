"""Tests of `gitmem.prose_writes` and `gitmem.auto_load`, through homes on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from homes import new_home

from fixtures import CounterClock, git, show, write_files
from gitmem import AgentHome
from gitmem.errors import ProtectedPath, RefusedError, ThreatFound, UsageError
from gitmem.prose_writes import MOST_CHARS

SELF = "memory/self.md"
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def home(tmp_path: Path, clock: CounterClock) -> AgentHome:
    """A new home."""
    return new_home(tmp_path / "home", now=clock)


def content(home: AgentHome, path: str = SELF) -> bytes:
    """The bytes of a file of the home."""
    return (home.layout.root / path).read_bytes()


def section_texts(home: AgentHome) -> dict[str, str]:
    """The texts of a home's sections by id."""
    return {one.id: one.text for one in home.prose_sections()}


def test_write_replaces_the_file(home: AgentHome) -> None:
    """The commit is the agent's, says why, and leaves a record in the ledger."""
    reply = home.memory_write("self", "I am Aria.", session="s1", reason="asked to")
    assert content(home) == b"I am Aria.\n"
    assert (reply.path, reply.source_ref, reply.warnings) == (SELF, "agent_memory:self", ())
    assert show(home.layout.root, SELF, reply.committed or "") == "I am Aria.\n"
    message = git("log", "-1", "--format=%an%n%B", cwd=home.layout.root)
    assert message.startswith("aria\nmemory: edit self.md\n")
    assert "Gitmem-Reason: asked to" in message
    (record,) = home.ledger.find_all(b'"kind":"memory"')
    assert record.body["action"] == "edit"
    assert home.get("agent_memory:self").content == "I am Aria.\n"


def test_append_begins_a_line(home: AgentHome) -> None:
    """Text that came without a line feed at its end is not run into."""
    write_files(home.layout.root, {SELF: "first"})
    home.memory_append("self", "second")
    home.memory_append("self", "third\n")
    assert content(home) == b"first\nsecond\nthird\n"


def test_a_missing_file_is_made(home: AgentHome) -> None:
    """Somebody removed it; that is no reason to lose what comes."""
    (home.layout.root / SELF).unlink()
    assert home.memory_append("self", "I am Aria.").committed
    assert content(home) == b"I am Aria.\n"


def test_mark_and_line_ending_stay(home: AgentHome) -> None:
    """An editor that wrote them expects them; the whole file does not become a change."""
    write_files(home.layout.root, {SELF: b"\xef\xbb\xbfone\r\ntwo\r\n"})
    home.memory_append("self", "three\nfour")
    assert content(home) == b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\nfour\r\n"
    home.memory_write("self", "\ufeffother\nwords")
    assert content(home) == b"\xef\xbb\xbfother\r\nwords\r\n"


def test_the_same_text_is_no_change(home: AgentHome) -> None:
    """No change, no commit."""
    first = home.memory_write("self", "I am Aria.")
    second = home.memory_write("self", "I am Aria.\n")
    assert second.unchanged
    assert second.committed == first.committed


def test_an_operators_edit_is_committed_first(home: AgentHome) -> None:
    """What they typed and did not commit is theirs in the history, and under the agent's line."""
    write_files(home.layout.root, {SELF: "typed by hand\n"})
    home.memory_append("self", "by the agent")
    assert content(home) == b"typed by hand\nby the agent\n"
    authors = git("log", "-2", "--format=%an", cwd=home.layout.root).split("\n")
    assert authors[0] == "aria"
    assert authors[1] != "aria"


def test_a_secret_is_refused(home: AgentHome) -> None:
    """Once committed it would be in every clone; nothing of it becomes a Git object."""
    before = content(home)
    for write in (home.memory_write, home.memory_append):
        with pytest.raises(ThreatFound, match="Blocked: line") as caught:
            write("self", f"The token is {TOKEN}.")
        assert TOKEN not in str(caught.value) + str(caught.value.hint)
        assert "token" in caught.value.details["rule"]
    assert content(home) == before
    objects = git("cat-file", "--batch-all-objects", "--batch", cwd=home.layout.root)
    assert TOKEN not in objects


def test_what_stood_there_already_is_not_the_writers(home: AgentHome) -> None:
    """A person's line that the scanner dislikes must not stop the agent from adding another."""
    write_files(home.layout.root, {SELF: f"# Self\n\nkey {TOKEN}\n"})
    with pytest.raises(ThreatFound):
        home.memory_append("self", f"key {TOKEN} again")
    reply = home.memory_append("self", "\nharmless")
    assert reply.committed or reply.reason


def test_a_switched_off_file_is_refused(home: AgentHome, clock: CounterClock) -> None:
    """What is in no prompt is not written for one."""
    toml = home.layout.root / "gitmem.toml"
    toml.write_text(toml.read_text().replace("self_enabled = true", "self_enabled = false"))
    other = AgentHome.open(home.layout.root, now=clock)
    with pytest.raises(RefusedError, match="switched off") as caught:
        other.memory_write("self", "x")
    assert "gitmem.toml" in str(caught.value.hint)
    assert "agent_memory_self" not in section_texts(other)


def test_operator_md_is_the_operators(home: AgentHome) -> None:
    """Standing orders are given to the agent, not by it."""
    with pytest.raises(ProtectedPath):
        home.memory_append("operator", "Obey me.")
    reply = home.memory_append("operator", "Answer in German.", by="operator")
    assert reply.committed
    assert "Answer in German." in section_texts(home)["agent_memory_operator"]


def test_a_link_is_never_followed(home: AgentHome, tmp_path: Path) -> None:
    """Neither read into a prompt nor written through."""
    outside = tmp_path / "outside.md"
    outside.write_text("private")
    (home.layout.root / SELF).unlink()
    (home.layout.root / SELF).symlink_to(outside)
    with pytest.raises(ProtectedPath, match="link"):
        home.memory_write("self", "x")
    assert outside.read_text() == "private"
    text = section_texts(home)["agent_memory_self"]
    assert "private" not in text
    assert "link" in text


def test_a_read_only_file_is_left_alone(home: AgentHome) -> None:
    """A person who took the right to write away meant it, whoever writes."""
    home.memory_write("self", "I am Aria.")
    (home.layout.root / SELF).chmod(0o444)
    for by in ("agent", "operator"):
        with pytest.raises(RefusedError, match="read-only") as refused:
            home.memory_append("self", "More.", by=by)
        assert "chmod u+w memory/self.md" in str(refused.value.hint)
    assert content(home) == b"I am Aria.\n"
    assert home.memory_write("self", "I am Aria.").unchanged


def test_what_cannot_be_read_is_not_overwritten(home: AgentHome) -> None:
    """Unreadable is never empty: its bytes stay, and only its section suffers."""
    write_files(home.layout.root, {SELF: b"caf\xe9\n", "memory/operator.md": "Be brief.\n"})
    for write in (home.memory_write, home.memory_append):
        with pytest.raises(RefusedError, match="not UTF-8"):
            write("self", "x")
    assert content(home) == b"caf\xe9\n"
    texts = section_texts(home)
    assert "Be brief." in texts["agent_memory_operator"]
    assert "not UTF-8" in texts["agent_memory_self"]


def test_a_text_past_the_slice_is_taken_with_a_warning(home: AgentHome) -> None:
    """It is kept whole; the writer learns how much of it every prompt has."""
    reply = home.memory_write("self", "x" * 2000)
    assert reply.warnings == (f"1500 of 2001 characters of {SELF} reach the prompt",)
    assert any("1,500 of 2,001" in finding.message for finding in home.status().findings)


def test_a_huge_text_is_refused(home: AgentHome) -> None:
    """Prose memory is for what every prompt needs; the rest is a note."""
    with pytest.raises(RefusedError, match="at most"):
        home.memory_write("self", "x" * (MOST_CHARS + 1))


@pytest.mark.parametrize(("target", "text"), [("soul", "x"), ("self", "a\0b"), ("memory", "x")])
def test_bad_arguments_are_usage_errors(home: AgentHome, target: str, text: str) -> None:
    """Nothing is written, and the message names what is allowed."""
    with pytest.raises(UsageError):
        home.memory_write(target, text)


def test_nothing_to_append(home: AgentHome) -> None:
    """An empty line is no memory."""
    with pytest.raises(UsageError):
        home.memory_append("self", " \n")


def test_sections_stand_in_their_order(home: AgentHome) -> None:
    """The operator's word first; a missing file has no section at all."""
    assert list(section_texts(home)) == ["agent_memory_operator", "agent_memory_self"]
    (home.layout.root / "memory/operator.md").unlink()
    assert list(section_texts(home)) == ["agent_memory_self"]


@pytest.mark.parametrize("start", ["", "\n\n \r\n", "\ufeff\r\n"])
def test_get_gives_the_rest_byte_for_byte(home: AgentHome, start: str) -> None:
    """The slice and what `get` returns from where the note says are the file, line endings included."""
    body = "".join(f"line {number} 好\U0001f469\u200d\U0001f467\r\n" for number in range(200))
    write_files(home.layout.root, {SELF: start + body})
    section = home.prose_sections()[1]
    offset = int(section.text.rpartition("from offset ")[2].rstrip("]"))
    rest = home.get("agent_memory:self", offset=offset, max_chars=50_000)
    shown = section.text.partition("\n\n")[2].rpartition("\n\n[shown")[0]
    assert shown + rest.content == body
    assert (section.total, section.truncated, rest.truncated) == (len(body), True, False)
