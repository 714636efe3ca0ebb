"""Every error that gitmem raises, grouped by what the caller does next.

    GitmemError
      UsageError (also ValueError)   fix the call                exit 2
        InvalidRecord, InvalidRef, InvalidRevisionTransition, InvalidRemote
      RefusedError                   change the content          exit 3
        ThreatFound, ProtectedPath, AmbiguousMatch, BudgetExceeded, WorkItemExists, WorkItemNotOpen
      NotFound                       look elsewhere              exit 4
        UnknownSource, Unavailable, UnknownWorkItem
      HomeError                      fix the directory           exit 10
        NotAHome, OtherHome, UnsupportedFormat
      ConflictError                  retry                       exit 11
        HomeLocked, HeadMoved, RevisionConflict
      RemoteError                    check the remote, retry     exit 13
        RemoteUnreachable, RemoteDenied, RemoteTimeout, NotARepository, RemoteMisbehaved
      CorruptionError                stop; run verify            exit 20
        LedgerCorrupt, EpisodeMoved

An `OSError` for a full disk or a missing permission passes through: its own message is the best one.
"""

from __future__ import annotations

from typing import Any, ClassVar


class GitmemError(Exception):
    """A failure that gitmem foresees.

    Args:
        message: what happened, to what.
        hint: what to do about it, one sentence.
        details: the data of the failure; each becomes a JSON field of `details`.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, hint: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details


class UsageError(GitmemError, ValueError):
    """The call is wrong: an argument is missing, malformed or out of range."""

    code = "invalid_input"
    exit_code = 2


class InvalidRecord(UsageError):
    """An event cannot become a ledger record."""

    code = "invalid_record"


class InvalidRef(UsageError):
    """A text is not a source ref."""

    code = "invalid_ref"


class InvalidRevisionTransition(UsageError):
    """A caller names a revision that cannot follow the one that it expects."""

    code = "invalid_revision_transition"


class InvalidRemote(UsageError):
    """A URL or path of a remote is not one that gitmem connects to."""

    code = "invalid_remote"


class RefusedError(GitmemError):
    """The content, a limit or a policy forbids the write; nothing was changed.

    Args:
        message: what is refused, and why.
        hint: what to do about it, one sentence.
        for_people: how a person allows it on this machine, one sentence; kept out of answers that a model
            reads, because it would allow itself.
        details: the data of the failure.
    """

    code = "refused"
    exit_code = 3

    def __init__(
        self, message: str, *, hint: str | None = None, for_people: str | None = None, **details: Any
    ) -> None:
        super().__init__(message, hint=hint, **details)
        self.for_people = for_people


class ThreatFound(RefusedError):
    """The scanner found text that must not be stored."""

    code = "threat_found"


class ProtectedPath(RefusedError):
    """The path is a link, lies outside the home, or belongs to somebody else."""

    code = "protected_path"


class AmbiguousMatch(RefusedError):
    """A name or a text fits several things; `matches` lists them."""

    code = "ambiguous"


class BudgetExceeded(RefusedError):
    """What must be in a context has more tokens than its budget; `minimum` and `budget` say how many."""

    code = "budget_exceeded"


class WorkItemExists(RefusedError):
    """A work item with this id was created before."""

    code = "work_item_exists"


class WorkItemNotOpen(RefusedError):
    """A completed or dropped work item cannot be changed."""

    code = "work_item_not_open"


class ReportMissing(RefusedError):
    """A work item is not completed without words on what came of it; it stays open."""

    code = "completion_report_missing"


class BindingMismatch(RefusedError):
    """A turn that belongs to one work item cannot complete another."""

    code = "work_item_execution_binding_mismatch"


class PayloadConflict(RefusedError):
    """The revision that a caller means to write is there already, and says something else."""

    code = "same_revision_payload_conflict"


class TaskFinished(RefusedError):
    """There is nothing to wait for: the task has ended."""

    code = "task_finished"


class NotFound(GitmemError):
    """What was asked for is not here."""

    code = "not_found"
    exit_code = 4


class UnknownSource(NotFound):
    """A well-formed source ref names nothing in this home."""

    code = "memory_source_not_found"


class Unavailable(NotFound):
    """A source was here and cannot be shown: redacted, quarantined or deleted."""

    code = "memory_source_unavailable"


class UnknownWorkItem(NotFound):
    """No work item has this id."""

    code = "work_item_not_found"


class ObjectMissing(NotFound):
    """A Git object or ref that something points at is not in the object store."""

    code = "object_missing"


class HomeError(GitmemError):
    """The directory is not usable as an agent home."""

    code = "home_error"
    exit_code = 10


class NotAHome(HomeError):
    """There is no agent home here."""

    code = "not_a_home"


class OtherHome(HomeError):
    """What should be one home's is of two; `homes` names them."""

    code = "other_home"


class UnsupportedFormat(HomeError):
    """The home's format is unreadable, too old, or newer than this program."""

    code = "unsupported_format"


class ConflictError(GitmemError):
    """Something else holds or moved what the call needs; trying again may succeed."""

    code = "conflict"
    exit_code = 11


class HomeLocked(ConflictError):
    """Another process holds a lock for longer than the call may wait."""

    code = "busy"


class HeadMoved(ConflictError):
    """A ref no longer has the value that the write was prepared for."""

    code = "moved"


class RevisionConflict(ConflictError):
    """An object has a newer revision than the caller expected."""

    code = "revision_conflict"


class RemoteError(GitmemError):
    """A remote failed, refused, or did not answer in time."""

    code = "remote_error"
    exit_code = 13


class RemoteUnreachable(RemoteError):
    """Nothing answers there, or the connection broke."""

    code = "remote_unreachable"


class RemoteDenied(RemoteError):
    """The remote does not let this user in, or does not believe that it is them."""

    code = "remote_denied"


class RemoteTimeout(RemoteError):
    """The remote did not finish within the time limit."""

    code = "remote_timeout"


class NotARepository(RemoteError):
    """There is no Git repository under this URL, or this user may not see it."""

    code = "remote_not_a_repository"


class RemoteMisbehaved(RemoteError):
    """What the remote sent is damaged, incomplete or larger than allowed; nothing of it was kept."""

    code = "remote_misbehaved"


class CorruptionError(GitmemError):
    """Stored data contradicts itself."""

    code = "corruption"
    exit_code = 20


class EpisodeMoved(CorruptionError):
    """A finished episode is to be something else than it is: its file, its tag or its turns do not agree."""

    code = "episode_moved"


class LedgerCorrupt(CorruptionError):
    """A ledger line is damaged where the operation cannot go on without it."""

    code = "ledger_corrupt"


def exit_code_of(code: str) -> int:
    """Return the exit code of a failure that is known by its code, such as one that a receipt tells of."""
    kinds = [GitmemError]
    for kind in kinds:
        if kind.code == code:
            return kind.exit_code
        kinds.extend(kind.__subclasses__())
    return GitmemError.exit_code
