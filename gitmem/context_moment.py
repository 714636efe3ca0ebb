"""Which turns and which files a context shows: those of now, or those of a turn's commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from gitmem.commit_names import find_commit
from gitmem.context_record import LoadedFiles, loaded_of
from gitmem.errors import ObjectMissing
from gitmem.ledger import Ledger, Segment
from gitmem.past_ledger import ledger_at
from gitmem.past_tree import PastTree, tree_at
from gitmem.records import Record
from gitmem.repository import Commit, Repository
from gitmem.subjects import HEAD, KIND, TURN, parse_trailers
from gitmem.times import format_time

_TURN_KIND: Final = "turn"
#: So many commits from the end of a line the last turn is looked for; behind it is only bookkeeping.
_NEAR: Final = 20
_UNION: Final = (
    "no turn of this clone's own line began at that commit or before it; "
    "this is what all lines held by its time"
)


@dataclass(frozen=True, slots=True)
class Moment:
    """What a context is read from.

    Attributes:
        commit: of the last turn.
        head: what HEAD is, or was.
        base: what HEAD was at that turn; changes of others are told from there.
        at: when it was, RFC 3339; None for now.
        as_of: the commit or time by which the state of work is told; None for now.
        tree: of `head`; None for the files on disk.
        segments: of the ledger; None for those of today.
        without: id of a turn that does not count: the one that recorded the context.
        recorded: the `assembly` record of that turn.
        loaded: the files that it names.
        turn_commit: the commit of that turn.
        missing: what of it is not here, a sentence each.
    """

    commit: str | None
    head: str | None
    base: str | None
    at: str | None = None
    as_of: str | None = None
    tree: str | None = None
    segments: Mapping[str, Segment] | None = None
    without: str | None = None
    recorded: Record | None = None
    loaded: LoadedFiles = field(default_factory=LoadedFiles)
    turn_commit: str | None = None
    missing: tuple[str, ...] = ()

    @property
    def is_past(self) -> bool:
        """Whether it is over."""
        return self.as_of is not None


def moment_now(repository: Repository, ledger: Ledger, told: str | None) -> Moment:
    """Return the moment that is now.

    Args:
        repository: the home's.
        ledger: its records.
        told: id of the last turn in which anything was told; others are bookkeeping.
    """
    tips = [repository.read_commit(tip) for tip in ledger.tips().values()]
    last = max(tips, key=lambda commit: (commit.commit_time, commit.id), default=None)
    head = repository.head().commit
    if last is None:
        return Moment(None, head, None)
    return Moment(last.id, head, head_of(_told_in(repository, tips, told) or last))


def moment_at(repository: Repository, ledger: Ledger, as_of: str, now: float) -> Moment:
    """Return a moment of the past.

    Args:
        repository: the home's.
        ledger: its records.
        as_of: a turn's commit, a commit of the operator's branch, or a time in words.
        now: seconds since 1970, for times in words.

    Raises:
        NotFound: there is no such commit here.
        UsageError: `as_of` is neither a commit nor a time.
    """
    lines = list(ledger.tips().values())
    known = ledger_at(repository, as_of, now, lines, ledger.lines.own_tip())
    tips = known.tips
    past, missing = _files_at(repository, as_of, now, lines)
    if known.is_union:
        missing = (*missing, _UNION)
    commits = [repository.read_commit(tip) for tip in tips]
    last = max(commits, key=lambda commit: (commit.commit_time, commit.id), default=None)
    is_turn = last is not None and past.commit == last.id
    recorded = _assembly(ledger, last) if last is not None and is_turn else None
    segments = ledger.segments_of(tips)
    if recorded is None or last is None:
        at = format_time(last.commit_time) if last is not None and is_turn else None
        return Moment(
            last.id if last else None, past.head, head_of(last) if last else None,
            at=at, as_of=as_of, tree=past.tree, segments=segments, missing=missing,
        )  # fmt: skip
    after, base = recorded.body.get("after"), recorded.body.get("base")
    return Moment(
        after if isinstance(after, str) else None, past.head, base if isinstance(base, str) else None,
        at=recorded.ts, as_of=as_of, tree=past.tree, segments=segments,
        without=recorded.turn, recorded=recorded, loaded=loaded_of(recorded.body), turn_commit=last.id,
        missing=missing,
    )  # fmt: skip


def _files_at(
    repository: Repository, as_of: str, now: float, lines: Sequence[str]
) -> tuple[PastTree, tuple[str, ...]]:
    """Return the files of a moment; of a turn whose HEAD is not here the turn alone, and a word on that."""
    try:
        return tree_at(repository, as_of, now, lines), ()
    except ObjectMissing:
        turn = find_commit(repository, as_of, lines)
        head = head_of(turn)
        if head is None or repository.contains(head):
            raise
        return PastTree(turn.id, head, None), (f"the commit {head[:12]}, which HEAD was, is not here",)


def head_of(turn: Commit) -> str | None:
    """Return what HEAD was at a turn's commit."""
    return parse_trailers(turn.message).get(HEAD)


def _told_in(repository: Repository, tips: Sequence[Commit], turn: str | None) -> Commit | None:
    """Return the commit of a turn near the ends of the lines."""
    for tip in tips:
        for commit in islice(repository.walk_first_parents(tip.id), _NEAR):
            if parse_trailers(commit.message).get(TURN) == turn:
                return commit
    return None


def _assembly(ledger: Ledger, commit: Commit) -> Record | None:
    """Return the `assembly` record that a turn's commit brought, with its whole body."""
    trailers = parse_trailers(commit.message)
    if trailers.get(KIND) != _TURN_KIND or TURN not in trailers:
        return None
    found = (one for one in ledger.find_turn(trailers[TURN]) if one.kind == "assembly" and not one.redacted)
    record = next(found, None)
    return None if record is None else replace(record, body=ledger.full_body(record))
