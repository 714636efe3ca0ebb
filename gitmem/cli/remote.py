"""`gitmem remote`: the repositories that this home syncs with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gitmem.cli.columns import fill, width_of
from gitmem.cli.commands import group
from gitmem.cli.settings import current

if TYPE_CHECKING:
    from gitmem.remotes import Remote


@group(example="gitmem remote add origin ssh://git@example.com/aria.git\ngitmem sync")
def command() -> None:
    """Add, list and remove the repositories that this home syncs with.

    They are ordinary remotes of Git: `git remote`, `git fetch` and `git push` know them too.
    """


@command.command("add", example="gitmem remote add origin /srv/git/aria.git")
@click.argument("name")
@click.argument("url")
def add(name: str, url: str) -> None:
    """Add a repository by a path or URL (file, ssh, host:path, https, http, git).

    An empty bare repository serves: `git init --bare /srv/git/aria.git`.
    """
    settings = current()
    home = settings.open_home()
    remote = home.remote_add(name, url)
    told = "" if settings.quiet else f"{remote.id}: {remote.url}\nNext: gitmem sync"
    settings.reply({"remotes": home.remotes()}, told)


@command.command("list", example="gitmem remote list")
def list_() -> None:
    """List them."""
    settings = current()
    remotes = settings.open_home().remotes()
    settings.reply({"remotes": remotes}, lambda: describe(remotes))


@command.command("remove", example="gitmem remote remove origin")
@click.argument("name")
def remove(name: str) -> None:
    """Remove one; the repository itself stays as it is, and no record that came from it is lost here."""
    settings = current()
    home = settings.open_home()
    kept = home.remote_remove(name)
    told = f"Removed {name}."
    if kept:
        told += f" Turn lines that were known from it alone are kept here: {' '.join(kept)}."
    settings.reply({"remotes": home.remotes(), "kept": kept}, "" if settings.quiet else told)


def describe(remotes: Sequence[Remote]) -> str:
    """Return the remotes for people."""
    if not remotes:
        return "No remotes yet. Add one: gitmem remote add origin URL"
    width = max(width_of(remote.id) for remote in remotes)
    return "\n".join(f"{fill(remote.id, width)}  {remote.url}" for remote in remotes)
