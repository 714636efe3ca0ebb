"""An index that knows nothing but the hash of each file, for tests of what the watcher keeps right.

Run as a program it watches: `hash_index.py HOME OUT [SECONDS]`. OUT takes the index after each round, and a
round takes SECONDS. It ends with 0 on SIGTERM.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Self

from gitmem.backends.watchdog_changes import OpenTap, WatchdogChanges
from gitmem.changes import Hints
from gitmem.git_state import operation_in_progress
from gitmem.layout import MANAGED_FOLDERS, Layout, find_layout
from gitmem.watch import Watcher, stop_on_signals
from gitmem.watch_parts import Pace, WatchParts
from gitmem.watched import is_litter

#: A file that begins like this cannot be indexed.
BAD = b"BAD"


@dataclass(frozen=True)
class Report:
    """One round."""

    indexed: int
    quarantined: tuple[str, ...]
    pending: int = 0
    reasons: tuple[str, ...] = ()
    busy: bool = False


@dataclass
class HashIndex:
    """The index of one home.

    Attributes:
        files: path and SHA-256 of each file.
        rounds: what each round was told.
        writes: rounds after which the index was another.
        before: called in each round before it looks; may sleep or raise.
    """

    root: Path
    files: dict[str, str] = field(default_factory=dict)
    rounds: list[Hints] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    writes: int = 0
    before: Callable[[Hints], None] = lambda _: None
    out: Path | None = None

    def catch_up(self, hints: Hints) -> Report:
        """Make the index equal to the files."""
        self.before(hints)
        found, bad = hash_files(self.root)
        changed = len(found.items() ^ self.files.items())
        self.files = found
        self.rounds.append(hints)
        self.times.append(time.monotonic())
        self.writes += bool(changed)
        if self.out:
            beside = self.out.with_suffix(".new")
            beside.write_text(json.dumps({"files": found, "rounds": len(self.rounds), "writes": self.writes}))
            beside.replace(self.out)
        return Report(changed, tuple(bad))

    def catalog(self) -> str:
        """List the notes."""
        return "".join(f"{path}\n" for path in sorted(self.files) if path.startswith("notes/"))

    def parts(self, layout: Layout, open_tap: OpenTap | None = None) -> WatchParts:
        """Return what a watcher drives."""
        return WatchParts(
            layout=layout,
            changes=WatchdogChanges(layout, open_tap=open_tap),
            catch_up=self.catch_up,
            is_index_behind=lambda: False,
            merge=lambda _: None,
            render_catalog=self.catalog,
            settle_pending=lambda: None,
            apply_spool=lambda: None,
            operation=partial(operation_in_progress, layout),
            close=lambda: None,
        )


def hash_files(root: Path) -> tuple[dict[str, str], list[str]]:
    """Return path and hash of each managed file, and the paths of those that cannot be indexed."""
    found, bad = {}, []
    for name in MANAGED_FOLDERS:
        for parent, folders, files in os.walk(root / name):
            folders[:] = [folder for folder in folders if not is_litter(folder)]
            for file in files:
                path = Path(parent) / file
                shown = path.relative_to(root).as_posix()
                if is_litter(file):
                    continue
                try:
                    content = path.read_bytes()
                except OSError:
                    continue
                if content.startswith(BAD):
                    bad.append(shown)
                else:
                    found[shown] = hashlib.sha256(content).hexdigest()
    return found, bad


class Watching:
    """A watcher in a thread of this process; a context manager."""

    def __init__(self, root: Path, pace: Pace | None = None, open_tap: OpenTap | None = None) -> None:
        self.root = root
        self.index = HashIndex(root)
        self.failure: BaseException | None = None
        self.watcher = Watcher(lambda: self.index.parts(find_layout(root), open_tap), pace=pace or Pace())
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        """Start, and wait for the first round."""
        self._thread.start()
        self.until(lambda: bool(self.index.rounds))
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and hand on what went wrong."""
        self.watcher.stop()
        self._thread.join(20)
        assert not self._thread.is_alive()
        if self.failure:
            raise self.failure

    def until(self, holds: Callable[[], bool], seconds: float = 10.0) -> float:
        """Wait until something holds; return how long it took."""
        began = time.monotonic()
        while not holds():
            assert time.monotonic() - began < seconds, f"did not come to hold within {seconds} s"
            if self.failure:
                raise self.failure
            time.sleep(0.002)
        return time.monotonic() - began

    def until_right(self, seconds: float = 10.0) -> float:
        """Wait until the index equals the files."""
        return self.until(lambda: self.index.files == hash_files(self.root)[0], seconds)

    def settle(self, seconds: float = 0.5) -> None:
        """Wait until no round has come for a while."""
        count = -1
        while count != len(self.index.rounds):
            count = len(self.index.rounds)
            time.sleep(seconds)

    def _run(self) -> None:
        try:
            self.watcher.run()
        except BaseException as error:  # noqa: BLE001 - handed on by `__exit__`
            self.failure = error


def main(root: str, out: str, seconds: str = "0") -> int:
    """Watch until a signal comes."""
    index = HashIndex(Path(root), out=Path(out))
    begun = Path(out).with_suffix(".begun")

    def slowly(_: Hints) -> None:
        begun.touch()
        time.sleep(float(seconds))

    index.before = slowly
    watcher = Watcher(lambda: index.parts(find_layout(Path(root))), pace=replace(Pace(), heartbeat=1.0))
    with stop_on_signals(watcher.stop):
        watcher.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
