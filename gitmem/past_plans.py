"""The plans of work items as they were at an earlier moment of the operator's branch."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gitmem.plan_files import PlanFile, parse_plan
from gitmem.repository import EXECUTABLE_MODE, FILE_MODE, TREE_MODE, ObjectReader, read_path
from gitmem.tree_files import MAX_FILE, Skipped
from gitmem.work_item import WorkItem
from gitmem.work_paths import DONE, FOLDER, PLAN, done_path, short_id


class PastPlans:
    """The plans in one tree.

    Args:
        objects: of the repository.
        tree: of a commit of the operator's branch; None where there was none yet.
        is_forgotten: says of a blob's id whether it was forgotten since.
    """

    def __init__(self, objects: ObjectReader, tree: str | None, is_forgotten: Callable[[str], bool]) -> None:
        self._objects = objects
        self._tree = tree
        self._is_forgotten = is_forgotten

    def find(self, item: WorkItem) -> PlanFile | Skipped | None:
        """Return a work item's plan; why it cannot be read; None where there was none."""
        if item.plan_path is None:
            return None
        named = dict.fromkeys((item.plan_path, done_path(item.plan_path), *self._called(item.id)))
        found = [one for one in map(self._read, named) if one is not None]
        own = next((one for one in found if isinstance(one, PlanFile) and one.id == item.id), None)
        return own or next((one for one in found if isinstance(one, Skipped) or one.id is None), None)

    def _read(self, path: str) -> PlanFile | Skipped | None:
        entry = read_path(self._objects, self._tree, path) if self._tree else None
        if entry is None or entry.mode not in (FILE_MODE, EXECUTABLE_MODE):
            return None
        if self._is_forgotten(entry.id):
            return Skipped(path, "it was forgotten")
        content = self._objects.read(entry.id)[1]
        return Skipped(path, "it is too large") if len(content) > MAX_FILE else parse_plan(path, content)

    def _called(self, item: str) -> Iterator[str]:
        """Yield the paths of plans whose folder ends in a work item's digits: a plan may be moved by hand."""
        for folder in (FOLDER, DONE):
            entry = read_path(self._objects, self._tree, folder) if self._tree else None
            for one in self._objects.read_tree(entry.id) if entry and entry.mode == TREE_MODE else ():
                if one.name.endswith(f"-{short_id(item)}"):
                    yield f"{folder}/{one.name}/{PLAN}"
