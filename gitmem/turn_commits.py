"""Commits of turn lines as a check reads them: which turn each brought, and which line was its last."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from gitmem.errors import GitmemError
from gitmem.repository import ObjectReader

_PARENT: Final = re.compile(rb"^parent ([0-9a-f]{40})$", re.MULTILINE)
_CHAIN: Final = re.compile(rb"^Gitmem-Chain: ?(w[0-9a-f]{8}):([0-9]{1,18}):([0-9a-f]{64})\s*$", re.MULTILINE)
_TURN: Final = re.compile(rb"^Gitmem-Turn: ?(turn_[0-9a-f]{15})\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TurnCommit:
    """What a commit of a turn line says of itself.

    Attributes:
        turn: id of its turn; None where it names none.
        chain: writer, number and hash of its last line; None where it names none.
    """

    id: str
    parents: tuple[str, ...]
    turn: str | None
    chain: tuple[str, int, str] | None


def read_turn_commit(objects: ObjectReader, commit: str) -> TurnCommit:
    """Read one commit.

    Raises:
        ObjectMissing: it is not here, or is none.
    """
    kind, content = objects.read(commit)
    head, _, message = content.partition(b"\n\n")
    parents = tuple(found.decode() for found in _PARENT.findall(head)) if kind == "commit" else ()
    turns, chains = _TURN.findall(message), _CHAIN.findall(message)
    chain = (chains[-1][0].decode(), int(chains[-1][1]), chains[-1][2].decode()) if chains else None
    return TurnCommit(commit, parents, turns[-1].decode() if turns else None, chain)


def walk_turns(
    objects: ObjectReader, tips: Iterable[str], seen: Iterable[str] = (), cut: Collection[str] = ()
) -> Iterator[TurnCommit | str]:
    """Yield every commit of turn lines once, newest first; the id alone of one that cannot be read.

    Args:
        objects: where they are.
        tips: where to begin.
        seen: commits that are left out with all behind them.
        cut: commits whose parents are not here, as a shallow clone says.
    """
    done = set(seen)
    waiting = list(tips)
    while waiting:
        commit = waiting.pop()
        if commit in done:
            continue
        done.add(commit)
        try:
            found = read_turn_commit(objects, commit)
        except GitmemError:
            yield commit
            continue
        yield found
        if commit not in cut:
            waiting.extend(found.parents)
