"""How this home stands to each of its remotes, by what was last seen of them; no remote is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gitmem.counted import counted
from gitmem.errors import GitmemError
from gitmem.json_view import JsonView
from gitmem.layout import TURN_LINES
from gitmem.remotes import Remotes
from gitmem.repository import Repository
from gitmem.sync_notes import SyncNotes
from gitmem.tag_sync import EPISODE_TAGS
from gitmem.times import format_time
from gitmem.transfer_walk import WalkTooLong, new_history

#: Commits that are counted; beyond, it is "over" that many.
_MOST: Final = 10_000


@dataclass(frozen=True, slots=True)
class RemoteStanding(JsonView):
    """How the home stands to one remote.

    Attributes:
        id: its name.
        turns: how many turns it lacks.
        commits: how many commits of the branch it lacks.
        episodes: how many tags of episodes it lacks.
        ahead: how many of its commits HEAD's branch lacks.
        tried: when a sync with it last ended, well or not.
        done: when one last ended well.
        error: why the last one failed.
        reason: why HEAD's branch stayed behind.
        blocked: paths that kept it there, and why.
        warnings: what the last sync refused or found out of place.
        tampered: what it found there that must not be: tags that were moved, lines that were rewritten.
    """

    id: str
    url: str
    turns: int = 0
    commits: int = 0
    episodes: int = 0
    ahead: int = 0
    tried: str | None = None
    done: str | None = None
    error: str | None = None
    reason: str | None = None
    blocked: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    tampered: Sequence[str] = ()

    @property
    def lacks(self) -> str:
        """What the remote lacks, in words; empty where it lacks nothing."""
        rows = ((self.turns, "turn"), (self.commits, "commit"), (self.episodes, "episode"))
        return ", ".join(_told(count, noun) for count, noun in rows if count)

    def to_json(self) -> dict[str, Any]:
        """Return the standing with a list of what stands in the way."""
        data: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        data["blocked"] = [{"path": path, "reason": why} for path, why in sorted(self.blocked.items())]
        return data


def remote_standings(
    repository: Repository, remotes: Remotes, notes: SyncNotes, branch: str | None
) -> Iterator[RemoteStanding]:
    """Yield how the home stands to each remote.

    Args:
        repository: the refs and objects.
        remotes: which there are.
        notes: what was remembered of the last syncs.
        branch: full name of the home's branch.
    """
    lines = list(repository.list_refs(TURN_LINES).values())
    tags = {*repository.list_refs(EPISODE_TAGS)}
    here = None if branch is None else repository.read_ref(branch)
    for remote in remotes.list():
        note = notes.read(remote.id)
        side = repository.list_refs(f"refs/remotes/{remote.id}/")
        there = None if branch is None else side.get(f"refs/remotes/{remote.id}/{branch[11:]}")
        ahead = _count(repository, [there], [here]) if there else 0
        yield RemoteStanding(
            remote.id,
            remote.url,
            turns=_count(repository, lines, [*side.values()]),
            commits=_count(repository, [here], [there]),
            episodes=len(tags - {*note.tags}),
            ahead=ahead,
            tried=None if note.tried is None else format_time(note.tried),
            done=None if note.done is None else format_time(note.done),
            error=note.error,
            reason=note.reason if ahead else None,
            blocked=note.blocked if ahead else {},
            warnings=tuple(note.warnings),
            tampered=tuple(note.tampered),
        )


def _count(repository: Repository, tips: Sequence[str | None], known: Sequence[str | None]) -> int:
    """Return how many commits tips have beyond what is known."""
    try:
        found = new_history(
            repository,
            [tip for tip in tips if tip is not None],
            [value for value in known if value is not None],
            most=_MOST,
        )
    except WalkTooLong:
        return _MOST + 1
    except GitmemError:
        return 0  # what is damaged is named elsewhere
    return len(found.commits)


def _told(count: int, noun: str) -> str:
    return counted(count, noun) if count <= _MOST else f"over {_MOST:,} {noun}s"
