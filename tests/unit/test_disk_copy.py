"""The ledger's copy on disk: follows every turn, gives way to people, is never followed out of the home."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fixtures import commit_all, git
from turns import Desk, make_desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home's turn path, with a turn of which a copy is on disk."""
    desk = make_desk(tmp_path / "home")
    desk.say("one")
    return desk


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was removed just now."""
    monkeypatch.setattr("gitmem.disk_copy._SETTLED_AFTER", -1.0)


def copy_of(desk: Desk) -> Path:
    """Return the file of the current segment."""
    (path,) = desk.ledger.segments()
    return desk.layout.root / path


def check(desk: Desk, path: Path | None = None) -> None:
    """Assert that the copy is the ledger."""
    (segment,) = desk.ledger.segments().values()
    assert (path or copy_of(desk)).read_bytes() == desk.ledger.read_segment(segment)


def warnings_of(desk: Desk, text: str = "more") -> list[str]:
    """Record a turn that must be committed; return its warnings."""
    receipt = desk.recorder.record([{"kind": "message", "role": "user", "text": text}])
    assert receipt.committed
    return list(receipt.warnings)


def test_each_turn_is_appended(desk: Desk) -> None:
    """Whoever follows the file sees the turn's lines and nothing twice."""
    before = copy_of(desk)
    inode = before.stat().st_ino
    for text in ("two", "three"):
        assert warnings_of(desk, text) == []
        check(desk)
    assert copy_of(desk).stat().st_ino == inode


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("how", ["gone", "folder gone", "torn", "empty", "older"])
def test_what_is_missing_is_restored(desk: Desk, how: str) -> None:
    """`git clean -fdx`, a checkout, a power cut: nothing of it is anybody's work."""
    path = copy_of(desk)
    whole = path.read_bytes()
    if how == "gone":
        path.unlink()
    elif how == "folder gone":
        git("clean", "-fdxq", cwd=desk.layout.root)
    else:
        path.write_bytes({"torn": whole[:-20], "empty": b"", "older": whole.split(b"\n")[0] + b"\n"}[how])
    assert warnings_of(desk) == []
    check(desk)
    assert not desk.layout.set_aside.exists()


@pytest.mark.parametrize("folder", [".", "ledger", "ledger/2026-03/02"])
def test_what_is_being_removed_is_not_brought_back_at_once(desk: Desk, folder: str) -> None:
    """`git clean` fails where a file comes back into a folder that it empties; the copy waits a moment."""
    path = copy_of(desk)
    git("clean", "-fdxq", folder, cwd=desk.layout.root)
    (desk.layout.root / folder).mkdir(parents=True, exist_ok=True)
    assert warnings_of(desk) == []
    assert not path.exists()
    for parent in path.parents[:4]:
        if parent.exists():
            os.utime(parent, (1, 1))
    assert warnings_of(desk) == []
    check(desk)


@pytest.mark.parametrize("how", ["added", "edited", "replaced", "same length", "link", "folder", "pipe"])
def test_foreign_bytes_are_set_aside(desk: Desk, how: str, tmp_path: Path) -> None:
    """An edit here changes no record; it is kept, said, and the file restored."""
    path = copy_of(desk)
    whole = path.read_bytes()
    if how in ("link", "folder", "pipe"):
        path.unlink()
        (tmp_path / "theirs").write_text("theirs")
        make = {
            "link": lambda: path.symlink_to(tmp_path / "theirs"),
            "folder": path.mkdir,
            "pipe": lambda: os.mkfifo(path),
        }
        make[how]()
    else:
        path.write_bytes(
            {
                "added": whole + b"mine\n",
                "edited": whole.replace(b"one", b"ONE and more"),
                "replaced": b"mine",
                "same length": whole.replace(b"one", b"ONE"),
            }[how]
        )
    (warning,) = warnings_of(desk)
    assert "set aside" in warning
    check(desk)
    (kept,) = desk.layout.set_aside.iterdir()
    if how == "link":
        assert kept.is_symlink()
        assert (tmp_path / "theirs").read_text() == "theirs"
    elif how not in ("folder", "pipe"):
        assert b"mine" in kept.read_bytes() or b"ONE" in kept.read_bytes()
    assert warnings_of(desk) == []


def test_two_foreign_texts_of_one_second_are_both_kept(desk: Desk) -> None:
    """Setting aside never overwrites."""
    for text in (b"first", b"second"):
        copy_of(desk).write_bytes(text)
        warnings_of(desk)
    assert {path.read_bytes() for path in desk.layout.set_aside.iterdir()} == {b"first", b"second"}


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_link_in_a_folders_place_is_left_and_not_followed(desk: Desk, depth: int, tmp_path: Path) -> None:
    """What it leads to is not the home's."""
    path = copy_of(desk)
    folder = path.parents[3 - depth]
    elsewhere = tmp_path / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    before = {found: found.read_bytes() for found in elsewhere.rglob("*") if found.is_file()}
    warnings_of(desk)
    assert {found: found.read_bytes() for found in elsewhere.rglob("*") if found.is_file()} == before
    assert folder.is_symlink()
    folder.unlink()
    warnings_of(desk)
    check(desk)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_file_in_a_folders_place_is_set_aside(desk: Desk, depth: int) -> None:
    """The turn is committed either way."""
    folder = copy_of(desk).parents[3 - depth]
    git("clean", "-fdxq", cwd=desk.layout.root)
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("mine")
    warnings_of(desk)
    check(desk)
    assert [path.read_text() for path in desk.layout.set_aside.iterdir()] == ["mine"]


@pytest.mark.usefixtures("unhurried")
def test_a_ledger_that_a_person_tracks_is_left_alone(desk: Desk) -> None:
    """HEAD's tree has one: then the files are theirs, and git's to check out."""
    root = desk.layout.root
    path = copy_of(desk)
    before = path.read_bytes()
    git("add", "-f", "ledger", cwd=root)
    commit_all(root, "track the ledger")
    warnings_of(desk)
    assert path.read_bytes() == before
    assert git("status", "--porcelain", cwd=root) == ""
    git("rm", "-rq", "--cached", "ledger", cwd=root)
    git("commit", "-qm", "no more", cwd=root)
    warnings_of(desk)
    check(desk)


@pytest.mark.usefixtures("unhurried")
def test_a_copy_that_cannot_be_written_is_a_warning(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk for the copy is no full disk for Git."""
    path = copy_of(desk)
    path.unlink()

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("gitmem.disk_copy.write_file", fail)
        (warning,) = warnings_of(desk, "two")
    assert "No space" in warning
    assert warnings_of(desk, "three") == []
    check(desk)
    assert desk.texts() == ["one", "two", "three"]


def test_a_second_process_goes_on_with_the_copy(desk: Desk) -> None:
    """It reads once what the first one left, and then appends."""
    other = Desk(desk.layout.root, desk.recorder.now)
    inode = copy_of(desk).stat().st_ino
    assert warnings_of(other, "two") == []
    assert warnings_of(desk, "three") == []
    check(desk)
    assert copy_of(desk).stat().st_ino == inode
