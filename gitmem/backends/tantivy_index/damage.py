"""Whatever tantivy raises, by what it means: files that cannot be read, or a disk that cannot be written."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gitmem.index_damage import OUTER_ERRORS, translated_damage
from gitmem.search_index import IndexDamaged

#: How Rust names an error of the system, in the text of an exception.
_SYSTEM_ERROR: Final = re.compile(r"\(os error ([0-9]+)\)|\bcode: ([0-9]+)")


@contextmanager
def translated_reading() -> Iterator[None]:
    """Turn errors over damaged files into `IndexDamaged`."""
    with translated_damage():
        try:
            yield
        except BaseException as error:
            found = _system_error(error)
            if found is not None and found.errno in OUTER_ERRORS:
                raise found from error
            if _is_panic(error):
                raise IndexDamaged(f"{type(error).__name__}: {error}") from error
            raise


@contextmanager
def translated_writing() -> Iterator[None]:
    """Turn errors of tantivy while a part is made into `OSError`.

    What is made is not yet part of the index, so that no such error says that the index is damaged. tantivy's
    threads often keep the cause to themselves.
    """
    try:
        yield
    except BaseException as error:
        if not isinstance(error, ValueError) and not _is_panic(error):
            raise
        raise _system_error(error) or OSError(errno.EIO, f"tantivy cannot write: {error}") from error


def _system_error(error: BaseException) -> OSError | None:
    """Return the error of the system of which an exception of tantivy tells."""
    found = _SYSTEM_ERROR.search(str(error)) if isinstance(error, ValueError) else None
    if found is None:
        return None
    number = int(found[1] or found[2])
    return OSError(number, os.strerror(number))


def _is_panic(error: BaseException) -> bool:
    """Say whether Rust code broke off; Python sees that as an exception which is no `Exception`."""
    return type(error).__module__ == "pyo3_runtime"
