"""Events from a file or standard input: JSON lines, as they come from hooks and other programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gitmem.cli import standard_input
from gitmem.cli.settings import current
from gitmem.errors import GitmemError, InvalidRecord, UsageError
from gitmem.records import json_type


@contextmanager
def read_events(source: str | None) -> Iterator[Sequence[dict[str, Any]]]:
    """Give the events of a file, or of standard input for `-`; whoever refuses one, its line is named.

    Raises:
        UsageError: there is no such file, or a line is no JSON object.
    """
    events = parse_events(read_bytes(source)) if source else {}
    try:
        yield list(events.values())
    except GitmemError as error:
        _name_line(error, list(events))
        raise


def _name_line(error: GitmemError, lines: Sequence[int]) -> None:
    number = error.details.get("event")
    if isinstance(number, int) and number < len(lines):
        error.details["line"] = lines[number]
        error.message = f"line {lines[number]}: {error.message}"


def read_bytes(source: str) -> bytes:
    """Return a file's bytes, or those of standard input when `source` is `-`.

    Raises:
        UsageError: there is no such file.
    """
    if source == "-":
        if standard_input.is_terminal():
            current().note("reading events from the terminal, one JSON object a line; Ctrl-D ends them")
        return standard_input.read_all()
    try:
        return Path(source).read_bytes()
    except (FileNotFoundError, IsADirectoryError) as error:
        raise UsageError(f"no such file: {source}", hint="Use - for standard input.") from error


def parse_events(content: bytes) -> dict[int, dict[str, Any]]:
    """Return the events of JSON lines by line; empty ones are passed over, foreign bytes become U+FFFD."""
    # Split on line feeds only: U+2028 and its like stand inside of texts.
    lines = enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1)
    return {number: _parse_line(line, number) for number, line in lines if line.strip()}


def _parse_line(line: bytes, number: int) -> dict[str, Any]:
    try:
        event = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        why = str(error) or "nested too deeply"
        raise InvalidRecord(
            f"line {number} is not JSON: {why}",
            hint='One event a line: {"kind": "message", "role": "user", "text": "…"}',
            line=number,
        ) from error
    if not isinstance(event, dict):
        raise InvalidRecord(f"line {number} is {json_type(event)}, not a JSON object", line=number)
    return event


def read_text(value: str | None, *, what: str) -> str:
    """Return an option's text; `-`, or nothing while standard input is no terminal, reads standard input.

    Raises:
        UsageError: nothing was given, or it is not UTF-8.
    """
    if value is not None and value != "-":
        return value
    if value is None and standard_input.is_terminal():
        raise UsageError(f"no {what}", hint=f"Give it with --{what}, or on standard input with --{what} -.")
    try:
        return standard_input.read_all().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"the {what} is not UTF-8 text") from error
