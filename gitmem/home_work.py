"""Work items as methods of a home."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitmem.authoring import Author, Provenance
from gitmem.errors import UnknownWorkItem
from gitmem.home_parts import HomeParts
from gitmem.turn import Turn

if TYPE_CHECKING:
    from gitmem.past_plans import PastPlans
    from gitmem.work_listing import TaskPage, WorkDetail, WorkPage
    from gitmem.work_reply import WorkReply
    from gitmem.work_state import WorkState


class HomeWork:
    """The part of `AgentHome` that has to do with what the agent is doing.

    `cause` is everywhere `session`, `turn` (an open turn, which then holds the change, or an id), `source`,
    `reason` and `by` (`agent` or `operator`).
    """

    _parts: HomeParts

    def work_create(self, objective: str, *, workspace: str | None = None, **values: Any) -> WorkReply:
        """Create a work item; it waits to be picked.

        Args:
            objective: what is to be done.
            workspace: id of where the work happens.
            values: `plan`, `plan_status`, `todo`, `delivery_target`, `blocked_by`, `recheck_after_ms`,
                `work_item_id` (an id of your own), and a cause.
        """
        return self._parts.work.create(objective, workspace=workspace, **self._changing(values))

    def work_update(self, work_item: str, **values: Any) -> WorkReply:
        """Change what is named of a work item; nothing named changes nothing.

        Args:
            work_item: id, ref, or the beginning of an id.
            values: as of `work_create`, `objective`, `clear_blocker`, `expected_revision`, and a cause.
        """
        return self._parts.work.update(work_item, **self._changing(values))

    def work_pick(self, work_item: str, *, clear_blocker: bool = False, **cause: Any) -> WorkReply:
        """Make a work item the focus of the session, or without one of the home."""
        return self._parts.work.pick(work_item, clear_blocker=clear_blocker, **self._changing(cause))

    def work_wait(
        self,
        waiting_for: str,
        *,
        wake: str = "operator_input",
        work_item: str | None = None,
        resource: str | None = None,
        recheck_after_ms: int | None = None,
        **cause: Any,
    ) -> WorkReply:
        """Register a wait of a work item, of the focus, or of the agent itself.

        Args:
            waiting_for: in words.
            wake: `operator_input task_result external timer system`.
            work_item: whose wait it is.
            resource: id of the task, timer or external trigger.
            recheck_after_ms: when somebody is to look at it in any case.
            cause: who, and why.
        """
        return self._parts.work.wait(
            waiting_for,
            wake=wake,
            work_item=work_item,
            resource=resource,
            recheck_after_ms=recheck_after_ms,
            **self._changing(cause),
        )

    def work_complete(self, work_item: str, report: str | None = None, **cause: Any) -> WorkReply:
        """Complete a work item; the report says what came of it and becomes its result brief."""
        return self._parts.work.complete(work_item, report, **self._changing(cause))

    def work_drop(self, work_item: str, **cause: Any) -> WorkReply:
        """End a work item without a result."""
        return self._parts.work.drop(work_item, **self._changing(cause))

    def work_list(self, only: str = "all", *, as_of: str | None = None, **options: Any) -> WorkPage:
        """List work items.

        Args:
            only: `all open completing completed dropped current queued yielded blocked waiting_for_operator
                runnable`.
            as_of: a commit or a time; None is now.
            options: `session`, `workspace`, `limit`, `cursor`.
        """
        from gitmem.work_listing import list_work

        return list_work(self.work_state(as_of), only=only, **options)

    def work_show(self, work_item: str, *, as_of: str | None = None) -> WorkDetail:
        """Return a work item with its plan, waits, work refs and turns.

        Args:
            work_item: id, ref, or the beginning of an id.
            as_of: a commit or a time; None is now. The plan is then what your branch had.

        Raises:
            UnknownWorkItem: there is none, or there was none then.
        """
        from gitmem.work_listing import work_detail

        state = self.work_state(as_of)
        try:
            name = self._parts.work.resolve(work_item, state=state)
        except UnknownWorkItem as error:
            if as_of is None:
                raise
            hint = "`gitmem work list` lists those of now, with `--as-of` those of then."
            raise UnknownWorkItem(
                f"{error.message} as of {as_of[:40]}", hint=hint, **error.details
            ) from error
        plans = self._parts.work_files.plans if as_of is None else self._past_plans(as_of)
        return work_detail(state, name, plans)

    def _past_plans(self, as_of: str) -> PastPlans:
        from gitmem.past_plans import PastPlans
        from gitmem.past_tree import tree_at

        parts = self._parts
        tree = tree_at(parts.repository, as_of, parts.now(), parts.ledger.tips().values()).tree
        return PastPlans(parts.repository, tree, parts.ledger.receipts().is_forgotten_blob)

    def tasks(self, *, as_of: str | None = None, **options: Any) -> TaskPage:
        """List tasks.

        Args:
            as_of: a commit or a time; None is now.
            options: `status`, `limit`, `cursor`.
        """
        from gitmem.work_listing import list_tasks

        return list_tasks(self.work_state(as_of), **options)

    def work_state(self, as_of: str | None = None) -> WorkState:
        """Return work items, waits, tasks and focus as they are, or as they were."""
        return self._parts.work_state.state(as_of)

    def _changing(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a change with its cause put together."""
        self._parts.check_owner()
        by: Author = values.pop("by", None) or "agent"
        session: str | None = values.pop("session", None)
        turn: Turn | str | None = values.pop("turn", None)
        source, reason = values.pop("source", None), values.pop("reason", None)
        origin: str = values.pop("origin", None) or "foreground"
        return {**values, "by": Provenance(by, session, turn, source, reason, origin)}
