"""One screen on a home: is all well, and if not, what and why."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitmem.errors import GitmemError
from gitmem.layout import CONFLICTS, Layout
from gitmem.ledger import Ledger, Segment
from gitmem.ledger_format import is_ahead
from gitmem.remote_standing import RemoteStanding
from gitmem.repository import Repository

#: Exit codes of `status --check`, the worst last.
BUSY, CONFLICT, CORRUPT = 11, 12, 20


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that wants a person's eye.

    Attributes:
        id: a short name of its kind.
        exit_code: what `--check` makes of it: 0 for a hint, 11 pending, 12 conflict, 20 damage.
        message: a sentence.
        hint: what to do.
    """

    id: str
    exit_code: int
    message: str
    hint: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a home."""

    home: Mapping[str, Any]
    git: Mapping[str, Any]
    turns: Mapping[str, Any]
    pending: Sequence[Mapping[str, Any]]
    index: Mapping[str, Any]
    watch: Mapping[str, Any]
    stores: Sequence[Mapping[str, Any]]
    conflicts: Sequence[Mapping[str, Any]]
    sessions: Sequence[Mapping[str, Any]]
    proposals: Sequence[Mapping[str, Any]]
    remotes: Sequence[RemoteStanding]
    quarantine: Sequence[Mapping[str, Any]]
    findings: Sequence[Finding]

    @property
    def exit_code(self) -> int:
        """The worst of the findings."""
        return max((finding.exit_code for finding in self.findings), default=0)


def turn_facts(
    repository: Repository, ledger: Ledger, own_ref: str | None, spool: Path, now: float
) -> dict[str, Any]:
    """Return where the turn lines stand, what waits in the spool, and what is wrong with them."""
    names = [path.name for path in spool.iterdir()] if spool.is_dir() else []
    waiting = [name for name in names if name.endswith(".turn")]
    tips, astray = ledger.tips(), ledger.lines.astray()
    ahead = _clocks_ahead(ledger, now)  # reads segments: what cannot be read is known behind it
    return {
        "branch": own_ref.removeprefix("refs/heads/") if own_ref else "",
        "tip": repository.read_ref(own_ref) if own_ref else None,
        "lines": [{"id": ref.removeprefix("refs/"), "tip": tip} for ref, tip in tips.items()],
        "spooled": len(waiting),
        "open": len([name for name in names if name.endswith((".open", ".held"))]),
        "oldest_spooled_seconds": _oldest(spool, waiting),
        "ignored_lines": [{"id": ref, "home": home} for ref, home in ledger.lines.foreign().items()],
        "clocks_ahead": ahead,
        "astray": None if astray is None else astray.reason,
        "damaged": [{"id": name, "reason": reason} for name, reason in ledger.damaged().items()],
    }


def conflict_copies(layout: Layout) -> list[dict[str, Any]]:
    """List the texts that lost a merge and wait for the operator."""
    folder = layout.root / CONFLICTS
    found = []
    for parent, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        for name in sorted(names):
            copy = Path(parent) / name
            if not copy.is_symlink():
                relative = copy.relative_to(layout.root).as_posix()
                found.append(
                    {"id": relative, "path": relative.split("/", 1)[1].rpartition("/")[0], "copy": relative}
                )
    return found


def _clocks_ahead(ledger: Ledger, now: float) -> list[dict[str, Any]]:
    """Return the writers whose last lines are dated later than any clock should say now."""
    newest: dict[str, Segment] = {}
    for segment in ledger.segments().values():
        if segment.number > (newest[segment.writer].number if segment.writer in newest else 0):
            newest[segment.writer] = segment
    rows = []
    for writer, segment in sorted(newest.items()):
        with suppress(GitmemError):
            clock = max((line.clock for line in ledger.segment_lines(segment)), default="")
            if clock and is_ahead(clock, int(now * 1000)):
                rows.append({"id": writer, "ahead_seconds": round(int(clock[:12], 16) / 1000 - now)})
    return rows


def _oldest(spool: Path, names: Sequence[str]) -> float | None:
    ages = []
    for name in names:
        try:
            ages.append(time.time() - (spool / name).stat().st_mtime)
        except FileNotFoundError:
            continue
    return round(max(ages), 1) if ages else None
