"""Times as people write them, on the command line."""

from __future__ import annotations

import time
from typing import Any

import click

from gitmem.times import parse_when


class When(click.ParamType):
    """A point in time: `2026-11-30`, `2 days ago`, `yesterday`, `last monday`; seconds since 1970 inside."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds since 1970."""
        return value if isinstance(value, float) else parse_when(str(value), time.time())


WHEN = When()


def short_time(at: str) -> str:
    """Return an RFC 3339 time as it is shown in lists: date and minute."""
    return at[:16].replace("T", " ")
