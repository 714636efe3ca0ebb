"""The operator's editor, found and started as Git does it."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gitmem.cli import standard_input
from gitmem.errors import RefusedError, UsageError

#: Editors that go to a line that is given as `+LINE` before the file.
_KNOWS_LINES: Final = (
    "vi", "vim", "view", "nvim", "gvim", "ex", "kak", "nano", "pico", "emacs", "emacsclient", "micro", "joe",
    "ne", "mg",
)  # fmt: skip
#: How a shell ends that cannot run a command.
_CANNOT_RUN: Final = (126, 127)
_STANDARD_ERROR: Final = 2
#: Marks a folder whose file somebody was told of, and names the path that it is a copy of.
_KEPT: Final = ".kept"
#: Beside a copy that was kept: what had been copied, so that what others write meanwhile is not lost.
_OPENED: Final = ".opened"
#: How opening fails on a link, and on a socket.
_NO_FILE: Final = (errno.ELOOP, errno.ENXIO)


def find_editor(setting: Callable[[str], str | None]) -> str:
    """Return the command line of the editor, in Git's order.

    Args:
        setting: returns a Git configuration value.

    Raises:
        UsageError: none is named, and nobody is at a terminal for whom one could be guessed.
    """
    is_dumb = os.environ.get("TERM", "dumb") == "dumb"
    named = [os.environ.get("GIT_EDITOR"), setting("core.editor")]
    named += [None if is_dumb else os.environ.get("VISUAL"), os.environ.get("EDITOR")]
    found = next((command for command in named if command), None)
    if found is not None:
        return found
    if is_dumb or not standard_input.is_terminal():
        raise UsageError(
            "no editor, and no terminal to open one in",
            hint="Set EDITOR, or change the file with any program and run `gitmem commit`.",
        )
    return "vi"


def run_editor(command: str, path: Path, line: int | None) -> None:
    """Open a file in an editor and wait until it is closed.

    Args:
        command: a shell's command line, which may have arguments.
        path: the file.
        line: where to begin, for editors that are told so by `+LINE`.

    Raises:
        UsageError: there is no such editor.
        RefusedError: it ended with a failure.
    """
    place = [f"+{line}"] if line is not None and _name_of(command) in _KNOWS_LINES else []
    # Through the shell as Git does it, so that a setting with arguments, quotes or ~ works alike.
    words = ["sh", "-c", f'{command} "$@"', command, *place, str(path)]
    # What it prints must not get into an answer that a program reads.
    out = None if sys.stdout.isatty() else _STANDARD_ERROR
    with _deaf_to_interrupts():
        done = subprocess.run(words, stdout=out, check=False)  # noqa: S603 - the operator's own command
    if done.returncode in _CANNOT_RUN:
        raise UsageError(f"the editor cannot be run: {command}", hint="Set EDITOR to one that can.")
    if done.returncode:
        raise RefusedError(
            f"the editor ended with {done.returncode}; nothing was changed",
            hint="Save and leave it normally.",
        )


@contextmanager
def private_copy(folder: Path, name: str, content: bytes) -> Iterator[Path]:
    """Give a file of this name that only this user can read; on the way out it is gone, but for `keep`."""
    folder.mkdir(parents=True, exist_ok=True)
    own = Path(tempfile.mkdtemp(prefix="", dir=folder))
    try:
        path = own / name
        path.touch(mode=0o600)
        path.write_bytes(content)
        yield path
    finally:
        if not (own / _KEPT).exists():
            shutil.rmtree(own, ignore_errors=True)


def keep(path: Path, named: str, opened: bytes | None) -> Path:
    """Leave a private copy where it is, for whoever wants its text; return it.

    Args:
        path: the copy.
        named: the path of the home that it is a copy of.
        opened: what was copied; None where there was no file yet.
    """
    if opened is not None:
        (path.parent / _OPENED).write_bytes(opened)
    (path.parent / _KEPT).write_text(named, "utf-8")
    return path


def opened_for(path: Path, named: str) -> tuple[bool, bytes | None]:
    """Say whether a file is the copy of a path that was kept, and what had been copied."""
    try:
        is_kept = (path.parent / _KEPT).read_text("utf-8") == named
    except (OSError, UnicodeDecodeError):
        return False, None
    opened = path.parent / _OPENED
    return is_kept, opened.read_bytes() if is_kept and opened.exists() else None


def forget(path: Path) -> None:
    """Remove a copy that was kept, because its text was taken."""
    shutil.rmtree(path.parent, ignore_errors=True)


def read_copy(path: Path) -> bytes | None:
    """Return what an editor left of a copy; None where it removed it.

    Raises:
        RefusedError: it is no ordinary file any more: a link would lead to somebody else's text.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno not in _NO_FILE:
            raise
        raise _no_file(path) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _no_file(path)
    with open(descriptor, "rb") as file:
        return file.read()


def _no_file(path: Path) -> RefusedError:
    return RefusedError(
        f"{path} is not an ordinary file; nothing was changed", hint="Put the text into a file."
    )


def _name_of(command: str) -> str:
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return Path(words[0]).name if words else ""


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Leave Ctrl-C to the editor, where it means something else."""
    try:
        before = signal.signal(signal.SIGINT, lambda *_: None)
    except ValueError:  # not in the main thread, which alone is interrupted
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
