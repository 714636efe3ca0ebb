"""Own packs brought together as far as it pays: what is left are packs each twice as large as all before it.

Unlike the merge after turns it also looks for versions of one file that lie in several packs, and keeps only
the longest whole. A pack is copied a number of times that grows with the logarithm of the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitmem.pack_deltas import by_start, chain_heights, with_deltas
from gitmem.pack_files import OwnPack, drop_stale_index, own_packs
from gitmem.pack_maintenance import MergeReport, remove_merged, write_merged
from gitmem.pack_sources import PackSource, PackSources

#: A pack beyond this size is left as it is.
LARGEST_SOURCE: Final = 16 << 20
_FACTOR: Final = 2
#: The highest level that two hexadecimal digits of a pack's name can tell.
_HIGHEST: Final = 0xFF


@dataclass(frozen=True, slots=True)
class RollupLimits:
    """What one merge takes together at most, for the sake of time and memory.

    Attributes:
        size: bytes of packs.
        packs: number of them; each is mapped while it is read.
    """

    size: int = 48 << 20
    packs: int = 256


def roll_up(folder: Path, damaged: Sequence[str], limits: RollupLimits | None = None) -> MergeReport:
    """Merge one batch of own packs; call it under the maintenance lock, until it has nothing to do.

    Args:
        folder: `objects/pack`.
        damaged: names of packs that are left alone.
        limits: of the batch.

    Raises:
        OSError: the disk is full, for example; all packs are as they were.
    """
    drop_stale_index(folder)
    packs = [pack for pack in own_packs(folder) if pack.stem.name not in damaged]
    batch = next_rollup(packs, limits or RollupLimits())
    if not batch:
        return MergeReport()
    with PackSources(batch) as sources:
        if len(sources.readable) < 2:
            return MergeReport(damaged=tuple(sources.damaged))
        copied = _copied_before(sources.readable, packs)
        made = 0 if copied else _write(folder, sources)
        # Counted by what is there: git may have removed some of them meanwhile, a `.keep` may hold one.
        return MergeReport(remove_merged(folder, copied or sources.readable), made, tuple(sources.damaged))


def next_rollup(packs: Sequence[OwnPack], limits: RollupLimits) -> list[OwnPack]:
    """Return the packs that become one next, oldest first, or none.

    The smallest ones, up to the last that is not twice as large as all smaller ones together.
    """
    rising = sorted((pack for pack in packs if pack.size <= LARGEST_SOURCE), key=lambda pack: pack.size)
    total = taken = below = 0
    for count, pack in enumerate(rising[: limits.packs]):
        if count and pack.size < _FACTOR * below:
            taken = count + 1
        below += pack.size
        if below > limits.size and count:
            break
        total = count + 1
    batch = rising[: min(taken, total)]
    return sorted(batch, key=lambda pack: (pack.made, pack.stem.name)) if len(batch) > 1 else []


def _write(folder: Path, sources: PackSources) -> int:
    count, found = sources.entries()
    entries = [*found]
    bases = {entry.id: base for entry in entries if (base := entry.base()) is not None}
    level = min(max(one.pack.level for one in sources.readable) + 1, _HIGHEST)
    stored = with_deltas(by_start(entries), chain_heights(bases))
    write_merged(folder, sources.readable, count, stored, level=level)
    return 1


def _copied_before(batch: Sequence[PackSource], packs: Sequence[OwnPack]) -> list[PackSource]:
    """Return packs whose objects are all in the newest pack above them: a killed merge left them."""
    highest = max(one.pack.level for one in batch)
    with PackSources([pack for pack in packs if pack.level > highest][-1:]) as above:
        return [source for source in batch if any(source.is_within(pack) for pack in above.readable)]
