"""Times as people write them, on the command line."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import click


def time_option(name: str, text: str) -> Callable[[Any], Any]:
    """Return an option that takes `2026-11-30`, `2 days ago`, `last week`; a command gets seconds since 1970.

    Args:
        name: of the option; a day or month given to `--until` counts to its end.
        text: help.
    """
    return click.option(name, metavar="TIME", callback=_to_seconds, help=text)


def _to_seconds(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    if value is None:
        return None
    from gitmem.time_limits import read_since, read_until

    return (read_until if param.name == "until" else read_since)(value, time.time())
