"""Turn lines over real repositories, put together without the facade."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from fixtures import CounterClock, make_repo
from gitmem.backends.dulwich_repository import DulwichRepository, open_repository
from gitmem.layout import Layout, find_layout
from gitmem.ledger import Ledger
from gitmem.ledger_format import NO_PREV, BadLine, Line, decode, split_segment
from gitmem.records import Record
from gitmem.spool import Spool
from gitmem.turn import TurnRecorder
from gitmem.turn_line import TurnLine

HOME_ID = "h0123456789abcde"
AGENT = f"aria <aria@{HOME_ID}.gitmem.invalid>"


class Desk:
    """One process at work on a home's turns.

    Args:
        root: a repository's work tree.
        clock: the wall clock.
        checkpoint: called with a name between any two durable steps.
    """

    def __init__(
        self,
        root: Path,
        clock: Callable[[], float] | None = None,
        checkpoint: Callable[[str], None] = lambda name: None,
        home_id: str = HOME_ID,
    ) -> None:
        self.layout: Layout = find_layout(root)
        self.repository: DulwichRepository = open_repository(self.layout)
        self.ledger = Ledger(self.repository, self.layout, home_id)
        self.spool = Spool(self.layout.spool)
        now = clock or CounterClock()
        self.line = TurnLine(
            self.repository,
            self.layout,
            self.ledger,
            home_id=home_id,
            agent=AGENT,
            now=now,
            checkpoint=checkpoint,
        )
        self.recorder = TurnRecorder(self.spool, self.line, now=now)

    def say(self, text: str, session: str = "s1") -> str:
        """Record a turn of one message; return its turn id."""
        with self.recorder.open(session=session) as turn:
            turn.message("user", text)
        assert turn.receipt.on_disk
        return turn.id

    def texts(self) -> list[str]:
        """Return the text of every message of the ledger and of the spool, in reading order."""
        return [str(r.body["text"]) for r in self.records() if r.kind == "message"]

    def records(self) -> Iterator[Record]:
        """Yield every record of the turn lines in reading order."""
        yield from map(decode, reversed(list(self.ledger.lines_newest_first())))

    def own_ref(self) -> str:
        """Return the full name of the turn line."""
        state = self.line.writer()
        assert state is not None
        return state.ref


def make_desk(path: Path, **arguments: object) -> Desk:
    """Make a repository at `path` and sit down at it."""
    make_repo(path)
    return Desk(path, **arguments)  # type: ignore[arg-type]


def check_chains(ledger: Ledger) -> dict[str, int]:
    """Assert that every writer's lines form one chain from seq 1 on; return the number of lines by writer."""
    lines: dict[str, list[Line]] = {}
    for segment in ledger.segments().values():
        for item in split_segment(ledger.read_segment(segment)):
            assert not isinstance(item, BadLine), item
            lines.setdefault(item.writer, []).append(item)
    for writer, found in lines.items():
        found.sort(key=lambda line: line.seq)
        prev, clock = NO_PREV, ""
        for number, line in enumerate(found, 1):
            assert (line.seq, line.prev) == (number, prev), writer
            assert line.clock > clock
            prev, clock = line.envelope_hash, line.clock
    return {writer: len(found) for writer, found in lines.items()}
