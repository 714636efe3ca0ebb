"""A damaged or locked index costs nothing but itself (OPEN-SEARCH-05, 06, 07), whatever keeps it."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from index_engines import ENGINES, Engine, cut, each_engine, filled

from contract.search_index_contract import commit, document, manifest, names
from gitmem.manifest import EMPTY
from gitmem.search_index import IndexChange, IndexDamaged, IndexRefused, live_count

pytestmark = each_engine


@pytest.fixture
def folder(tmp_path: Path, engine: Engine) -> Path:
    """The folder of an index that holds two documents in two parts."""
    return filled(engine, tmp_path / "derived" / "index")


DAMAGE: dict[str, Callable[[Engine, Path], object]] = {
    "commit of no length": lambda e, f: e.commit(f).write_bytes(b""),
    "half a commit": lambda e, f: cut(e.commit(f)),
    "commit of NUL bytes": lambda e, f: e.commit(f).write_bytes(b"\0" * e.commit(f).stat().st_size),
    "commit of text": lambda e, f: e.commit(f).write_bytes(b"<<<<<<< HEAD\n" * 40),
    "commit is a folder": lambda e, f: (e.commit(f).unlink(), (f / e.later).mkdir()),
    "part missing": lambda e, f: e.part(f).unlink(),
    "half a part": lambda e, f: cut(e.part(f)),
    "part of no length": lambda e, f: e.part(f).write_bytes(b""),
    "part of NUL bytes": lambda e, f: e.part(f).write_bytes(b"\0" * e.part(f).stat().st_size),
    "part with more at its end": lambda e, f: e.part(f).write_bytes(e.part(f).read_bytes() + b"x"),
    "part of another commit": lambda e, f: shutil.copy(max(f.glob(e.parts)), e.part(f)),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_has_one_name_and_is_thrown_away(engine: Engine, folder: Path, kind: str) -> None:
    """Libraries have a different exception for each kind of damage; readers get one, writers begin anew."""
    DAMAGE[kind](engine, folder)
    beside = folder.parent / "catalog.md"
    beside.write_text("kept")
    with pytest.raises(IndexDamaged):
        engine.open(folder).snapshot()
    index = engine.open(folder)
    with index.writing() as writer:
        assert writer is not None
        assert writer.snapshot().manifest == EMPTY
    snapshot = commit(index, IndexChange(EMPTY, add=[document("m3")]))
    assert names(snapshot, "port") == ["m3"]
    assert beside.read_text() == "kept"
    assert sorted(p.name for p in folder.parent.iterdir()) == ["catalog.md", "index", "index.lock"]


@pytest.mark.parametrize("number", [errno.EFBIG, errno.EIO, errno.ESTALE, errno.ENOSPC])
def test_a_failing_disk_is_no_damage(
    engine: Engine, folder: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A good index that a limit or a network file system keeps from being read is not thrown away."""
    before = sorted(path.name for path in folder.iterdir())

    def failing(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", failing)
        index = engine.open(folder)
        with pytest.raises(OSError, match=re.escape(os.strerror(number))), index.writing():
            pass
        with pytest.raises(OSError, match=re.escape(os.strerror(number))):
            index.snapshot()
    with monkeypatch.context() as patch:
        patch.setattr(os, "pread", failing)
        patch.setattr(os, "fdopen", failing)
        with pytest.raises(OSError, match=re.escape(os.strerror(number))), engine.open(folder).writing():
            pass
    assert sorted(path.name for path in folder.iterdir()) == before
    snapshot = engine.open(folder).snapshot()
    assert snapshot is not None
    assert names(snapshot, "port") == ["m1", "m2"]


@pytest.mark.parametrize("kind", ["empty folder", "no folder"])
def test_an_index_that_is_not_there_is_no_damage(engine: Engine, folder: Path, kind: str) -> None:
    """A cleaned cache is simply built again."""
    shutil.rmtree(folder)
    if kind == "empty folder":
        folder.mkdir(mode=0o700)
    index = engine.open(folder)
    assert index.snapshot() is None
    assert names(commit(index, IndexChange(EMPTY, add=[document("m3")])), "port") == ["m3"]


@cache
def original(engine: Engine, base: Path) -> Path:
    """Return the folder of an index that nobody changes."""
    return filled(engine, base / f"original-{len(list(base.iterdir()))}" / "index")


@settings(max_examples=examples(60))
@given(at=st.floats(0, 1, exclude_max=True), value=st.integers(1, 255), data=st.data())
def test_a_wrong_byte_anywhere_is_damage(
    tmp_path_factory: pytest.TempPathFactory, engine: Engine, at: float, value: int, data: st.DataObject
) -> None:
    """Libraries would answer wrongly from some; every file of the index is held against its digest."""
    folder = tmp_path_factory.mktemp("flip") / "index"
    shutil.copytree(original(engine, tmp_path_factory.getbasetemp()), folder)
    path = data.draw(st.sampled_from(sorted(p for p in folder.iterdir() if p.stat().st_size)))
    content = bytearray(path.read_bytes())
    content[int(at * len(content))] ^= value
    path.write_bytes(content)
    with pytest.raises(IndexDamaged):
        engine.open(folder).snapshot()


def copy_of(folder: Path) -> Path:
    """Return a copy of the index, as a backup makes one."""
    return Path(shutil.copytree(folder, folder.with_name(f"backup-{len(list(folder.parent.iterdir()))}")))


def restored(folder: Path, backup: Path) -> None:
    """Put a copy in the index's place."""
    shutil.rmtree(folder)
    shutil.copytree(backup, folder)


def test_an_older_copy_is_seen_even_where_the_numbers_are_the_same(engine: Engine, folder: Path) -> None:
    """A process that knows commit 3 must not take another commit 3 for it, nor the old for the new."""
    backup = copy_of(folder)
    index = engine.open(folder)
    commit(index, IndexChange(manifest("a", "b", "c"), add=[document("m3", "first port")]))
    restored(folder, backup)
    back = index.snapshot()
    assert back is not None
    assert (names(back, "port"), set(back.manifest.files)) == (["m1", "m2"], {"a", "b"})
    other = engine.open(folder)
    commit(other, IndexChange(manifest("a", "b", "d"), add=[document("m4", "second port")]))
    again = index.snapshot()
    assert again is not None
    assert (names(again, "port"), set(again.manifest.files)) == (["m1", "m2", "m4"], {"a", "b", "d"})


def test_an_older_copy_laid_over_the_newer_one_changes_nothing(engine: Engine, folder: Path) -> None:
    """Files of the newer commit are still there, and it is the last one."""
    backup = copy_of(folder)
    commit(engine.open(folder), IndexChange(manifest("a", "b", "c"), add=[document("m3")]))
    for path in backup.iterdir():
        shutil.copy(path, folder / path.name)
    snapshot = engine.open(folder).snapshot()
    assert snapshot is not None
    assert names(snapshot, "port") == ["m1", "m2", "m3"]
    after = commit(engine.open(folder), IndexChange(manifest("e"), add=[document("m5")]))
    assert names(after, "port") == ["m1", "m2", "m3", "m5"]


def test_damage_under_an_open_index_is_damage_too(engine: Engine, folder: Path) -> None:
    """A long-lived process reads on from files that somebody cuts off, and neither dies nor errs."""
    snapshot = engine.open(folder).snapshot()
    assert snapshot is not None
    for path in folder.glob(engine.parts):
        path.write_bytes(path.read_bytes()[:20])
    try:
        found = names(snapshot, "port")
    except IndexDamaged:
        pass
    else:
        assert found == ["m1", "m2"]
    with pytest.raises(IndexDamaged):
        engine.open(folder).snapshot()


def test_an_index_that_goes_while_it_is_written_is_damage(engine: Engine, folder: Path) -> None:
    """Whoever cleans up under a running process costs the index and no more; it is built anew at once."""
    index = engine.open(folder)
    with index.writing() as writer:
        assert writer is not None
        shutil.rmtree(folder)
        with pytest.raises(IndexDamaged):
            writer.commit(IndexChange(EMPTY, add=[document("m3")]))
        writer.discard()
        writer.commit(IndexChange(EMPTY, add=[document("m4")]))
    snapshot = index.snapshot()
    assert snapshot is not None
    assert names(snapshot, "port") == ["m4"]


def test_a_folder_that_others_can_write_is_not_read_but_built_anew(engine: Engine, folder: Path) -> None:
    """What somebody else may have put there is not even opened (OPEN-SEARCH-07)."""
    folder.chmod(0o770)
    index = engine.open(folder)
    with pytest.raises(IndexRefused):
        index.snapshot()
    with index.writing() as writer:
        assert writer is not None
        assert live_count(writer.snapshot().parts) == 0
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("kind", ["link", "file"])
def test_what_is_no_folder_is_not_read_but_built_anew(
    engine: Engine, folder: Path, tmp_path: Path, kind: str
) -> None:
    """OPEN-SEARCH-06 and 07: a link leads wherever its maker wants; it goes, and what it leads to stays."""
    target = tmp_path / "elsewhere"
    folder.rename(target)
    if kind == "link":
        folder.symlink_to(target)
    else:
        folder.write_text("no folder")
    before = sorted(p.name for p in target.iterdir())
    index = engine.open(folder)
    with pytest.raises(IndexRefused):
        index.snapshot()
    with index.writing() as writer:
        assert writer is not None
        assert live_count(writer.snapshot().parts) == 0
    assert folder.is_dir()
    assert not folder.is_symlink()
    assert sorted(p.name for p in target.iterdir()) == before
    assert not list(folder.parent.glob("*.old"))


def test_a_linked_part_is_not_opened(engine: Engine, folder: Path, tmp_path: Path) -> None:
    """Files of the index are plain files of this user."""
    target = tmp_path / "elsewhere"
    path = engine.part(folder)
    path.rename(target)
    path.symlink_to(target)
    with pytest.raises(IndexDamaged):
        engine.open(folder).snapshot()


def test_a_full_disk_passes_through_and_leaves_the_last_commit(
    engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is no damage: what was there stays there, and the message is the system's."""
    index = engine.open(folder)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with index.writing() as writer:
        assert writer is not None
        with pytest.raises(OSError, match="No space"):
            writer.commit(IndexChange(EMPTY, add=[document("m3")]))
    monkeypatch.undo()
    assert names(engine.open(folder).snapshot(), "port") == ["m1", "m2"]  # type: ignore[arg-type]
    assert names(commit(index, IndexChange(EMPTY, add=[document("m4")])), "port") == ["m1", "m2", "m4"]
    assert len(list(folder.glob(engine.parts))) == 3


KILLED = """
import os, sys
from pathlib import Path
from contract.search_index_contract import document, manifest
from gitmem.search_index import IndexChange
from index_engines import ENGINES
real, left = os.fsync, [int(sys.argv[2])]
def fsync(descriptor):
    left[0] -= 1
    if left[0] < 0:
        os._exit(9)
    real(descriptor)
os.fsync = fsync
index = ENGINES[sys.argv[3]].open(Path(sys.argv[1]))
index.snapshot()
with index.writing() as writer:
    writer.commit(IndexChange(manifest("a", "b", "c"), add=[document("m3")]))
"""


@pytest.mark.parametrize("syncs", range(8))
def test_a_kill_leaves_one_commit_or_the_other(engine: Engine, folder: Path, syncs: int) -> None:
    """Wherever a writer dies, manifest and documents are of one commit, and the next writer goes on."""
    name = next(name for name, one in ENGINES.items() if one == engine)
    root = Path(__file__).parents[2]
    subprocess.run(
        [sys.executable, "-c", KILLED, str(folder), str(syncs), name],
        env={**os.environ, "PYTHONPATH": f"{root}:{root / 'tests'}"},
        check=False,
        timeout=60,
    )
    index = engine.open(folder)
    snapshot = index.snapshot()
    assert snapshot is not None
    covered = set(snapshot.manifest.files)
    assert names(snapshot, "port") == (["m1", "m2", "m3"] if "c" in covered else ["m1", "m2"])
    after = commit(index, IndexChange(manifest("d"), add=[document("m4")]))
    assert "m4" in names(after, "port")
    assert not [p for p in folder.iterdir() if p.suffix in (".tmp", ".scratch") or p.name.startswith(".")]
