"""Merging packs: nothing is lost at any moment, strangers' packs stay, the disk is spared."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from contract.repository_contract import WHO
from fixtures import fsck, git, make_repo, run_git
from gitmem import pack_deltas, pack_maintenance
from gitmem.backends.dulwich_repository import DulwichRepository, open_repository
from gitmem.file_lock import file_lock
from gitmem.git_objects import make_commit, make_object, make_tree
from gitmem.layout import Layout, find_layout
from gitmem.pack_files import indexed_together, levels_of, own_packs, remove_pack, write_pack_files
from gitmem.pack_format import parse_entry, parse_index, whole_entry
from gitmem.pack_maintenance import LARGER_PACKS, TURN_PACKS, MergeReport, merge_packs
from gitmem.pack_sources import PackSource
from gitmem.repository import ABSENT, FILE_MODE, TREE_MODE, GitObject, TreeEntry

LINE = "refs/heads/gitmem/turns/w0123abcd"


class Home:
    """A repository whose turn line grows by small packs."""

    def __init__(self, root: Path) -> None:
        make_repo(root)
        self.root = root
        self.layout: Layout = find_layout(root)
        self.folder = self.layout.common_dir / "objects" / "pack"
        self.repository: DulwichRepository = open_repository(self.layout)
        self.tip = ABSENT
        self.segment = b""
        self.written: list[GitObject] = []

    def turn(self) -> None:
        """Append lines to the segment and commit them."""
        number = len(self.written) // 4
        self.segment += f'{{"seq":{number},"salt":"{os.urandom(300).hex()}"}}\n'.encode()
        blob = make_object("blob", self.segment)
        names = [f"w0123abcd-{count:04}.jsonl" for count in range(1, 6)]
        inner = make_tree(TreeEntry(name, FILE_MODE, blob.id) for name in names)
        tree = make_tree([TreeEntry("ledger", TREE_MODE, inner.id)])
        commit = make_commit(
            tree=tree.id,
            parents=[] if self.tip == ABSENT else [self.tip],
            author=WHO,
            committer=WHO,
            seconds=1_772_442_000 + number,
            message=f"turn {number}\n",
        )
        objects = [blob, inner, tree, commit]
        with self.repository.write_pack(objects):
            self.repository.move_ref(LINE, old=self.tip, new=commit.id, message="turn", who=WHO)
        self.tip = commit.id
        self.written += objects

    def turns(self, count: int) -> None:
        """Commit some turns."""
        for _ in range(count):
            self.turn()

    def check(self) -> None:
        """Fail unless every object is there for a new reader and for git."""
        fresh = open_repository(self.layout)
        for item in self.written:
            assert fresh.read(item.id) == (item.kind, item.content)
        fresh.close()
        for index in self.folder.glob("*.idx"):
            git("verify-pack", index, cwd=self.root)
        fsck(self.root)

    def levels(self) -> dict[int, int]:
        """Return how many own packs there are of each level."""
        return dict(levels_of(self.folder))

    def size(self) -> int:
        """Return the bytes of all packs and indexes."""
        return sum(path.stat().st_size for path in self.folder.iterdir())


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home without a turn."""
    home = Home(tmp_path / "home")
    yield home
    home.repository.close()


def test_thirty_two_turns_become_one_pack(home: Home) -> None:
    """Below the number nothing happens; at it one pack is left, a tenth of the size, all objects in it."""
    home.turns(TURN_PACKS - 1)
    assert merge_packs(home.layout) == MergeReport()
    assert home.levels() == {0: TURN_PACKS - 1}
    home.turn()
    before = home.size()
    assert merge_packs(home.layout) == MergeReport(merged=TURN_PACKS, made=1)
    assert home.levels() == {1: 1}
    assert home.size() * 5 < before
    home.check()
    assert merge_packs(home.layout) == MergeReport()


def test_older_versions_are_deltas_of_the_longest(home: Home) -> None:
    """A reader needs one step for any version: chains never grow within a merge."""
    home.turns(TURN_PACKS)
    merge_packs(home.layout)
    (pack,) = own_packs(home.folder)
    content = pack.stem.with_suffix(".pack").read_bytes()
    rows = parse_index(pack.stem.with_suffix(".idx").read_bytes(), len(content))
    parsed = {row.id: parse_entry(content[row.offset : row.end]) for row in rows}
    bases = [entry.base for entry in parsed.values() if entry.base is not None]
    assert len(bases) == (TURN_PACKS - 1)
    assert {parsed[base].kind for base in bases} == {"blob"}
    assert all(parsed[base].base is None for base in bases)


def test_levels_rise_like_digits(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of turns, few packs are left, and every merge copies only packs of one size."""
    monkeypatch.setattr(pack_maintenance, "TURN_PACKS", 3)
    monkeypatch.setattr(pack_maintenance, "LARGER_PACKS", 2)
    for _ in range(26):
        home.turn()
        merge_packs(home.layout)
    assert home.levels() == {0: 2, 4: 1}
    home.turn()
    merge_packs(home.layout)
    assert home.levels() == {1: 1, 4: 1}
    home.check()


def test_a_backlog_is_worked_off_within_its_time(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an import many packs wait; each call begins no merge after its time."""
    monkeypatch.setattr(pack_maintenance, "TURN_PACKS", 2)
    monkeypatch.setattr(pack_maintenance, "LARGER_PACKS", 8)
    home.turns(16)
    assert merge_packs(home.layout, seconds=0) == MergeReport()
    merge_packs(home.layout)
    assert home.levels() == {2: 1}
    home.check()


def test_a_long_lived_reader_goes_on(home: Home) -> None:
    """Packs vanish under a reader that has them open and under one that has not; both read everything."""
    home.turns(TURN_PACKS)
    warm, cold = open_repository(home.layout), open_repository(home.layout)
    for item in home.written[:20]:
        warm.read(item.id)
    assert cold.contains(home.tip)
    merge_packs(home.layout)
    for reader in (warm, cold):
        for item in home.written:
            assert reader.read(item.id) == (item.kind, item.content)
            assert reader.contains(item.id)
        reader.close()


def test_packs_of_others_are_never_touched(home: Home) -> None:
    """Git's packs, kept packs, and a stranger's pack under a name like ours stay byte for byte."""
    home.turns(5)
    git("repack", "-q", "-a", "-d", cwd=home.root)
    strange = home.folder / f"pack-{'6769746d'}00{'0' * 30}"
    blob = whole_entry(make_object("blob", b"strange"))
    written = write_pack_files(home.folder, [blob], 1)
    for ending in (".pack", ".idx"):
        written.with_suffix(ending).rename(strange.with_suffix(ending))
    home.turns(TURN_PACKS + 1)
    kept = own_packs(home.folder)[3].stem
    kept.with_suffix(".keep").write_text("by hand")
    others = {
        path: path.read_bytes() for path in home.folder.iterdir() if not path.name.startswith("pack-6769")
    }
    others |= {
        path: path.read_bytes() for stem in (strange, kept) for path in home.folder.glob(stem.name + "*")
    }
    report = merge_packs(home.layout)
    assert report == MergeReport(merged=TURN_PACKS - 1, made=1, damaged=(strange.name,))
    assert {path: path.read_bytes() for path in others} == others
    home.check()


def test_a_damaged_pack_is_named_and_left(home: Home) -> None:
    """A flipped bit stops neither the merge of the others nor goes unnoticed, and is not copied."""
    home.turns(TURN_PACKS)
    bad = own_packs(home.folder)[7].stem
    raw = bytearray(bad.with_suffix(".pack").read_bytes())
    raw[40] ^= 1
    bad.with_suffix(".pack").chmod(0o644)
    bad.with_suffix(".pack").write_bytes(raw)
    assert merge_packs(home.layout) == MergeReport(TURN_PACKS - 1, 1, (bad.name,))
    assert bad.with_suffix(".pack").exists()


@pytest.mark.parametrize("ending", [".pack", ".idx"])
def test_a_cut_pack_is_named_and_left(home: Home, ending: str) -> None:
    """Empty and torn files are told from whole ones."""
    home.turns(TURN_PACKS)
    one, two = own_packs(home.folder)[4].stem, own_packs(home.folder)[5].stem
    for stem, size in ((one, 0), (two, 100)):
        stem.with_suffix(ending).chmod(0o644)
        os.truncate(stem.with_suffix(ending), size)
    report = merge_packs(home.layout)
    assert (report.merged, report.made, set(report.damaged)) == (TURN_PACKS - 2, 1, {one.name, two.name})


def test_packs_that_git_took_away_are_no_fault(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """`git repack -ad` between the listing and the merge leaves nothing to do."""
    home.turns(TURN_PACKS)
    real = pack_maintenance.own_packs

    def listed(folder: Path) -> object:
        packs = real(folder)
        git("repack", "-q", "-a", "-d", cwd=home.root)
        return packs

    monkeypatch.setattr(pack_maintenance, "own_packs", listed)
    assert merge_packs(home.layout) == MergeReport()
    home.check()


def test_one_process_merges_at_a_time(home: Home) -> None:
    """While the lock is held the call returns at once."""
    home.turns(TURN_PACKS)
    with file_lock(home.layout.maintenance_lock, wait=0):
        assert merge_packs(home.layout) == MergeReport()
    assert home.levels() == {0: TURN_PACKS}


def test_a_full_disk_leaves_everything(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A merge that cannot be written removes nothing."""
    home.turns(TURN_PACKS)
    before = sorted(home.folder.iterdir())

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="full"):
            merge_packs(home.layout)
    assert sorted(home.folder.iterdir()) == before
    assert merge_packs(home.layout).made == 1
    home.check()


class Killed(BaseException):
    """What no handler catches."""


@pytest.mark.parametrize("at", [0, 1, 7, TURN_PACKS - 1])
def test_a_kill_while_packs_are_removed_is_finished_later(
    home: Home, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Packs left behind are recognised by their content and go without being merged again."""
    home.turns(TURN_PACKS)
    real = pack_maintenance.remove_pack
    done = 0

    def killed(stem: Path) -> bool:
        nonlocal done
        if done == at:
            raise Killed
        done += 1
        return real(stem)

    with monkeypatch.context() as patch:
        patch.setattr(pack_maintenance, "remove_pack", killed)
        with pytest.raises(Killed):
            merge_packs(home.layout)
    assert home.levels() == {0: TURN_PACKS - at, 1: 1}
    home.check()
    home.turns(at)
    report = merge_packs(home.layout)
    assert report.made == 0
    assert report.merged == TURN_PACKS - at
    assert home.levels() == ({0: at, 1: 1} if at else {1: 1})
    home.check()


def test_one_object_in_many_packs_is_copied_once(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packs that hold each other's objects, here as whole and there as deltas, merge without a circle."""
    monkeypatch.setattr(pack_maintenance, "TURN_PACKS", 2)
    monkeypatch.setattr(pack_maintenance, "LARGER_PACKS", 2)
    home.turns(2)
    first, second = home.written[:4], home.written[4:]
    merge_packs(home.layout)
    home.turn()
    third = home.written[8:]
    with home.repository.write_pack([*third, *second, *first]):
        pass
    assert merge_packs(home.layout).made == 2
    assert home.levels() == {2: 1}
    (pack,) = own_packs(home.folder)
    rows = parse_index(pack.stem.with_suffix(".idx").read_bytes(), pack.size)
    assert len(rows) == len({row.id for row in rows}) == 12
    home.check()


def test_large_objects_are_copied_unread(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond one size no delta is tried, beyond another a pack is left alone: memory and time are bounded."""
    monkeypatch.setattr(pack_maintenance, "TURN_PACKS", 3)
    monkeypatch.setattr(pack_deltas, "LARGEST_DELTA", 1000)
    home.turns(3)
    merge_packs(home.layout)
    assert home.levels() == {1: 1}
    home.check()
    home.turns(3)
    monkeypatch.setattr(pack_maintenance, "_LARGEST_SOURCE", 1000)
    assert merge_packs(home.layout) == MergeReport()
    sizes = [pack.size for pack in own_packs(home.folder) if pack.level == 0]
    assert min(sizes) > 1000
    monkeypatch.setattr(pack_maintenance, "_LARGEST_SOURCE", 100_000)
    monkeypatch.setattr(pack_maintenance, "_LARGEST_MERGE", sum(sizes) - 1)
    assert merge_packs(home.layout) == MergeReport(merged=2, made=1)
    home.check()


def test_permissions_are_those_of_the_merged_packs(home: Home) -> None:
    """A shared repository stays shared."""
    home.turns(TURN_PACKS)
    for path in home.folder.iterdir():
        path.chmod(0o440)
    merge_packs(home.layout)
    assert {path.stat().st_mode & 0o777 for path in home.folder.iterdir()} == {0o440}


def test_an_index_of_a_pack_that_went_hides_nothing_for_long(home: Home) -> None:
    """[real case] Git indexed old and merged packs together while the old ones went: `git log` failed."""
    home.turn()
    (own,) = own_packs(home.folder)
    git("repack", "-q", "-a", cwd=home.root)
    newest = 2_000_000_000
    os.utime(own.stem.with_suffix(".pack"), (newest, newest))  # of two copies Git notes the newer
    git("multi-pack-index", "write", cwd=home.root)
    assert indexed_together(home.folder) >= {own.stem.name}
    remove_pack(own.stem)
    assert run_git("rev-list", "--count", LINE, cwd=home.root).returncode != 0
    merge_packs(home.layout)
    assert git("rev-list", "--count", LINE, cwd=home.root) == "1"
    fsck(home.root)


def test_what_git_indexes_while_packs_are_merged_stays(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """[real case] An index that Git wrote in the middle of a merge named packs that were about to go."""

    def written(*args: Any, **options: Any) -> Path:
        made = write_pack_files(*args, **options)
        git("multi-pack-index", "write", cwd=home.root)
        return made

    monkeypatch.setattr(pack_maintenance, "write_pack_files", written)
    for _ in range(TURN_PACKS):
        home.turn()
    merge_packs(home.layout)
    assert git("rev-list", "--count", LINE, cwd=home.root) == str(TURN_PACKS)
    fsck(home.root)
    (home.folder / "multi-pack-index").unlink()
    monkeypatch.undo()
    assert merge_packs(home.layout) == MergeReport(merged=TURN_PACKS, made=0)
    fsck(home.root)


def test_fewer_packs_remain_than_git_tolerates() -> None:
    """Three full levels stay below the number from which `git gc --auto` packs everything itself."""
    assert (TURN_PACKS - 1) + 3 * (LARGER_PACKS - 1) < 50


def test_an_index_that_git_writes_in_the_middle_of_a_merge_finds_all_in_the_new_pack(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[real case] Git had listed old and new packs and wrote its index once the old ones were gone.

    `git repack` then said `bad object (null)` until the next turn. Of two copies Git notes the later pack's.
    """
    for _ in range(TURN_PACKS):
        home.turn()
    removed: set[Path] = set()

    def left(_: Path, sources: Sequence[PackSource]) -> int:
        removed.update(one.pack.stem for one in sources)
        return 0

    monkeypatch.setattr(pack_maintenance, "remove_merged", left)
    for pack in own_packs(home.folder):  # all within one second, as on a fast machine
        os.utime(f"{pack.stem}.pack", (4_000_000_000, 4_000_000_000))
    merge_packs(home.layout)
    git("multi-pack-index", "write", cwd=home.root)
    for stem in removed:
        remove_pack(stem)
    assert len(removed) == TURN_PACKS
    assert git("rev-list", "--count", LINE, cwd=home.root) == str(TURN_PACKS)
    git("repack", "-q", "-d", "--geometric=2", cwd=home.root)
    monkeypatch.undo()
    merge_packs(home.layout)  # takes the index away, which names packs that are gone
    fsck(home.root)
