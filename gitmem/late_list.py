"""A list that is made when somebody first looks at it: most never do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import overload


class LateList(Sequence[str]):
    """Texts that are worked out at the first look, once.

    Args:
        make: returns them.
    """

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], Iterable[str]]) -> None:
        self._make = make
        self._made: list[str] | None = None

    def to_json(self) -> list[str]:
        """Return the texts."""
        if self._made is None:
            self._made = list(self._make())
        return self._made

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        return self.to_json()[place]

    def __len__(self) -> int:
        return len(self.to_json())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and not isinstance(other, str) and self.to_json() == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self.to_json()))

    def __repr__(self) -> str:
        return repr(self.to_json())
