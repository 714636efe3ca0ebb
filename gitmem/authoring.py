"""Changes of notes and memory: one commit on the operator's branch, one record in the ledger, one reply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from gitmem.branch_changes import PathChange, WriteOutcome
from gitmem.errors import UsageError
from gitmem.json_view import JsonView
from gitmem.memory_records import MemoryRecords
from gitmem.operator_branch import OperatorBranch
from gitmem.records import check_name, mint_id
from gitmem.refs import parse_ref
from gitmem.scanner import redact_secrets
from gitmem.subjects import KIND, REASON, SESSION, SOURCE, TURN, format_message
from gitmem.turn import Turn

Author = Literal["agent", "operator"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who changes something, and what led to it.

    Attributes:
        author: an operator's change is their commit; an agent's leaves a record in the ledger too.
        session: id of the conversation.
        turn: the open turn that the change belongs to, or the id of the turn that caused it.
        source: ref of the message that led to it.
        reason: in words.
    """

    author: Author = "agent"
    session: str | None = None
    turn: Turn | str | None = None
    source: str | None = None
    reason: str | None = None

    @property
    def open_turn(self) -> Turn | None:
        """The open turn that the change belongs to, if there is one."""
        return self.turn if isinstance(self.turn, Turn) else None


@dataclass(frozen=True, slots=True)
class WriteReply(JsonView):
    """What is true of a change when it is reported.

    Attributes:
        committed: the commit on the operator's branch; None while it waits, with `reason`.
        source_ref: the address of what was changed.
        unchanged: it was so already, and nothing was committed.
        conflicts: copies of texts that lost a merge on the way.
        redactions: rules by which secrets were replaced.
    """

    committed: str | None
    reason: str | None
    source_ref: str | None
    path: str
    on_disk: bool = True
    unchanged: bool = False
    conflicts: Sequence[str] = ()
    redactions: Sequence[str] = ()


class Authoring:
    """Writes what people and agents edit together.

    Args:
        branch: takes the commits.
        records: takes the records.
        agent: the agent's `Name <mail>`.
        operator: returns the operator's.
    """

    def __init__(
        self, branch: OperatorBranch, records: MemoryRecords, *, agent: str, operator: Callable[[], str]
    ) -> None:
        self._branch = branch
        self._records = records
        self._agent = agent
        self._operator = operator

    def write(
        self,
        changes: Sequence[PathChange],
        *,
        kind: str,
        action: str,
        subject: str,
        source_ref: str | None,
        by: Provenance,
    ) -> WriteReply:
        """Change files of the operator's branch.

        Args:
            changes: what to change; their secrets are replaced before anything is written.
            kind: `note`, `memory`, …: the trailer `Gitmem-Kind`, and the record's target.
            action: `add edit append move remove`.
            subject: the commit's first line.
            source_ref: the address of what is changed, for the reply.
            by: who, and why.

        Raises:
            UsageError: author, session, turn or source is none, or the turn ended; nothing was written.
        """
        _check_cause(by)
        clean, rules = _without_secrets(changes)
        own = by.open_turn.id if by.open_turn else mint_id("turn") if by.author == "agent" else None
        cause = by.turn if isinstance(by.turn, str) else own
        with self._records.within(by.open_turn):
            outcome = self._branch.write(
                clean,
                message=format_message(subject, _trailers(kind, cause, by)),
                author=self._agent if by.author == "agent" else self._operator(),
                operation=f"{kind} {action}",
                turn=own,
            )
        return _reply(outcome, clean, source_ref, rules)


def _check_cause(by: Provenance) -> None:
    # Before anything is written: what is on the branch must be able to get its record, too.
    if by.author not in get_args(Author):
        raise UsageError(f"the author is {' or '.join(get_args(Author))}, not {by.author!r}", field="by")
    if by.open_turn is not None:
        by.open_turn.check_open()
    if by.session is not None:
        check_name(by.session, "session")
    if isinstance(by.turn, str):
        check_name(by.turn, "turn")
    if by.source is not None and ":" in by.source:
        parse_ref(by.source)
    elif by.source is not None:
        check_name(by.source, "source")


def _trailers(kind: str, turn_id: str | None, by: Provenance) -> list[tuple[str, str | None]]:
    session = by.session or (by.open_turn.session if by.open_turn else None)
    return [(KIND, kind), (TURN, turn_id), (SESSION, session), (SOURCE, by.source), (REASON, by.reason)]


def _reply(
    outcome: WriteOutcome, changes: Sequence[PathChange], source_ref: str | None, rules: Sequence[str]
) -> WriteReply:
    kept = [change.path for change in changes if change.result is not None]
    return WriteReply(
        committed=outcome.committed,
        reason=outcome.reason,
        source_ref=source_ref,
        path=(kept or [changes[0].path])[0],
        on_disk=outcome.on_disk,
        unchanged=outcome.unchanged,
        conflicts=outcome.conflicts,
        redactions=rules,
    )


def _without_secrets(changes: Sequence[PathChange]) -> tuple[list[PathChange], list[str]]:
    clean: list[PathChange] = []
    rules: list[str] = []
    for change in changes:
        result = change.result
        if result is not None:
            text, hits = redact_secrets(result.decode("utf-8", "surrogateescape"))
            if hits:
                result = text.encode("utf-8", "surrogateescape")
                rules += hits
        clean.append(PathChange(change.path, change.base, result))
    return clean, rules
