"""Turn lines over real repositories, put together without the facade."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from fixtures import CounterClock, git, make_repo, run_git
from gitmem.backends.dulwich_repository import DulwichRepository, open_repository
from gitmem.layout import Layout, find_layout
from gitmem.ledger import Ledger
from gitmem.ledger_format import NO_PREV, BadLine, Line, decode, next_clock, seal, split_segment
from gitmem.records import Record, parse_event
from gitmem.spool import Spool
from gitmem.turn_line import TurnLine
from gitmem.turn_recorder import TurnRecorder

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
        """Return the text of every message of the turn lines, in reading order."""
        return [str(r.body["text"]) for r in self.records() if r.kind == "message" and not r.redacted]

    def records(self) -> Iterator[Record]:
        """Yield every record of the turn lines in reading order."""
        yield from map(decode, reversed(list(self.ledger.lines_newest_first())))

    def settle(self) -> None:
        """Do what closing a home does."""
        self.line.settle()
        self.ledger.lines.remember()

    def own_ref(self) -> str:
        """Return the full name of the turn line."""
        state = self.line.writer()
        assert state is not None
        return state.ref


def put_on_line(
    root: Path,
    ref: str,
    files: Mapping[str, bytes | None],
    *,
    home_id: str = HOME_ID,
    message: str | None = None,
    mode: str = "100644",
) -> str:
    """Commit files on a turn line with plain git, as a writer of another kind would; return the commit id.

    Args:
        root: the repository.
        ref: full name; made if it is not there.
        files: contents by path; None removes one.
        home_id: named by the line's root commit.
        message: of the commit; by default one with the trailers of a turn that tells no chain.
        mode: of the files.
    """
    tip = run_git("rev-parse", "-q", "--verify", ref, cwd=root).stdout.decode().strip()
    environment = {
        "GIT_INDEX_FILE": str(root / ".git" / "test-index"),
        "GIT_COMMITTER_DATE": "@1772442000 +0000",
    }
    git("read-tree", *([tip] if tip else ["--empty"]), cwd=root, env=environment)
    for path, content in files.items():
        if content is None:
            git("update-index", "--force-remove", path, cwd=root, env=environment)
        else:
            blob = git("hash-object", "-w", "--stdin", cwd=root, stdin=content)
            entry = f"{mode},{blob},{path}"
            git("update-index", "--add", "--cacheinfo", entry, cwd=root, env=environment)
    tree = git("write-tree", cwd=root, env=environment)
    trailer = "" if tip else f"Gitmem-Home: {home_id}\n"
    text = message or f"turn 1: 1 message\n\nGitmem-Kind: turn\n{trailer}"
    parents = ["-p", tip] if tip else []
    commit = git("commit-tree", tree, *parents, cwd=root, stdin=text, env=environment)
    git("update-ref", ref, commit, cwd=root)
    return commit


def lines_of(
    texts: Sequence[str],
    *,
    writer: str = "w0000000a",
    clock: float = 1_772_442_000.0,
    first: str | None = None,
) -> list[Line]:
    """Return sealed lines of one turn, each a message, from seq 1 on; the first record may get an id."""
    lines: list[Line] = []
    highest = ""
    for number, text in enumerate(texts, 1):
        highest = next_clock(int(clock * 1000), highest)
        record_id = first if number == 1 else None
        told = {"kind": "message", "role": "user", "text": text}
        event = parse_event(told, now=clock, record_id=record_id)
        prev = lines[-1].envelope_hash if lines else NO_PREV
        turn, salt = "turn_00000000000000a", f"{number:032x}"
        lines.append(seal(event, turn=turn, writer=writer, seq=number, clock=highest, prev=prev, salt=salt))
    return lines


def make_desk(path: Path, **arguments: object) -> Desk:
    """Make a repository at `path`, with the ledger's copy ignored as in every home, and sit down at it."""
    with (make_repo(path) / ".git" / "info" / "exclude").open("a") as exclude:
        exclude.write("/ledger/\n")
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


def again(desk: Desk) -> Desk:
    """Return the same home opened by another process."""
    return Desk(desk.layout.root, desk.recorder.now)


def ref_file(desk: Desk) -> Path:
    """Return the loose ref of the own line."""
    return desk.layout.common_dir / desk.own_ref()


def history(desk: Desk) -> list[str]:
    """Return the subjects of the line's commits along first parents, oldest first."""
    log = ["log", "--first-parent", "--reverse", "--format=%s", desk.own_ref()]
    return git(*log, cwd=desk.layout.root).split("\n")
