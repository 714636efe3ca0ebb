"""Maintenance: packs of turns, loose objects and loose tags brought together, beside everything else.

Each step leaves a whole repository behind: what goes is elsewhere before, durably. So a run may be killed at
any moment, and the next one goes on. No lock that a turn needs is ever held.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from gitmem.cat_file import run_git
from gitmem.durable_file import remove_file
from gitmem.errors import CorruptionError, HomeError, HomeLocked
from gitmem.file_lock import file_lock
from gitmem.git_objects import parse_tag
from gitmem.home_owner import HomeOwner
from gitmem.json_view import JsonView
from gitmem.layout import Layout
from gitmem.loose_packing import LoosePacking, LooseReport
from gitmem.maintenance_need import LastRun, write_last
from gitmem.pack_files import own_packs
from gitmem.pack_maintenance import MergeReport
from gitmem.pack_rollup import RollupLimits, next_rollup, roll_up
from gitmem.ref_packing import RefPacking, RefReport
from gitmem.repository import Repository

#: Seconds that a run takes, unless it is told otherwise.
SECONDS: Final = 300.0
#: Seconds for which a step waits while turns merge their packs.
_WAIT: Final = 10.0
_DEEPEST_TAG: Final = 10

Ended = Callable[[], bool]
GraphState = Literal["none", "kept", "removed", "not looked at"]


@dataclass(frozen=True, slots=True)
class MaintainOptions:
    """How a run goes.

    Attributes:
        seconds: after this time no further step is begun.
        dry_run: only say what would be done.
        pause: called between small steps; may sleep.
        progress: told what is being done.
        stopping: asked between small steps; once it says true, nothing further is begun.
    """

    seconds: float = SECONDS
    dry_run: bool = False
    pause: Callable[[], object] = lambda: None
    progress: Callable[[str], object] = lambda _: None
    stopping: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class MaintainReport(JsonView):
    """What a run did, or would do.

    Attributes:
        finished: whether all was done; else the time was over, and another run goes on.
        packs: of own packs: `before`, `after`, `merged`, `made`.
        loose: of loose objects: `found`, `packed`, `removed`, `packs`, `large`, `left`.
        tags: of loose tags: `found`, `packed`, `removed`, `clashing`.
        commit_graph: what became of Git's commit-graph.
        bytes: of the objects: `before`, `after`.
        damaged: packs and loose objects that do not read and were left alone.
        warnings: what was left for another time, and why.
    """

    dry_run: bool
    finished: bool
    packs: dict[str, int]
    loose: dict[str, int]
    tags: dict[str, int]
    commit_graph: GraphState
    bytes: dict[str, int]
    damaged: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Done:
    loose: LooseReport
    tags: RefReport
    merged: MergeReport
    finished: bool


class Maintenance:
    """Maintains the repository of a home.

    Args:
        repository: of the home.
        layout: where it lies.
        now: the wall clock, seconds since 1970.
        checkpoint: called with a name between any two steps; tests let it raise.
    """

    def __init__(
        self,
        repository: Repository,
        layout: Layout,
        *,
        now: Callable[[], float] = time.time,
        checkpoint: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._repository = repository
        self._layout = layout
        self._objects = layout.common_dir / "objects"
        self._folder = self._objects / "pack"
        self._now = now
        self._step = checkpoint
        self._warnings: list[str] = []

    def run(self, options: MaintainOptions) -> MaintainReport:
        """Maintain.

        Raises:
            HomeLocked: another process maintains this repository.
            HomeError: the repository is a partial clone.
            OSError: the disk is full or cannot be written; what was done by then stays.
        """
        self._check()
        is_over = _ender(options)
        size, packs = _size(self._objects), len(own_packs(self._folder))
        if options.dry_run:
            done = self._foresee(options, is_over)
            after = size, packs - done.merged.merged + done.merged.made
            return self._report(done, "not looked at", (size, packs), after, dry_run=True)
        with file_lock(self._layout.common_dir / "gitmem" / "maintain.lock", wait=0):
            done = self._work(options, is_over)
            options.progress("commit-graph")
            graph = check_commit_graph(self._layout)
        HomeOwner(self._layout, self._repository.config).hand_over()
        after = _size(self._objects), len(own_packs(self._folder))
        return self._report(done, graph, (size, packs), after)

    def _work(self, options: MaintainOptions, is_over: Ended) -> _Done:
        options.progress("loose objects")
        loose = self._loose_packing(options).run(is_over)
        options.progress("packs")
        merged, is_merged = self._merge(options, is_over)
        options.progress("tags")
        tags = self._pack_tags(options, is_over)
        done = _Done(loose, tags, merged, loose.finished and tags.finished and is_merged)
        if done.finished:
            last = LastRun(self._now(), loose.found - loose.removed, tags.found - tags.removed)
            write_last(self._layout, last)
        return done

    def _merge(self, options: MaintainOptions, is_over: Ended) -> tuple[MergeReport, bool]:
        """Merge packs batch by batch; between two the turns' own merges have their chance."""
        total = MergeReport()
        while not is_over():
            try:
                with file_lock(self._layout.maintenance_lock, wait=_WAIT):
                    done = roll_up(self._folder, total.damaged)
            except HomeLocked:
                self._warnings.append("another process kept merging packs")
                return total, False
            damaged = (*total.damaged, *done.damaged)
            total = MergeReport(total.merged + done.merged, total.made + done.made, damaged)
            self._step("merged")
            options.pause()
            if not done.merged and not done.damaged:
                return total, True
        return total, False

    def _pack_tags(self, options: MaintainOptions, is_over: Ended) -> RefReport:
        packing = self._ref_packing(options)
        try:
            return packing.run(is_over)
        except (HomeLocked, CorruptionError) as error:
            self._warnings.append(f"tags were not packed: {error.message}")
            return replace(packing.run(is_over, dry_run=True), packed=0)

    def _loose_packing(self, options: MaintainOptions) -> LoosePacking:
        return LoosePacking(self._repository, self._layout, pause=options.pause, checkpoint=self._step)

    def _ref_packing(self, options: MaintainOptions) -> RefPacking:
        return RefPacking(
            self._layout,
            self._peel,
            shared=self._repository.config("core.sharedRepository"),
            pause=options.pause,
            checkpoint=self._step,
        )

    def _peel(self, object_id: str) -> str | None:
        """Return what an annotated tag names in the end; None for anything else."""
        peeled: str | None = None
        for _ in range(_DEEPEST_TAG):
            kind, content = self._repository.read(peeled or object_id)
            if kind != "tag":
                return peeled
            peeled, _ = parse_tag(content)
        raise CorruptionError(f"the tag {object_id} names too many tags", object=object_id)

    def _foresee(self, options: MaintainOptions, is_over: Ended) -> _Done:
        loose = self._loose_packing(options).run(is_over, dry_run=True)
        tags = self._ref_packing(options).run(is_over, dry_run=True)
        batch = next_rollup(own_packs(self._folder), RollupLimits())
        return _Done(loose, tags, MergeReport(len(batch), 1 if batch else 0), loose.finished)

    def _report(
        self,
        done: _Done,
        graph: GraphState,
        before: tuple[int, int],
        after: tuple[int, int],
        *,
        dry_run: bool = False,
    ) -> MaintainReport:
        loose, tags, merged = done.loose, done.tags, done.merged
        return MaintainReport(
            dry_run=dry_run,
            finished=done.finished,
            packs={"before": before[1], "after": after[1], "merged": merged.merged, "made": merged.made},
            loose={
                "found": loose.found,
                "packed": loose.packed,
                "removed": loose.removed,
                "packs": loose.packs,
                "large": loose.large,
                "left": loose.found - (loose.packed if dry_run else loose.removed),
            },
            tags={
                "found": tags.found,
                "packed": tags.packed,
                "removed": tags.removed,
                "clashing": len(tags.clashing),
            },
            commit_graph=graph,
            bytes={"before": before[0], "after": after[0]},
            damaged=[*loose.damaged, *merged.damaged],
            warnings=self._warnings,
        )

    def _check(self) -> None:
        """Refuse where objects may be missing on purpose: what is packed here would hide which they are."""
        promised = any(self._folder.glob("*.promisor"))
        if promised or self._repository.config("extensions.partialClone"):
            raise HomeError(
                "this repository is a partial clone, whose objects are not all here",
                hint="Run `git maintenance run` in it, or clone it whole.",
            )


def _ender(options: MaintainOptions) -> Ended:
    until = time.monotonic() + options.seconds
    return lambda: options.stopping() or time.monotonic() > until


def check_commit_graph(layout: Layout) -> GraphState:
    """Remove a commit-graph that Git finds broken; Git, or nobody, writes one.

    Where Git is not installed it is left as it is.
    """
    info = layout.common_dir / "objects" / "info"
    chain = info / "commit-graphs"
    if not (info / "commit-graph").exists() and not (chain / "commit-graph-chain").exists():
        return "none"
    try:
        if run_git("--version") is None:
            return "not looked at"
        if run_git("--git-dir", str(layout.common_dir), "commit-graph", "verify") is not None:
            return "kept"
    except FileNotFoundError:
        return "not looked at"
    for path in (info / "commit-graph", chain / "commit-graph-chain", *chain.glob("*.graph")):
        remove_file(path)
    return "removed"


def _size(objects: Path) -> int:
    """Return the bytes on disk of all files below `objects/`."""
    total = 0
    for folder, _, names in os.walk(objects):  # passes over folders that Git removes meanwhile
        for name in names:
            with suppress(OSError):
                total += os.lstat(f"{folder}/{name}").st_blocks * 512
    return total
