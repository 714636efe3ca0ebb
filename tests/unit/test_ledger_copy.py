"""The copy of the ledger comes back, long texts too, whatever a person takes away."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from gitmem.disk_copy import DiskCopy
from gitmem.ledger_copy import LedgerCopy
from turns import Desk, make_desk, put_on_line


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home with a short and two long messages in two turns."""
    desk = make_desk(tmp_path / "home")
    desk.say("short")
    desk.say("long " * 10_000)
    desk.say("longer " * 10_000)
    return desk


def copy_of(desk: Desk) -> LedgerCopy:
    """Return what keeps the copy whole, as a new process has it."""
    return LedgerCopy(desk.ledger, DiskCopy(desk.repository, desk.layout, desk.ledger.receipts), desk.layout)


def files(desk: Desk) -> Mapping[str, bytes]:
    """Return every file of the copy with its content."""
    root = desk.layout.root
    return {str(f.relative_to(root)): f.read_bytes() for f in (root / "ledger").rglob("*") if f.is_file()}


@pytest.mark.parametrize("gone", ["ledger", "ledger/blobs", "one"])
def test_what_was_taken_away_comes_back(desk: Desk, gone: str) -> None:
    """`git clean -fdx` and `rm` cost the copy nothing that lasts."""
    whole = files(desk)
    long_texts = [path for path in whole if "/blobs/" in path]
    assert len(long_texts) == 2
    copy_of(desk).reconcile()
    if gone == "one":
        (desk.layout.root / long_texts[0]).unlink()
    else:
        shutil.rmtree(desk.layout.root / gone)
    copy_of(desk).reconcile()
    assert files(desk) == whole


def test_a_whole_copy_is_left_alone(desk: Desk) -> None:
    """A watcher looks again and again: nothing is read and written where nothing changed."""
    copy = copy_of(desk)
    copy.reconcile()
    before = {path: (desk.layout.root / path).stat().st_mtime_ns for path in files(desk)}
    (desk.layout.derived / "ledger-copy.json").unlink()
    copy.reconcile()
    assert not (desk.layout.derived / "ledger-copy.json").exists()
    assert {path: (desk.layout.root / path).stat().st_mtime_ns for path in files(desk)} == before


def test_a_link_in_the_place_of_the_long_texts_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    """A link is somebody's decision; nothing is written behind it."""
    shutil.rmtree(desk.layout.root / "ledger/blobs")
    (tmp_path / "elsewhere").mkdir()
    (desk.layout.root / "ledger/blobs").symlink_to(tmp_path / "elsewhere")
    copy_of(desk).reconcile()
    assert list((tmp_path / "elsewhere").iterdir()) == []


RECEIPT = "ledger/forgotten/record/29/msg_29c1b289e752219.jsonl"
WHY = b'{"at":"2026-11-30T10:02:11.000Z","by":"operator","reason":"asked by the user"}\n'


def test_receipts_come_back(desk: Desk) -> None:
    """Who looks at the copy sees what was forgotten, by whom and why; of two machines' receipts both."""
    other = WHY.replace(b"operator", b"another")
    put_on_line(desk.layout.root, "refs/remotes/origin/gitmem/turns/w0000000a", {RECEIPT: WHY})
    put_on_line(desk.layout.root, "refs/remotes/origin/gitmem/turns/w0000000b", {RECEIPT: other})
    copy_of(desk).reconcile()
    assert files(desk)[RECEIPT] == other + WHY
    for damage in (None, b"edited"):
        path = desk.layout.root / RECEIPT
        path.unlink() if damage is None else path.write_bytes(damage)
        assert copy_of(desk).reconcile() == ([] if damage is None else [RECEIPT])
        assert files(desk)[RECEIPT] == other + WHY


def test_a_name_that_is_no_receipts_leads_to_no_file(desk: Desk) -> None:
    """A line of another machine may hold anything below its folder of receipts."""
    hostile = {"ledger/forgotten/record/29/run.sh": b"x", "ledger/forgotten/a/b.jsonl": b"x"}
    put_on_line(desk.layout.root, "refs/remotes/origin/gitmem/turns/w0000000a", hostile)
    copy_of(desk).reconcile()
    assert not [path for path in files(desk) if "forgotten" in path]


def forget_all(desk: Desk) -> None:
    """Forget every message, by receipts that come in with another machine's line."""
    names = [r.id for r in desk.records() if r.kind == "message"]
    files = {f"ledger/forgotten/record/{name[4:6]}/{name}.jsonl": WHY for name in names}
    put_on_line(desk.layout.root, "refs/remotes/origin/gitmem/turns/w0000000a", files)


@pytest.mark.parametrize("leaves", ["a turn", "a watcher"])
@pytest.mark.parametrize("cut", [0, 1, 200, 420])
def test_the_own_copy_of_before_a_record_was_forgotten_is_not_kept(
    tmp_path: Path, leaves: str, cut: int
) -> None:
    """What was forgotten stayed in plain text among the foreign bytes; torn or whole, it was gitmem's."""
    desk = make_desk(tmp_path / "home")
    for text in ("velvetword one", "velvetword two"):
        desk.say(text)
    (path,) = (desk.layout.root / name for name in desk.ledger.segments())
    path.write_bytes(path.read_bytes()[: -cut or None])
    forget_all(desk)
    if leaves == "a turn":
        assert desk.recorder.record([{"kind": "message", "role": "user", "text": "on"}]).warnings == ()
    assert copy_of(desk).reconcile() == []
    assert b"velvetword" not in path.read_bytes()
    assert path.read_bytes().count(b'"redacted":true') == 2
    assert not desk.layout.set_aside.exists()


def test_foreign_bytes_are_kept_without_what_was_forgotten(desk: Desk) -> None:
    """Somebody's edit of the copy is kept, the forgotten text around it is not; nor is it in a torn line."""
    (path,) = (desk.layout.root / name for name in desk.ledger.segments())
    whole = path.read_bytes()
    own = next(line for line in whole.split(b"\n") if b"short" in line)
    path.write_bytes(
        b"mine\n" + whole + own.replace(b"short", b"shorter") + b"\n" + own[: own.find(b"short") + 5]
    )
    forget_all(desk)
    assert copy_of(desk).reconcile() == [str(path.relative_to(desk.layout.root))]
    (kept,) = desk.layout.set_aside.iterdir()
    assert kept.read_bytes().startswith(b"mine\n")
    assert b"short" not in kept.read_bytes()
    assert b"short" not in path.read_bytes()


def test_half_files_of_killed_processes_go(desk: Desk) -> None:
    """A kill between writing and moving leaves words that nobody would take out when they are forgotten."""
    copy_of(desk).reconcile()
    whole = files(desk)
    for path in list(whole):
        half = desk.layout.root / path
        half.with_name(f".{half.name}.0123456789ab.part").write_bytes(whole[path])
        half.unlink()
    copy_of(desk).reconcile()
    assert files(desk) == whole
