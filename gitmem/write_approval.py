"""Which of an agent's changes wait for an operator's word, and what becomes of them when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, get_args

from gitmem.branch_changes import PathChange
from gitmem.errors import UsageError
from gitmem.proposals import Proposal, ProposalFolder, ProposedEdit
from gitmem.redaction import redact_secrets

#: The Git setting that has an agent's changes of memory wait for approval.
WRITE_APPROVAL: Final = "gitmem.writeApproval"
#: Words that switch it on; any other leaves it off.
_TRUE: Final = frozenset({"on", "true", "yes", "1", "approve", "enabled"})

#: Who is at work: an agent that somebody talks to, or one that reviews its memory with nobody there.
Origin = Literal["foreground", "background_review"]
ORIGINS: Final = get_args(Origin)
#: Actions that take something away; a batch does if one of its edits does.
_TAKING: Final = frozenset({"replace", "remove", "write", "edit", "move", "retract"})
#: What waits only where it takes something away and nobody attends the agent.
_NO_MEMORY: Final = frozenset({"note", "record"})

#: Asks a person; answers `once`, `session` or `deny`. Whatever else it does, the change is proposed.
Approve = Callable[["ProposedChange"], object]


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """What an agent is about to change, checked and scanned.

    Attributes:
        target: `memory`, `user`, `self`, `operator` or `note`; `record` for what the ledger holds.
        action: `add replace remove batch write append edit move retract`.
        edits: text by text, with the whole text before and behind each.
        payload: the arguments of the call, from which an entry store's change is made again.
        changes: the files, for what is changed as a whole.
        subject, kind, source_ref: of such a change.
    """

    target: str
    action: str
    edits: tuple[ProposedEdit, ...]
    payload: Mapping[str, Any] = field(default_factory=dict)
    changes: tuple[PathChange, ...] = ()
    subject: str = ""
    kind: str = "memory"
    source_ref: str | None = None

    @property
    def takes_away(self) -> bool:
        """Whether something that is there would go."""
        return self.action in _TAKING or (
            self.action == "batch" and any(edit.before is not None for edit in self.edits)
        )

    @property
    def summary(self) -> str:
        """One line on what would change."""
        if self.action == "move":
            return f"move {' to '.join(change.path for change in self.changes)}"
        if self.changes:
            return f"{self.action} {self.changes[0].path}"
        text = f"{len(self.edits)} edits" if len(self.edits) != 1 else _first_line(self.edits[0])
        return f"{self.action} {self.target}: {text}"


@dataclass(frozen=True, slots=True)
class Held:
    """A change that was not made.

    Attributes:
        pending_id: of the proposal that it became; None where the operator denied it.
        message: what the agent is told.
        always: it would have waited with approval off, too, because nobody attends the agent.
    """

    pending_id: str | None
    message: str
    always: bool = False

    @property
    def is_denied(self) -> bool:
        """Whether the operator said no."""
        return self.pending_id is None


class Cause(Protocol):
    """What led to a change; `authoring.Provenance` is one."""

    @property
    def author(self) -> str:
        """`agent` or `operator`."""
        ...

    @property
    def origin(self) -> str:
        """`foreground` or `background_review`."""
        ...

    @property
    def approved(self) -> str | None:
        """The proposal that was approved, if this is its change."""
        ...

    @property
    def session_id(self) -> str | None:
        """The conversation."""
        ...

    @property
    def turn_id(self) -> str | None:
        """The turn."""
        ...

    @property
    def source(self) -> str | None:
        """The message."""
        ...

    @property
    def reason(self) -> str | None:
        """In words."""
        ...


class WriteApproval:
    """Decides what waits, and keeps it.

    Args:
        folder: where proposals go.
        setting: returns the value of a Git setting.
        now: the wall clock, seconds since 1970.

    Attributes:
        approve: asks a person at once; None where nobody is there to ask.
    """

    def __init__(
        self,
        folder: ProposalFolder,
        setting: Callable[[str], str | None],
        *,
        now: Callable[[], float],
    ) -> None:
        self._folder = folder
        self._setting = setting
        self._now = now
        self._sessions: set[str | None] = set()
        self.approve: Approve | None = None

    @property
    def is_on(self) -> bool:
        """Whether changes of memory wait on this machine."""
        return is_true(self._setting(WRITE_APPROVAL))

    def hold(self, change: ProposedChange, by: Cause) -> Held | None:
        """Return what became of a change that is not to be made now, None for one that may go on.

        Call it behind all checks of the arguments and behind the scan, so that nothing is kept that could not
        be approved, and before the write.

        Args:
            change: what would change.
            by: who, and why.
        """
        if by.author != "agent" or by.approved is not None:
            return None
        if by.origin == "background_review" and change.takes_away:
            return self._propose(change, by, always=True)
        if change.target in _NO_MEMORY or not self.is_on or by.session_id in self._sessions:
            return None
        answer = self._ask(change) if by.origin == "foreground" else None
        if answer == "session":
            self._sessions.add(by.session_id)
        if answer in ("once", "session"):
            return None
        if answer == "deny":
            return Held(None, "The operator denied this change. Nothing was written; do not try it again.")
        return self._propose(change, by, always=False)

    def _ask(self, change: ProposedChange) -> object:
        if self.approve is None:
            return None
        try:
            return self.approve(change)
        except Exception:  # noqa: BLE001 - a prompt that fails has not been answered
            return None

    def _propose(self, change: ProposedChange, by: Cause, *, always: bool) -> Held:
        waiting = next((one for one in self._folder.waiting() if _is_same(one, change)), None)
        proposal = waiting or self._keep(change, by)
        again = " already" if waiting else ""
        why = "nobody attends you" if always else "this home asks the operator first"
        told = f"Proposed as {proposal.id}{again}, not written: {why}. Do not repeat the call."
        return Held(proposal.id, told, always)

    def _keep(self, change: ProposedChange, by: Cause) -> Proposal:
        proposal = Proposal(
            id=self._folder.mint(),
            target=change.target,
            action=change.action,
            summary=change.summary,
            origin=by.origin,
            created_at=self._now(),
            edits=change.edits,
            payload=change.payload,
            changes=change.changes,
            subject=change.subject,
            kind=change.kind,
            source_ref=change.source_ref,
            session=by.session_id,
            turn=by.turn_id,
            source=by.source,
            reason=redact_secrets(by.reason)[0] if by.reason else None,
        )
        self._folder.put(proposal)
        return proposal


def is_true(value: str | None) -> bool:
    """Say whether a setting's word switches something on; unknown words do not."""
    return value is not None and value.strip().lower() in _TRUE


def check_origin(origin: str) -> str:
    """Return the origin of a change if it is one.

    Raises:
        UsageError: it is none.
    """
    if origin not in ORIGINS:
        raise UsageError(f"the origin is {' or '.join(ORIGINS)}, not {origin!r}", field="origin")
    return origin


def _is_same(proposal: Proposal, change: ProposedChange) -> bool:
    """Say whether a proposal waits for the same change; of appended text, whatever stands before it."""
    if (proposal.target, proposal.action) != (change.target, change.action):
        return False
    if change.action == "retract":
        return (proposal.source_ref, proposal.edits) == (change.source_ref, change.edits)
    if change.action == "append":
        return [*map(_appended, proposal.edits)] == [*map(_appended, change.edits)]
    ours, theirs = ([(one.path, one.result) for one in side.changes] for side in (proposal, change))
    return proposal.edits == change.edits and ours == theirs


def _appended(edit: ProposedEdit) -> str:
    return (edit.after or "").removeprefix(edit.before or "").strip()


def _first_line(edit: ProposedEdit) -> str:
    text = " ".join((edit.after if edit.after is not None else edit.before or "").split())
    return text if len(text) <= 60 else f"{text[:59]}…"
