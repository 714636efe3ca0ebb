"""How long one call to a remote may take, whatever it waits for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from gitmem.errors import RemoteTimeout

_Result = TypeVar("_Result")


class Deadline:
    """A point in time after which nothing is waited for.

    Args:
        seconds: from now.
        shown: the remote, for the message.
        given: the seconds that somebody allowed, of which these are left; None where these are all.
    """

    def __init__(self, seconds: float, shown: str, given: float | None = None) -> None:
        self._seconds = seconds if given is None else given
        self._shown = shown
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """Return the seconds that are left.

        Raises:
            RemoteTimeout: none.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise self.passed()
        return left

    def passed(self) -> RemoteTimeout:
        """Return the error for what took too long."""
        return RemoteTimeout(
            f"{self._shown} did not finish within {self._seconds:g} s",
            hint="Try again, or allow more time.",
            url=self._shown,
            seconds=self._seconds,
        )

    def wait_for(self, work: Callable[[], _Result]) -> _Result:
        """Return what `work` returns, which cannot be interrupted itself (a look-up of a name).

        Raises:
            RemoteTimeout: it is not done in time; its thread is left behind.
        """
        results: list[_Result] = []
        failures: list[BaseException] = []

        def run() -> None:
            try:
                results.append(work())
            except BaseException as error:  # noqa: BLE001 - raised again by who waits
                failures.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(self.remaining())
        if failures:
            raise failures[0]
        if not results:
            raise self.passed()
        return results[0]
