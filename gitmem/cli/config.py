"""`gitmem config`: the settings of this machine, and a view of the home's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.columns import fill, width_of
from gitmem.cli.commands import group
from gitmem.cli.settings import current

if TYPE_CHECKING:
    from gitmem.machine_settings import Setting


@group(example="gitmem config list")
def command() -> None:
    """Read and change settings.

    Settings of this machine are in `git config gitmem.*`. The home's own are in gitmem.toml, which you edit
    and commit yourself; they are shown here too.
    """


@command.command("get", example="gitmem config get gitmem.branch")
@click.argument("key")
def get(key: str) -> None:
    """Print one setting."""
    settings = current()
    value = settings.open_home().config_get(key)
    settings.reply({"key": key, "value": value}, lambda: _shown(value))


@command.command("set", example="gitmem config set gitmem.branch main")
@click.argument("key")
@click.argument("value")
def set_(key: str, value: str) -> None:
    """Change a setting of this machine; an empty VALUE takes it back to its default.

    Of scannerAllow, VALUE replaces the whole list. +RULE:DIGITS adds an entry to it, -RULE:DIGITS (behind
    --) takes one out.
    """
    settings = current()
    done = settings.open_home().config_set(key, value)
    told = f"{key} = {done.after or ''}" + (f"  (was: {done.before})" if done.was_other else "")
    settings.reply(
        {"key": key, "value": done.after, "before": done.before}, lambda: "" if settings.quiet else told
    )


@command.command("list", example="gitmem config list --json")
def list_() -> None:
    """List all settings with their values and where they stand."""
    settings = current()
    found = settings.open_home().config_list()
    settings.reply({"settings": found}, lambda: describe(found))


def describe(found: Sequence[Setting]) -> str:
    """Return the settings as a table: name and value, and where they stand."""
    rows = [f"{setting.id} = {_shown(setting.value)}" for setting in found]
    width = max(map(width_of, rows), default=0)
    return "\n".join(
        f"{fill(row, width)}  {click.style(setting.where, dim=True)}"
        for row, setting in zip(rows, found, strict=True)
    )


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
