"""The plan of a work item as a file that people edit: where it is, what it holds, what has to be put right.

Front matter holds the work item's id and objective and is gitmem's; an edit of these by hand is put back. The
body is anybody's. That a work item has ended shows in the folder.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitmem.authored_text import Problem, decode_text
from gitmem.branch_changes import PathChange
from gitmem.errors import RefusedError
from gitmem.front_matter import read_front_matter
from gitmem.front_matter_edit import format_block, quote_secrets, set_field
from gitmem.git_objects import hash_object
from gitmem.tree_files import Skipped, read_managed
from gitmem.work_item import WorkItem
from gitmem.work_paths import DONE, FOLDER, PLAN, done_path, is_done, is_plan_path, open_path, short_id

#: Characters of a plan that a listing shows.
PREVIEW_CHARS: Final = 1600
#: What a warning says of an objective that is not the work item's.
OBJECTIVE: Final = "objective was put back"


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan as it was read.

    Attributes:
        text: with its front matter.
        body: what people and the agent wrote.
        id, objective: what the front matter says; None where it says nothing.
    """

    path: str
    content: bytes
    text: str
    body: str
    id: str | None
    objective: str | None

    @property
    def preview(self) -> str:
        """The beginning of the body."""
        return self.body.strip()[:PREVIEW_CHARS]


@dataclass(frozen=True, slots=True)
class PlanMove:
    """What has to be done so that a plan is where and what it should be.

    Attributes:
        action: `add`, `edit`, `finish` or `reopen`.
        path: where it is behind that.
        changes: files to write; none where all is well.
        warnings: what an operator should know: what was put back, or what cannot be done.
        is_left: it cannot be done now, and may be later.
    """

    action: str
    path: str
    changes: tuple[PathChange, ...] = ()
    warnings: tuple[str, ...] = ()
    is_left: bool = False


def parse_plan(path: str, content: bytes) -> PlanFile | Skipped:
    """Return what a plan's file holds, or why it cannot be read."""
    text = decode_text(content)
    if isinstance(text, Problem):
        return Skipped(path, text.reason, text.line)
    front = read_front_matter(text)
    objective = front.fields.get("objective")
    said = objective.node.text if objective is not None else None
    return PlanFile(path, content, text, text[front.body_start :], front.id, said)


class PlanFiles:
    """The plans of a home, as they are on disk.

    Args:
        root: the work tree.
        is_item: says whether something is the id of a work item.
        is_forgotten: says of a blob's id whether it was forgotten; git may have brought it back.
    """

    def __init__(
        self,
        root: Path,
        is_item: Callable[[str], bool],
        is_forgotten: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._root = root
        self._is_item = is_item
        self._is_forgotten = is_forgotten

    def find(self, item: WorkItem) -> PlanFile | Skipped | None:
        """Return a work item's plan; why it cannot be read; None where there is none."""
        if item.plan_path is None:
            return None
        others = []
        for path in self._places(item.id, item.plan_path):
            one = self.read(path)
            if isinstance(one, PlanFile) and one.id == item.id:
                return one
            others.append(one)
        # One whose id was edited away is still known by its folder, if it is nobody else's.
        return next((one for one in others if one is not None and not self._is_others(one)), None)

    def _places(self, item: str, path: str) -> Iterator[str]:
        known = {path, done_path(path)}
        yield from (path, done_path(path))
        yield from (one for one in self._called(item) if one not in known)

    def _is_others(self, one: PlanFile | Skipped) -> bool:
        return isinstance(one, PlanFile) and one.id is not None and self._is_item(one.id)

    def read(self, path: str) -> PlanFile | Skipped | None:
        """Read one plan; why it cannot be; None where there is no file."""
        file = read_managed(self._root, path)
        if file is None or isinstance(file, Skipped):
            return file
        if self._is_forgotten(hash_object("blob", file.content)):
            return Skipped(path, "it was forgotten")
        return parse_plan(path, file.content)

    def owner(self, path: str, items: Collection[str]) -> str | None:
        """Return the id of the work item whose plan a path is, if it is a plan's.

        Args:
            path: of a file.
            items: ids of work items.
        """
        if not is_plan_path(path):
            return None
        found = self.read(path)
        if isinstance(found, PlanFile) and found.id in items:
            return found.id
        digits = path.split("/")[-2].rpartition("-")[2]
        named = [item for item in items if short_id(item) == digits]
        return named[0] if len(named) == 1 else None

    def settle(self, item: WorkItem, *, body: str | None = None, is_new: bool = False) -> PlanMove:
        """Return what has to be done for a work item's plan.

        Args:
            item: as it is.
            body: another text for it; None leaves what is there.
            is_new: without a file, one is made; else a file that is not there is missed.
        """
        found = self.find(item)
        if isinstance(found, Skipped):
            told = (f"{found.path} is left as it is: {found.reason}",)
            return PlanMove("edit", found.path, warnings=told, is_left=True)
        if found is None:
            return self._absent(item, body or "", is_new=is_new)
        where = open_path(found.path) if item.is_open else done_path(found.path)
        text, warnings = _put_right(found, item, body)
        content = text.encode("utf-8", "surrogateescape")
        base = hash_object("blob", found.content)
        is_left = where != found.path and read_managed(self._root, where) is not None
        if is_left:
            warnings.append(f"{found.path} is not moved: {where} is taken")
            where = found.path
        if where == found.path:
            edit = (PathChange(where, base, content),) if content != found.content else ()
            return PlanMove("edit", where, edit, tuple(warnings), is_left)
        action = "finish" if is_done(where) else "reopen"
        move = (PathChange(found.path, base, None), PathChange(where, None, content))
        return PlanMove(action, where, move, tuple(warnings))

    def _absent(self, item: WorkItem, body: str, *, is_new: bool) -> PlanMove:
        if item.plan_path is None:
            return PlanMove("add", "")
        if not is_new or not item.is_open:
            where = item.plan_path if item.is_open else done_path(item.plan_path)
            return PlanMove("edit", where, warnings=(f"the plan of {item.id} is gone: {where}",))
        if read_managed(self._root, item.plan_path) is not None:
            return PlanMove("add", "", warnings=(f"no plan is made of {item.id}: {item.plan_path} is taken",))
        text = format_block({"id": item.id, "objective": item.objective}) + plan_body(body)
        return PlanMove("add", item.plan_path, (PathChange(item.plan_path, None, text.encode()),))

    def _called(self, item: str) -> Iterator[str]:
        """Yield the paths of plans whose folder ends in a work item's digits."""
        ending = f"-{short_id(item)}"
        for folder in (FOLDER, DONE):
            with suppress(OSError):
                names = [path.name for path in (self._root / folder).iterdir()]
                yield from (f"{folder}/{name}/{PLAN}" for name in sorted(names) if name.endswith(ending))


def _put_right(found: PlanFile, item: WorkItem, body: str | None) -> tuple[str, list[str]]:
    """Return a plan's text with its front matter as it should be, and what was put back."""
    head = found.text[: len(found.text) - len(found.body)]
    text = found.text if body is None else head + plan_body(body)
    warnings = []
    for name, said, wanted in (("id", found.id, item.id), ("objective", found.objective, item.objective)):
        if said == wanted:
            continue
        try:
            text = set_field(text, name, wanted)
        except RefusedError as error:
            warnings.append(f"{found.path}: {error.message}")
            break
        how = "; it is changed with `gitmem work update`" if name == "objective" else ""
        warnings.append(f"{found.path}: {name} was put back{how}")
    return text, warnings


def plan_body(text: str) -> str:
    """Return a plan as it stands behind the front matter of its file."""
    if not text.strip():
        return ""
    return "\n" + quote_secrets(text.strip("\n")) + "\n"
