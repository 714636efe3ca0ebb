"""The command reference is what the commands say, and every command says enough."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from documents.command_reference import PAGE, render

from gitmem.cli.program import COMMANDS, program


def all_commands() -> Iterator[tuple[str, click.Command]]:
    """Yield every command and subcommand with its full name."""
    ctx = click.Context(program, info_name="gitmem")
    for name in COMMANDS:
        command = program.get_command(ctx, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {child}", found) for child, found in command.commands.items())


def test_the_page_is_what_the_commands_say() -> None:
    """Nobody writes the reference by hand, so nothing in it is out of date."""
    assert PAGE.read_text("utf-8") == render(), (
        "run: PYTHONPATH=tests:. python tests/documents/command_reference.py"
    )


@pytest.mark.parametrize(("name", "command"), list(all_commands()), ids=str)
def test_every_command_has_help_and_an_example(name: str, command: click.Command) -> None:
    """`COMMAND --help` explains itself: a sentence, a word on each option, an example."""
    assert command.help
    assert command.help.split("\n")[0].endswith((".", ":"))
    undocumented = [p.name for p in command.params if isinstance(p, click.Option) and not p.help]
    assert not undocumented
    assert "gitmem" in getattr(command, "example", "")


def test_the_summary_of_each_command_is_one_line() -> None:
    """`gitmem --help` is written without importing commands; each summary is one line."""
    for entry in COMMANDS.values():
        assert entry.summary.endswith(".")
        assert len(entry.summary) <= 64
