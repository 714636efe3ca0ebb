"""Which parts of an index become one: a pure rule over how large they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

#: So many parts of one order of size are merged into one of the next.
_FAN: Final = 8
#: A part of which more than this share is removed is written anew when merging is allowed.
_REMOVED_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class PartSize:
    """How many documents a part has, removed ones included, and how many of them are left."""

    size: int
    live: int


def choose_merged(parts: Sequence[PartSize], limit: int, also: Collection[int] = ()) -> set[int]:
    """Return the places of the parts to merge; those of which nothing is left are not among them.

    Parts grow geometrically, so a document is rewritten a few times in its life and there are never many
    parts. One that is mostly removed is rewritten.

    Args:
        parts: all parts of an index.
        limit: most documents to merge.
        also: places of parts that have to be written anew whatever they hold.
    """
    alive = {place for place, part in enumerate(parts) if part.live}
    chosen = alive.intersection(also)
    chosen |= {place for place in alive - chosen if _is_worn(parts[place], limit)}
    return chosen | _small({place: parts[place].live for place in sorted(alive - chosen)}, limit)


def _is_worn(part: PartSize, limit: int) -> bool:
    return part.size - part.live > part.size * _REMOVED_SHARE and part.live <= limit


def _small(live: dict[int, int], limit: int) -> set[int]:
    """Return the smallest parts if many are of one order of size, and what that order grows into."""
    orders: dict[int, list[int]] = {}
    for place, count in live.items():
        orders.setdefault(count.bit_length() // 3, []).append(place)
    chosen: list[int] = []
    for order in sorted(orders):
        group = chosen + orders[order]
        if len(orders[order]) + bool(chosen) >= _FAN and sum(live[place] for place in group) <= limit:
            chosen = group
        elif chosen:
            break
    return set(chosen)
