"""A damaged, poisoned or locked index costs nothing but itself (OPEN-SEARCH-05, 06, 07)."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whoosh.filedb.filestore import FileStorage
from whoosh.filedb.structfile import StructFile
from whoosh.index import _CURRENT_TOC_VERSION
from whoosh.system import _FLOAT_SIZE, _INT_SIZE, _LONG_SIZE

from contract.search_index_contract import commit, document, manifest, names
from gitmem.backends.whoosh_index import WhooshIndex
from gitmem.manifest import EMPTY
from gitmem.search_index import (
    COLUMNS,
    IndexChange,
    IndexDamaged,
    Indexed,
    IndexOutdated,
    IndexRefused,
    key_of,
    live_count,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of an index that holds two documents in two segments."""
    path = tmp_path / "derived" / "index"
    filled(path)
    return path


def filled(path: Path) -> WhooshIndex:
    """Make an index of two documents at `path`."""
    index = WhooshIndex(path)
    commit(index, IndexChange(manifest("a"), add=[document("m1", "staging port")]))
    commit(index, IndexChange(manifest("a", "b"), add=[document("m2", "other port")]))
    return index


def toc(folder: Path) -> Path:
    """Return the table of contents."""
    return max(folder.glob("_MAIN_*.toc"))


def segment(folder: Path) -> Path:
    """Return the file of one segment."""
    return min(folder.glob("*.seg"))


def cut(path: Path) -> None:
    """Take away the second half of a file."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


DAMAGE: dict[str, Callable[[Path], object]] = {
    "table of contents of no length": lambda f: toc(f).write_bytes(b""),
    "half a table of contents": lambda f: cut(toc(f)),
    "table of contents of NUL bytes": lambda f: toc(f).write_bytes(b"\0" * toc(f).stat().st_size),
    "table of contents of text": lambda f: toc(f).write_bytes(b"<<<<<<< HEAD\n" * 40),
    "table of contents is a folder": lambda f: (toc(f).unlink(), (f / "_MAIN_99.toc").mkdir()),
    "segment missing": lambda f: segment(f).unlink(),
    "half a segment": lambda f: cut(segment(f)),
    "segment of no length": lambda f: segment(f).write_bytes(b""),
    "segment of NUL bytes": lambda f: segment(f).write_bytes(b"\0" * segment(f).stat().st_size),
    "manifest missing": lambda f: max(f.glob("manifest-*")).unlink(),
    "half a manifest": lambda f: cut(max(f.glob("manifest-*"))),
    "manifest of another kind": lambda f: max(f.glob("manifest-*")).write_bytes(b"[1]"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_has_one_name_and_is_thrown_away(folder: Path, kind: str) -> None:
    """Whoosh has a different exception for each kind of damage; readers get one, writers begin anew."""
    DAMAGE[kind](folder)
    beside = folder.parent / "catalog.md"
    beside.write_text("kept")
    with pytest.raises(IndexDamaged):
        WhooshIndex(folder).snapshot()
    index = WhooshIndex(folder)
    with index.writing() as writer:
        assert writer is not None
        assert writer.snapshot().manifest == EMPTY
    snapshot = commit(index, IndexChange(EMPTY, add=[document("m3")]))
    assert names(snapshot, "port") == ["m3"]
    assert beside.read_text() == "kept"
    assert sorted(p.name for p in folder.parent.iterdir()) == ["catalog.md", "index", "index.lock"]


@pytest.mark.parametrize("kind", ["empty folder", "no folder"])
def test_an_index_that_is_not_there_is_no_damage(folder: Path, kind: str) -> None:
    """A cleaned cache is simply built again."""
    shutil.rmtree(folder)
    if kind == "empty folder":
        folder.mkdir(mode=0o700)
    index = WhooshIndex(folder)
    assert index.snapshot() is None
    assert names(commit(index, IndexChange(EMPTY, add=[document("m3")])), "port") == ["m3"]


@settings(max_examples=60)
@given(
    at=st.floats(0, 1, exclude_max=True),
    value=st.integers(1, 255),
    pattern=st.sampled_from(["_MAIN_*.toc", "*.seg", "manifest-*"]),
)
def test_a_wrong_byte_anywhere_is_damage(
    tmp_path_factory: pytest.TempPathFactory, at: float, value: int, pattern: str
) -> None:
    """Whoosh would answer wrongly from some of them; every file of the index is held against its digest."""
    folder = tmp_path_factory.mktemp("flip") / "index"
    filled(folder)
    path = max(folder.glob(pattern))
    content = bytearray(path.read_bytes())
    content[int(at * len(content))] ^= value
    path.write_bytes(content)
    with pytest.raises(IndexDamaged):
        WhooshIndex(folder).snapshot()


def copy_of(folder: Path) -> Path:
    """Return a copy of the index, as a backup makes one."""
    return Path(shutil.copytree(folder, folder.with_name(f"backup-{len(list(folder.parent.iterdir()))}")))


def restored(folder: Path, backup: Path) -> None:
    """Put a copy in the index's place."""
    shutil.rmtree(folder)
    shutil.copytree(backup, folder)


def test_an_older_copy_is_seen_even_where_the_numbers_are_the_same(folder: Path) -> None:
    """A process that knows commit 3 must not take another commit 3 for it, nor the old for the new."""
    backup = copy_of(folder)
    index = WhooshIndex(folder)
    commit(index, IndexChange(manifest("a", "b", "c"), add=[document("m3", "first port")]))
    restored(folder, backup)
    back = index.snapshot()
    assert back is not None
    assert (names(back, "port"), set(back.manifest.files)) == (["m1", "m2"], {"a", "b"})
    other = WhooshIndex(folder)
    commit(other, IndexChange(manifest("a", "b", "d"), add=[document("m4", "second port")]))
    again = index.snapshot()
    assert again is not None
    assert (names(again, "port"), set(again.manifest.files)) == (["m1", "m2", "m4"], {"a", "b", "d"})


@pytest.mark.parametrize("pattern", ["_MAIN_*.toc", "manifest-*"])
def test_a_file_of_another_commit_is_damage(folder: Path, pattern: str) -> None:
    """Manifest and table of contents belong together; one of an older copy, or of another, does not."""
    backup = copy_of(folder)
    commit(WhooshIndex(folder), IndexChange(manifest("a", "b", "c"), add=[document("m3")]))
    commit(WhooshIndex(backup), IndexChange(manifest("a", "b", "d"), add=[document("m4")]))
    (other,) = backup.glob(pattern)
    shutil.copy(other, folder / other.name)
    with pytest.raises(IndexDamaged):
        WhooshIndex(folder).snapshot()


def test_an_older_copy_laid_over_the_newer_one_changes_nothing(folder: Path) -> None:
    """Files of the newer commit are still there, and it is the last one."""
    backup = copy_of(folder)
    commit(WhooshIndex(folder), IndexChange(manifest("a", "b", "c"), add=[document("m3")]))
    for path in backup.iterdir():
        shutil.copy(path, folder / path.name)
    snapshot = WhooshIndex(folder).snapshot()
    assert snapshot is not None
    assert names(snapshot, "port") == ["m1", "m2", "m3"]
    after = commit(WhooshIndex(folder), IndexChange(manifest("e"), add=[document("m5")]))
    assert names(after, "port") == ["m1", "m2", "m3", "m5"]


def test_an_index_of_another_gitmem_is_no_damage(folder: Path) -> None:
    """It is built anew all the same, but nobody need look for a broken disk."""
    path = max(folder.glob("manifest-*"))
    path.write_bytes(path.read_bytes().replace(b'{"format":2', b'{"format":1'))
    with pytest.raises(IndexOutdated):
        WhooshIndex(folder).snapshot()


def test_a_segment_without_a_column_is_read_as_zeros(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an older gitmem indexed is found until it is made anew, though a column has come since (S15)."""
    columns = tuple(name for name in COLUMNS if name != "workspace")
    values = Indexed.column_values
    at = COLUMNS.index("workspace")
    with monkeypatch.context() as patch:
        patch.setattr("gitmem.backends.whoosh_index.writer.COLUMNS", columns)
        patch.setattr(Indexed, "column_values", lambda item: values(item)[:at] + values(item)[at + 1 :])
        commit(WhooshIndex(folder), IndexChange(manifest("c"), add=[document("m3", workspace="k")]))
    index = WhooshIndex(folder)
    snapshot = index.snapshot()
    assert snapshot is not None
    assert names(snapshot, "port") == ["m1", "m2", "m3"]
    assert list(snapshot.parts[-1].column("workspace")) == [0]
    for number in range(4, 12):  # until they are merged
        commit(index, IndexChange(manifest("d"), add=[document(f"m{number}", workspace="k")]))
    merged = index.snapshot()
    assert merged is not None
    assert len(merged.parts) < 4
    found = {
        part.document(n).record: part.column("workspace")[n]
        for part in merged.parts
        for n in range(part.size)
    }
    assert found == {"m1": 0, "m2": 0, "m3": 0, **{f"m{n}": key_of("k") for n in range(4, 12)}}


def test_damage_under_an_open_index_is_damage_too(folder: Path) -> None:
    """A long-lived process reads on from files that somebody cuts off; it must not die of it."""
    index = WhooshIndex(folder)
    snapshot = index.snapshot()
    assert snapshot is not None
    for path in folder.glob("*.seg"):
        path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(IndexDamaged):
        [part.document(0) for part in snapshot.parts]


class _Poison:
    """A value that makes a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self._target = str(target)

    def __reduce__(self) -> tuple[object, ...]:
        return (os.system, (f"touch '{self._target}'",))


def poisoned_toc(folder: Path, target: Path) -> None:
    """Replace the table of contents by one whose schema and segments run a command when loaded."""
    content = StructFile(FileStorage(str(folder)).create_file("poison").file)
    for size in (_INT_SIZE, _LONG_SIZE, _FLOAT_SIZE):
        content.write_varint(size)
    content.write_int(-12345)
    content.write_int(_CURRENT_TOC_VERSION)
    for number in (3, 54, 0):
        content.write_varint(number)
    content.write_string(pickle.dumps(_Poison(target), 2))
    content.write_int(int(toc(folder).name.split("_")[2].removesuffix(".toc")))
    content.write_int(0)
    content.write_pickle([_Poison(target)])
    content.close()
    (folder / "poison").rename(toc(folder))


def test_a_pickle_in_the_index_runs_nothing(folder: Path, tmp_path: Path) -> None:
    """Even in the right place and with the right owner, an index is data and no program."""
    target = tmp_path / "PWNED"
    poisoned_toc(folder, target)
    with pytest.raises(IndexDamaged):
        WhooshIndex(folder).snapshot()
    assert not target.exists()
    plain = "import sys, whoosh.index as i; i.exists_in(sys.argv[1], 'MAIN')"
    subprocess.run([sys.executable, "-c", plain, str(folder)], check=False, capture_output=True, timeout=60)
    assert target.exists(), "the poison works on Whoosh itself"
    target.unlink()
    commit(WhooshIndex(folder), IndexChange(EMPTY))
    assert not target.exists()


def test_a_pickle_in_a_segment_runs_nothing(folder: Path, tmp_path: Path) -> None:
    """A segment whose inner directory is poisoned is damage and runs nothing."""
    target = tmp_path / "PWNED"
    content = segment(folder).read_bytes()
    poison = pickle.dumps(_Poison(target), 2)
    start = len(content)
    segment(folder).write_bytes(
        start.to_bytes(8, "big") + len(poison).to_bytes(4, "big") + content[12:] + poison
    )
    with pytest.raises(IndexDamaged):
        WhooshIndex(folder).snapshot()
    assert not target.exists()


def test_a_folder_that_others_can_write_is_not_read_but_built_anew(folder: Path) -> None:
    """What somebody else may have put there is not even opened (OPEN-SEARCH-07)."""
    folder.chmod(0o770)
    index = WhooshIndex(folder)
    with pytest.raises(IndexRefused):
        index.snapshot()
    with index.writing() as writer:
        assert writer is not None
        assert live_count(writer.snapshot().parts) == 0
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("kind", ["link", "file"])
def test_what_is_no_folder_is_not_read_but_built_anew(folder: Path, tmp_path: Path, kind: str) -> None:
    """OPEN-SEARCH-06 and 07: a link leads wherever its maker wants; it goes, and what it leads to stays."""
    target = tmp_path / "elsewhere"
    folder.rename(target)
    if kind == "link":
        folder.symlink_to(target)
    else:
        folder.write_text("no folder")
    before = sorted(p.name for p in target.iterdir())
    index = WhooshIndex(folder)
    with pytest.raises(IndexRefused):
        index.snapshot()
    with index.writing() as writer:
        assert writer is not None
        assert live_count(writer.snapshot().parts) == 0
    assert folder.is_dir()
    assert not folder.is_symlink()
    assert sorted(p.name for p in target.iterdir()) == before
    assert not list(folder.parent.glob("*.old"))


def test_a_linked_segment_is_not_opened(folder: Path, tmp_path: Path) -> None:
    """Files of the index are plain files of this user."""
    target = tmp_path / "elsewhere.seg"
    segment(folder).rename(target)
    (folder / target.name).symlink_to(target)
    with pytest.raises(IndexDamaged):
        WhooshIndex(folder).snapshot()


def test_whoosh_own_lock_is_respected(folder: Path) -> None:
    """Another program that writes the index through Whoosh is somebody who is writing."""
    lock = FileStorage(str(folder)).lock("MAIN_WRITELOCK")
    assert lock.acquire()
    index = WhooshIndex(folder)
    with index.writing() as writer:
        assert writer is None
    assert names(index.snapshot(), "port") == ["m1", "m2"]  # type: ignore[arg-type]
    lock.release()
    with index.writing() as writer:
        assert writer is not None


def test_a_full_disk_passes_through_and_leaves_the_last_commit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is no damage: what was there stays there, and the message is the system's."""
    index = WhooshIndex(folder)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with index.writing() as writer:
        assert writer is not None
        with pytest.raises(OSError, match="No space"):
            writer.commit(IndexChange(EMPTY, add=[document("m3")]))
    monkeypatch.undo()
    assert names(WhooshIndex(folder).snapshot(), "port") == ["m1", "m2"]  # type: ignore[arg-type]
    assert names(commit(index, IndexChange(EMPTY, add=[document("m4")])), "port") == ["m1", "m2", "m4"]
    assert len(list(folder.glob("*.seg"))) == 3


KILLED = """
import os, sys
from pathlib import Path
from contract.search_index_contract import document, manifest
from gitmem.backends.whoosh_index import WhooshIndex
from gitmem.search_index import IndexChange
import gitmem.durable_file, gitmem.backends.whoosh_index.files as files
real, left = os.fsync, [int(sys.argv[2])]
def fsync(descriptor):
    left[0] -= 1
    if left[0] < 0:
        os._exit(9)
    real(descriptor)
os.fsync = fsync
index = WhooshIndex(Path(sys.argv[1]))
with index.writing() as writer:
    writer.commit(IndexChange(manifest("a", "b", "c"), add=[document("m3")]))
"""


@pytest.mark.parametrize("syncs", range(8))
def test_a_kill_leaves_one_commit_or_the_other(folder: Path, syncs: int) -> None:
    """Wherever a writer dies, manifest and documents are of one commit, and the next writer goes on."""
    root = Path(__file__).parents[2]
    subprocess.run(
        [sys.executable, "-c", KILLED, str(folder), str(syncs)],
        env={**os.environ, "PYTHONPATH": f"{root}:{root / 'tests'}"},
        check=False,
        timeout=60,
    )
    index = WhooshIndex(folder)
    snapshot = index.snapshot()
    assert snapshot is not None
    covered = set(snapshot.manifest.files)
    assert names(snapshot, "port") == (["m1", "m2", "m3"] if "c" in covered else ["m1", "m2"])
    after = commit(index, IndexChange(manifest("d"), add=[document("m4")]))
    assert "m4" in names(after, "port")
    assert not list(folder.glob("*.tmp"))
