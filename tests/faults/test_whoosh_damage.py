"""What Whoosh's files can do that no other index's can, and what gitmem's reading of them keeps from it."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from index_engines import WHOOSH, cut, filled
from whoosh.filedb.filestore import FileStorage
from whoosh.filedb.structfile import StructFile
from whoosh.index import _CURRENT_TOC_VERSION
from whoosh.system import _FLOAT_SIZE, _INT_SIZE, _LONG_SIZE

from contract.search_index_contract import commit, document, manifest, names
from gitmem.backends.whoosh_index import WhooshIndex
from gitmem.manifest import EMPTY
from gitmem.search_index import COLUMNS, IndexChange, IndexDamaged, Indexed, IndexOutdated, key_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of an index that holds two documents in two segments."""
    return filled(WHOOSH, tmp_path / "derived" / "index")


def toc(folder: Path) -> Path:
    """Return the table of contents."""
    return WHOOSH.commit(folder)


def segment(folder: Path) -> Path:
    """Return the file of one segment."""
    return WHOOSH.part(folder)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "manifest missing": lambda f: max(f.glob("manifest-*")).unlink(),
    "half a manifest": lambda f: cut(max(f.glob("manifest-*"))),
    "manifest of another kind": lambda f: max(f.glob("manifest-*")).write_bytes(b"[1]"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_manifest_is_damage(folder: Path, kind: str) -> None:
    """It belongs to the table of contents beside it, or to nothing."""
    DAMAGE[kind](folder)
    with pytest.raises(IndexDamaged):
        WhooshIndex(folder).snapshot()
    assert names(commit(WhooshIndex(folder), IndexChange(EMPTY, add=[document("m3")])), "port") == ["m3"]


def copy_of(folder: Path) -> Path:
    """Return a copy of the index, as a backup makes one."""
    return Path(shutil.copytree(folder, folder.with_name(f"backup-{len(list(folder.parent.iterdir()))}")))


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
