"""`gitmem memory` from outside: replies, exit codes, standard input, what a person reads."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from homes import new_home
from system.command_line import gitmem, gitmem_process

from fixtures import git, head, show, write_files
from gitmem import AgentHome

PATH = "memory/MEMORY.md"
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schemas" / "memory.json").read_text("utf-8"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A new home."""
    new_home(tmp_path / "home").close()
    return tmp_path / "home"


def test_a_change_is_one_commit_with_its_cause(home: Path) -> None:
    """The reply says what is true, the commit who and why, the turn line that it happened, at exit."""
    ran = gitmem_process(
        *("memory", "add", "--content", "Port 2222 — ünï", "--session", "s1"),
        *("--reason", "said so", "--as", "agent", "--json"),
        cwd=home,
    )
    assert ran.json["committed"] == head(home)
    assert "ünï" not in ran.err
    assert show(home, PATH) == "Port 2222 — ünï\n"
    assert git("log", "-1", "--format=%an|%s|%(trailers:key=Gitmem-Session,valueonly)", cwd=home) == (
        "aria|memory: + 1 entry (0 %)|s1\n"
    )
    lines = git("for-each-ref", "--format=%(subject)", "refs/heads/gitmem/turns", cwd=home)
    assert lines.endswith(": 1 memory change")
    assert git("status", "--porcelain", cwd=home) == ""


def test_every_refusal_is_a_valid_reply_with_exit_3(home: Path) -> None:
    """Programs read the reply on standard output, whatever was wrong with the call."""
    operations = json.dumps([{"action": "add", "content": text} for text in ("aa", "ab")])
    assert gitmem("memory", "batch", "--operations", "-", stdin=operations, cwd=home).code == 0
    refused = [
        ("remove", "--old-text", "x"),
        ("remove", "--old-text", "a"),
        ("remove",),
        ("remove", "--old-text", ""),
        ("replace", "--old-text", "aa", "--content", " "),
        ("replace", "--old-text", "aa", "--content", "ab"),
        ("add", "--content", "a\n§\nb"),
        ("add", "--content", "x" * 3000),
        ("add", "--content", "AKIAABCDEFGHIJKLMNOP"),
        ("batch", "--operations", "{"),
        ("batch", "--operations", '{"action": "add"}'),
        ("batch", "--operations", "[null]"),
        ("batch", "--operations", "[" * 100_000),
    ]
    for arguments in refused:
        ran = gitmem("memory", *arguments, "--json", cwd=home)
        assert ran.code == 3, arguments
        assert ran.json["success"] is False
        assert next(iter(ran.json)) == "success"
        jsonschema.validate(ran.json, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert show(home, PATH) == "aa\n§\nab\n"


def test_usage_errors_are_not_the_tools(home: Path) -> None:
    """A malformed option is the caller's, as in every command."""
    assert gitmem("memory", "add", "--content", "x", "--session", "a b", cwd=home).code == 2
    assert gitmem("memory", "add", "--content", "x", "--target", "soul", cwd=home).code == 2
    assert gitmem("memory", "add", "--content", "-", stdin=b"\xff", cwd=home).code == 2


def test_what_a_person_reads(home: Path) -> None:
    """Without --json: what was done, what was there before, and what else could be meant."""
    gitmem("memory", "add", "--content", "one\nof two lines", cwd=home)
    ran = gitmem("memory", "replace", "--old-text", "one", "--content", "1", cwd=home)
    told = "Entry replaced. 0% — 1/2,200 chars\nbefore: one\n  of two lines\ncommitted as "
    assert ran.out.startswith(told)
    ran = gitmem("memory", "remove", "--old-text", "2", cwd=home)
    assert (ran.code, ran.out) == (3, "- 1\n")
    assert ran.err.startswith("error: no entry holds old_text")
    ran = gitmem("memory", "show", cwd=home)
    assert ran.out.startswith("0% — 1/2,200 chars\nentry:")


def test_what_was_there_already_is_in_no_new_commit(home: Path) -> None:
    """[real case] A person took the commit of another store for that of an entry that was added twice."""
    gitmem("memory", "add", "--content", "one", cwd=home)
    gitmem("memory", "add", "--target", "user", "--content", "two", cwd=home)
    said = gitmem("memory", "add", "--content", "one", cwd=home).out
    assert "exists already" in said
    assert "unchanged  entry:" in said
    assert "committed" not in said


def test_a_store_that_is_off_is_said_to_be(home: Path) -> None:
    """[real case] `status` and `show` looked as if the switched-off store were in use."""
    gitmem("memory", "add", "--content", "one", cwd=home)
    toml = home / "gitmem.toml"
    for name in ("memory_enabled", "self_enabled"):
        toml.write_text(toml.read_text("utf-8").replace(f"{name} = true", f"{name} = false"), "utf-8")
    (home / "memory/self.md").unlink()
    assert "memory off · user 0 % · operator 4 % · self off" in gitmem("status", cwd=home).out
    rows = {row["id"]: row for row in gitmem("status", "--json", cwd=home).json["stores"]}
    assert rows["memory"]["off"] is True
    assert "off" not in rows["user"]
    shown = gitmem("memory", "show", cwd=home).out
    assert "switched off" in shown
    assert "one" in shown
    assert gitmem("memory", "show", "--json", cwd=home).json["enabled"] is False
    assert gitmem("memory", "show", "--target", "user", "--json", cwd=home).json["enabled"] is True


def test_a_waiting_change_says_why(home: Path) -> None:
    """Acknowledged but not committed: exit 0, null and the reason."""
    git("checkout", "-q", "--detach", cwd=home)
    ran = gitmem("memory", "add", "--content", "one", "--json", cwd=home)
    assert (ran.code, ran.json["committed"]) == (0, None)
    assert "detached" in ran.json["reason"]
    jsonschema.validate(ran.json, SCHEMA, cls=jsonschema.Draft202012Validator)


def test_unreadable(home: Path) -> None:
    """A file that cannot be read is refused by each command and shown by none."""
    write_files(home, {PATH: b"\xff\xff"})
    assert gitmem("memory", "add", "--content", "x", cwd=home).code == 3
    ran = gitmem("memory", "show", "--json", cwd=home)
    assert (ran.code, ran.json["error"]["code"]) == (3, "refused")
    assert (home / PATH).read_bytes() == b"\xff\xff"


def test_poison_is_for_operators(home: Path) -> None:
    """An agent that lists its memory gets a notice, the operator the text."""
    write_files(home, {PATH: "AKIAABCDEFGHIJKLMNOP\n"})
    assert "AKIA" not in gitmem("memory", "show", "--json", cwd=home).out
    assert "AKIA" in gitmem("memory", "show", "--as", "operator", cwd=home).out


def test_failures_are_counted_over_command_lines(home: Path) -> None:
    """A hook calls the program anew each time; the turn is the same one."""
    turn = gitmem("turn", "open", "--session", "s1", "--json", cwd=home).json["turn_id"]
    for number in range(5):
        cause = ("--turn", turn) if number % 2 else ("--session", "s1")
        ran = gitmem("memory", "remove", "--old-text", "absent", *cause, "--json", cwd=home)
        assert ran.json.get("done", False) is (number > 2)


def test_nothing_on_standard_input_empties_no_file(home: Path) -> None:
    """A job of cron, or a program that closes the input, asks for nothing."""
    write = ("memory", "write", "--target", "self")
    assert gitmem(*write, "--content", "I am.", cwd=home).code == 0
    for given in ((), ("--content", "-")):
        ran = gitmem(*write, *given, cwd=home)
        assert (ran.code, "--content ''" in ran.err) == (2, True)
        assert show(home, "memory/self.md") == "I am.\n"
    assert gitmem(*write, "--content", "", cwd=home).code == 0
    assert show(home, "memory/self.md") == ""


def test_a_missing_target_is_told_in_one_line(home: Path) -> None:
    """An error, a hint, and no column of choices."""
    ran = gitmem("memory", "write", "--content", "x", cwd=home)
    assert ran.err.splitlines()[0] == "error: missing option '--target'. Choose from: self, operator"
    ran = gitmem("memory", "append", "--target", "self", "--content", "x", "--session", "bad one", cwd=home)
    assert "hint: Use a plain identifier such as session-7, without spaces.\n" in ran.err


def test_a_secret_in_a_message_is_not_told_as_a_name(home: Path) -> None:
    """The hint fits the field."""
    ran = gitmem("commit", "-m", "the key is AKIAABCDEFGHIJKLMNOP", cwd=home)
    assert (ran.code, "hint: Say it in other words, without it.\n" in ran.err) == (3, True)


def test_a_secret_in_a_title_leaves_a_readable_note(home: Path) -> None:
    """What gitmem writes it can read."""
    key = "AKIAABCDEFGHIJKLMNOP"
    assert gitmem("note", "add", "--title", f"the key {key}", "--tag", key, cwd=home).code == 0
    (note,) = AgentHome.open(home).notes().notes
    assert (note.title, note.problems) == ("the key [redacted: aws-access-key-id]", ())
    assert key not in note.text


def test_what_a_person_reads_of_a_retraction(home: Path) -> None:
    """Retracted, lifted, removed: each is told as what it is."""
    assert gitmem("memory", "add", "--content", "Graz", cwd=home).code == 0
    (ref,) = (one.source_ref for one in AgentHome.open(home).entries("memory"))
    assert f"{ref}: retracted by memory:" in gitmem("retract", ref, cwd=home).out
    ran = gitmem("get", ref, "--json", cwd=home)
    record = ran.json["memory"]["metadata"]["retracted"]["source_ref"]
    assert gitmem("get", ref, cwd=home).out == "Graz\n"
    assert gitmem("retract", record, cwd=home).out.startswith(f"{record}: lifted, committed as ")
    ran = gitmem("get", ref, "--json", cwd=home)
    assert (ran.code, ran.json["error"]["code"]) == (4, "memory_source_unavailable")
    ran = gitmem("retract", "HEAD~1", cwd=home)
    assert (ran.code, "git revert" in ran.err) == (2, True)
