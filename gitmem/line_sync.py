"""What becomes of turn lines between here and a remote: which come, which go, which are refused.

A line only grows. One that comes must follow what was known of it; one that goes must follow what the remote
has. Nothing is merged: other lines become parents of the next turn.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from gitmem.errors import GitmemError
from gitmem.layout import TURN_LINES
from gitmem.repository import Repository
from gitmem.subjects import HOME, parse_trailers

_WRITER: Final = re.compile(r"w[0-9a-f]{8}")
#: A contained line is pruned when its writer has been silent for so long.
QUIET_SECONDS: Final = 30 * 24 * 3600
#: Lines in which another one is looked for before it is pruned: the newest, and those of this repository.
_CONTAINERS: Final = 3

#: What the remote has of one of the lines here: nothing yet; the same; an earlier state; a later one; another
#: one; or all of it within another line.
Standing = Literal["new", "same", "ahead", "behind", "forked", "contained"]


@dataclass(frozen=True, slots=True)
class Incoming:
    """Lines of a remote, judged.

    Attributes:
        moves: writer -> old and new value of what is known of its line here; old is None for a new one.
        ignored: name of a line -> why it is none of this home's.
        refused: name of a line -> why its new value is not taken.
    """

    moves: Mapping[str, tuple[str | None, str]] = field(default_factory=dict)
    ignored: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


def line_names(refs: Mapping[str, str], prefix: str = TURN_LINES) -> dict[str, str]:
    """Return value by writer of the refs below a prefix that are named as turn lines are."""
    found = {name.removeprefix(prefix): value for name, value in refs.items() if name.startswith(prefix)}
    return {writer: value for writer, value in found.items() if _WRITER.fullmatch(writer)}


def judge_incoming(
    repository: Repository, home_id: str, remote: Mapping[str, str], known: Mapping[str, str]
) -> Incoming:
    """Judge a remote's lines, whose commits are in the own store.

    Args:
        repository: reads commits.
        home_id: a line whose root commit names another home is ignored.
        remote: value by writer, as the remote has them.
        known: value by writer, as it was last known here of that remote.
    """
    moves: dict[str, tuple[str | None, str]] = {}
    ignored: dict[str, str] = {}
    refused: dict[str, str] = {}
    for writer, tip in sorted(remote.items()):
        before = known.get(writer)
        if before == tip:
            continue
        name = f"gitmem/turns/{writer}"
        try:
            if before is None or not repository.contains(before):
                home = home_of_line(repository, tip)
                if home not in ("", home_id):
                    ignored[name] = f"it belongs to another home, {home}"
                    continue
            elif not repository.is_ancestor(before, tip):
                refused[name] = f"it was rewritten: {tip} does not follow {before}"
                continue
        except GitmemError as error:
            ignored[name] = f"it cannot be read: {error.message}"
            continue
        moves[writer] = (before, tip)
    return Incoming(moves, ignored, refused)


def home_of_line(repository: Repository, tip: str) -> str:
    """Return the home that the root commit of a line names; "" where that cannot be known (shallow).

    Raises:
        GitmemError: the tip is no commit, or not here.
    """
    root = deque(repository.walk_first_parents(tip), maxlen=1)[0]
    if root.parents:
        return ""
    return parse_trailers(root.message).get(HOME, "none")


def stand_of(
    is_ancestor: Callable[[str, str], bool], tip: str, there: str | None, others: Collection[str]
) -> Standing:
    """Return how a line here stands to a remote's.

    Args:
        is_ancestor: says whether one commit is reachable from another.
        tip: of the line here.
        there: the remote's value of that line, None where it has none.
        others: values of the remote's other lines.
    """
    if there is None:
        return "contained" if any(is_ancestor(tip, other) for other in others) else "new"
    if there == tip:
        return "same"
    if is_ancestor(there, tip):
        return "ahead"
    return "behind" if is_ancestor(tip, there) else "forked"


def prunable_lines(
    repository: Repository, remote: Mapping[str, str], kept: Collection[str], now: float
) -> Iterator[str]:
    """Yield writers whose line a remote needs no more: silent for long, and all of it in another line there.

    Its writer may return at any time; its line then simply begins there again, at its full length.

    Args:
        repository: reads commits.
        remote: value by writer, as the remote has them.
        kept: writers of this repository, whose lines stay.
        now: seconds since 1970.
    """
    times: dict[str, int] = {}
    for writer, tip in remote.items():
        try:
            times[writer] = repository.read_commit(tip).commit_time
        except GitmemError:
            continue
    newest = sorted(times, key=lambda writer: times[writer], reverse=True)[:_CONTAINERS]
    holding = {*newest, *(writer for writer in kept if writer in times)}
    for writer in sorted(times.keys() - holding):
        if now - times[writer] < QUIET_SECONDS:
            continue
        if any(repository.is_ancestor(remote[writer], remote[other]) for other in holding):
            yield writer
