"""Verifying turn lines: a whole one gives nothing, tampering is named with file, line and commit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fixtures import git
from gitmem.forgotten import receipt_path
from gitmem.ledger_format import Line, redact, split_segment
from gitmem.verify_finding import Finding
from gitmem.verify_ledger import LedgerVerifier
from gitmem.writer import read_writer, write_writer
from ledgers import join_lines, sealed, tampered
from turns import Desk, again, make_desk, put_on_line

TURNS = 6


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home of six turns, each of a message and the turn's own record."""
    desk = make_desk(tmp_path / "home")
    for number in range(TURNS):
        desk.say(f"word{number}")
    desk.settle()
    return desk


def findings(desk: Desk, since: dict[str, str] | None = None) -> list[Finding]:
    """Return what a fresh look finds."""
    fresh = again(desk)
    return list(LedgerVerifier(fresh.repository, fresh.ledger).look(since or {}).findings)


def segment(desk: Desk) -> tuple[str, list[Line]]:
    """Return the path of the only segment and its lines."""
    ((path, found),) = again(desk).ledger.segments().items()
    lines = [item for item in split_segment(desk.ledger.read_segment(found)) if isinstance(item, Line)]
    return path, lines


def tamper(desk: Desk, change: Callable[[list[Line]], list[Line]]) -> tuple[str, str, list[Line]]:
    """Commit a changed segment on the own line; return its path, the commit and the lines as they were."""
    path, lines = segment(desk)
    commit = put_on_line(desk.layout.root, desk.own_ref(), {path: join_lines(change(lines))})
    move_note(desk, commit)
    return path, commit, lines


def move_note(desk: Desk, commit: str) -> None:
    """Let the note of the own line's last commit name another one, as who can write there would."""
    state = read_writer(desk.layout.writer_file)
    assert state is not None
    write_writer(desk.layout.writer_file, replace(state, last=commit))


def test_a_whole_line_gives_nothing(desk: Desk) -> None:
    """No finding on a home that only gitmem wrote, and everything was read."""
    fresh = again(desk)
    look = LedgerVerifier(fresh.repository, fresh.ledger).look({})
    assert look.findings == ()
    assert (look.lines, look.commits) == (2 * TURNS, TURNS)


def forged(lines: list[Line], **place: object) -> Line:
    """Return a line that somebody sealed without a turn, in the place of the fifth one."""
    told = {"kind": "message", "role": "user", "text": "never said"}
    values = {"writer": lines[0].writer, "prev": lines[3].envelope_hash, "clock": lines[4].clock, **place}
    return sealed(told, seq=5, turn="turn_0000000000000ff", record_id="msg_0000000000000ff", **values)


CHANGES: dict[str, tuple[str, int, Callable[[list[Line]], list[Line]]]] = {
    "changed words": ("body", 5, lambda n: [*n[:4], tampered(n[4], b"word2", b"word9"), *n[5:]]),
    "removed": ("gap", 5, lambda n: n[:4] + n[5:]),
    "cut at the end": ("chain", 12, lambda n: n[:-2]),
    "reordered": ("reordered", 6, lambda n: [*n[:4], n[5], n[4], *n[6:]]),
    "twice": ("duplicate", 6, lambda n: [*n[:5], n[4], *n[5:]]),
    "redacted": ("illegal_redaction", 5, lambda n: [*n[:4], redact(n[4]), *n[5:]]),
    "replaced": ("broken", 6, lambda n: [*n[:4], forged(n), *n[5:]]),
    "inserted": ("inserted", 6, lambda n: [*n[:5], forged(n), *n[5:]]),
    "of nowhere": ("broken", 6, lambda n: [*n[:5], forged(n, prev="ab" * 32), *n[5:]]),
}


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("is_marked", [False, True], ids=["from the beginning", "behind a mark"])
def test_tampering_is_named_with_file_line_and_commit(desk: Desk, kind: str, is_marked: bool) -> None:
    """A changed, removed, inserted, redacted or reordered line is found however much came after it."""
    rule, number, change = CHANGES[kind]
    since = dict(again(desk).ledger.tips()) if is_marked else {}
    path, commit, _ = tamper(desk, change)
    later = again(desk)
    for text in ("later", "still later"):
        later.say(text)
    later.settle()
    told = findings(desk, since)
    if is_marked and kind not in ("inserted", "of nowhere", "twice"):
        lost = [one for one in told if one.rule == "lost"]
        assert {(one.path, one.commit) for one in lost} == {(path, commit)}
    if is_marked and kind == "cut at the end":
        return  # the commit that named the line lies behind the mark; what was lost since is named above
    found = [one for one in told if one.rule == rule]
    assert (path, number) in {(one.path, one.line) for one in found}
    assert {one.commit for one in found} == {commit}
    assert not any("word2" in one.message for one in found)


def test_a_forgotten_record_is_no_tampering(desk: Desk) -> None:
    """[F3] A stub with its receipt in the union is legal; words in a copy without it are told of."""
    _, lines = segment(desk)
    receipt = {receipt_path("record", lines[4].id): b"{}\n"}
    put_on_line(desk.layout.root, "refs/remotes/origin/gitmem/turns/w0000000a", receipt)
    assert [(one.rule, one.severity, one.line) for one in findings(desk)] == [("unredacted", "warning", 5)]
    tamper(desk, lambda n: [*n[:4], redact(n[4]), *n[5:]])
    assert findings(desk) == []


def test_a_commit_that_gitmem_did_not_make_is_named_before_a_turn_puts_the_line_back(desk: Desk) -> None:
    """[W1] A ref that somebody else moved is what the next turn rescues; until then `verify` says so."""
    path, lines = segment(desk)
    put_on_line(desk.layout.root, desk.own_ref(), {path: join_lines(lines[:4])})
    (found,) = findings(desk)
    assert (found.rule, found.path) == ("rewritten", desk.own_ref())


def test_a_line_that_was_rewritten_is_named(desk: Desk) -> None:
    """What was verified once has to be behind what stands now."""
    since = dict(again(desk).ledger.tips())
    ref = desk.own_ref()
    desk.layout.writer_file.unlink()
    git("update-ref", ref, f"{ref}~3", cwd=desk.layout.root)
    (found,) = findings(desk, since)
    assert (found.rule, found.path) == ("rewritten", ref)
    git("update-ref", "-d", ref, cwd=desk.layout.root)
    (found,) = findings(desk, since)
    assert (found.rule, found.commit) == ("rewritten", since[ref])


def test_two_branches_of_a_copied_folder_are_a_warning(desk: Desk) -> None:
    """[V2] A fork is legal where turns brought both of its branches."""
    root = desk.layout.root
    tip = again(desk).ledger.tips()[desk.own_ref()]
    desk.say("here")
    ours = again(desk).ledger.tips()[desk.own_ref()]
    git("update-ref", desk.own_ref(), tip, cwd=root)
    move_note(desk, tip)
    again(desk).say("in the copy")
    git("update-ref", f"refs/remotes/origin/{desk.own_ref().removeprefix('refs/heads/')}", ours, cwd=root)
    found = findings(desk)
    assert {(one.rule, one.severity) for one in found} == {("fork", "warning")}
    assert len(found) == 2


def test_a_file_that_is_none_of_the_ledgers(desk: Desk) -> None:
    """A turn line holds segments, long texts and receipts; a link or anything else is named."""
    files = {"ledger/2026-11/30/notes.txt": b"hello"}
    commit = put_on_line(desk.layout.root, desk.own_ref(), files)
    move_note(desk, commit)
    (found,) = findings(desk)
    assert (found.rule, found.path) == ("foreign_file", "ledger/2026-11/30/notes.txt")
    assert found.commit == commit


def test_a_long_text_is_held_against_its_record(desk: Desk) -> None:
    """The record names the digest of what was moved out of it."""
    desk.say("long " * 10_000)
    desk.settle()
    assert findings(desk) == []
    tree = git("ls-tree", "-r", "--name-only", desk.own_ref(), cwd=desk.layout.root)
    (path,) = [line for line in tree.splitlines() if line.startswith("ledger/blobs/")]
    move_note(desk, put_on_line(desk.layout.root, desk.own_ref(), {path: b"short"}))
    assert [one.rule for one in findings(desk)] == ["long_text"]


def test_bytes_that_are_no_line(desk: Desk) -> None:
    """A torn or foreign line costs only itself, and is named."""
    path, lines = segment(desk)
    content = join_lines([*lines[:4], b"nonsense", *lines[4:]])
    move_note(desk, put_on_line(desk.layout.root, desk.own_ref(), {path: content}))
    (found,) = findings(desk)
    assert (found.rule, found.path, found.line) == ("bad_line", path, 5)


LOSSES: dict[str, Callable[[list[Line]], list[Line]]] = {
    "in the middle": lambda n: n[:4] + n[5:],
    "at the end": lambda n: n[:-2],
    "replaced": lambda n: [*n[:4], forged(n), *n[5:]],
}


@pytest.mark.parametrize("kind", LOSSES)
def test_what_one_line_lost_is_found_where_another_line_still_has_it(desk: Desk, kind: str) -> None:
    """A look that trusts no mark finds it: readers take the union, so the other line hides the loss."""
    other = "refs/remotes/origin/gitmem/turns/w0000000a"
    git("update-ref", other, desk.own_ref(), cwd=desk.layout.root)
    path, commit, lines = tamper(desk, LOSSES[kind])
    kept = {line.envelope_hash for line in LOSSES[kind](lines)}
    gone = [line.seq for line in lines if line.envelope_hash not in kept]
    lost = [one for one in findings(desk) if one.rule == "lost"]
    assert [one.message for one in lost] == [
        f"line {seq} of {lines[0].writer} is gone or stands elsewhere" for seq in gone
    ]
    assert {(one.path, one.commit) for one in lost} == {(path, commit)}


def test_a_line_that_does_not_know_all_yet_lost_nothing(desk: Desk) -> None:
    """Another machine's line holds what was known there: the newest turns are missing by right."""
    git(
        "update-ref",
        "refs/remotes/origin/gitmem/turns/w0000000a",
        f"{desk.own_ref()}~2",
        cwd=desk.layout.root,
    )
    assert findings(desk) == []


@pytest.mark.parametrize("content", [b"other words", None], ids=["changed", "gone"])
def test_a_long_text_that_one_line_lost(desk: Desk, content: bytes | None) -> None:
    """The other line's text is what readers get; the loss is named all the same."""
    desk.say("long " * 40_000)
    root = desk.layout.root
    git("update-ref", "refs/remotes/origin/gitmem/turns/w0000000a", desk.own_ref(), cwd=root)
    (path,) = git("ls-tree", "-r", "--name-only", desk.own_ref(), "ledger/blobs/", cwd=root).split()
    commit = put_on_line(root, desk.own_ref(), {path: content})
    move_note(desk, commit)
    assert [(one.rule, one.path, one.commit) for one in findings(desk)] == [("lost", path, commit)]


def test_a_mode_that_changed_is_named_with_the_commit_that_changed_it(desk: Desk) -> None:
    """The file was there all along, as a plain one."""
    path, lines = segment(desk)
    root = desk.layout.root
    git("update-ref", "refs/remotes/origin/gitmem/turns/w0000000a", desk.own_ref(), cwd=root)
    commit = put_on_line(root, desk.own_ref(), {path: join_lines(lines)}, mode="100755")
    move_note(desk, commit)
    found = [one for one in findings(desk) if one.rule == "foreign_file"]
    assert [(one.path, one.commit) for one in found] == [(path, commit)]
