"""A command in a process of its own, beside whoever began it: what is slow there costs nobody else time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

#: As Git's hooks start it: whatever else is named gitmem in the folder is not taken for it.
_START: Final = "import sys; sys.path.append(sys.argv.pop(1)); from gitmem.cli import main; main()"
#: Seconds that it may take to stop when it is told to.
_STOP: Final = 2.0


class BackgroundCommand:
    """Begins one command of gitmem in one home, one at a time.

    Args:
        root: of the home.
        words: the command; it may be ended at any step.
    """

    def __init__(self, root: Path, words: Sequence[str]) -> None:
        self._root = root
        self._words = words
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self) -> bool:
        """Begin it, unless it is under way; say whether it was begun."""
        if self._process is not None and self._process.poll() is None:
            return False
        package = str(Path(__file__).parents[1])
        command = [sys.executable, "-P", "-c", _START, package, *self._words]
        self._process = subprocess.Popen(  # noqa: S603 - gitmem itself
            command,
            cwd=self._root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return True

    def end(self) -> None:
        """End what is under way."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
