"""Whatever a library raises over files of an index that it cannot read, as one exception."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gitmem.manifest import OtherFormat
from gitmem.search_index import IndexDamaged, IndexOutdated, IndexRefused

#: The disk or the system fails, not the index: such errors pass through.
OUTER_ERRORS: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}
    | {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EFBIG, errno.EIO, errno.ESTALE}
)


@contextmanager
def translated_damage() -> Iterator[None]:
    """Turn errors over damaged files into `IndexDamaged`.

    Whoosh has no common exception for them: of it are seen TypeError, UnpicklingError, IndexError, EOFError,
    FileNotFoundError, EmptyIndexError, struct.error, zlib.error and more, as the wrong byte will have it.
    """
    try:
        yield
    except (IndexDamaged, IndexRefused):
        raise
    except OtherFormat as error:
        raise IndexOutdated(str(error)) from error
    except OSError as error:
        if error.errno in OUTER_ERRORS:
            raise
        raise IndexDamaged(f"{type(error).__name__}: {error}") from error
    except Exception as error:
        raise IndexDamaged(f"{type(error).__name__}: {error}") from error
