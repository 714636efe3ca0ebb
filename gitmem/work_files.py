"""Plans of work items as they are written: on the operator's branch, with a record in the ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gitmem.authoring import Authoring, Provenance
from gitmem.branch_changes import PathChange
from gitmem.errors import GitmemError, NotFound
from gitmem.plan_files import OBJECTIVE, PlanFile, PlanFiles, PlanMove
from gitmem.plan_notices import NEW, WRITTEN, PlanNotices
from gitmem.subjects import work_subject
from gitmem.work_item import WorkItem
from gitmem.work_state import WorkReader, WorkState


class WorkFiles:
    """Keeps the plans in line with their work items.

    Args:
        plans: the files.
        notices: which of them may be out of line.
        reader: the work items.
        authoring: commits and records.
    """

    def __init__(
        self,
        plans: PlanFiles,
        notices: PlanNotices,
        reader: WorkReader,
        authoring: Callable[[], Authoring],
    ) -> None:
        self.plans = plans
        self._notices = notices
        self._reader = reader
        self._authoring = authoring
        self._is_settling = False

    def settle(self) -> list[str]:
        """Bring in line the plans of all work items that were changed; return what people should know."""
        if self._is_settling or not self._notices.exist():
            return []
        self._is_settling = True
        try:
            state = self._reader.state()
            warnings: list[str] = []
            for name, mark in self._notices.take().items():
                item = state.items.get(name)
                if item is not None:
                    warnings += self._settle(item, state, mark)
            self._notices.done()
        finally:
            self._is_settling = False
        return warnings

    def moves(self, item: str) -> Sequence[PathChange]:
        """Return the changes that bring the plan of a work item that ended where it belongs; once done, none.

        They can be part of another write, as of that of its episode.
        """
        found = self._reader.state().items.get(item)
        return self.plans.settle(found).changes if found is not None and not found.is_open else ()

    def path_of(self, item: str) -> str:
        """Return where the plan of a work item is.

        Raises:
            NotFound: it has none, or none any more.
        """
        found = self.plans.find(self._reader.state().items[item])
        if found is None:
            raise NotFound(f"work item {item} has no plan", hint="Give it one: gitmem work update --plan")
        return found.path

    def put_back(self, paths: Sequence[str]) -> list[str]:
        """Put front matter back that was edited by hand; return what was done.

        Args:
            paths: files that were edited.
        """
        state = self._reader.state()
        items = list(state.items)
        named = (self.plans.owner(path, items) for path in paths)
        warnings: list[str] = []
        for name in dict.fromkeys(name for name in named if name is not None):
            warnings += self._write(state.items[name], self.plans.settle(state.items[name]))
        return warnings

    def _settle(self, item: WorkItem, state: WorkState, mark: str) -> list[str]:
        found = self.plans.find(item)
        body = state.plan_text(item.id) if mark in (NEW, WRITTEN) else None
        if mark == NEW and isinstance(found, PlanFile):
            body = None  # it was made before, and somebody may have written in it since
        move = self.plans.settle(item, body=body, is_new=mark == NEW)
        former = found.objective if isinstance(found, PlanFile) and move.warnings else None
        if former is not None and state.had_objective(item.id, former):
            # Nobody edited it by hand: the work item has another one by now.
            move = replace(move, warnings=tuple(one for one in move.warnings if OBJECTIVE not in one))
        return self._write(item, move)

    def _write(self, item: WorkItem, move: PlanMove) -> list[str]:
        warnings = list(move.warnings)
        if not move.changes:
            return warnings
        try:
            reply = self._authoring().write(
                move.changes,
                kind="work",
                action=move.action,
                subject=work_subject(move.action, move.path),
                source_ref=item.source_ref,
                by=Provenance(session=item.session),
            )
        except (GitmemError, OSError) as error:
            return [*warnings, f"{move.path}: {error}"]
        return [*warnings, f"{move.path}: {reply.reason}"] if reply.reason else warnings
