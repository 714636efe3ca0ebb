"""Shapes of commands: global options before or after the name, an example in every help, lazy groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from gitmem.cli.settings import Settings


def global_options(*, hidden: bool) -> list[click.Option]:
    """Return new options that every command takes; a value given nearer to the end wins."""
    kind: dict[str, Any] = {"expose_value": False, "callback": _remember}
    return [
        click.Option(["--json"], is_flag=True, help="Print one JSON object.", **kind),
        click.Option(
            ["--home", "-C"], type=click.Path(path_type=Path), help="The agent home.", hidden=hidden, **kind
        ),
        click.Option(
            ["--quiet", "-q"], is_flag=True, help="Print only what was asked for.", hidden=hidden, **kind
        ),
        click.Option(
            ["--verbose", "-v"], is_flag=True, help="Say more on standard error.", hidden=hidden, **kind
        ),
        click.Option(["--yes"], is_flag=True, help="Answer yes to questions.", hidden=hidden, **kind),
        click.Option(
            ["--color"],
            type=click.Choice(["auto", "always", "never"]),
            help="Color the output (also: NO_COLOR).",
            hidden=hidden,
            **kind,
        ),
    ]


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    settings = ctx.find_object(Settings)
    if settings is None or value is None or value is False:
        return
    if param.name == "color":
        settings.color = {"always": True, "never": False}.get(value)
    else:
        setattr(settings, str(param.name), value)


#: More characters than any first sentence has.
_WHOLE = 1000


class Command(click.Command):
    """A command that takes the global options and shows an example.

    Args:
        example: command lines, one a line, without a prompt.
    """

    def __init__(self, *args: Any, example: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example
        self.params += global_options(hidden=True)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example and where the global options are told."""
        _write_example(self.example, formatter)


class MissingCommand(click.UsageError):
    """A family was called without a command of it: the whole help is the answer."""


class Family(click.Group):
    """Commands under one name; without one of them its help is shown, and nothing is done."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments."""
        # Before click's own answer, which differs from version to version.
        if not args and not self.invoke_without_command and not ctx.resilient_parsing:
            raise MissingCommand("a command is missing", ctx)
        return super().parse_args(ctx, args)


class Group(Family):
    """A family of commands that takes the global options itself too."""

    command_class = Command
    group_class = type

    def __init__(self, *args: Any, example: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example
        self.params += global_options(hidden=True)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their first sentences; a long one goes on in the next line, uncut."""
        shown = [one for _, one in sorted(self.commands.items()) if not one.hidden]
        with formatter.section("Commands"):
            formatter.write_dl([(str(one.name), one.get_short_help_str(_WHOLE)) for one in shown])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example and where the global options are told."""
        _write_example(self.example, formatter)


def _write_example(example: str, formatter: click.HelpFormatter) -> None:
    with formatter.section("Example"):
        for line in example.strip().splitlines():
            formatter.write(f"{'':>{formatter.current_indent}}{line.strip()}\n")
    formatter.write_paragraph()
    formatter.write_text("Options of every command (--home, --quiet, --verbose, …): gitmem --help")


def command(example: str, **kwargs: Any) -> Callable[[Callable[..., Any]], Command]:
    """Make a function a command of the program."""
    return click.command(cls=Command, example=example, **kwargs)


def group(example: str, **kwargs: Any) -> Callable[[Callable[..., Any]], Group]:
    """Make a function a family of commands."""
    return click.group(cls=Group, example=example, **kwargs)


def options(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Join option decorators into one, in the order they stand."""

    def decorate(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def split_words(words: Sequence[str]) -> str:
    """Return the words of a query as one text: they need no quotes in the shell."""
    return " ".join(words)
