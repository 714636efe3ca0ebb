"""What every command knows: the options that may stand before or after it, the home, and how to answer."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.terminal import shown_on
from gitmem.errors import NotAHome
from gitmem.json_view import to_json
from gitmem.layout import find_home
from gitmem.records import clean_text

if TYPE_CHECKING:
    from gitmem.home import AgentHome


class AnswerLost(Exception):
    """What a command answers could not be written; what it did is done.

    Args:
        cause: of standard output.
    """

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


@contextmanager
def answering() -> Iterator[None]:
    """Tell a standard output that fails from whatever else fails in the same way."""
    try:
        yield
    except BrokenPipeError:  # whoever reads has enough
        raise
    except OSError as error:
        raise AnswerLost(error) from error


@dataclass(slots=True)
class Settings:
    """The global options, and the two ways to answer.

    Attributes:
        home: what `--home` named.
        json: answer with exactly one JSON object on standard output.
        yes: do not ask.
        color: None decides by the terminal and `NO_COLOR`.
    """

    home: Path | None = None
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    yes: bool = False
    color: bool | None = None

    def home_path(self) -> Path:
        """Return the home's folder: `--home`, else `GITMEM_HOME`, else the nearest above the current folder.

        Raises:
            NotAHome: none of them names one.
        """
        if self.home is not None:
            return self.home
        near = _nearest_home()
        named = os.environ.get("GITMEM_HOME")
        if named:
            chosen = Path(named).expanduser()
            if near is not None and near != chosen.resolve():
                self.warn(f"using GITMEM_HOME ({chosen}), not the home that this folder is in ({near})")
            return chosen
        if near is None:
            raise NotAHome(
                "no agent home here or above this folder",
                hint="Go to one, name one with --home PATH, or make one: `gitmem init`.",
            )
        return near

    def path_in(self, home: AgentHome, named: str) -> str:
        """Return a path as the home has it: people name files from where they stand, as with Git.

        What is nothing from there is left as it is: a path from the top of the home, or no path at all.
        """
        root = home.layout.root
        here = Path(os.path.abspath(named))  # noqa: PTH100 - the last part may be a link, which stays one
        if here.is_relative_to(root) and os.path.lexists(here):
            return here.relative_to(root).as_posix()
        return named

    def open_home(self) -> AgentHome:
        """Open the home for the rest of this command."""
        from gitmem.home import AgentHome  # `gitmem --help` must not pay for it

        path = self.home_path()
        if self.verbose:
            self.note(f"home: {path}")
        # What a search leaves to be indexed goes to a process of its own; this one ends with its answer.
        return click.get_current_context().with_resource(AgentHome.open(path, catches_up=False))

    def reply(self, value: Any, text: str | Callable[[], str] | None = None, *, exact: bool = False) -> None:
        """Answer with `value` as JSON, or with `text` for people, which may be made late.

        Args:
            value: with `--json`.
            text: without it.
            exact: whether the text is for a prompt, which gets it as it is.
        """
        shown = None if self.json else text() if callable(text) else text
        with answering():
            if self.json:
                print_json(value)
            elif shown:
                _print_text(shown, color=self.color, exact=exact)

    def say(self, text: str) -> None:
        """Print a line that is news, not the answer; silent with `-q` and with `--json`."""
        if not self.quiet and not self.json:
            with answering():
                click.echo(shown_on(sys.stdout, text), color=self.color)

    def note(self, text: str) -> None:
        """Print a line on standard error, unless `-q`."""
        if not self.quiet:
            click.echo(shown_on(sys.stderr, text), err=True, color=self.color)

    def warn(self, text: str) -> None:
        """Print a warning on standard error."""
        line = f"{click.style('warning:', fg='yellow')} {text}"
        click.echo(shown_on(sys.stderr, line), err=True, color=self.color)


def _nearest_home() -> Path | None:
    try:
        return find_home(Path.cwd())
    except FileNotFoundError:  # a shell stays in a folder that was removed
        if os.environ.get("GITMEM_HOME"):
            return None
        raise NotAHome(
            "the folder that you are in was removed", hint="Go to another, or name a home with --home PATH."
        ) from None


def print_json(value: Any) -> None:
    """Print one JSON object as UTF-8, whatever the locale; on a terminal indented."""
    indent = 2 if sys.stdout.isatty() else None
    line = json.dumps(to_json(value), ensure_ascii=False, allow_nan=False, indent=indent) + "\n"
    sys.stdout.flush()
    sys.stdout.buffer.write(clean_text(line).encode("utf-8"))
    sys.stdout.buffer.flush()


def _print_text(text: str, *, color: bool | None, exact: bool) -> None:
    text = shown_on(sys.stdout, text.rstrip("\n"), exact=exact)
    if sys.stdout.isatty() and text.count("\n") >= (click_height() or math.inf):
        click.echo_via_pager(text + "\n", color=color)
    else:
        click.echo(text, color=color)


def click_height() -> int:
    """Return how many lines the terminal shows; 0 where it does not know, as in some editors' shells."""
    return os.get_terminal_size(sys.stdout.fileno()).lines


def current() -> Settings:
    """Return the settings of the command that runs."""
    settings: Settings = click.get_current_context().find_object(Settings) or Settings()
    return settings
