"""One turn as evidence: its records, sorted by what they can prove."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gitmem.records import Record


@dataclass(frozen=True, slots=True)
class TurnEvidence:
    """The records of one turn of one writer.

    A record belongs to a turn if its own turn id is that of the turn, and in no other way.

    Attributes:
        turn: its own record, the last one.
        records: all others, in the order of the ledger, with whole bodies.
    """

    turn: Record
    records: tuple[Record, ...]

    @property
    def id(self) -> str:
        """The turn's id."""
        return self.turn.id

    @property
    def index(self) -> int:
        """Its number on its writer's line; 0 where that is not known."""
        number = self.turn.body.get("turn_index", 0)
        return number if isinstance(number, int) and not isinstance(number, bool) else 0

    @property
    def end(self) -> str:
        """How it ended: `completed`, `aborted` or `interrupted`."""
        return str(self.turn.body.get("end", "interrupted"))

    def of_kind(self, *kinds: str) -> Iterator[Record]:
        """Yield its records of some kinds that were not redacted."""
        return (record for record in self.records if record.kind in kinds and not record.redacted)


def evidence_of(records: Sequence[Record]) -> TurnEvidence | None:
    """Return a turn's records as evidence; None where its own record is missing or there are several.

    Args:
        records: of one turn id, in the order of the ledger. Those of another turn id are left out.
    """
    turns = [record for record in records if record.kind == "turn"]
    if len({record.id for record in turns}) != 1:
        return None
    turn = turns[0]
    own = (r for r in records if r.turn == turn.id and r.kind != "turn" and r.writer == turn.writer)
    return TurnEvidence(turn, tuple(own))
