"""Files made by linking: exclusive, whole from the first moment, made anyhow where there are no links."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from gitmem.linked_file import LinkedFile


def test_each_is_a_link_to_the_one_that_is_kept(tmp_path: Path) -> None:
    """Only the first one costs a file."""
    kept = LinkedFile(tmp_path / "deep" / "mark", lambda: b"gitmem")
    for name in ("a", "b"):
        kept.make(tmp_path / name)
        assert (tmp_path / name).read_bytes() == b"gitmem"
    assert (tmp_path / "a").stat().st_ino == (tmp_path / "b").stat().st_ino
    assert LinkedFile(tmp_path / "deep" / "mark", lambda: b"gitmem").make(tmp_path / "c") is None
    assert (tmp_path / "c").stat().st_nlink == 4


def test_what_is_there_is_never_replaced(tmp_path: Path) -> None:
    """It is how a lock is taken."""
    kept = LinkedFile(tmp_path / "mark", lambda: b"x")
    (tmp_path / "a").write_bytes(b"theirs")
    for _ in range(2):
        with pytest.raises(FileExistsError):
            kept.make(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"theirs"


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    """Git takes empty folders away at any moment; the caller makes it again."""
    kept = LinkedFile(tmp_path / "mark", lambda: b"x")
    with pytest.raises(FileNotFoundError):
        kept.make(tmp_path / "no" / "a")
    (tmp_path / "no").mkdir()
    kept.make(tmp_path / "no" / "a")


@pytest.mark.parametrize("how", ["gone", "other content", "torn"])
def test_a_kept_file_that_changed_is_made_anew(tmp_path: Path, how: str) -> None:
    """Another process keeps its own there, a person cleaned up, a power cut emptied it."""
    source = tmp_path / "keep"
    mine, theirs = (LinkedFile(source, lambda content=content: content) for content in (b"mine", b"theirs"))
    mine.make(tmp_path / "1")
    if how == "gone":
        source.unlink()
    elif how == "torn":
        source.unlink()
        source.write_bytes(b"")
        mine = LinkedFile(source, lambda: b"mine")
    else:
        theirs.make(tmp_path / "2")
        assert (tmp_path / "2").read_bytes() == b"theirs"
    mine.make(tmp_path / "3")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "3").read_bytes() == b"mine"


def test_a_forked_process_has_its_own_content(tmp_path: Path) -> None:
    """The number of a process is not its parent's."""
    content = [b"parent"]
    kept = LinkedFile(tmp_path / "keep", lambda: content[0])
    kept.make(tmp_path / "1")
    content[0] = b"child"
    kept.make(tmp_path / "2")
    assert (tmp_path / "2").read_bytes() == b"child"


def test_a_file_that_must_look_new_is_renewed(tmp_path: Path) -> None:
    """An old `.keep` counts as left behind."""
    kept = LinkedFile(tmp_path / "keep", lambda: b"x", fresh_for=0.0)
    kept.make(tmp_path / "1")
    os.utime(tmp_path / "keep", (1, 1))
    kept.make(tmp_path / "2")
    assert (tmp_path / "2").stat().st_mtime > 1


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP, errno.EXDEV, errno.EMLINK])
def test_file_systems_without_links_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """Then each is a file of its own, as exclusive as a link."""

    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", refuse)
    kept = LinkedFile(tmp_path / "mark", lambda: b"x")
    for name in ("a", "b"):
        kept.make(tmp_path / name)
        assert (tmp_path / name).read_bytes() == b"x"
    with pytest.raises(FileExistsError):
        kept.make(tmp_path / "a")


def test_leftovers_of_a_kill_are_removed(tmp_path: Path) -> None:
    """Once they are old."""
    old, new = tmp_path / "mark.00000000.part", tmp_path / "mark.11111111.part"
    for path in (old, new):
        path.write_bytes(b"")
    os.utime(old, (1, 1))
    LinkedFile(tmp_path / "mark", lambda: b"x").make(tmp_path / "a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "mark", new.name]


def test_a_full_disk_leaves_no_half_made_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock without its mark would be nobody's, and nobody would remove it."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    kept = LinkedFile(tmp_path / "deep" / "mark", lambda: b"x")
    monkeypatch.setattr("gitmem.linked_file.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        kept.make(tmp_path / "lock")
    monkeypatch.setattr(kept, "_renew", lambda: None)
    with pytest.raises(OSError, match="No space"):
        kept.make(tmp_path / "lock")
    assert [path.name for path in tmp_path.rglob("*")] == ["deep"]
