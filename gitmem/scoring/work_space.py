"""Arrays to work in that are used again: to fetch such memory anew takes longer than the work in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from gitmem.scoring.part_arrays import Floats


@dataclass(frozen=True, slots=True)
class WorkSpace:
    """Arrays for one question, each of shape (documents + 4,): neighbours may stand outside.

    Attributes:
        total: what is added up; zeros when it is lent, and zeros again when it is given back.
        counts: of one term; the same.
        first, second: anything.
    """

    total: Floats
    counts: Floats
    first: Floats
    second: Floats


class WorkSpaces:
    """Work spaces for as many questions as are asked at once; may be used by several threads.

    Args:
        size: of each array.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._free: list[WorkSpace] = []

    @contextmanager
    def lend(self) -> Iterator[WorkSpace]:
        """Lend one; where its user fails it is not used again."""
        try:
            space = self._free.pop()
        except IndexError:
            space = WorkSpace(*(np.zeros(self._size) for _ in range(4)))
        yield space
        self._free.append(space)
