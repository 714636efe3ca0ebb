"""That something was forgotten, for whoever cleans up: said before the receipts are in force.

A process that is killed between the two leaves the notice, and the next one goes on with it.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gitmem.durable_file import remove_file, write_file
from gitmem.layout import Layout

_NAME: Final = "forgotten"


class ForgetNotices:
    """The notices of one work tree.

    Args:
        layout: where they lie.
    """

    def __init__(self, layout: Layout) -> None:
        self._folder = layout.private

    def put(self) -> None:
        """Say that receipts come into force; safe from a power cut."""
        write_file(self._folder / f"{_NAME}.{secrets.token_hex(6)}", b"")

    def read(self) -> Sequence[Path]:
        """Return the notices there are."""
        return sorted(self._folder.glob(f"{_NAME}.*"))

    def drop(self, notices: Sequence[Path]) -> None:
        """Let go of notices, because all was done that they ask for."""
        for path in notices:
            remove_file(path)
