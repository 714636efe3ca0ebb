"""The command line: the only part of gitmem that reads the environment and prints."""

from __future__ import annotations

from gitmem.cli.program import main

__all__ = ["main"]
