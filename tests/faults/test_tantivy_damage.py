"""What can go wrong where tantivy itself reads and writes."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from index_engines import NO_TANTIVY, TANTIVY, filled

from contract.search_index_contract import commit, document, names
from gitmem.manifest import EMPTY
from gitmem.search_index import COLUMNS, IndexChange, IndexDamaged, Indexed

scratch = pytest.importorskip("gitmem.backends.tantivy_index.scratch", reason=NO_TANTIVY)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of an index that holds two documents in two parts."""
    return filled(TANTIVY, tmp_path / "derived" / "index")


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file grow beyond a size, as a full disk or a quota does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_fails_tantivy_is_no_damage(folder: Path) -> None:
    """Tantivy tells of it in a text, or not at all; the last commit stays, and the error is the system's."""
    index = TANTIVY.open(folder)
    text = " ".join(os.urandom(12).hex() for _ in range(4000))
    with index.writing() as writer:
        assert writer is not None
        with largest_file(8192), pytest.raises(OSError, match=r".") as raised:
            writer.commit(IndexChange(EMPTY, add=[document("m3", text)]))
        assert raised.value.errno in (errno.EFBIG, errno.EIO)
        snapshot = writer.snapshot()
        assert names(snapshot, "port") == ["m1", "m2"]
        writer.commit(IndexChange(EMPTY, add=[document("m4")]))
    assert names(TANTIVY.open(folder).snapshot(), "port") == ["m1", "m2", "m4"]  # type: ignore[arg-type]
    assert not list(folder.glob("*.scratch"))


def test_a_disk_that_takes_no_copy_is_read_by_way_of_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, or one that is only read, must not take the search away."""
    make = Path.mkdir

    def full(path: Path, *arguments: object, **options: object) -> None:
        if path.suffix == ".scratch":
            raise OSError(errno.ENOSPC, "No space left on device")
        make(path, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "mkdir", full)
    snapshot = TANTIVY.open(folder).snapshot()
    assert snapshot is not None
    assert names(snapshot, "port") == ["m1", "m2"]


def test_a_limit_on_files_costs_no_index(folder: Path) -> None:
    """Whoever may not write a copy of a part cannot read it; the index is everybody's, and stays."""
    with largest_file(100):
        with pytest.raises(OSError, match=r"too large"):
            TANTIVY.open(folder).snapshot()
        with pytest.raises(OSError, match=r"too large"), TANTIVY.open(folder).writing():
            pass
    snapshot = TANTIVY.open(folder).snapshot()
    assert snapshot is not None
    assert names(snapshot, "port") == ["m1", "m2"]


def test_what_a_kill_left_goes_and_what_is_in_use_stays(folder: Path) -> None:
    """A reader copies a part while a writer tidies up; a killed one's copy is nobody's."""
    left = folder / "0123.scratch"
    left.mkdir()
    (left / "meta.json").write_text("{}")
    with scratch.scratch_folder(folder) as used:
        (used / "columns").write_bytes(b"x")
        scratch.remove_abandoned(folder)
        assert not left.exists()
        assert (used / "columns").exists()
    assert not used.exists()


@pytest.mark.slow
def test_reading_and_writing_at_once(folder: Path) -> None:
    """Parts go while they are being opened; a reader then reads the next commit and never fails."""
    wrong: list[object] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            try:
                snapshot = TANTIVY.open(folder).snapshot()
                assert snapshot is not None
                found = names(snapshot, "port")
                assert {"m1", "m2"} <= set(found)
            except (IndexDamaged, AssertionError) as error:
                wrong.append(error)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    index = TANTIVY.open(folder)
    for number in range(25):
        commit(index, IndexChange(EMPTY, add=[document(f"n{number}")]))
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_discard_under_a_reader_is_no_damage(folder: Path) -> None:
    """Whoever discards an index renames it away; a reader in the middle of it finds none, or the next one."""
    wrong: list[object] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            try:
                TANTIVY.open(folder).snapshot()
            except IndexDamaged as error:
                wrong.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    index = TANTIVY.open(folder)
    for number in range(15):
        with index.writing() as writer:
            assert writer is not None
            writer.discard()
            writer.commit(IndexChange(EMPTY, add=[document(f"n{number}")]))
    done.set()
    thread.join()
    assert wrong == []


def test_a_part_without_a_column_is_read_as_zeros(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an older gitmem indexed is found until it is made anew, though a column has come since (S15)."""
    columns = tuple(name for name in COLUMNS if name != "workspace")
    values = Indexed.column_values
    at = COLUMNS.index("workspace")
    with monkeypatch.context() as patch:
        patch.setattr("gitmem.backends.tantivy_index.tantivy_writer.COLUMNS", columns)
        patch.setattr(Indexed, "column_values", lambda item: values(item)[:at] + values(item)[at + 1 :])
        commit(TANTIVY.open(folder), IndexChange(EMPTY, add=[document("m3", workspace="k", session="s")]))
    snapshot = TANTIVY.open(folder).snapshot()
    assert snapshot is not None
    assert names(snapshot, "port") == ["m1", "m2", "m3"]
    assert list(snapshot.parts[-1].column("workspace")) == [0]
    assert snapshot.parts[-1].column("session")[0] > 0


def test_a_copy_of_the_whole_folder_is_the_same_index(folder: Path) -> None:
    """Nothing in it leans on where it lies."""
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    assert names(TANTIVY.open(copy).snapshot(), "port") == ["m1", "m2"]  # type: ignore[arg-type]
