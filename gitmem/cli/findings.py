"""What a check found in files, one line each, for people."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from gitmem.cli.settings import current
from gitmem.cli.terminal import shown_on


def tell_findings(findings: Sequence[Mapping[str, Any]]) -> None:
    """Print findings on standard error: place, rule, what is wrong, and the fix."""
    for found in findings:
        where = found["path"] if found["line"] is None else f"{found['path']}:{found['line']}"
        rule = click.style(str(found["rule"]), fg="red")
        line = shown_on(sys.stderr, f"{where}: {rule}: {found['message']}. {found['fix']}")
        click.echo(line, err=True, color=current().color)
