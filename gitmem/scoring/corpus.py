"""All documents of a moment as one row of numbers: the parts of the index, and what is not indexed yet."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final

import numpy as np

from gitmem.recipe import RECIPE, Recipe
from gitmem.scoring.neighbours import Links, join_spread, link
from gitmem.scoring.part_arrays import Floats, Mask, Numbers, Places, arrays_of, as_numbers
from gitmem.scoring.passages import Passages, find_passages, window_sums
from gitmem.search_index import IndexPart
from gitmem.traits import ASKS, KEPT, SHARE_SHIFT, SHARE_UNIT, TELLS_TIME

_NOTHING: Final = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float64)


class Corpus:
    """The documents of all parts, numbered through.

    Args:
        parts: in the order of their documents' numbers.
        recipe: the weights of neighbours, which lengths depend on.
    """

    def __init__(self, parts: Sequence[IndexPart], recipe: Recipe = RECIPE) -> None:
        self.parts = parts
        self.recipe = recipe
        self._arrays = [arrays_of(part) for part in parts]
        self.offsets = [0, *accumulate(part.size for part in parts)]
        self.size = self.offsets.pop()
        self._columns: dict[str, Numbers] = {}

    def column(self, name: str) -> Numbers:
        """Return a column of all documents; shape (size,)."""
        if name not in self._columns:
            parts = [as_numbers(part.column(name)) for part in self.parts]
            self._columns[name] = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
        return self._columns[name]

    def place(self, number: int) -> tuple[int, int]:
        """Return the part of a document, and its number there."""
        part = bisect_right(self.offsets, number) - 1
        return part, number - self.offsets[part]

    def postings(self, term: str) -> tuple[Places, Floats]:
        """Return the live documents that have a term, ascending, and how often each has it."""
        numbers, counts = [], []
        for part, arrays, offset in zip(self.parts, self._arrays, self.offsets, strict=True):
            found, often = (np.asarray(values) for values in part.postings(term))
            if not len(found):
                continue
            places = found.astype(np.intp)
            if not arrays.is_whole:
                kept = arrays.live[places]
                places, often = places[kept], often[kept]
            numbers.append(places + offset)
            counts.append(often.astype(np.float64))
        if not numbers:
            return _NOTHING
        return np.concatenate(numbers), np.concatenate(counts)

    def terms_from(self, prefix: str, limit: int) -> list[str]:
        """Return terms that begin with `prefix`, from each part the first ones in order."""
        return list(dict.fromkeys(term for part in self.parts for term in part.terms_from(prefix, limit)))

    @cached_property
    def live(self) -> Mask:
        """Which documents were not removed."""
        return np.concatenate([part.live for part in self._arrays]) if self._arrays else np.empty(0, np.bool_)

    @cached_property
    def count(self) -> int:
        """How many documents were not removed."""
        return int(np.count_nonzero(self.live))

    @cached_property
    def links(self) -> Links:
        """The neighbours of each message."""
        links = link(self._arrays, self.offsets, self.size)
        join_spread(links, self._arrays, self.offsets, self.column("clock"), self.column("seq"))
        return links

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
    def is_kept(self) -> Mask:
        """Which documents somebody chose to keep."""
        return np.asarray((self.column("traits") & KEPT) != 0)

    @cached_property
    def asking_share(self) -> Floats:
        """Which share of each document's words stands in questions."""
        return (self.column("traits") >> SHARE_SHIFT) / SHARE_UNIT

    @cached_property
    def weight_of_before(self) -> Floats:
        """How much of each document counts as its successor's own."""
        return np.where(self.asks, self.recipe.before_asking, self.recipe.before)

    @cached_property
    def length(self) -> Floats:
        """Each document's length, those of its neighbours included as far as their words count."""
        own = np.append(self.column("length").astype(np.float64), 0.0)
        links, recipe = self.links, self.recipe
        weight = np.append(self.weight_of_before, 0.0)
        near = (
            weight[links.before] * own[links.before]
            + recipe.after * own[links.after]
            + recipe.before_2 * own[links.before_2]
            + recipe.after_2 * own[links.after_2]
        )
        return np.asarray(own[:-1] + near)

    @cached_property
    def resistance(self) -> Floats:
        """What a term's count is set against in BM25: grows with a document's length."""
        average = float(self.length[self.live].mean()) if self.count else 1.0
        recipe = self.recipe
        return recipe.k1 * (1 - recipe.b + recipe.b * self.length / (average or 1.0))

    @cached_property
    def authors(self) -> frozenset[int]:
        """The keys of all authors."""
        return frozenset(np.unique(self.column("author")[self.live]).tolist()) - {0}

    @cached_property
    def conversation(self) -> Places:
        """The number of each message's conversation, from 0; that of what is in none comes last."""
        found = np.full(self.size, -1, dtype=np.intp)
        known = self.conversation_keys
        for part, offset in zip(self._arrays, self.offsets, strict=True):
            found[part.order + offset] = np.searchsorted(known, part.order_sessions)
        found[found < 0] = len(known)
        return found

    @cached_property
    def conversation_keys(self) -> Numbers:
        """The keys of all conversations that have messages, ascending."""
        keys = [part.sessions for part in self._arrays]
        return np.unique(np.concatenate(keys)) if keys else np.empty(0, dtype=np.int64)

    @cached_property
    def passages(self) -> Passages:
        """The conversations as the score of a whole conversation sees them."""
        lengths, clock, seq = (self.column(name) for name in ("length", "clock", "seq"))
        return find_passages(self.conversation, len(self.conversation_keys), lengths, clock, seq)

    @cached_property
    def window_lengths(self) -> Floats:
        """The length of each window of `passages`."""
        return window_sums(self.passages, self.column("length")[self.passages.windowed].astype(np.float64))
