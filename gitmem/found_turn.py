"""Finds a turn that another process brought to the line: its commit, and what became of its events there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from gitmem.ledger_format import Line, decode_lines
from gitmem.line_draft import CommittedTurn
from gitmem.records import record_ref
from gitmem.repository import Repository
from gitmem.sealing import REFUSALS
from gitmem.subjects import TURN, parse_subject, parse_trailers

#: How many lines of others may stand behind the last of a turn's.
_WITHIN: Final = 20_000


def find_turn_commit(
    repository: Repository,
    tip: str,
    turn: str,
    lines: Callable[[], Iterable[Line]],
    *,
    within: int,
) -> CommittedTurn | None:
    """Return a turn that stands on a line.

    Args:
        repository: where the commits are.
        tip: of the line.
        turn: its id.
        lines: returns those of the ledger, the newest first.
        within: how many commits are looked at.
    """
    for count, commit in enumerate(repository.walk_first_parents(tip)):
        if parse_trailers(commit.message).get(TURN) == turn:
            subject = parse_subject(commit.message)
            own = list(_lines_of(turn, lines()))
            return CommittedTurn(
                turn,
                (subject and subject.index) or 0,
                commit.id,
                _refusals(turn, own),
                tuple(_named(turn, own)),
            )
        if count >= within:
            break
    return None


def _lines_of(turn: str, lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines of a turn, the newest first; they stand together on their writer's line."""
    writer: str | None = None
    for count, line in enumerate(lines):
        if line.turn == turn:
            writer = line.writer
            yield line
        elif line.writer == writer or count >= _WITHIN:
            return


def _refusals(turn: str, lines: Iterable[Line]) -> tuple[Mapping[str, Any], ...]:
    records = decode_lines(line for line in lines if line.id == turn)
    told = next((record.body.get(REFUSALS) for record in records), None)
    return tuple(one for one in told if isinstance(one, dict)) if isinstance(told, list) else ()


def _named(turn: str, lines: list[Line]) -> Iterator[Mapping[str, str]]:
    for line in reversed(lines):
        if line.id != turn:
            ref = record_ref(line.kind, line.id, line.object)
            yield {"id": line.id, "kind": line.kind, "source_ref": ref}
