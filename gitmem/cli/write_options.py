"""The options of everything that writes: what caused it, why, and for whom."""

from __future__ import annotations

from typing import Any

import click

from gitmem.cli import standard_input
from gitmem.cli.commands import options

write_options = options(
    click.option("--session", metavar="ID", help="The conversation that it belongs to."),
    click.option(
        "--turn", metavar="ID", help="The turn that caused it; taken as given, it may be on another machine."
    ),
    click.option("--source", metavar="REF", help="The message that it goes back to; taken as given, too."),
    click.option("--reason", metavar="TEXT", help="Why, in a sentence."),
    click.option(
        "--as",
        "by",
        type=click.Choice(["agent", "operator"]),
        help="Whose change it is; by default yours at a terminal, else the agent's.",
    ),
    click.option(
        "--origin",
        type=click.Choice(["foreground", "background_review"]),
        help="background_review: the agent works with nobody there; what it takes away is only proposed.",
    ),
)

reader_option = click.option(
    "--as",
    "by",
    type=click.Choice(["agent", "operator"]),
    default="operator",
    show_default=True,
    help="Who reads: from an agent, what the scanner refuses of memory and notes is withheld.",
)


def cause(values: dict[str, Any]) -> dict[str, Any]:
    """Return the write options among a command's values, with `by` decided."""
    taken = {name: values.pop(name) for name in ("session", "turn", "source", "reason", "by")}
    taken["by"] = taken["by"] or ("operator" if standard_input.is_terminal() else "agent")
    origin = values.pop("origin", None)
    return taken if origin is None else {**taken, "origin": origin}
