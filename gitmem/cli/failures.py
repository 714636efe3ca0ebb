"""How a failed command ends: message, hint and next command, a JSON error, an exit code, a bug report."""

from __future__ import annotations

import errno
import os
import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from gitmem import __version__
from gitmem.cli.commands import MissingCommand
from gitmem.cli.settings import AnswerLost, Settings, print_json
from gitmem.cli.terminal import shown_on
from gitmem.errors import GitmemError

USAGE: Final = 2
UNUSABLE: Final = 10
BUG: Final = 70
INTERRUPTED: Final = 130
#: Something other than a file stands in a file's place: a folder, a link, a pipe.
_IN_THE_WAY: Final = (errno.EISDIR, errno.ELOOP, errno.ENXIO, errno.ENOTDIR)
#: How click leaves when the reader of a pipe went away.
_PIPE_CLOSED: Final = 1

#: Codes of failures that are no `GitmemError`; the rest of the closed list is in `gitmem.errors`.
OWN_CODES: Final[Mapping[str, int]] = {
    "usage": USAGE,
    "system": UNUSABLE,
    "bug": BUG,
    "interrupted": INTERRUPTED,
}


@dataclass(frozen=True, slots=True)
class Failure:
    """What is told about a failed command.

    Attributes:
        help: what a person is shown instead of message and hint.
        for_people: what must not stand in an answer that a model reads.
    """

    code: str
    message: str
    exit_code: int
    hint: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    help: str | None = None
    for_people: str | None = None


def report(error: BaseException, settings: Settings, arguments: Sequence[str]) -> int:
    """Tell about a failure on standard error, with `--json` on standard output too; return the exit code."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, SystemExit) and error.code != _PIPE_CLOSED:
        return error.code if isinstance(error.code, int) else 1
    if isinstance(error, BrokenPipeError | SystemExit):
        return _leave_quietly()
    failure = _foreseen(error) or _bug(error, arguments)
    _tell(failure, settings)
    if isinstance(error, AnswerLost):
        _leave_quietly()
    return failure.exit_code


def _foreseen(error: BaseException) -> Failure | None:
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return Failure("interrupted", "interrupted", INTERRUPTED)
    if isinstance(error, GitmemError):
        allow = getattr(error, "for_people", None)
        return Failure(
            error.code, error.message, error.exit_code, error.hint, error.details, for_people=allow
        )
    if isinstance(error, MissingCommand) and error.ctx is not None:
        return Failure("usage", error.message, USAGE, _usage_hint(error), help=error.ctx.get_help())
    if isinstance(error, click.ClickException):
        return Failure("usage", _plain_usage(error), USAGE, _usage_hint(error))
    return _of_system(error)


def _of_system(error: BaseException) -> Failure | None:
    cause = error.cause if isinstance(error, AnswerLost) else error
    if not isinstance(cause, OSError):
        return None
    details = {"errno": errno.errorcode.get(cause.errno or 0, str(cause.errno))}
    if isinstance(error, AnswerLost):
        message = f"standard output cannot be written: {cause.strerror or cause}"
        hint = "What the command did is done; only the answer is lost. Look: gitmem status, gitmem log"
        return Failure("system", message, UNUSABLE, hint, details)
    return Failure("system", _system_message(cause), UNUSABLE, _system_hint(cause), details)


def _bug(error: BaseException, arguments: Sequence[str]) -> Failure:
    path = write_report(error, arguments)
    hint = f"This is a bug in gitmem. A report is in {path}; it holds none of your arguments."
    return Failure("bug", f"{type(error).__name__}: {error}", BUG, hint, {"report": str(path)})


def write_report(error: BaseException, arguments: Sequence[str]) -> Path:
    """Write what a developer needs to find a bug, without the values of arguments; return the file's path."""
    words = [word if word.startswith("-") and "=" not in word else "…" for word in arguments[1:]]
    lines = [
        f"gitmem {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"command: gitmem {' '.join([*arguments[:1], *words])}",
        "",
        *traceback.format_exception(error),
    ]
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    descriptor, name = tempfile.mkstemp(prefix=f"gitmem-report-{stamp}-", suffix=".txt")
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write("\n".join(lines))
    return Path(name)


def _tell(failure: Failure, settings: Settings) -> None:
    with suppress(OSError):  # a closed standard error is no reason for another failure
        told = shown_on(sys.stderr, failure.help or _told(failure, people=not settings.json))
        click.echo(told, err=True, color=settings.color)
    if settings.json:
        data = {
            "code": failure.code,
            "message": failure.message,
            "hint": failure.hint,
            "details": _plain(failure.details),
        }
        with suppress(OSError):
            print_json({"error": data})


def _told(failure: Failure, *, people: bool) -> str:
    lines = [f"{click.style('error:', fg='red')} {failure.message}"]
    if failure.hint:
        lines.append(f"{click.style('hint:', fg='cyan')} {failure.hint}")
    if failure.for_people and people:
        lines.append(f"{click.style('hint:', fg='cyan')} {failure.for_people}")
    return "\n".join(lines)


def _plain(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return details as JSON can hold them; what it cannot is shown as text."""
    simple = (str, int, float, bool, type(None), list, tuple, dict)
    return {key: value if isinstance(value, simple) else str(value) for key, value in details.items()}


def _plain_usage(error: click.ClickException) -> str:
    """Return click's sentence in the shape of all others: one line, no capital, no full stop."""
    text = " ".join(error.format_message().split())
    return text[:1].lower() + text[1:].removesuffix(".")


def _system_message(error: OSError) -> str:
    """Return what the system says, to what, without the number that it has for it."""
    names = (
        (error.filename2,) if error.filename2 and _is_in_the_way(error) else (error.filename, error.filename2)
    )
    paths = [str(path) for path in names if path is not None]
    return ": ".join([error.strerror or str(error), " -> ".join(paths)]).removesuffix(": ")


def _usage_hint(error: click.ClickException) -> str:
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx is not None else "gitmem"
    seen = f"See `{path} --help`."
    if isinstance(error, click.NoSuchOption) and ctx is not None and _takes_words(ctx.command):
        return f"Words that begin with a hyphen stand behind `--`: {path} -- {error.option_name} … {seen}"
    return seen


def _takes_words(command: click.Command) -> bool:
    return any(isinstance(one, click.Argument) and one.nargs == -1 for one in command.params)


def _system_hint(error: OSError) -> str | None:
    if error.errno == errno.ENOSPC:
        return "The disk is full. Nothing that was acknowledged is lost; free some space and try again."
    if error.errno == errno.EROFS:
        return "The disk can only be read. Nothing acknowledged is lost; mount it for writing and try again."
    if error.errno == errno.ENOENT and not _is_here():
        return "The folder that you are in was removed: go to another, or name paths from the root."
    if _is_in_the_way(error):
        path = shlex.quote(str(error.filename2 or error.filename))
        return f"gitmem keeps a file of its own there. To be rid of what stands in its place: rm -r {path}"
    return None


def _is_here() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - asked, not used
    except FileNotFoundError:
        return False
    return True


def _is_in_the_way(error: OSError) -> bool:
    """Say whether something else stands where gitmem keeps a file of its own."""
    # Of a file that is written beside and moved, the second name is the one that is taken.
    path = str(error.filename2 or error.filename or "")
    return error.errno in _IN_THE_WAY and f"{os.sep}gitmem{os.sep}" in path and os.path.lexists(path)


def _leave_quietly() -> int:
    # The reader of a pipe went away, as `head` does: that is its right. Python would complain at exit again.
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
