"""Writes `docs/commands.md` from the commands themselves; run it after a command changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from gitmem.cli.program import SECTIONS, program

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
INTRODUCTION = """\
# Commands

What `gitmem --help` and `gitmem COMMAND --help` say, in one place. Written by
`tests/documents/command_reference.py`; a test fails when it differs.
"""


def render() -> str:
    """Return the page."""
    parts = [INTRODUCTION, _block(["gitmem"], program, None)]
    for section, entries in SECTIONS.items():
        parts.append(f"## {section}\n")
        for name in entries:
            parts += [_block(path, command, parent) for path, command, parent in _family(name)]
    return "\n".join(parts)


def _family(name: str) -> Iterator[tuple[list[str], click.Command, click.Context]]:
    root = click.Context(program, info_name="gitmem", **program.context_settings)
    command = program.get_command(root, name)
    assert command is not None
    yield ["gitmem", name], command, root
    if isinstance(command, click.Group):
        inner = click.Context(command, info_name=name, parent=root)
        for child in command.commands.values():
            yield ["gitmem", name, str(child.name)], child, inner


def _block(path: list[str], command: click.Command, parent: click.Context | None) -> str:
    names = {} if parent else {"help_option_names": program.context_settings["help_option_names"]}
    ctx = click.Context(command, info_name=path[-1], parent=parent, terminal_width=100, **names)
    heading = "" if len(path) == 1 else f"{'#' * min(len(path) + 1, 4)} {' '.join(path)}\n\n"
    return f"{heading}```text\n{command.get_help(ctx).rstrip()}\n```\n"


if __name__ == "__main__":
    os.environ["NO_COLOR"] = "1"
    PAGE.write_text(render(), "utf-8")
