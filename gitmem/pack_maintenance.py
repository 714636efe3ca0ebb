"""Many small packs become few: thirty-two packs of a turn one, seven of one level one of the next.

Only packs of gitmem's own making are merged. In the first merge older versions of a file or folder become
deltas against the longest one; further merges copy entries as they are. The new pack is durable before an old
one goes, so a kill at any moment leaves every object in place, at worst twice.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitmem.errors import HomeLocked
from gitmem.file_lock import file_lock
from gitmem.layout import Layout
from gitmem.pack_deltas import by_path, with_deltas
from gitmem.pack_files import (
    OwnPack,
    drop_stale_index,
    indexed_together,
    levels_of,
    own_packs,
    remove_pack,
    write_pack_files,
)
from gitmem.pack_format import PackEntry
from gitmem.pack_sources import PackSource, PackSources

#: Packs of a turn, and packs of a higher level, that become one. At most 49 remain of the levels that still
#: merge; with more than fifty packs `git gc --auto` would merge them by itself.
TURN_PACKS: Final = 32
LARGER_PACKS: Final = 7
#: A pack beyond this size is left as it is, and one merge copies no more than that: no call takes long.
_LARGEST_SOURCE: Final = 16 << 20
_LARGEST_MERGE: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What a call did.

    Attributes:
        merged: packs that were merged and removed.
        made: packs that were made of them.
        damaged: names of own packs that do not read and were left alone.
    """

    merged: int = 0
    made: int = 0
    damaged: tuple[str, ...] = ()


def merge_packs(layout: Layout, *, seconds: float = 1.0) -> MergeReport:
    """Merge own packs wherever enough of one level have come together; nothing while another process does.

    Where there is nothing to do, the cost is one listing of the folder.

    Args:
        layout: where the repository lies.
        seconds: after this time no further merge is begun.

    Raises:
        OSError: the disk is full, for example; all packs are as they were.
    """
    folder = layout.common_dir / "objects" / "pack"
    drop_stale_index(folder)
    if not any(_is_due(level, count) for level, count in levels_of(folder).items()):
        return MergeReport()
    try:
        with file_lock(layout.maintenance_lock, wait=0):
            return _merge_levels(folder, time.monotonic() + seconds)
    except HomeLocked:
        return MergeReport()


def _is_due(level: int, count: int) -> bool:
    return count >= (LARGER_PACKS if level else TURN_PACKS)


def _merge_levels(folder: Path, deadline: float) -> MergeReport:
    merged = made = 0
    damaged: dict[str, None] = {}
    while time.monotonic() < deadline:
        packs = [pack for pack in own_packs(folder) if pack.stem.name not in damaged]
        batch = _next_batch(packs)
        if not batch:
            break
        with PackSources(batch) as sources:
            damaged |= dict.fromkeys(sources.damaged)
            removable, new = _merge(folder, sources, packs)
            # Counted by what is there: git may have removed some of them meanwhile, a `.keep` may hold one.
            merged += remove_merged(folder, removable)
            made += new
    return MergeReport(merged, made, tuple(damaged))


def remove_merged(folder: Path, sources: Sequence[PackSource]) -> int:
    """Remove merged packs, but for those that Git has indexed together meanwhile; return how many went."""
    kept = indexed_together(folder)
    removed = sum(remove_pack(one.pack.stem) for one in sources if one.pack.stem.name not in kept)
    drop_stale_index(folder)  # Git may have listed the packs before, and written its index behind that
    return removed


def _next_batch(packs: Sequence[OwnPack]) -> list[OwnPack]:
    """Return the oldest packs of the lowest level that has enough, as many as one merge may copy."""
    movable = [pack for pack in packs if pack.size <= _LARGEST_SOURCE]
    for level in sorted({pack.level for pack in movable}):
        batch = [pack for pack in movable if pack.level == level]
        if _is_due(level, len(batch)):
            return _within_limit(batch[: LARGER_PACKS if level else TURN_PACKS])
    return []


def _within_limit(batch: list[OwnPack]) -> list[OwnPack]:
    total = 0
    taken: list[OwnPack] = []
    for pack in batch:
        total += pack.size
        if total > _LARGEST_MERGE and len(taken) >= 2:
            break
        taken.append(pack)
    return taken


def _merge(folder: Path, sources: PackSources, packs: Sequence[OwnPack]) -> tuple[Sequence[PackSource], int]:
    """Write what is to be written; return the packs that may go now, and how many packs were made."""
    copied = _copied_before(sources.readable, packs)
    if copied or len(sources.readable) < 2:
        return copied, 0
    first = sources.readable[0]
    count, entries = sources.entries()
    stored = (entry.read() for entry in entries) if first.pack.level else with_deltas(by_path([*entries]))
    write_merged(folder, sources.readable, count, stored, level=first.pack.level + 1)
    return sources.readable, 1


def write_merged(
    folder: Path, sources: Sequence[PackSource], count: int, entries: Iterable[PackEntry], *, level: int
) -> None:
    """Write the pack that takes the place of others, durably; they are removed afterwards, if at all."""
    # Git may be writing its index of all packs just now, which will then name those that go: it has to find
    # what they held in the new one.
    newest = max(_seconds_of(one.pack) for one in sources)
    write_pack_files(folder, entries, count, level=level, mode=sources[0].mode, newest=newest)


def _seconds_of(pack: OwnPack) -> int:
    """Return a pack's time as Git compares it; one that Git has taken away meanwhile has none."""
    try:
        return int(pack.stem.with_name(f"{pack.stem.name}.pack").stat().st_mtime)
    except FileNotFoundError:
        return 0


def _copied_before(batch: Sequence[PackSource], packs: Sequence[OwnPack]) -> list[PackSource]:
    """Return packs whose objects are all in the newest pack of the next level: a killed merge left them."""
    above = [pack for pack in packs if batch and pack.level == batch[0].pack.level + 1]
    with PackSources(above[-1:]) as newest:
        return [source for source in batch if any(source.is_within(pack) for pack in newest.readable)]
