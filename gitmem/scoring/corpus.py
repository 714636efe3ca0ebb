"""All documents of a moment as one row of numbers: the parts of the index, and what is not indexed yet."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final

import numpy as np

from gitmem.postings_cache import DEFAULT_BYTES, PostingsCache
from gitmem.recipe import RECIPE, Recipe
from gitmem.scoring.part_arrays import Floats, Mask, Numbers, Places, arrays_of, as_numbers
from gitmem.scoring.passages import Passages, find_passages
from gitmem.scoring.reading_order import order_documents, shares_of_neighbour
from gitmem.scoring.work_space import WorkSpaces
from gitmem.search_index import IndexPart
from gitmem.traits import ASKS, KEPT, SHARE_SHIFT, SHARE_UNIT, TELLS_TIME

_NOTHING: Final = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float64)


class Corpus:
    """The documents of all parts, numbered so that the neighbours of a message stand beside it.

    Args:
        parts: of the index, and what is not indexed yet.
        recipe: the weights.
        room: bytes that the joined postings of terms may take.
    """

    def __init__(
        self, parts: Sequence[IndexPart], recipe: Recipe = RECIPE, room: int = DEFAULT_BYTES // 2
    ) -> None:
        self.parts = parts
        self.recipe = recipe
        self._arrays = [arrays_of(part) for part in parts]
        self._offsets = [0, *accumulate(part.size for part in parts)]
        self.size = self._offsets.pop()
        self.order = order_documents(parts, self._arrays, self._offsets, self.size)
        self._columns: dict[str, Numbers] = {}
        self._joined: PostingsCache[tuple[Places, Floats]] = PostingsCache(room)
        self.spaces = WorkSpaces(self.size + 4)

    def column(self, name: str) -> Numbers:
        """Return a column of all documents; shape (size,)."""
        if name not in self._columns:
            parts = [as_numbers(part.column(name)) for part in self.parts]
            whole = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
            self._columns[name] = whole[self.order.place]
        return self._columns[name]

    def place(self, number: int) -> tuple[int, int]:
        """Return the part of a document, and its number there."""
        place = int(self.order.place[number])
        part = bisect_right(self._offsets, place) - 1
        return part, place - self._offsets[part]

    def postings(self, term: str) -> tuple[Places, Floats]:
        """Return the live documents that have a term, and how often each has it."""
        found = self._joined.get(term)
        if found is None:
            found = self._join(term)
            self._joined.add(term, found)
        return found

    def _join(self, term: str) -> tuple[Places, Floats]:
        places, counts = [], []
        for part, arrays, offset in zip(self.parts, self._arrays, self._offsets, strict=True):
            found, often = part.postings(term)
            if not len(found):
                continue
            here = np.asarray(found)
            if not arrays.is_whole:
                kept = arrays.live[here]
                here, often = here[kept], np.asarray(often)[kept]
            places.append(np.add(here, offset, dtype=np.intp))
            counts.append(often)
        if not places:
            return _NOTHING
        numbers = self.order.number.take(np.concatenate(places))
        return numbers, np.concatenate(counts, dtype=np.float64)

    def terms_from(self, prefix: str, limit: int) -> list[str]:
        """Return terms that begin with `prefix`, from each part the first ones in order."""
        return list(dict.fromkeys(term for part in self.parts for term in part.terms_from(prefix, limit)))

    @cached_property
    def live(self) -> Mask:
        """Which documents were not removed."""
        parts = [part.live for part in self._arrays]
        return np.concatenate(parts)[self.order.place] if parts else np.empty(0, dtype=np.bool_)

    @cached_property
    def count(self) -> int:
        """How many documents were not removed."""
        return int(np.count_nonzero(self.live))

    @cached_property
    def seconds(self) -> Floats:
        """When each document happened or was last written, seconds since 1970."""
        return self.column("time") / 1000

    @cached_property
    def asks(self) -> Mask:
        """Which documents hold a question."""
        return np.asarray((self.column("traits") & ASKS) != 0)

    @cached_property
    def tells_time(self) -> Mask:
        """Which documents hold an expression of time."""
        return np.asarray((self.column("traits") & TELLS_TIME) != 0)

    @cached_property
    def kept(self) -> Places:
        """The documents that somebody chose to keep."""
        return np.flatnonzero((self.column("traits") & KEPT) != 0)

    @cached_property
    def telling(self) -> Floats:
        """What each document keeps of its score after what it loses for its questions."""
        return np.asarray(1 - self.recipe.asking * (self.column("traits") >> SHARE_SHIFT) / SHARE_UNIT)

    @cached_property
    def near(self) -> Sequence[tuple[int, Floats]]:
        """How far away each neighbour stands, and how much of it counts; arrays of shape (size + 4,)."""
        recipe = self.recipe
        before = np.where(self.asks, recipe.before_asking, recipe.before)
        shares = ((-1, before), (1, recipe.after), (-2, recipe.before_2), (2, recipe.after_2))
        return [(distance, shares_of_neighbour(self.order, distance, share)) for distance, share in shares]

    @cached_property
    def resistance(self) -> Floats:
        """What a term's count is set against in BM25; shape (size + 4,).

        It grows with a document's length, in which its neighbours' count as far as their words do.
        """
        own = np.zeros(self.size + 4)
        own[2:-2] = self.column("length")
        length = own.copy()
        for distance, share in self.near:
            length += share * np.roll(own, -distance)
        average = float(length[2:-2][self.live].mean()) if self.count else 1.0
        recipe = self.recipe
        return np.asarray(recipe.k1 * (1 - recipe.b + recipe.b * length / (average or 1.0)))

    @cached_property
    def authors(self) -> frozenset[int]:
        """The keys of all authors."""
        return frozenset(np.unique(self.column("author")[self.live]).tolist()) - {0}

    @cached_property
    def passages(self) -> Passages:
        """The conversations as the score of a whole conversation sees them."""
        return find_passages(self.order, self.column("length"))
