"""Packs on disk: durable before they have a name, held while a ref moves, gone without a trace on failure."""

from __future__ import annotations

import errno
import os
import re
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fixtures import fsck, git, make_repo
from gitmem import pack_files
from gitmem.git_objects import make_object
from gitmem.linked_file import LinkedFile
from gitmem.pack_files import (
    is_own,
    keep_file,
    keep_text,
    kept_pack,
    levels_of,
    own_packs,
    remove_pack,
    stale_files,
    write_pack_files,
)
from gitmem.pack_format import PackEntry, whole_entry

BLOBS = [make_object("blob", b"%d\n" % number) for number in range(3)]
ENTRIES = [whole_entry(blob) for blob in BLOBS]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The pack folder of an empty repository."""
    return make_repo(tmp_path / "repo") / ".git" / "objects" / "pack"


def names(folder: Path) -> list[str]:
    """Return the endings of the files in the folder, sorted."""
    return sorted(path.suffix for path in folder.iterdir())


def keep_of(folder: Path) -> LinkedFile:
    """Return what makes `.keep` files."""
    return keep_file(folder.parents[1] / "gitmem" / "keep")


def write(folder: Path, level: int = 0, entries: list[PackEntry] = ENTRIES) -> Path:
    """Write a pack."""
    return write_pack_files(folder, entries, len(entries), level=level)


def test_a_pack_is_kept_until_the_context_ends(folder: Path) -> None:
    """The `.keep` file says who holds it, and is gone whatever happened inside."""
    with pytest.raises(ZeroDivisionError), kept_pack(folder, ENTRIES, keep=keep_of(folder)):  # noqa: PT012
        assert names(folder) == [".idx", ".keep", ".pack"]
        (keep,) = folder.glob("*.keep")
        assert re.fullmatch(rf"gitmem {os.getpid()} [0-9a-f]{{8}}\n", keep.read_text())
        assert own_packs(folder) == []
        raise ZeroDivisionError
    assert names(folder) == [".idx", ".pack"]
    fsck(folder.parents[2])


def test_the_same_objects_make_another_pack(folder: Path) -> None:
    """No two packs share a name, so none is taken from under another process."""
    assert write(folder) != write(folder)
    fsck(folder.parents[2])


def test_names_prove_their_origin(folder: Path) -> None:
    """Git's own packs, and strangers' packs with such a name, are not taken for ours."""
    stem = write(folder, level=3)
    trailer = stem.with_suffix(".pack").read_bytes()[-20:]
    assert is_own(stem, trailer)
    assert not is_own(stem, bytes(20))
    assert not is_own(stem.with_name(f"pack-{trailer.hex()}"), trailer)
    git("repack", "-q", cwd=folder)
    (folder.parents[2] / "a").write_text("x")
    git("hash-object", "-w", "a", cwd=folder.parents[2])
    assert [(pack.stem, pack.level) for pack in own_packs(folder)] == [(stem, 3)]
    assert levels_of(folder) == {3: 1}


def steps(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Write a kept pack and return the durable steps in their order."""
    done: list[str] = []
    descriptors: dict[int, str] = {}
    real_open, real_fsync, real_rename = os.open, os.fsync, os.rename

    def opened(path: Path, *args: int, **more: int) -> int:
        descriptor = real_open(path, *args, **more)
        descriptors[descriptor] = Path(path).name
        return descriptor

    def synced(descriptor: int) -> None:
        name = descriptors[descriptor]
        done.append(
            f"fsync {'folder' if name == 'pack' else 'part'} with {names(folder).count('.keep')} keep"
        )
        real_fsync(descriptor)

    def renamed(source: str, target: str) -> None:
        assert not Path(source).name.startswith("tmp_")
        assert Path(source).suffix not in (".pack", ".idx")
        done.append(f"name {Path(target).suffix}")
        real_rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", opened)
        patch.setattr(os, "fsync", synced)
        patch.setattr(os, "rename", renamed)
        with kept_pack(folder, ENTRIES, keep=keep_of(folder)):
            done.append("ref")
    return done


def test_the_order_of_writing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep and both files are on the disk before they have names, the keep is there first, the ref last."""
    assert steps(folder, monkeypatch) == [
        "fsync part with 0 keep",
        "fsync part with 0 keep",
        "fsync part with 0 keep",
        "name .pack",
        "name .idx",
        "fsync folder with 1 keep",
        "ref",
    ]


@pytest.mark.parametrize("at", range(5))
@pytest.mark.parametrize("keep", [False, True])
def test_a_full_disk_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, at: int, keep: bool
) -> None:
    """Wherever writing fails, neither a part nor a half pack stays behind."""
    calls = 0

    def limited(real):
        def call(*args, **more):
            nonlocal calls
            calls += 1
            if calls == at + 1:
                raise OSError(errno.ENOSPC, "full")
            return real(*args, **more)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", limited(os.fsync))
        patch.setattr(os, "rename", limited(os.rename))
        with pytest.raises(OSError, match="full"):
            write_pack_files(folder, ENTRIES, len(ENTRIES), keep=keep_of(folder) if keep else None)
    assert names(folder) == []


def test_a_failing_source_leaves_nothing(folder: Path) -> None:
    """A merge that cannot read on gives up cleanly."""

    def entries():
        yield ENTRIES[0]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_pack_files(folder, entries(), 3)
    assert names(folder) == []


@pytest.mark.parametrize(
    ("setting", "mode"), [(None, 0o400), ("group", 0o440), ("0660", 0o440), ("all", 0o444), ("umask", 0o400)]
)
def test_permissions_follow_the_repositorys_setting(folder: Path, setting: str | None, mode: int) -> None:
    """Packs are read-only as Git's are, and readable by whom the operator shares with."""
    old = os.umask(0o077)
    try:
        stem = write_pack_files(folder, ENTRIES, len(ENTRIES), shared=setting)
    finally:
        os.umask(old)
    for ending in (".pack", ".idx"):
        assert stat.S_IMODE(stem.with_suffix(ending).stat().st_mode) == mode


def dead_process() -> int:
    """Return the number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_what_a_dead_process_left_is_stale(folder: Path) -> None:
    """A kill inside a turn leaves a `.keep` or parts; they are found, and only they."""
    here = keep_text().decode().split()[2]
    dead = dead_process()
    stale = {
        "pack-1.keep": f"gitmem {dead} {here}\n",
        "pack-2.keep": f"gitmem {dead}",
        f"gitmem-{dead}-0123456789ab.part": "",
    }
    living = {
        "pack-3.keep": keep_text().decode(),
        "pack-4.keep": "",
        "pack-5.keep": "kept by hand\n",
        "pack-6.keep": f"gitmem {dead} ffffffff\n",
        "pack-7.keep": "gitmem\n",
        f"pack-{'6769746d'}{'0' * 32}.keep": "",
        f"gitmem-{os.getpid()}-0123456789ab.part": "",
        "tmp_pack_x.part": "",
    }
    for name, text in {**stale, **living}.items():
        (folder / name).write_text(text)
    assert {path.name for path in stale_files(folder)} == set(stale)
    old = time.time() - 4000
    for name in living:
        os.utime(folder / name, (old, old))
    elsewhere = {
        "pack-3.keep",
        "pack-6.keep",
        f"pack-6769746d{'0' * 32}.keep",
        f"gitmem-{os.getpid()}-0123456789ab.part",
    }
    assert {path.name for path in stale_files(folder)} == set(stale) | elsewhere


def test_removing_a_pack_spares_what_is_kept(folder: Path) -> None:
    """Somebody's `.keep` is obeyed to the last; companions that Git made go with the pack."""
    stem = write(folder)
    stem.with_suffix(".rev").write_bytes(b"")
    stem.with_suffix(".keep").write_bytes(b"mine")
    assert not remove_pack(stem)
    stem.with_suffix(".keep").unlink()
    assert remove_pack(stem)
    assert names(folder) == []
    assert not remove_pack(stem)


def test_packs_that_git_indexed_together_are_left_to_it(folder: Path) -> None:
    """A multi-pack-index names its packs; taking one away would leave it wrong."""
    one = write(folder)
    git("multi-pack-index", "write", cwd=folder.parents[2])
    two = write(folder)
    assert one != two
    assert [pack.stem for pack in own_packs(folder)] == [two]
    (folder / "multi-pack-index").write_bytes(b"MIDX")
    assert len(own_packs(folder)) == 2


def test_a_missing_folder_holds_nothing(tmp_path: Path) -> None:
    """A repository in which nothing was packed yet is an ordinary one."""
    missing = tmp_path / "pack"
    assert (own_packs(missing), stale_files(missing), levels_of(missing)) == ([], [], {})
    assert write(missing).with_suffix(".idx").exists()
    assert pack_files.MARKER == "6769746d"
