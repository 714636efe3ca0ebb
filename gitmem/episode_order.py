"""The order of a list of episodes, the newest first; its cursor; and which files a name can mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final, NamedTuple

from gitmem.episode_record import EpisodeRecord
from gitmem.errors import AmbiguousMatch, UsageError
from gitmem.layout import EPISODES

#: Episodes in one answer at most.
MOST: Final = 200
#: Ids that are named where a name fits several.
_NAMED: Final = 10


class Place(NamedTuple):
    """Where an episode stands in the list; the greater stands before.

    Attributes:
        day: `2026-11/13`, from the path of its file, so that a page reads the files of its days only.
        time: when it was finalised, RFC 3339.
        id: of it.
    """

    day: str
    time: str
    id: str


def place_of(day: str, episode: EpisodeRecord) -> Place:
    """Return where an episode stands, of a file of that day."""
    return Place(day, episode.finalized_at, episode.id)


def by_day(paths: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Return paths of episodes by the day that stands in them, the newest day first.

    A file somewhere else, as people may put it, counts to a day of its own name.
    """
    days = defaultdict(list)
    for path in paths:
        days[_day_of(path)].append(path)
    return sorted(days.items(), reverse=True)


def _day_of(path: str) -> str:
    folder, _, name = path.removeprefix(f"{EPISODES}/").rpartition("/")
    return f"{folder}/{name.partition('-')[0]}"


def format_place(place: Place) -> str:
    """Return a place as a cursor."""
    return "/".join(place)


def parse_place(cursor: str) -> Place:
    """Return the place that a cursor stands for.

    Raises:
        UsageError: it is none.
    """
    day, first, rest = _split(cursor)
    if not (first and rest and "/" in day):
        raise UsageError(f"not a cursor: {cursor[:40]!r}", field="cursor")
    return Place(day, first, rest)


def _split(cursor: str) -> tuple[str, str, str]:
    parts = cursor.rsplit("/", 2)
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else ("", "", "")


def check_limit(limit: int) -> None:
    """Raise UsageError where there cannot be so many episodes in an answer."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST:
        raise UsageError(f"limit is 1 to {MOST}, not {limit!r}", field="limit")


def by_name(paths: Iterable[str], wanted: str) -> tuple[list[str], list[str]]:
    """Return the paths whose names can be those of an episode, and all others.

    Args:
        paths: of files of episodes.
        wanted: an id or its beginning; a file's name ends in the first digits of an id.
    """
    digits = wanted.rpartition("_")[2]
    likely: list[str] = []
    others: list[str] = []
    for path in paths:
        end = path.rpartition("-")[2].partition(".")[0]
        (likely if end and (digits.startswith(end) or end.startswith(digits)) else others).append(path)
    return likely, others


def ambiguous_name(wanted: str, found: Iterable[str]) -> AmbiguousMatch:
    """Return the error of a name that is the beginning of several ids."""
    ids = sorted(found)
    return AmbiguousMatch(
        f"{wanted} fits {len(ids)} episodes: {', '.join(ids[:_NAMED])}",
        hint="Name more of the id.",
        matches=[f"episode:{one}" for one in ids[:_NAMED]],
    )
