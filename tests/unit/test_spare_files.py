"""Spare files: taken by one process only, locked before they are seen, never with what they held before."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from gitmem.file_lock import try_lock
from gitmem.spare_files import SpareFiles

FLAGS = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC


@pytest.fixture
def spares(tmp_path: Path) -> SpareFiles:
    """Two spare files."""
    found = SpareFiles(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"secret")
        found.give(tmp_path / name)
    return found


def test_a_spare_file_is_empty_locked_and_used_once(spares: SpareFiles, tmp_path: Path) -> None:
    """What was told before is gone; nobody else can take the file for an abandoned one."""
    assert not any(b"secret" in path.read_bytes() for path in tmp_path.iterdir())
    inodes = {path.stat().st_ino for path in tmp_path.iterdir()}
    taken = [spares.take(name, FLAGS) for name in ("1.open", "2.open", "3.open")]
    assert taken[2] is None
    for descriptor, name in zip(taken, ("1.open", "2.open"), strict=False):
        assert descriptor is not None
        os.write(descriptor, b"x")
        assert (tmp_path / name).read_bytes() == b"x"
        assert (tmp_path / name).stat().st_ino in inodes
        with (tmp_path / name).open() as other:
            assert not try_lock(other.fileno())
        os.close(descriptor)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.open", "2.open"]


def test_a_name_that_is_taken_is_refused(spares: SpareFiles, tmp_path: Path) -> None:
    """One id is one turn."""
    (tmp_path / "1.open").write_bytes(b"theirs")
    with pytest.raises(FileExistsError):
        spares.take("1.open", FLAGS)
    assert (tmp_path / "1.open").read_bytes() == b"theirs"
    assert len([*tmp_path.iterdir()]) == 2


def test_a_file_whose_old_content_came_back_is_not_used(tmp_path: Path) -> None:
    """A power cut may take the emptying back and leave the name."""
    (tmp_path / "0.spare").write_bytes(b"old rows")
    assert SpareFiles(tmp_path).take("1.open", FLAGS) is None
    assert [*tmp_path.iterdir()] == []


def test_a_file_system_without_links_makes_new_files(
    spares: SpareFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The spare is let go of."""

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    assert spares.take("1.open", FLAGS) is None
    assert [path.suffix for path in tmp_path.iterdir()] == [".spare"]


def test_two_never_take_the_same(tmp_path: Path) -> None:
    """Processes and threads share the folder."""
    for number in range(200):
        (tmp_path / f"{number:012x}.spare").touch()
    taken: list[int] = []

    def take(worker: int) -> None:
        spares = SpareFiles(tmp_path)
        number = 0
        while (descriptor := spares.take(f"{worker}-{number}.open", FLAGS)) is not None:
            taken.append(os.fstat(descriptor).st_ino)
            os.close(descriptor)
            number += 1

    threads = [threading.Thread(target=take, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(taken)) == 200


def test_what_a_kill_left_is_removed_and_what_somebody_holds_is_not(
    spares: SpareFiles, tmp_path: Path
) -> None:
    """[real case] What a kill left between two names lay there for an hour; its lock tells of it."""
    claim = tmp_path / "0.claim"
    claim.touch()
    with claim.open() as file:
        assert try_lock(file.fileno())
        spares.clear()
        assert claim.exists()
    spares.clear()
    assert not claim.exists()


def test_clearing_beside_those_who_take_harms_nobody(spares: SpareFiles, tmp_path: Path) -> None:
    """Who is about to lock a file may find it gone, and does without; nobody gets one that another has."""
    stop = threading.Event()

    def clear() -> None:
        while not stop.is_set():
            SpareFiles(tmp_path).clear()

    cleaner = threading.Thread(target=clear)
    cleaner.start()
    try:
        for number in range(300):
            (tmp_path / f"{number}.spare").touch()
            descriptor = SpareFiles(tmp_path).take(f"turn{number}", os.O_RDWR)
            if descriptor is not None:
                assert os.fstat(descriptor).st_ino == (tmp_path / f"turn{number}").stat().st_ino
                os.close(descriptor)
    finally:
        stop.set()
        cleaner.join()
    spares.clear()
    assert not list(tmp_path.glob("*.claim"))
