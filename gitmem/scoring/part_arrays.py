"""One part of an index as arrays, and its messages in the order in which they were said."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from gitmem.search_index import IndexPart
from gitmem.traits import MESSAGE

Numbers = NDArray[np.int64]
Places = NDArray[np.intp]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


class PartArrays:
    """What scoring reads of a part; a part never changes, so each array is made once.

    Args:
        part: where they come from; it is not kept.
    """

    def __init__(self, part: IndexPart) -> None:
        self.live = np.ones(part.size, dtype=np.bool_)
        if part.removed:
            self.live[np.fromiter(part.removed, dtype=np.intp)] = False
        self.is_whole = not part.removed
        session, clock, seq, traits = (
            as_numbers(part.column(name)) for name in ("session", "clock", "seq", "traits")
        )
        said = np.flatnonzero(self.live & (session != 0) & ((traits & MESSAGE) != 0))
        #: The numbers of the messages of conversations, conversation by conversation, as they were said.
        self.order: Places = said[np.lexsort((said, seq[said], clock[said], session[said]))]
        self.order_sessions: Numbers = session[self.order]

    @cached_property
    def sessions(self) -> Numbers:
        """The conversations, each once, ascending as in `order`."""
        keys = self.order_sessions
        return np.asarray(keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]])


_ARRAYS: WeakKeyDictionary[Any, PartArrays] = WeakKeyDictionary()


def arrays_of(part: IndexPart) -> PartArrays:
    """Return the arrays of a part, those made before if there are any."""
    found = _ARRAYS.get(part)
    if found is None:
        found = _ARRAYS[part] = PartArrays(part)
    return found


def as_numbers(values: Sequence[int]) -> Numbers:
    """Return a column as an array, without a copy if it has the buffer protocol."""
    return np.asarray(values, dtype=np.int64)
