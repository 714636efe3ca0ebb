"""Loose objects that history needs become packs; a loose file goes once its pack is durable and in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitmem.errors import CorruptionError
from gitmem.layout import Layout
from gitmem.loose_objects import LooseObject, loose_head, loose_ids, read_loose, remove_loose
from gitmem.loose_reach import LooseReach
from gitmem.pack_deltas import by_start, with_deltas
from gitmem.pack_files import keep_file, own_packs, write_pack_files
from gitmem.pack_format import index_holds
from gitmem.pack_sources import PackSources
from gitmem.repository import Repository

#: A pack of objects that are deltas already, to the merge of packs.
_LEVEL: Final = 1
#: What one pack takes: so much is in memory at once.
_BATCH: Final = 4096
_BATCH_BYTES: Final = 32 << 20
#: A larger object stays loose; `git gc` streams it.
_LARGEST: Final = 16 << 20
#: Own packs that may have been written by a run that was killed before it removed the loose files.
_RECENT: Final = 4
_CHUNK: Final = 256


@dataclass(frozen=True, slots=True)
class LooseReport:
    """What was done with loose objects.

    Attributes:
        found: how many there were.
        packed: how many went into packs.
        removed: how many loose files went.
        packs: how many packs were made.
        large: how many were left loose because of their size.
        damaged: ids of those that do not read.
        finished: whether all was looked at within the time.
    """

    found: int = 0
    packed: int = 0
    removed: int = 0
    packs: int = 0
    large: int = 0
    damaged: tuple[str, ...] = ()
    finished: bool = True


class LoosePacking:
    """Packs loose objects.

    Args:
        repository: whose objects.
        layout: where they lie.
        pause: called between small steps.
        checkpoint: called with a name between any two steps; tests let it raise.
    """

    def __init__(
        self,
        repository: Repository,
        layout: Layout,
        *,
        pause: Callable[[], object],
        checkpoint: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._repository = repository
        self._layout = layout
        self._objects = layout.common_dir / "objects"
        self._folder = self._objects / "pack"
        self._pause = pause
        self._step = checkpoint

    def run(self, is_over: Callable[[], bool], *, dry_run: bool = False) -> LooseReport:
        """Pack what refs reach, until the time is over.

        Raises:
            OSError: the disk is full, for example; every object is where it was, or in a durable pack.
        """
        loose = set(loose_ids(self._objects))
        if not loose:
            return LooseReport()
        reach = LooseReach(self._repository, self._layout, loose).find(is_over)
        wanted, large = self._of_size(reach.ids)
        if dry_run:
            return LooseReport(len(loose), len(wanted), 0, 0, large, reach.damaged, finished=reach.finished)
        removed = self._remove_packed(wanted)
        packed = packs = 0
        damaged = list(reach.damaged)
        finished = reach.finished
        # The oldest first: versions of one file come together in one pack.
        for batch in self._batches(sorted(wanted, key=lambda one: (wanted[one], one)), damaged):
            removed += self._pack(batch)
            packed, packs = packed + len(batch), packs + 1
            if is_over():
                finished = False
                break
        return LooseReport(
            len(loose), packed, removed, packs, large, tuple(sorted({*damaged})), finished=finished
        )

    def _of_size(self, ids: frozenset[str]) -> tuple[dict[str, float], int]:
        """Return what is small enough, with the time of its file, and how many are not."""
        wanted: dict[str, float] = {}
        large = 0
        for one in ids:
            with suppress(FileNotFoundError, CorruptionError):
                if loose_head(self._objects, one)[1] > _LARGEST:
                    large += 1
                else:
                    wanted[one] = (self._objects / one[:2] / one[2:]).stat().st_mtime
        return wanted, large

    def _remove_packed(self, wanted: dict[str, float]) -> int:
        """Remove what a pack of gitmem's has already: a run was killed before it came to that."""
        removed = 0
        with PackSources(own_packs(self._folder)[-_RECENT:]) as sources:
            for source in sources.readable:
                held = [one for one in wanted if index_holds(source.index, bytes.fromhex(one))]
                for one in held:
                    del wanted[one]
                removed += self._remove(source.pack.stem, held)
        return removed

    def _batches(self, ids: Sequence[str], damaged: list[str]) -> Iterator[list[LooseObject]]:
        batch: list[LooseObject] = []
        size = 0
        for one in ids:
            with suppress(FileNotFoundError):  # git has packed or pruned it meanwhile
                try:
                    item = read_loose(self._objects, one)
                except CorruptionError:
                    damaged.append(one)
                    continue
                batch.append(item)
                size += len(item.content)
            if len(batch) >= _BATCH or size >= _BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _pack(self, batch: Sequence[LooseObject]) -> int:
        """Write one pack and remove the loose files; its `.keep` is held until they are gone."""
        stem = write_pack_files(
            self._folder,
            with_deltas(by_start(batch)),
            len(batch),
            level=_LEVEL,
            keep=keep_file(self._layout.common_dir / "gitmem" / "keep"),
            shared=self._repository.config("core.sharedRepository"),
        )
        try:
            self._step("packed")
            return self._remove(stem, [item.id for item in batch])
        finally:
            stem.with_suffix(".keep").unlink(missing_ok=True)

    def _remove(self, stem: Path, ids: Sequence[str]) -> int:
        removed = 0
        for first in range(0, len(ids), _CHUNK):
            if not all(stem.with_suffix(ending).exists() for ending in (".idx", ".pack")):
                break
            removed += remove_loose(self._objects, ids[first : first + _CHUNK])
            self._step("removed")
            self._pause()
        return removed
