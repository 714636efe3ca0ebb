"""Packs brought together: what pays is merged, versions in several packs are found, nothing is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from unit.test_pack_maintenance import Home

from fixtures import git
from gitmem import pack_deltas, pack_rollup
from gitmem.pack_files import OwnPack, own_packs
from gitmem.pack_format import parse_entry, parse_index
from gitmem.pack_maintenance import TURN_PACKS, merge_packs
from gitmem.pack_rollup import RollupLimits, next_rollup, roll_up
from gitmem.pack_sources import PackSource


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home without a turn."""
    home = Home(tmp_path / "home")
    yield home
    home.repository.close()


def packs_of(*sizes: int) -> list[OwnPack]:
    """Return packs of these sizes, the first the oldest."""
    return [OwnPack(Path(f"pack-{n}"), 1, size, n) for n, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("sizes", "merged"),
    [
        ((), ()),
        ((5,), ()),
        ((5, 5), (5, 5)),
        ((1, 2, 6), ()),
        ((6, 1, 1), (1, 1)),
        ((100, 30, 10, 8, 1), (30, 10, 8, 1)),
        ((1 << 30, 5, 5), (5, 5)),
    ],
)
def test_packs_are_merged_until_each_is_twice_all_smaller_ones(
    sizes: tuple[int, ...], merged: tuple[int, ...]
) -> None:
    """So an object is copied as often as the store doubles, however often maintenance runs."""
    assert tuple(pack.size for pack in next_rollup(packs_of(*sizes), RollupLimits())) == merged


def test_one_merge_keeps_to_its_limits() -> None:
    """Time and memory of one step are bounded; what is left comes with the next one."""
    packs = packs_of(*[10] * 9)
    assert len(next_rollup(packs, RollupLimits(size=55))) == 5
    assert len(next_rollup(packs, RollupLimits(packs=3))) == 3


def test_all_levels_become_one_pack(home: Home) -> None:
    """Packs of turns, whole or merged before, end in one, smaller than they were together."""
    for _ in range(3):
        home.turns(TURN_PACKS)
        merge_packs(home.layout)
    home.turns(5)
    before = home.size()
    report = roll_up(home.folder, ())
    assert (report.merged, report.made) == (8, 1)
    assert len(own_packs(home.folder)) == 1
    assert home.size() < before
    home.check()
    assert not roll_up(home.folder, ()).made


def test_a_file_in_several_packs_is_whole_once(home: Home) -> None:
    """[measured] Of 10,000 turns in merged packs a third was copies of one growing file and folder."""
    for _ in range(3):
        home.turns(TURN_PACKS)
        merge_packs(home.layout)
    roll_up(home.folder, ())
    (pack,) = own_packs(home.folder)
    content = pack.stem.with_suffix(".pack").read_bytes()
    rows = parse_index(pack.stem.with_suffix(".idx").read_bytes(), len(content))
    kinds = [parse_entry(content[row.offset : row.end]).kind for row in rows]
    assert kinds.count("blob") == 1
    home.check()


def test_what_a_killed_merge_left_is_removed_and_not_copied_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the new pack and the removal, and the new pack too large to be merged once more."""
    home.turns(6)

    def killed(_: Path, sources: list[PackSource]) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(pack_rollup, "remove_merged", killed)
        with pytest.raises(KeyboardInterrupt):
            roll_up(home.folder, ())
    assert len(own_packs(home.folder)) == 7
    largest = max(pack.size for pack in own_packs(home.folder))
    monkeypatch.setattr(pack_rollup, "LARGEST_SOURCE", largest - 1)
    assert roll_up(home.folder, ()).made == 0
    assert len(own_packs(home.folder)) == 1
    home.check()


def test_packs_of_others_stay(home: Home) -> None:
    """A pack of Git's, one with a `.keep`, and a damaged one are left as they are."""
    home.turns(3)
    git("repack", "-q", "-a", "-d", cwd=home.root)
    home.turns(4)
    kept, damaged, *_ = own_packs(home.folder)
    kept.stem.with_suffix(".keep").write_text("mine\n")
    path = damaged.stem.with_suffix(".pack")
    good = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(good[:40] + b"\xff" + good[41:])
    report = roll_up(home.folder, ())
    assert report.damaged == (damaged.stem.name,)
    assert (report.merged, report.made) == (2, 1)
    path.write_bytes(good)
    home.check()
    assert kept.stem.with_suffix(".pack").exists()


def test_chains_of_deltas_stay_short(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each merge could put the longest version so far behind a longer one; a reader pays for each step."""
    monkeypatch.setattr(pack_deltas, "DEEPEST", 3)
    for _ in range(8):
        home.turns(2)
        assert roll_up(home.folder, ()).made == 1
    (pack,) = own_packs(home.folder)
    report = git("verify-pack", "-v", pack.stem.with_suffix(".idx"), cwd=home.root)
    lengths = re.findall(r"^chain length = (\d+)", report, re.MULTILINE)
    assert max(map(int, lengths)) == 3
    home.check()
