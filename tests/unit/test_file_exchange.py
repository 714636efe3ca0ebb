"""Renames that leave what an editor saved: put where nothing is, and an exchange of names."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem import file_exchange, work_tree
from gitmem.errors import HeadMoved
from gitmem.file_exchange import exchange, held_still, move_new
from gitmem.work_tree import ReplacedFile, replaced_file


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    """An open folder with two files."""
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    descriptor = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


def test_names_are_exchanged(folder: int, tmp_path: Path) -> None:
    """Both files are there at each moment, and afterwards each under the other's name."""
    assert exchange(folder, "a", "b")
    assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("b", "a")
    with pytest.raises(FileNotFoundError):
        exchange(folder, "a", "c")


def test_a_new_name_takes_nothing(folder: int, tmp_path: Path) -> None:
    """What stands at the target stays."""
    with pytest.raises(FileExistsError):
        move_new(folder, "a", "b")
    assert (tmp_path / "b").read_text() == "b"
    assert move_new(folder, "a", "c")
    assert (tmp_path / "c").read_text() == "a"


def grant(_: int) -> None:
    """Give nothing to anybody."""


@pytest.mark.parametrize("save", ["renamed over", "written in place", "removed", "made a link"])
def test_what_an_editor_saved_meanwhile_stays(tmp_path: Path, save: str) -> None:
    """The last look and the move are two steps; a save in between is put back, and told."""
    path = tmp_path / "memory" / "M.md"
    path.parent.mkdir()
    path.write_text("old")
    seen = path.lstat()
    with replaced_file(tmp_path, "memory/M.md", b"ours", mode=None, token="t", grant=grant) as file:
        if save == "renamed over":
            beside = path.with_name("new")
            beside.write_text("theirs")
            beside.replace(path)
        elif save == "written in place":
            path.write_text("theirs")
        else:
            path.unlink()
            if save == "made a link":
                path.symlink_to("theirs")
        with pytest.raises(HeadMoved):
            file.place(seen)
    assert path.is_symlink() is (save == "made a link")
    if save != "removed":
        assert (str(path.readlink()) if path.is_symlink() else path.read_text()) == "theirs"
    assert [one.name for one in path.parent.iterdir()] == ([] if save == "removed" else ["M.md"])


def test_a_file_that_came_meanwhile_stays(tmp_path: Path) -> None:
    """Where none was seen, none is replaced."""
    path = tmp_path / "M.md"
    with replaced_file(tmp_path, "M.md", b"ours", mode=None, token="t", grant=grant) as file:
        path.write_text("theirs")
        with pytest.raises(HeadMoved):
            file.place(None)
    assert path.read_text() == "theirs"


def test_the_file_that_was_seen_is_replaced(tmp_path: Path) -> None:
    """Nothing is left beside it."""
    path = tmp_path / "M.md"
    path.write_text("old")
    with replaced_file(tmp_path, "M.md", b"ours", mode=None, token="t", grant=grant) as file:
        placed = file.place(path.lstat())
    assert placed is not None
    assert placed.st_ino == path.stat().st_ino
    assert path.read_text() == "ours"
    assert [one.name for one in tmp_path.iterdir()] == ["M.md"]


def test_a_save_into_the_displaced_file_stands(tmp_path: Path) -> None:
    """Some editors open a file first and fill it later; by then it may have been displaced."""
    path = tmp_path / "M.md"
    path.write_text("old")
    replaced = replaced_file(tmp_path, "M.md", b"ours", mode=None, token="t", grant=grant)
    with replaced as file, path.open("r+") as editor:
        file.place(path.lstat())
        assert path.read_text() == "ours"
        editor.truncate(0)
        editor.write("theirs")
    assert path.read_text() == "theirs"
    assert [one.name for one in tmp_path.iterdir()] == ["M.md"]


def test_a_later_save_over_our_text_outlives_one_into_the_displaced_file(tmp_path: Path) -> None:
    """A program that kept the file open saved in it unseen; the editor that saved last is who is right."""
    path = tmp_path / "M.md"
    path.write_text("old")
    replaced = replaced_file(tmp_path, "M.md", b"ours", mode=None, token="t", grant=grant)
    with replaced as file, path.open("r+") as program:
        placed = file.place(path.lstat())
        assert placed is not None
        program.truncate(0)
        program.write("first")
        program.flush()
        os.utime(program.fileno(), ns=(0, placed.st_mtime_ns + 1))
        path.write_text("second")
        os.utime(path, ns=(0, placed.st_mtime_ns + 2))
    assert path.read_text() == "second"
    assert [one.name for one in tmp_path.iterdir()] == ["M.md"]


def test_an_open_editor_is_waited_for(tmp_path: Path) -> None:
    """A file that somebody has open for writing is about to change; for a moment that is waited for."""
    path = tmp_path / "M.md"
    path.write_text("old")
    replaced = replaced_file(tmp_path, "M.md", b"ours", mode=None, token="t", grant=grant)
    editor = path.open("r+")
    timer = threading.Timer(0.01, lambda: (editor.truncate(0), editor.write("theirs"), editor.close()))
    with replaced as file:
        seen = path.lstat()
        timer.start()
        with pytest.raises(HeadMoved):
            file.place(seen)
    timer.join()
    assert path.read_text() == "theirs"


def test_a_file_that_stays_open_is_not_waited_for_long(tmp_path: Path) -> None:
    """Some programs keep what they write open all day."""
    path = tmp_path / "M.md"
    path.write_text("old")
    with path.open("r+"), replaced_file(tmp_path, "M.md", b"ours", mode=None, token="t", grant=grant) as file:
        file.place(path.lstat())
    assert path.read_text() == "ours"


def test_whoever_opens_a_file_meanwhile_ends_nobody(tmp_path: Path, folder: int) -> None:
    """The system announces them by a signal that is not deadly; they wait no longer than a moment."""
    opened = threading.Thread(target=lambda: (tmp_path / "a").write_text("theirs"))
    with held_still(folder, "a", wait=0.05):
        opened.start()
        opened.join(0.02)
    opened.join(5.0)
    assert (tmp_path / "a").read_text() == "theirs"


def test_a_second_save_in_the_same_moment_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one save is put back an editor saves again: its last one is what stays."""
    path = tmp_path / "M.md"
    path.write_text("old")
    seen = path.lstat()
    real = work_tree.exchange
    rounds = []

    def twice(folder: int, one: str, other: str) -> bool:
        # Saved just before our text takes the place, then over our text before that is taken back.
        beside = tmp_path / "beside"
        beside.write_text("second save" if rounds else "first save")
        beside.replace(path)
        rounds.append(one)
        return real(folder, one, other)

    monkeypatch.setattr(work_tree, "exchange", twice)
    replaced = replaced_file(tmp_path, "M.md", b"ours", mode=None, token="t", grant=grant)
    with replaced as file, pytest.raises(HeadMoved):
        file.place(seen)
    assert len(rounds) == 2
    assert path.read_text() == "second save"
    assert [one.name for one in tmp_path.iterdir()] == ["M.md"]


def test_a_save_that_is_there_already_never_leaves_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else an editor that opens the file then reads our text, and saves over what was not committed."""
    path = tmp_path / "M.md"
    path.write_text("old")
    seen = path.lstat()
    path.write_text("a save")
    exchanged: list[str] = []
    monkeypatch.setattr(work_tree, "exchange", lambda _folder, one, _other: exchanged.append(one))
    replaced = replaced_file(tmp_path, "M.md", b"ours", mode=None, token="t", grant=grant)
    with replaced as file, pytest.raises(HeadMoved):
        file.place(seen)
    assert exchanged == []
    assert path.read_text() == "a save"


def test_an_editor_that_waits_for_its_file_gets_it_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has found the old file by its name; the next one to read that name must find its save there."""
    path = tmp_path / "M.md"
    path.write_text("old")
    real = work_tree.exchange
    editor = threading.Thread(target=lambda: path.write_text("a save"))

    def late(folder: int, one: str, other: str) -> bool:
        if editor.ident is None:
            editor.start()
            editor.join(0.1)
            assert editor.is_alive()  # it waits
        return real(folder, one, other)

    monkeypatch.setattr(work_tree, "exchange", late)
    with replaced_file(tmp_path, "M.md", b"ours", mode=None, token="t", grant=grant) as file:
        with pytest.raises(HeadMoved):
            file.place(path.lstat())
        editor.join(5.0)
        assert path.read_text() == "a save"
    assert path.read_text() == "a save"


def test_where_there_is_no_exchange_a_rename_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old systems and odd file systems are written as before."""
    monkeypatch.setattr(file_exchange, "_find_call", lambda: None)
    path = tmp_path / "M.md"
    path.write_text("old")
    with replaced_file(tmp_path, "M.md", b"ours", mode=None, token="t", grant=grant) as file:
        assert isinstance(file, ReplacedFile)
        assert file.place(path.lstat()) is not None
    assert path.read_text() == "ours"
