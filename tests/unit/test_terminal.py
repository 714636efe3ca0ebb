"""What reaches a terminal does not act on it."""

from __future__ import annotations

import io
import sys

import click
import pytest

from gitmem.cli import settings
from gitmem.cli.terminal import shown_on


class Terminal(io.StringIO):
    """A stream at which a person sits."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;cHduZWQ=\x07", "␛]52;c;cHduZWQ=␇"),
        ("\x1b[2J\x1b[1;1H", "␛[2J␛[1;1H"),
        ("safe\rfalse", "safe␍false"),
        ("a\x08b\x7f\x9b2J", "a␈b␡\ufffd2J"),
        ("one\r\ntwo\tthree\n", "one\ntwo\tthree\n"),
        ("notes/\u202edm.exe\u202c \u2066x\u2069", "notes/\ufffddm.exe\ufffd \ufffdx\ufffd"),
        ("日本 é 😀 عربي\u200f!", "日本 é 😀 عربي\u200f!"),
    ],
)
def test_control_sequences_are_shown(text: str, shown: str) -> None:
    """Neither title nor clipboard nor screen is in the hands of whoever wrote to the agent."""
    assert shown_on(Terminal(), text) == shown


def test_own_colors_pass() -> None:
    """Styles are what this program makes."""
    line = f"{click.style('error:', fg='red', bold=True)} {click.style('x', dim=True)}"
    assert shown_on(Terminal(), line) == line


def test_a_pipe_gets_signs_too() -> None:
    """What goes through `head` or `less -R` ends at a terminal; what is for a prompt is left as it is."""
    assert shown_on(io.StringIO(), "\x1b]0;x\x07\r\n") == "␛]0;x␇\n"
    assert shown_on(io.StringIO(), "\x1b]0;x\x07\r\n", exact=True) == "\x1b]0;x\x07\r\n"
    assert shown_on(Terminal(), "\x07", exact=True) == "␇"
    assert shown_on(None, "\x07") == "\x07"


@pytest.mark.parametrize(("lines", "paged"), [(0, False), (1, True), (50, False)])
def test_a_terminal_that_does_not_know_its_size_starts_no_pager(
    monkeypatch: pytest.MonkeyPatch, lines: int, *, paged: bool
) -> None:
    """A terminal of no lines has nobody who would leave the pager."""
    pages: list[str] = []
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(settings, "click_height", lambda: lines)
    monkeypatch.setattr(click, "echo_via_pager", lambda text, **_: pages.append(text))
    settings.Settings().reply({}, "one\ntwo\nthree")
    assert bool(pages) is paged
