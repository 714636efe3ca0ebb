"""Times as people write them, on the command line."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import click

from gitmem.times import parse_when


def time_option(name: str, text: str) -> Callable[[Any], Any]:
    """Return an option that takes `2026-11-30` or `2 days ago`; the command gets seconds since 1970."""
    return click.option(name, metavar="TIME", callback=_to_seconds, help=text)


def _to_seconds(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    return None if value is None else parse_when(value, time.time())
