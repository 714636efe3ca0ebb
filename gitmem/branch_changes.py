"""The words in which a change to the operator's branch is asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PathChange:
    """One file of the operator's branch as the caller saw it, and as it shall be.

    Attributes:
        path: relative to the home, with slashes.
        base: the Git blob id of the bytes that the caller saw; None where there was no file.
        result: the whole new content; None removes the file.
    """

    path: str
    base: str | None
    result: bytes | None
