"""When maintenance is due, and what the last one left because it had to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from gitmem.durable_file import write_file
from gitmem.json_view import JsonView
from gitmem.layout import Layout
from gitmem.loose_objects import loose_ids
from gitmem.pack_files import own_packs
from gitmem.pack_rollup import LARGEST_SOURCE
from gitmem.ref_packing import count_loose_tags

#: Loose objects, own packs and loose tags from which maintenance is worth its time. Git's own limits are
#: 6,700 loose objects and 50 packs; what turns leave by themselves is at most 49.
LOOSE: Final = 2000
PACKS: Final = 64
TAGS: Final = 2000
#: Seconds between two runs that the watcher starts.
REST: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Need(JsonView):
    """What there is to be maintained, counted up to a little above the limits.

    Attributes:
        loose: loose objects beyond those that the last run had to leave.
        packs: own packs that are small enough to be merged.
        tags: loose tags beyond those that the last run had to leave.
    """

    loose: int
    packs: int
    tags: int

    @property
    def reasons(self) -> list[str]:
        """Why maintenance is due; empty while it is not."""
        counts = (
            (self.loose, LOOSE, "loose objects"),
            (self.packs, PACKS, "packs"),
            (self.tags, TAGS, "loose tags"),
        )
        return [f"more than {limit} {what}" for count, limit, what in counts if count > limit]


@dataclass(frozen=True, slots=True)
class LastRun:
    """What is remembered of the last run.

    Attributes:
        at: when it ended, seconds since 1970.
        loose: loose objects that it left.
        tags: loose tags that it left.
    """

    at: float = 0.0
    loose: int = 0
    tags: int = 0


def measure_need(layout: Layout) -> Need:
    """Count what there is to be maintained; costs a few milliseconds."""
    last = read_last(layout)
    objects = layout.common_dir / "objects"
    most = LOOSE + last.loose + 1
    loose = sum(1 for _, _ in zip(range(most), loose_ids(objects), strict=False))
    packs = sum(pack.size <= LARGEST_SOURCE for pack in own_packs(objects / "pack"))
    tags = count_loose_tags(layout.common_dir, TAGS + last.tags + 1)
    return Need(max(loose - last.loose, 0), packs, max(tags - last.tags, 0))


def is_due(layout: Layout, now: float) -> bool:
    """Say whether the watcher starts a run: there is enough to do, and the last one was a while ago."""
    return not 0 <= now - read_last(layout).at < REST and bool(measure_need(layout).reasons)


def read_last(layout: Layout) -> LastRun:
    """Return what is remembered of the last run."""
    with suppress(OSError, ValueError, TypeError):
        row: Mapping[str, Any] = json.loads(_file(layout).read_bytes())
        return LastRun(float(row["at"]), int(row["loose"]), int(row["tags"]))
    return LastRun()


def write_last(layout: Layout, last: LastRun) -> None:
    """Remember a run; it is of no use after a crash."""
    write_file(_file(layout), json.dumps(asdict(last)).encode() + b"\n", durable=False)


def _file(layout: Layout) -> Path:
    return layout.common_dir / "gitmem" / "maintenance.json"
