"""What verification says of each kind of file in the tree of a turn line, and each thing done to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fixtures import git
from gitmem.verify_ledger import LedgerVerifier
from gitmem.writer import read_writer, write_writer
from turns import Desk, again, make_desk, put_on_line

OTHER = "refs/remotes/origin/gitmem/turns/w0000000a"

Files = dict[str, bytes | None]


@dataclass(frozen=True)
class Held:
    """What the tree of the own line holds."""

    segment: str
    content: bytes
    text: str

    def at(self, old: str, new: str) -> str:
        """Return the segment's path with a part of it changed."""
        assert old in self.segment
        return self.segment.replace(old, new)

    @property
    def of_another_writer(self) -> str:
        """The segment's path as another writer's."""
        return str(Path(self.segment).with_name("w00000000-0001.jsonl"))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home of four turns, one with a long text."""
    desk = make_desk(tmp_path / "home")
    for text in ("one", "two", "long " * 10_000, "four"):
        desk.say(text)
    desk.settle()
    return desk


def move_note(desk: Desk, commit: str) -> None:
    """Let the note of the own line's last commit name another one, as who can write there would."""
    state = read_writer(desk.layout.writer_file)
    assert state is not None
    write_writer(desk.layout.writer_file, replace(state, last=commit))


def held(desk: Desk) -> Held:
    """Return what the tree of the own line holds."""
    root = desk.layout.root
    names = git("ls-tree", "-r", "--name-only", desk.own_ref(), cwd=root).split()
    (segment,) = (name for name in names if name.endswith(".jsonl"))
    (text,) = (name for name in names if name.startswith("ledger/blobs/"))
    content = (root / segment).read_bytes()
    return Held(segment, content, text)


def _with_line(content: bytes, line: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join([*lines[:2], line, *lines[2:]])


#: What is done -> the files that a commit puts there, the rule and the path that have to be named.
DEEDS: Mapping[str, tuple[Callable[[Held], Files], str, Callable[[Held], str]]] = {
    "segment removed": (lambda h: {h.segment: None}, "chain", lambda h: h.segment),
    "segment emptied": (lambda h: {h.segment: b""}, "chain", lambda h: h.segment),
    "segment cut in a line": (lambda h: {h.segment: h.content[:-40]}, "bad_line", lambda h: h.segment),
    "segment with CRLF": (
        lambda h: {h.segment: h.content.replace(b"\n", b"\r\n")},
        "bad_line",
        lambda h: h.segment,
    ),
    "segment with a byte order mark": (
        lambda h: {h.segment: b"\xef\xbb\xbf" + h.content},
        "bad_line",
        lambda h: h.segment,
    ),
    "segment with NUL bytes": (
        lambda h: {h.segment: _with_line(h.content, b"\0" * 40 + b"\n")},
        "bad_line",
        lambda h: h.segment,
    ),
    "segment with an empty line": (
        lambda h: {h.segment: _with_line(h.content, b"\n")},
        "bad_line",
        lambda h: h.segment,
    ),
    "segment under another number, too": (
        lambda h: {h.at("-0001", "-0009"): h.content},
        "duplicate",
        lambda h: h.at("-0001", "-0009"),
    ),
    "segment under another writer": (
        lambda h: {h.of_another_writer: h.content},
        "inserted",
        lambda h: h.of_another_writer,
    ),
    "segment that is no day's": (
        lambda h: {f"ledger/2026-13/01/{Path(h.segment).name}": h.content},
        "foreign_file",
        lambda h: f"ledger/2026-13/01/{Path(h.segment).name}",
    ),
    "long text changed": (lambda h: {h.text: b"{}"}, "long_text", lambda h: h.segment),
    "long text removed": (lambda h: {h.text: None}, "long_text", lambda h: h.segment),
    "long text under another name": (
        lambda h: {f"{h.text}.bak": b"{}"},
        "foreign_file",
        lambda h: f"{h.text}.bak",
    ),
    "file in ledger/": (lambda h: {"ledger/a.txt": b"x"}, "foreign_file", lambda h: "ledger/a.txt"),
    "file beside ledger/": (lambda h: {"evil.txt": b"x"}, "foreign_file", lambda h: "evil.txt"),
    "folder beside ledger/": (lambda h: {"notes/evil.md": b"x"}, "foreign_file", lambda h: "notes"),
}
#: The segment's rule names the commit of the long text's record or none.
WITHOUT_COMMIT = ("long text changed", "long text removed")
#: The writer has no line to go on from.
NO_MORE_TURNS = ("segment emptied",)


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("is_marked", [False, True], ids=["from the beginning", "behind a mark"])
def test_what_is_done_to_a_file_is_named_with_its_path_and_commit(
    desk: Desk, deed: str, is_marked: bool
) -> None:
    """Each deed is found by a look at everything, and by one behind a mark before it, after later turns."""
    change, rule, where = DEEDS[deed]
    tree = held(desk)
    since = dict(again(desk).ledger.tips()) if is_marked else {}
    commit = put_on_line(desk.layout.root, desk.own_ref(), change(tree))
    move_note(desk, commit)
    if deed not in NO_MORE_TURNS:
        later = again(desk)
        later.say("later")
        later.settle()
    fresh = again(desk)
    found = LedgerVerifier(fresh.repository, fresh.ledger).look(since).findings
    told = [(one.rule, one.path, one.commit) for one in found]
    assert found
    if not is_marked:
        named = None if deed in WITHOUT_COMMIT else commit
        assert (rule, where(tree), named) in told
    else:
        assert commit in {one.commit for one in found}


@pytest.mark.parametrize("mode", ["100755", "120000"], ids=["a program", "a link"])
@pytest.mark.parametrize("what", ["segment", "text"])
def test_a_file_that_is_no_plain_one_is_named(desk: Desk, what: str, mode: str) -> None:
    """Neither a link nor a program is a file of the ledger, whatever its name."""
    path: str = getattr(held(desk), what)
    content = (desk.layout.root / path).read_bytes()
    commit = put_on_line(desk.layout.root, desk.own_ref(), {path: content}, mode=mode)
    move_note(desk, commit)
    fresh = again(desk)
    found = LedgerVerifier(fresh.repository, fresh.ledger).look({}).findings
    assert ("foreign_file", path, commit) in [(one.rule, one.path, one.commit) for one in found]


def test_many_lines_that_are_wrong_in_one_way_are_one_finding(desk: Desk) -> None:
    """A file whose line ends were converted has one fault, not one a line."""
    tree = held(desk)
    change = {tree.segment: tree.content.replace(b"\n", b"\r\n")}
    move_note(desk, put_on_line(desk.layout.root, desk.own_ref(), change))
    fresh = again(desk)
    (found,) = LedgerVerifier(fresh.repository, fresh.ledger).look({}).findings
    assert (found.rule, found.path, found.line) == ("bad_line", tree.segment, 1)
    count = tree.content.count(b"\n") - 1
    assert f"{count} more lines" in found.message


def test_another_line_that_is_whole_changes_nothing(desk: Desk) -> None:
    """Versions of one segment that several lines hold share their lines by right."""
    git("update-ref", OTHER, f"{desk.own_ref()}~1", cwd=desk.layout.root)
    fresh = again(desk)
    assert LedgerVerifier(fresh.repository, fresh.ledger).look({}).findings == ()
