"""`gitmem quarantine`: what came by sync and is kept from the agent, and letting it through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from gitmem.cli.commands import group
from gitmem.cli.settings import current
from gitmem.control_signs import show_controls
from gitmem.times import short_time

if TYPE_CHECKING:
    from gitmem.quarantine import QuarantineChange, QuarantineList
    from gitmem.quarantine_rules import Held


@group(example="gitmem quarantine list\ngitmem quarantine release notes/staging.md")
def command() -> None:
    """List what came by sync and is kept from the agent here; let it through.

    Everything travels and merges all the same: quarantine decides what the agent of this machine is shown and
    finds, and you see all of it with `gitmem get` and `gitmem search`, marked.
    """


@command.command("list", example="gitmem quarantine list")
def list_() -> None:
    """Show what is in quarantine, why, and what was let through."""
    settings = current()
    found = settings.open_home().quarantine()
    settings.reply(found, lambda: describe(found))


@command.command("release", example="gitmem quarantine release notes/staging.md")
@click.argument("ref")
def release(ref: str) -> None:
    """Let something through to the agent, on this machine only.

    REF is a source ref, an id or the path of a file. Once the text changes it is judged anew.
    """
    settings = current()
    done = settings.open_home().release(ref)
    settings.reply(done, lambda: "" if settings.quiet else describe_change(done))


@command.command("hold", example="gitmem quarantine hold notes/staging.md")
@click.argument("ref")
def hold(ref: str) -> None:
    """Take a release back."""
    settings = current()
    done = settings.open_home().hold(ref)
    settings.reply(done, lambda: "" if settings.quiet else describe_change(done))


def describe(found: QuarantineList) -> str:
    """Return what is in quarantine, for people."""
    lines = [line for one in found.quarantined for line in _item(one)] or ["Nothing is in quarantine."]
    if found.quarantined:
        lines.append("Read one: gitmem get REF. Let it through: gitmem quarantine release REF")
    if found.released:
        lines.append("Let through here:")
        lines += [f"  {_place(one)}  {click.style(one.reason, dim=True)}" for one in found.released]
    return "\n".join(lines)


def _item(one: Held) -> Iterator[str]:
    yield f"{click.style(_place(one), bold=True)}  {click.style(one.reason, fg='yellow')}"
    by = f"by {one.writer}" if one.writer else ""
    when = short_time(one.at) if one.at else ""
    told = "  ".join(part for part in (one.kind, one.source_ref if one.path else "", by, when) if part)
    yield f"    {click.style(told, dim=True)}"


def _place(one: Held) -> str:
    where = one.source_ref if one.path is None else one.path
    return show_controls(f"{where}:{one.line}" if one.path and one.line else where)


def describe_change(done: QuarantineChange) -> str:
    """Return what was let through or held again, for people."""
    if not done.released and not done.held:
        return "That is so already."
    told = [f"Let through: {_place(one)}" for one in done.released]
    told += [f"In quarantine again: {_place(one)}" for one in done.held]
    return "\n".join([*told, "This holds on this machine only."])
