"""Changes of notes and memory: one commit on the operator's branch, one record in the ledger, one reply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from gitmem.branch_changes import PathChange, WriteOutcome
from gitmem.curated import PROSE
from gitmem.errors import RefusedError, UsageError
from gitmem.json_view import JsonView
from gitmem.memory_records import MemoryRecords
from gitmem.operator_branch import OperatorBranch
from gitmem.proposals import ProposedEdit
from gitmem.protected_paths import MAY_EDIT, parse_paths, refuse_protected
from gitmem.records import check_name, mint_id
from gitmem.redaction import find_secrets, redact_secrets, refuse_secret
from gitmem.refs import parse_ref
from gitmem.subjects import (
    ALLOWED,
    APPROVED_BY,
    KIND,
    REASON,
    SESSION,
    SOURCE,
    TURN,
    format_message,
    without_percent,
)
from gitmem.turn import Turn
from gitmem.write_approval import Held, ProposedChange, WriteApproval, check_origin

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
        origin: `foreground`, or `background_review` for an agent that works with nobody there.
        approved: id of the proposal whose change this is, approved by an operator.
    """

    author: Author = "agent"
    session: str | None = None
    turn: Turn | str | None = None
    source: str | None = None
    reason: str | None = None
    origin: str = "foreground"
    approved: str | None = None

    @property
    def open_turn(self) -> Turn | None:
        """The open turn that the change belongs to, if there is one."""
        return self.turn if isinstance(self.turn, Turn) else None

    @property
    def turn_id(self) -> str | None:
        """The id of the turn that it belongs to or that caused it."""
        return self.turn.id if isinstance(self.turn, Turn) else self.turn

    @property
    def session_id(self) -> str | None:
        """The conversation: the one that is named, else the open turn's."""
        return self.session or (self.turn.session if isinstance(self.turn, Turn) else None)


@dataclass(frozen=True, slots=True)
class WriteReply(JsonView):
    """What is true of a change when it is reported.

    Attributes:
        committed: the commit on the operator's branch; None while it waits, with `reason`.
        source_ref: the address of what was changed.
        unchanged: it was so already, and nothing was committed.
        conflicts: copies of texts that lost a merge on the way.
        redactions: rules by which secrets were replaced.
        staged: nothing was written; the change waits for an operator as the proposal `pending_id`.
        warnings: what the writer should know besides.
    """

    committed: str | None
    reason: str | None
    source_ref: str | None
    path: str
    on_disk: bool = True
    unchanged: bool = False
    conflicts: Sequence[str] = ()
    redactions: Sequence[str] = ()
    staged: bool = False
    pending_id: str | None = None
    warnings: Sequence[str] = ()


class Authoring:
    """Writes what people and agents edit together.

    Args:
        branch: takes the commits.
        records: takes the records.
        agent: the agent's `Name <mail>`.
        operator: returns the operator's.
        setting: returns the value of a Git setting of this machine.
        approval: holds changes of whole files; those of entries are held before they come here.
        read: returns a file's bytes, for what a proposal shows.
    """

    def __init__(
        self,
        branch: OperatorBranch,
        records: MemoryRecords,
        *,
        agent: str,
        operator: Callable[[], str],
        setting: Callable[[str], str | None] = lambda _: None,
        approval: WriteApproval | None = None,
        read: Callable[[str], bytes | None] = lambda _: None,
    ) -> None:
        self._branch = branch
        self._records = records
        self._agent = agent
        self._operator = operator
        self._setting = setting
        self._approval = approval
        self._read = read

    def write(
        self,
        changes: Sequence[PathChange],
        *,
        kind: str,
        action: str,
        subject: str,
        source_ref: str | None,
        by: Provenance,
        allowed: Sequence[str] = (),
        scanned: bool = False,
        locked: bool = False,
    ) -> WriteReply:
        """Change files of the operator's branch.

        Args:
            changes: what to change; their new secrets are replaced before anything is written.
            kind: `note`, `memory`, …: the trailer `Gitmem-Kind`, and the record's target.
            action: `add edit append move remove`.
            subject: the commit's first line.
            source_ref: the address of what is changed, for the reply.
            by: who, and why.
            allowed: rules whose findings this machine allows; the commit names them.
            scanned: what is new was scanned and is refused for a secret, so no text is replaced.
            locked: the caller holds the home's lock.

        Raises:
            UsageError: author, session, turn or source is none, or the turn ended; nothing was written.
            ProtectedPath: the agent may not write a path.
            RefusedError: the operator was asked and denied it.
        """
        check_cause(by)
        for change in changes:
            refuse_secret(change.path, "path")
        if by.author == "agent":
            self.refuse_protected(one.path for one in changes)
        clean, rules = (list(changes), []) if scanned else self._without_secrets(changes)
        held = self._hold(clean, kind=kind, action=action, subject=subject, source_ref=source_ref, by=by)
        if held is not None:
            return _held_reply(held, clean, source_ref, rules)
        own = by.open_turn.id if by.open_turn else mint_id("turn") if by.author == "agent" else None
        cause = by.turn if isinstance(by.turn, str) else own
        trailers = [*_trailers(kind, cause, by), *_allowed(allowed)]
        with self._records.within(by.open_turn, own):
            outcome = self._branch.write(
                clean,
                message=format_message(subject, trailers),
                message_if_kept=format_message(without_percent(subject), trailers),
                author=self._agent if by.author == "agent" else self._operator(),
                operation=f"{kind} {action}",
                turn=own,
                locked=locked,
            )
        return _reply(outcome, clean, source_ref, rules)

    def refuse_protected(self, paths: Iterable[str]) -> None:
        """Raise a `ProtectedPath` if one of the paths is left to people on this machine."""
        refuse_protected(paths, parse_paths(self._setting(MAY_EDIT)))

    def _without_secrets(self, changes: Sequence[PathChange]) -> tuple[list[PathChange], list[str]]:
        """Return changes without the secrets that they would bring; what is there already stays."""
        known: set[str] = set()
        for change in changes:
            before = (self._read(change.path) or b"").decode("utf-8", "surrogateescape")
            known.update(before[one.start : one.end] for one in find_secrets(before))
        clean: list[PathChange] = []
        rules: list[str] = []
        for change in changes:
            result = change.result
            if result is not None:
                text, hits = redact_secrets(result.decode("utf-8", "surrogateescape"), known)
                result = text.encode("utf-8", "surrogateescape") if hits else result
                rules += hits
            clean.append(PathChange(change.path, change.base, result))
        return clean, rules

    def _hold(
        self,
        changes: Sequence[PathChange],
        *,
        kind: str,
        action: str,
        subject: str,
        source_ref: str | None,
        by: Provenance,
    ) -> Held | None:
        target = _target(kind, changes)
        if self._approval is None or target is None:
            return None
        change = ProposedChange(
            target=target,
            action=action,
            edits=tuple(self._edit(action, one) for one in changes),
            changes=tuple(changes),
            subject=subject,
            kind=kind,
            source_ref=source_ref,
        )
        return self._approval.hold(change, by)

    def _edit(self, action: str, change: PathChange) -> ProposedEdit:
        return ProposedEdit(action, _as_text(self._read(change.path)), _as_text(change.result))


def _target(kind: str, changes: Sequence[PathChange]) -> str | None:
    """Return what a change of whole files is proposed as, None for what is not proposed here."""
    if kind == "note":
        return "note"
    names = [name for name, path in PROSE.items() if path == changes[0].path]
    return names[0] if kind == "memory" and names else None


def _as_text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace")


def _held_reply(
    held: Held, changes: Sequence[PathChange], source_ref: str | None, rules: Sequence[str]
) -> WriteReply:
    if held.is_denied:
        raise RefusedError(held.message, hint="Ask the operator what they want instead.")
    return WriteReply(
        committed=None,
        reason=held.message,
        source_ref=source_ref,
        path=changes[0].path,
        on_disk=False,
        redactions=rules,
        staged=True,
        pending_id=held.pending_id,
    )


def check_cause(by: Provenance) -> None:
    """Raise a `UsageError` if author, session, turn or source is none, or the turn has ended."""
    # Before anything is written: what is on the branch must be able to get its record, too.
    if by.author not in get_args(Author):
        raise UsageError(f"the author is {' or '.join(get_args(Author))}, not {by.author!r}", field="by")
    check_origin(by.origin)
    if by.open_turn is not None:
        by.open_turn.check_open()
    if by.session is not None:
        refuse_secret(check_name(by.session, "session"), "session")
    if isinstance(by.turn, str):
        refuse_secret(check_name(by.turn, "turn"), "turn")
    if isinstance(by.source, str) and ":" in by.source:
        parse_ref(refuse_secret(by.source, "source"))
    elif by.source is not None:
        refuse_secret(check_name(by.source, "source"), "source")


def _trailers(kind: str, turn_id: str | None, by: Provenance) -> list[tuple[str, str | None]]:
    return [
        (KIND, kind),
        (TURN, turn_id),
        (SESSION, by.session_id),
        (SOURCE, by.source),
        (REASON, redact_secrets(by.reason)[0] if by.reason else None),
        (APPROVED_BY, "operator" if by.approved is not None else None),
    ]


def _allowed(rules: Sequence[str]) -> list[tuple[str, str | None]]:
    return [(ALLOWED, ", ".join(dict.fromkeys(rules)))]


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
