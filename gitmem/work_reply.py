"""What a caller is told became of a change of a work item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitmem import errors
from gitmem.errors import GitmemError
from gitmem.json_view import JsonView
from gitmem.records import Event
from gitmem.wait_rules import Wait
from gitmem.work_item import WorkItem

#: Errors by their code, for those that sealing met.
_ERRORS: Final[Mapping[str, type[GitmemError]]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, GitmemError) and "code" in vars(kind)
}


@dataclass(frozen=True, slots=True)
class WorkReply(JsonView):
    """What became of a change.

    Attributes:
        work_item: as it is behind it; None where that is not known yet, with `reason`.
        work_item_id: its id; None for a wait that no work item owns.
        turn_id: the turn that holds the change; None where nothing had to be changed.
        committed: that turn's commit.
        reason: why it is not committed, or why nothing was done.
        unchanged: it was so already.
        wait: the wait that was registered.
        cancelled_waits: ids of the waits that the change ended.
        pick, focus_mode: of a pick: what it meant.
        yielded: of a pick: the work item that gave way.
        resumed: of an end: the work item that came back.
        warnings: what the caller should know besides.
    """

    work_item: WorkItem | None
    work_item_id: str | None
    turn_id: str | None
    committed: str | None
    reason: str | None = None
    unchanged: bool = False
    wait: Wait | None = None
    cancelled_waits: Sequence[str] = ()
    pick: str | None = None
    focus_mode: str | None = None
    yielded: str | None = None
    resumed: str | None = None
    warnings: Sequence[str] = ()

    @property
    def id(self) -> str | None:
        """The id of what was changed: a work item, or a wait that none owns."""
        return self.work_item_id or (self.wait.id if self.wait is not None else None)

    @property
    def revision(self) -> int | None:
        """The work item's revision behind it."""
        return self.work_item.revision if self.work_item is not None else None

    @property
    def source_ref(self) -> str | None:
        """The address under which `get` finds what was changed."""
        if self.work_item_id is not None:
            return f"work_item:{self.work_item_id}"
        return f"wait:{self.wait.id}" if self.wait is not None else None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data; id, ref and revision stand at the top, too."""
        data = {name: getattr(self, name) for name in WorkReply.__slots__}
        return {"id": self.id, "source_ref": self.source_ref, "revision": self.revision, **data}


def unchanged_reply(event: Event, shown: WorkItem | None, item: str | None) -> WorkReply:
    """Return the reply to a change that was none: to pick the focus again is to pick the same work item."""
    is_pick = event.body.get("action") == "pick" and shown is not None
    mode = "runnable" if shown is not None and shown.schedule.is_runnable else "inspection"
    kind = "same_work_item" if is_pick else None
    return WorkReply(shown, item, None, None, unchanged=True, pick=kind, focus_mode=mode if is_pick else None)


def refusal_of(refused: Mapping[str, Any]) -> GitmemError:
    """Return what sealing met as the error that it was."""
    details = {
        name: value for name, value in refused.items() if name not in ("event", "code", "message", "hint")
    }
    kind = _ERRORS.get(str(refused["code"]), errors.RefusedError)
    return kind(str(refused.get("message") or refused["code"]), **details)
