"""Folders that many tests begin with: made once a process, copied for each test, which costs a tenth."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

#: Where the originals lie, and what making each of them returned; outside pytest there is no such place.
_place: list[Path] = []
_made: dict[Hashable, tuple[Path, Any]] = {}


def keep_originals(folder: Path) -> None:
    """Keep originals in an empty folder from here on."""
    _place[:] = [folder]
    _made.clear()


def copy_of(key: Hashable, make: Callable[[Path], T], path: Path) -> T:
    """Put what `make` makes at `path`, which may be an empty folder; return what it returned.

    Args:
        key: all that decides what is made, but the folder's name.
        make: is called with a path at which nothing is; may take nothing from the test that calls.
        path: where the copy goes.
    """
    if not _place:
        return make(path)
    key = (key, path.name)
    if key not in _made:
        original = Path(tempfile.mkdtemp(dir=_place[0])) / path.name
        _made[key] = original, make(original)
    original, result = _made[key]
    shutil.copytree(original, path, symlinks=True, dirs_exist_ok=True)
    return result
