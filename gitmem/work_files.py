"""Plans of work items as they are written: on the operator's branch, with a record in the ledger."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gitmem.authoring import Authoring, Provenance
from gitmem.branch_changes import PathChange
from gitmem.errors import GitmemError, NotFound
from gitmem.plan_files import OBJECTIVE, PlanFile, PlanFiles, PlanMove, parse_plan, plan_body
from gitmem.plan_notices import CHANGED, LEFT, NEW, WRITTEN, PlanNotices
from gitmem.plan_sight import PlanSight
from gitmem.subjects import work_subject
from gitmem.work_item import WorkItem
from gitmem.work_state import WorkReader, WorkState

#: Plans that are put back at once, each with a commit; the others follow with the next turns.
MOST_AT_ONCE: Final = 20
#: Notices of plans that were not yet told to be left; of the others people know.
_TOLD: Final = frozenset({NEW, WRITTEN, CHANGED})


@dataclass(frozen=True, slots=True)
class _Written:
    """What became of a plan.

    Attributes:
        warnings: what people should know.
        again: the notice under which it is tried again; None where all is done.
    """

    warnings: Sequence[str] = ()
    again: str | None = None


class WorkFiles:
    """Keeps the plans in line with their work items.

    Args:
        plans: the files.
        notices: which of them may be out of line.
        sight: which of them people committed.
        reader: the work items.
        authoring: commits and records.
        waiting: returns the ended work items whose episode is not written yet; their plans go with it.
    """

    def __init__(
        self,
        plans: PlanFiles,
        *,
        notices: PlanNotices,
        sight: PlanSight,
        reader: WorkReader,
        authoring: Callable[[], Authoring],
        waiting: Callable[[], Collection[str]],
    ) -> None:
        self.plans = plans
        self._notices = notices
        self._sight = sight
        self._reader = reader
        self._authoring = authoring
        self._waiting = waiting
        self._gone_along: dict[str, tuple[str, ...]] = {}
        self._left: dict[str, tuple[str, ...]] = {}

    def settle(self, *, is_looking: bool = True) -> list[str]:
        """Bring in line the plans of all work items that were changed; return what people should know.

        Args:
            is_looking: those, too, whose files people committed.
        """
        warnings = self._settle_noticed() if self._notices.exist() else []
        if is_looking and self._sight.is_changed():
            warnings += self._settle_seen()
        return warnings

    def left(self) -> list[str]:
        """Return what keeps plans out of line, as far as it was seen since this home was opened."""
        return [told for warnings in self._left.values() for told in warnings]

    def moves(self, item: str) -> Sequence[PathChange]:
        """Return the changes that bring the plan of a work item that ended where it belongs; once done, none.

        They can be part of another write, as of that of its episode.
        """
        state = self._reader.state()
        found = state.items.get(item)
        if found is None or found.is_open:
            return ()
        move = self._move(found, state)
        if move.changes:
            self._gone_along[item] = move.warnings  # they are told once it is done
        return move.changes

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
        named = (self.plans.owner(path, state.items) for path in paths)
        warnings: list[str] = []
        for name in dict.fromkeys(name for name in named if name is not None):
            move = self.plans.settle(state.items[name])
            why, _ = self._write(state.items[name], move)
            warnings += [*move.warnings, *([why] if why else [])]
        return warnings

    def _settle_noticed(self) -> list[str]:
        state = self._reader.state()
        warnings: list[str] = []
        again: dict[str, str] = {}
        for name, mark in self._notices.take().items():
            item = state.items.get(name)
            if item is None:
                continue
            done = self._settle(item, state, mark)
            warnings += done.warnings
            if done.again is not None:
                again[name] = done.again
        if again:
            self._notices.put(again)
        self._notices.done()
        return warnings

    def _settle(self, item: WorkItem, state: WorkState, mark: str) -> _Written:
        if not item.is_open and item.id in self._waiting():
            return _Written(again=CHANGED)
        move = self._move(item, state, mark)
        told = [*self._gone_along.pop(item.id, ()), *move.warnings] if mark in _TOLD else []
        why, is_done = self._write(item, move)
        if not is_done or move.is_left:
            reasons = (why,) if why is not None else move.warnings
            self._left[item.id] = reasons
            again = mark if mark in (NEW, WRITTEN) and not is_done else LEFT
            return _Written(list(dict.fromkeys([*told, *reasons])) if mark in _TOLD else (), again)
        self._left.pop(item.id, None)
        told = told if mark in _TOLD else [*move.warnings]
        return _Written(told if why is None else [*told, why])

    def _settle_seen(self) -> list[str]:
        """Put right what people committed; what another machine wrote of it, its own records explain."""
        state = self._reader.state()
        warnings: list[str] = []
        written = 0
        for plan in self._sight.changed():
            name = self.plans.owner(plan.path, state.items)
            if name is None or name in self._waiting():
                continue
            move = self.plans.settle(state.items[name])
            if not move.changes or self._sight.is_own(plan):
                continue
            if written == MOST_AT_ONCE:
                return warnings
            written += 1
            why, is_done = self._write(state.items[name], move)
            warnings += [*(move.warnings or _moved(move)), *([why] if why else [])]
            if not is_done:
                self._notices.put({name: LEFT})
        self._sight.done()
        return warnings

    def _move(self, item: WorkItem, state: WorkState, mark: str = CHANGED) -> PlanMove:
        found = self.plans.find(item)
        body = state.plan_text(item.id) if mark in (NEW, WRITTEN) else None
        if mark == NEW and isinstance(found, PlanFile):
            body = None  # it was made before, and somebody may have written in it since
        if mark == WRITTEN and body is not None and isinstance(found, PlanFile):
            body = None if self._has_written(found, item, body) else body
        move = self.plans.settle(item, body=body, is_new=mark == NEW)
        former = found.objective if isinstance(found, PlanFile) and move.warnings else None
        if former is not None and state.had_objective(item.id, former):
            # Nobody edited it by hand: the work item has another one by now.
            move = replace(move, warnings=tuple(one for one in move.warnings if OBJECTIVE not in one))
        return move

    def _has_written(self, found: PlanFile, item: WorkItem, body: str) -> bool:
        """Say whether a body was written by one who died before they could say so; it may be edited since."""
        since = self._notices.since(item.id)
        if since is None or found.body == plan_body(body):
            return False
        done = (parse_plan(found.path, content) for content in self._sight.written_since(found.path, since))
        return any(isinstance(one, PlanFile) and one.body == plan_body(body) for one in done)

    def _write(self, item: WorkItem, move: PlanMove) -> tuple[str | None, bool]:
        """Write what has to be; return why the branch has not taken it, and whether it will by itself."""
        if not move.changes:
            return None, True
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
            return f"{move.path}: {error}", False
        return (f"{move.path}: {reply.reason}" if reply.reason else None), True


def _moved(move: PlanMove) -> list[str]:
    """Say that a plan was put where its work item has it."""
    return [f"{move.path}: it was put back there, where the work item has it"]
