"""A working copy of the sample home: files committed day by day, the ledger's segments taken in as they are.

The sample home travels as plain files, so that a person can read it without gitmem. A turn line is commits,
and commits do not travel as files; but the segments hold all that is needed to make them again: each turn's
lines, chained, with their times. One commit is made for each turn, on the branch of the writer that the
segments name. The copy's own turns go to a writer of its own, as in any clone.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from gitmem.backends.dulwich_repository import init_repository, open_repository
from gitmem.branch_changes import PathChange
from gitmem.config import parse_config
from gitmem.durable_file import write_file
from gitmem.errors import CorruptionError, UsageError
from gitmem.git_objects import hash_object, make_commit, make_object
from gitmem.identity import agent_identity, operator_identity
from gitmem.init import init_home
from gitmem.layout import CONFIG_FILE, LEDGER, TURN_LINES, Layout, find_layout
from gitmem.ledger_format import Line, decode, parse_segment_path, split_segment
from gitmem.ledger_tree import LedgerTree
from gitmem.operator_branch import OperatorBranch
from gitmem.repository import ABSENT, GitObject, Repository
from gitmem.subjects import CHAIN, HEAD, HOME, KIND, REASON, TURN, format_message, turn_subject
from gitmem.times import parse_timestamp

_HISTORY: Final = "sample_history.toml"
#: Who operates a copy, in its own configuration: the story's operator, not the person who looks at it.
_OPERATOR: Final = {"user.name": "Olivia Brandt", "user.email": "olivia@halfmoonbooks.example"}


@dataclass(frozen=True, slots=True)
class Step:
    """One commit of the sample home's history.

    Attributes:
        at: when.
        subject: of the message; the agent's follow gitmem's grammar.
        paths: what it brings, in the state of that time.
        author: a person; None for the agent.
        reason: the agent's, for its trailer.
    """

    at: str
    subject: str
    paths: tuple[str, ...]
    author: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Earlier:
    """What stood in a file until some moment, instead of a text that it has today."""

    until: str
    path: str
    today: str
    before: str


def sample_files() -> Path:
    """Return the folder of the sample home: in the installed package, else beside it in the source tree."""
    package = Path(__file__).parent
    installed = package / "_sample_home"
    return installed if installed.is_dir() else package.parent / "sample_home"


def copy_sample_home(target: Path, *, source: Path | None = None) -> None:
    """Make `target` a working copy of the sample home.

    Args:
        target: a folder that is not there yet, or empty.
        source: the sample's files; by default those that come with gitmem.

    Raises:
        UsageError: `target` has something in it.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"not empty: {target}", hint="Name a folder that does not exist yet.")
    source = source or sample_files()
    write_file(target / CONFIG_FILE, (source / CONFIG_FILE).read_bytes(), durable=False)
    steps, earlier = read_history()
    init_repository(target)
    layout = find_layout(target)
    repository = open_repository(layout)
    try:
        for key, value in _OPERATOR.items():
            repository.set_config(key, value)
        init_home(target, agent=None, now=parse_timestamp(steps[0].at) - 60, hooks=True)
        _Copy(source, layout, repository, earlier).run(steps)
    finally:
        repository.close()


def read_history() -> tuple[list[Step], list[Earlier]]:
    """Return the commits that a copy gets, oldest first, and what its files said before."""
    data = tomllib.loads(resources.files("gitmem").joinpath(_HISTORY).read_text("utf-8"))
    steps = [Step(**{**commit, "paths": tuple(commit["paths"])}) for commit in data["commits"]]
    return steps, [Earlier(**row) for row in data["earlier"]]


class _Copy:
    """Fills a new home from the sample's files."""

    def __init__(
        self, source: Path, layout: Layout, repository: Repository, earlier: Sequence[Earlier]
    ) -> None:
        self._source = source
        self._earlier = earlier
        self._layout = layout
        self._repository = repository
        self._config = parse_config((source / CONFIG_FILE).read_bytes())
        self._agent = agent_identity(self._config.agent, self._config.home_id)
        self._now = 0.0
        self._heads: list[tuple[float, str]] = []

    def run(self, steps: Sequence[Step]) -> None:
        """Commit the authored files day by day, then the turns."""
        turns = _turns_of(_read_segments(self._source))
        branch = OperatorBranch(
            self._repository,
            self._layout,
            home_id=self._config.home_id,
            agent=self._agent,
            operator=operator_identity(None, None, self._config.home_id),
            now=lambda: self._now,
            branch=self._repository.config("gitmem.branch"),
        )
        for step in steps:
            self._commit_step(branch, step, turns)
        self._commit_turns(turns)

    def _commit_step(self, branch: OperatorBranch, step: Step, turns: Sequence[_SampleTurn]) -> None:
        self._now = parse_timestamp(step.at)
        turn = next((turn.id for turn in turns if step.author is None and turn.at >= int(self._now)), None)
        kind = step.subject.split(":")[0] if step.author is None else "edit"
        trailers = [(KIND, kind), (TURN, turn), (REASON, step.reason)]
        outcome = branch.write(
            [self._change(path, step.at) for path in step.paths],
            message=format_message(step.subject, trailers if step.author is None else []),
            author=step.author or self._agent,
            operation=kind,
            turn=turn,
        )
        if outcome.committed is None:
            raise CorruptionError(f"the sample home cannot be committed: {outcome.reason}")
        self._heads.append((self._now, outcome.committed))

    def _change(self, path: str, at: str) -> PathChange:
        text = (self._source / path).read_text("utf-8")
        for earlier in self._earlier:
            if earlier.path == path and earlier.until > at:
                text = text.replace(earlier.today, earlier.before)
        present = self._layout.root / path
        base = hash_object("blob", present.read_bytes()) if present.is_file() else None
        return PathChange(path, base, text.encode("utf-8"))

    def _commit_turns(self, turns: Sequence[_SampleTurn]) -> None:
        if not turns:
            return
        writer = _Line(self._repository, self._config.home_id, self._agent)
        for number, turn in enumerate(turns, start=1):
            head = next((commit for at, commit in reversed(self._heads) if at <= turn.at), None)
            writer.add(turn, number, head)
            write_file(self._layout.root / turn.path, writer.contents[turn.path], durable=False)
        with self._repository.write_pack(writer.objects):
            self._repository.move_ref(
                f"{TURN_LINES}{turns[0].writer}",
                old=ABSENT,
                new=writer.objects[-1].id,
                message="turn: taken from the sample home",
                who=self._agent,
            )


@dataclass(frozen=True, slots=True)
class _SampleTurn:
    """A turn's lines as they stand in a segment."""

    id: str
    writer: str
    path: str
    at: int
    lines: tuple[Line, ...]


class _Line:
    """Builds a turn line's commits."""

    def __init__(self, repository: Repository, home_id: str, agent: str) -> None:
        self._home_id = home_id
        self._agent = agent
        self._tree = LedgerTree(repository, None)
        self.contents: dict[str, bytes] = {}
        self.objects: list[GitObject] = []

    def add(self, turn: _SampleTurn, number: int, head: str | None) -> None:
        """Add the commit of one turn."""
        content = self.contents.get(turn.path, b"") + b"".join(line.raw for line in turn.lines)
        self.contents[turn.path] = content
        blob = make_object("blob", content)
        self._tree.put(turn.path, blob.id)
        root, trees = self._tree.write()
        last = turn.lines[-1]
        parent = self.objects[-1].id if self.objects else None
        trailers = [
            (KIND, "turn"),
            (TURN, turn.id),
            (CHAIN, f"{turn.writer}:{last.seq}:{last.envelope_hash}"),
            (HEAD, head),
            (HOME, None if parent else self._home_id),
        ]
        subject = turn_subject(number, [line.kind for line in turn.lines])
        commit = make_commit(
            tree=root,
            parents=[parent] if parent else [],
            author=self._agent,
            committer=self._agent,
            seconds=turn.at,
            message=format_message(subject, trailers),
        )
        self.objects += [blob, *trees, commit]


def _read_segments(source: Path) -> Mapping[str, bytes]:
    paths = sorted((source / LEDGER).rglob("*.jsonl"))
    return {path.relative_to(source).as_posix(): path.read_bytes() for path in paths}


def _turns_of(segments: Mapping[str, bytes]) -> list[_SampleTurn]:
    """Return the turns of the segments in the order of their chain."""
    return [turn for path in sorted(segments, key=_number) for turn in _split_turns(path, segments[path])]


def _split_turns(path: str, content: bytes) -> Iterator[_SampleTurn]:
    waiting: list[Line] = []
    for line in split_segment(content):
        if not isinstance(line, Line):
            raise CorruptionError(f"{path}: {line.reason} in line {line.number}")
        waiting.append(line)
        if line.kind == "turn":
            at = int(parse_timestamp(decode(line).ts))
            yield _SampleTurn(line.turn, line.writer, path, at, tuple(waiting))
            waiting = []


def _number(path: str) -> int:
    name = parse_segment_path(path)
    if name is None:
        raise CorruptionError(f"not a segment of the ledger: {path}")
    return name.number
