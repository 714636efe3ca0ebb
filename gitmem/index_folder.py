"""The folder of a search index: whether what stands in it may be read, and who may write there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from gitmem.errors import HomeLocked
from gitmem.file_lock import file_lock
from gitmem.private_folder import remove_leftovers, standing_of
from gitmem.search_index import IndexRefused

_FOREIGN: Final = "the index folder is somebody else's: remove it"


def is_readable(folder: Path) -> bool:
    """Say whether there is an index that may be read: nobody but this user can have filled the folder.

    Raises:
        IndexRefused: somebody else can.
    """
    standing = standing_of(folder)
    if standing == "foreign":
        raise IndexRefused(_FOREIGN)
    if standing == "open":
        raise IndexRefused("others may have filled the index folder: it is built anew")
    return standing == "private"


@contextmanager
def only_writer(folder: Path) -> Iterator[bool]:
    """Keep all other writers out, by a lock file beside the folder; False where somebody else does.

    Raises:
        IndexRefused: the folder is somebody else's.
    """
    if standing_of(folder) == "foreign":
        raise IndexRefused(_FOREIGN)
    with ExitStack() as held:
        try:
            held.enter_context(file_lock(folder.with_name(f"{folder.name}.lock"), wait=0))
        except HomeLocked:
            yield False
            return
        remove_leftovers(folder)
        yield True
