"""Other lines: of linked work trees, clones, copies, other homes, hostile ones; receipts come with them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fixtures import CounterClock, commit_all, fsck, git, run_git
from turns import Desk, again, check_chains, lines_of, make_desk, put_on_line

REF = "refs/remotes/origin/gitmem/turns/w0000000a"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home's turn path."""
    return make_desk(tmp_path / "home")


def test_linked_work_trees_write_side_by_side(desk: Desk, tmp_path: Path) -> None:
    """Each has its own line and sees the other's turns at once; their next turns hold both."""
    root = desk.layout.root
    commit_all(root, files={"a.md": "a\n"})
    git("worktree", "add", "-q", "--detach", str(tmp_path / "second"), cwd=root)
    second = Desk(tmp_path / "second", desk.recorder.now)
    for number in range(3):
        desk.say(f"first {number}")
        second.say(f"second {number}")
    assert desk.own_ref() != second.own_ref()
    assert desk.texts() == second.texts() == [f"{who} {n}" for n in range(3) for who in ("first", "second")]
    parents = git("rev-list", "--parents", "-1", second.own_ref(), cwd=root).split()
    assert len(parents) == 3
    desk.say("first 3")
    merged = git("ls-tree", "-r", "--name-only", desk.own_ref(), cwd=root).split("\n")
    assert len(merged) == 2
    assert check_chains(desk.ledger).keys() == {
        ref.rpartition("/")[2] for ref in (desk.own_ref(), second.own_ref())
    }
    on_disk = sorted(p.relative_to(root).as_posix() for p in root.glob("ledger/*/*/*.jsonl"))
    assert on_disk == merged
    fsck(root)


def test_a_plain_clone_reads_and_goes_on(desk: Desk, tmp_path: Path) -> None:
    """Its lines are remote-tracking ones; it writes on one of its own that holds them."""
    root = desk.layout.root
    commit_all(root, files={"a.md": "a\n"})
    desk.say("one")
    git("clone", "-q", str(root), str(tmp_path / "clone"), cwd=tmp_path)
    clone = Desk(tmp_path / "clone", CounterClock(start=1_700_000_000))
    assert clone.texts() == ["one"]
    clone.say("two")
    clone.say("three")
    assert clone.texts() == ["one", "two", "three"]  # its clock is behind, and was put above the other's
    assert len(git("ls-tree", "-r", "--name-only", clone.own_ref(), cwd=clone.layout.root).split("\n")) == 2
    desk.say("four")
    git("fetch", "-q", "origin", cwd=clone.layout.root)
    git("gc", "-q", cwd=clone.layout.root)
    clone.say("five")
    assert clone.texts() == ["one", "two", "three", "four", "five"]
    objects = git("cat-file", "--batch-all-objects", "--batch-check", cwd=clone.layout.root)
    assert objects.count("blob") < 10
    check_chains(clone.ledger)


def test_a_line_of_another_home_is_not_read(desk: Desk) -> None:
    """Somebody fetched from the wrong place."""
    desk.say("one")
    put_on_line(
        desk.layout.root,
        "refs/remotes/other/gitmem/turns/w0000000a",
        {"ledger/2026-03/02/w0000000a-0001.jsonl": b"".join(line.raw for line in lines_of(["evil"]))},
        home_id="hffffffffffffffff",
    )
    desk.say("two")
    other = again(desk)
    other.say("three")
    assert other.texts() == ["one", "two", "three"]
    assert dict(other.ledger.lines.foreign()) == {
        "refs/remotes/other/gitmem/turns/w0000000a": "hffffffffffffffff"
    }
    assert len(git("ls-tree", "-r", "--name-only", desk.own_ref(), cwd=desk.layout.root).split("\n")) == 1


def test_a_copied_folder_is_a_fork_that_is_read_whole(desk: Desk, tmp_path: Path) -> None:
    """Two histories of one writer are both valid; each copy goes on from its own end."""
    root = desk.layout.root
    desk.say("before")
    desk.settle()
    shutil.copytree(root, tmp_path / "copy")
    copy = Desk(tmp_path / "copy", CounterClock(start=1_772_450_000))
    for number in range(3):
        copy.say(f"copy {number}")
    desk.say("here 0")
    git("remote", "add", "copy", str(tmp_path / "copy"), cwd=root)
    git("fetch", "-q", "copy", "refs/heads/*:refs/remotes/copy/*", cwd=root)
    assert sorted(desk.texts()) == ["before", "copy 0", "copy 1", "copy 2", "here 0"]
    for number, someone in enumerate((desk, again(desk), again(desk)), 1):
        someone.say(f"here {number}")
    texts = again(desk).texts()
    assert sorted(texts) == ["before", *(f"copy {n}" for n in range(3)), *(f"here {n}" for n in range(4))]
    assert [text for text in texts if text.startswith("here")] == [f"here {n}" for n in range(4)]
    for segment in desk.ledger.segments().values():
        numbers = [line.seq for line in desk.ledger.segment_lines(segment)]
        assert numbers == sorted(numbers)
    copy.say("copy 3")
    git("fetch", "-q", "copy", "refs/heads/*:refs/remotes/copy/*", cwd=root)
    desk.say("here 4")
    assert len(again(desk).texts()) == 10
    fsck(root)


def test_a_copy_that_is_ahead_in_segments_is_not_overwritten(desk: Desk, tmp_path: Path) -> None:
    """Both copies count their segments on; a number that came from the other is not taken again."""
    root = desk.layout.root
    desk.say("before")
    shutil.copytree(root, tmp_path / "copy")
    copy = Desk(tmp_path / "copy", desk.recorder.now)
    for number in range(12):
        copy.say(f"copy {number} {'x' * 15_000}")
    git("fetch", "-q", str(tmp_path / "copy"), "refs/heads/*:refs/remotes/copy/*", cwd=root)
    for number in range(6):
        desk.say(f"here {number} {'y' * 15_000}")
    assert len(again(desk).texts()) == 19
    merged = git("ls-tree", "-r", "--name-only", desk.own_ref(), cwd=root).split("\n")
    texts = "".join(git("show", f"{desk.own_ref()}:{path}", cwd=root) for path in merged)
    assert [
        texts.count(f'"{who} {n} ') for who, many in (("copy", 12), ("here", 6)) for n in range(many)
    ] == [1] * 18


@pytest.mark.parametrize(
    "path",
    [
        "ledger/../.git/hooks/post-checkout",
        "ledger/x/y",
        "ledger/2026-03",
        "README.md",
        "ledger/2026-03/02/evil.sh",
        "ledger/forgotten/x",
    ],
)
def test_what_a_line_must_not_hold_is_not_taken(desk: Desk, path: str) -> None:
    """A tree may come from anywhere; no name in it leads out of the ledger or into a file's place."""
    root = desk.layout.root
    desk.say("one")
    ref = "refs/remotes/origin/gitmem/turns/w0000000a"
    _put_raw(root, ref, path, b"#!/bin/sh\n")
    desk.say("two")
    again(desk).say("three")
    assert desk.texts() == ["one", "two", "three"]
    assert len(git("ls-tree", "-r", "--name-only", desk.own_ref(), cwd=root).split("\n")) == 1
    assert not (root / ".git" / "hooks" / "post-checkout").exists()
    assert not (root / "README.md").exists()


@pytest.mark.parametrize("mode", ["120000", "160000"])
def test_links_and_submodules_of_a_line_are_not_taken(desk: Desk, mode: str) -> None:
    """They name what is elsewhere, or nowhere."""
    root = desk.layout.root
    desk.say("one")
    ref = "refs/remotes/origin/gitmem/turns/w0000000a"
    _put_raw(root, ref, "ledger/2026-03/02/w0000000a-0001.jsonl", b"/etc/passwd", mode=mode)
    desk.say("two")
    assert desk.texts() == ["one", "two"]
    assert "0000000a" not in git("ls-tree", "-r", "--name-only", desk.own_ref(), cwd=root)


def test_a_line_with_missing_objects_is_left_out_and_named(desk: Desk) -> None:
    """One bad line costs only itself; it is merged once it is whole."""
    root = desk.layout.root
    desk.say("one")
    ref = "refs/remotes/origin/gitmem/turns/w0000000a"
    segment = "ledger/2026-03/02/w0000000a-0001.jsonl"
    put_on_line(root, ref, {segment: b"".join(line.raw for line in lines_of(["theirs"]))})
    day = git("rev-parse", f"{ref}:ledger/2026-03/02", cwd=root)
    hidden = root / ".git" / "objects" / day[:2] / day[2:]
    kept = hidden.read_bytes()
    hidden.unlink()
    receipt = desk.recorder.record([{"kind": "message", "role": "user", "text": "two"}])
    assert receipt.committed
    assert any("cannot be read" in warning for warning in receipt.warnings)
    other = again(desk)
    assert other.texts() == ["one", "two"]
    assert other.ledger.damaged()
    hidden.write_bytes(kept)
    third = again(desk)
    third.say("three")
    assert sorted(third.texts()) == ["one", "theirs", "three", "two"]
    assert "0000000a" in git("ls-tree", "-r", "--name-only", desk.own_ref(), cwd=root)


@pytest.mark.parametrize("what", ["missing", "blob", "tag"])
def test_a_ref_that_is_no_line_is_left_out(desk: Desk, what: str) -> None:
    """Whatever a remote calls a turn line."""
    root = desk.layout.root
    commit_all(root, files={"a.md": "a\n"})
    ref = "refs/remotes/origin/gitmem/turns/w0000000a"
    path = root / ".git" / ref
    path.parent.mkdir(parents=True)
    if what == "missing":
        path.write_text("1" * 40 + "\n")
    else:
        git("tag", "-a", "-m", "x", "t", cwd=root)
        git(
            "update-ref",
            ref,
            git("rev-parse", "HEAD:a.md" if what == "blob" else "t", cwd=root),
            cwd=root,
        )
    desk.say("one")
    assert again(desk).texts() == ["one"]
    assert list(again(desk).ledger.lines.tips()) == [desk.own_ref()]


def test_the_last_clock_of_a_hostile_line_does_not_stop_writing(desk: Desk) -> None:
    """Clocks repeat then, and seq orders."""
    ref = "refs/remotes/origin/gitmem/turns/w0000000a"
    segment = "ledger/2026-03/02/w0000000a-0001.jsonl"
    late = lines_of(["theirs"], clock=253_402_300_799.0)
    put_on_line(desk.layout.root, ref, {segment: b"".join(line.raw for line in late)})
    desk.say("one")
    desk.say("two")
    assert again(desk).texts()[-2:] == ["one", "two"]
    lines = [line for line in desk.ledger.lines_newest_first() if line.writer != "w0000000a"]
    assert [line.seq for line in lines] == [4, 3, 2, 1]


def test_a_receipt_closes_what_stands_here(desk: Desk) -> None:
    """A record's text goes from every tree written after it and from the disk; the chain stays."""
    root = desk.layout.root
    long = "計" * 9_000
    desk.say("keep")
    desk.recorder.record([{"kind": "message", "role": "user", "text": f"forget {long}"}])
    gone = next(record for record in desk.records() if "forget" in str(record.body.get("text")))
    put_on_line(root, REF, {_receipt(gone.id): b'{"at":"x"}\n'})
    assert again(desk).texts() == ["keep"]
    assert [record.redacted for record in again(desk).records() if record.id == gone.id] == [True]
    desk.say("after")
    tree = git("ls-tree", "-r", "--name-only", desk.own_ref(), cwd=root).split("\n")
    texts = "".join(git("show", f"{desk.own_ref()}:{path}", cwd=root) for path in tree)
    assert "forget" not in texts.replace("forgotten", "")
    assert not any("blobs" in path for path in tree)
    assert not [p for p in root.glob("ledger/blobs/**/*") if p.is_file()]
    assert not any("forget 計" in p.read_text("utf-8") for p in root.glob("ledger/*/*/*.jsonl"))
    assert (root / _receipt(gone.id)).is_file()
    again(desk).say("later")
    check_chains(desk.ledger)


def test_a_receipt_closes_what_comes_later(desk: Desk) -> None:
    """The record travels by another way and arrives after its receipt."""
    root = desk.layout.root
    first, second = lines_of(["gone", "stays"])
    desk.say("one")
    put_on_line(root, REF, {_receipt(first.id): b'{"at":"x"}\n'})
    desk.say("two")
    segment = "ledger/2026-03/02/w0000000a-0001.jsonl"
    blob = f"ledger/blobs/2026-03/02/{first.id}"
    other = "refs/remotes/other/gitmem/turns/w0000000a"
    put_on_line(root, other, {segment: first.raw + second.raw, blob: b"gone"})
    desk.say("three")
    texts = git("show", f"{desk.own_ref()}:{segment}", cwd=root)
    assert "gone" not in texts
    assert "stays" in texts
    assert git("ls-tree", "-r", desk.own_ref(), "--", "ledger/blobs", cwd=root) == ""
    assert (root / segment).read_text("utf-8") == texts + "\n"
    assert not (root / blob).exists()
    assert sorted(again(desk).texts()) == ["one", "stays", "three", "two"]


def test_a_spooled_event_that_is_forgotten_is_not_sealed(desk: Desk) -> None:
    """An import must not bring back what was forgotten."""
    desk.say("one")
    turn = desk.recorder.open()
    turn.message("user", "gone")
    event_id = turn.findings.records[0]["id"]
    put_on_line(desk.layout.root, REF, {_receipt(event_id): b"{}\n"})
    turn.message("user", "stays")
    turn.finish("completed")
    assert [refused["code"] for refused in turn.receipt.refused] == ["forgotten"]
    assert desk.texts() == ["one", "stays"]


def test_receipts_of_two_lines_are_one_set(desk: Desk) -> None:
    """Who forgot, when and why: all of it is kept."""
    root = desk.layout.root
    desk.say("one")
    record = next(desk.records())
    put_on_line(root, REF, {_receipt(record.id): b'{"by":"b"}\n'})
    put_on_line(root, "refs/remotes/o/gitmem/turns/w0000000b", {_receipt(record.id): b'{"by":"a"}\n'})
    desk.say("two")
    assert git("show", f"{desk.own_ref()}:{_receipt(record.id)}", cwd=root) == '{"by":"a"}\n{"by":"b"}'
    assert desk.ledger.receipts().records == {record.id}


def _put_raw(root: Path, ref: str, path: str, content: bytes, *, mode: str = "100644") -> None:
    """Commit one file under a path that git's own staging area would refuse."""
    blob = git("hash-object", "-w", "--stdin", cwd=root, stdin=content)
    kind, oid = ("commit", "2" * 40) if mode == "160000" else ("blob", blob)
    *folders, name = path.split("/")
    entry = f"{mode} {kind} {oid}\t{name}"
    for folder in reversed(folders):
        tree = run_git("mktree", "--missing", cwd=root, stdin=entry + "\n").stdout.decode().strip()
        entry = f"040000 tree {tree}\t{folder}"
    tree = run_git("mktree", "--missing", cwd=root, stdin=entry + "\n").stdout.decode().strip()
    assert tree
    message = "turn 1: 1 message\n\nGitmem-Kind: turn\nGitmem-Home: h0123456789abcde\n"
    git("update-ref", ref, git("commit-tree", tree, cwd=root, stdin=message), cwd=root)


def _receipt(record_id: str) -> str:
    return f"ledger/forgotten/record/{record_id.partition('_')[2][:2]}/{record_id}.jsonl"
