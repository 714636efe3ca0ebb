"""Times as people write them, on the command line."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import click

from gitmem.times import parse_until, parse_when


def time_option(name: str, text: str) -> Callable[[Any], Any]:
    """Return an option that takes `2026-11-30` or `2 days ago`; the command gets seconds since 1970.

    Args:
        name: of the option; a day given to `--until` counts to its end.
        text: help.
    """
    return click.option(name, metavar="TIME", callback=_to_seconds, help=text)


def _to_seconds(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    if value is None:
        return None
    return (parse_until if param.name == "until" else parse_when)(value, time.time())
