"""Why the index could not be written the last time, for whoever says how complete it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gitmem.search_index import IndexRefused


class IndexTrouble:
    """Remembers what is wrong with writing one index until that works again.

    Args:
        standing: returns what is wrong with the index whoever tries what, None where nothing is.

    Attributes:
        reason: a sentence; None while all is well, or as long as nobody here has tried.
    """

    def __init__(self, standing: Callable[[], str | None] = lambda: None) -> None:
        self._standing = standing
        self.reason: str | None = None

    def reasons(self) -> list[str]:
        """Return all that is wrong now."""
        return [reason for reason in (self._standing(), self.reason) if reason is not None]

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note why the index cannot be written, or that it can; the error passes through."""
        try:
            yield
        except IndexRefused as error:
            self.reason = str(error)
            raise
        except OSError as error:
            self.reason = f"the index cannot be written: {error.strerror or error}"
            raise
