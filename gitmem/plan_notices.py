"""Which work items were changed, for whoever brings their plans in line: said before the turn is on its line.

A process that is killed between the two leaves the notice, and the next one goes on with it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.durable_file import remove_file, sync_folder
from gitmem.layout import Layout
from gitmem.records import Event, is_name

#: It was created: its plan has to be made.
NEW: Final = "+"
#: It was given another plan.
WRITTEN: Final = "="
#: It has another objective, perhaps, or it ended.
CHANGED: Final = "~"
#: It could not be brought in line, which was told; it is tried again.
LEFT: Final = "?"
#: The first of those that were said of a work item counts.
_MARKS: Final = (NEW, WRITTEN, CHANGED, LEFT)
_NAME: Final = "plans"
#: Begins a line with the commit of the branch from which the notices behind it are.
_SINCE: Final = "@"


class PlanNotices:
    """The notices of one work tree.

    Args:
        layout: where they lie.
    """

    def __init__(self, layout: Layout) -> None:
        self._folder = layout.private
        self._taken: list[Path] = []
        self._since: dict[str, str] = {}

    def put(self, items: Mapping[str, str], head: str | None = None) -> None:
        """Say that work items were changed.

        Args:
            items: by id one of `NEW`, `WRITTEN`, `CHANGED` and `LEFT`.
            head: the commit that HEAD names.
        """
        lines = f"{_SINCE}{head or ''}\n" + "".join(f"{mark}{item}\n" for item, mark in items.items())
        while not self._append(lines):
            continue
        sync_folder(self._folder)

    def _append(self, lines: str) -> bool:
        """Write lines; False if somebody took the file meanwhile, perhaps before they were in it."""
        path = self._folder / _NAME
        with path.open("a", encoding="utf-8") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())  # the turn may be on its line for good before this is
            with suppress(FileNotFoundError):
                return os.path.samestat(path.stat(), os.fstat(file.fileno()))
        return False

    def take(self) -> dict[str, str]:
        """Return the work items that were changed, each with what was said of it; kept until `done`."""
        current = self._folder / _NAME
        if current.exists():  # under a new name: what was taken before and not done with stays
            current.replace(self._folder / f"{_NAME}.{secrets.token_hex(6)}")
        self._taken = sorted(self._folder.glob(f"{_NAME}.*"), key=lambda path: path.stat().st_mtime_ns)
        self._since.clear()
        found: dict[str, str] = {}
        for path in self._taken:
            since = ""
            for line in path.read_text("utf-8", "replace").split("\n"):
                if line[:1] == _SINCE:
                    since = line[1:]
                elif line[:1] in _MARKS and is_name(line[1:]):
                    found[line[1:]] = min(found.get(line[1:], LEFT), line[0], key=_MARKS.index)
                    self._since.setdefault(line[1:], since)
        return found

    def since(self, item: str) -> str | None:
        """Return the commit that HEAD named when the first notice of a work item was put; None if unknown."""
        return self._since.get(item) or None

    def exist(self) -> bool:
        """Say whether anything may have to be done."""
        return (self._folder / _NAME).exists() or any(self._folder.glob(f"{_NAME}.*"))

    def done(self) -> None:
        """Let go of what was taken."""
        for path in self._taken:
            remove_file(path)
        self._taken = []


def plan_mark(event: Event) -> str | None:
    """Return what an event means for the plan of its work item, None if nothing."""
    if event.kind != "work_item" or event.body["action"] == "pick":
        return None
    if event.body["action"] == "create":
        return NEW
    return WRITTEN if event.body.get("plan") is not None else CHANGED
