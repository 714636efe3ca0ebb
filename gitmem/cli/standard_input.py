"""Standard input, also where a process has none."""

from __future__ import annotations

import sys


def is_terminal() -> bool:
    """Say whether a person sits at standard input."""
    return sys.stdin is not None and sys.stdin.isatty()


def read_all() -> bytes:
    """Return everything that comes on standard input; nothing where it is closed."""
    return b"" if sys.stdin is None else sys.stdin.buffer.read()
