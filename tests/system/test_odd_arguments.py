"""Words of a command line that no text may hold: bytes that are no UTF-8, and NUL. None of them is a bug."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from system.command_line import gitmem, gitmem_process

from gitmem.cli.commands import global_options
from gitmem.cli.program import COMMANDS, HIDDEN, program
from gitmem.sample_home import copy_sample_home

#: What a refused command leaves open ends with its process, which here goes on.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

#: As Python hands on bytes that are no UTF-8; NUL reaches a command from programs and from standard input.
ODD = ("\udcff", "a\udce4 b", "notes/\udcff.md", "message:\udcff", "a\0b")
ODD_INPUT = (
    *(b"\xff", b"a\0b", b"\xed\xb3\xbf", b""),
    b'[{"action": "add", "content": "\\ud800\\u0000"}]',
)
EVENT = '{"kind": "message", "role": "user", "text": "Port 22"}'

#: A line of each command that does something, of words that are all needed.
LINES = {
    "status": [],
    "search": ["port"],
    "show": ["notes/staging.md"],
    "edit": ["operator"],
    "log": [],
    "notes": [],
    "init": ["elsewhere"],
    "demo": [],
    "turn": [],
    "turn open": [],
    "turn add": [],
    "turn close": [],
    "memory add": ["--content", "Alpha {n}."],
    "memory replace": ["--content", "Beta {n}.", "--old-text", "Alpha {n}."],
    "memory remove": ["--old-text", "Alpha {n}."],
    "memory batch": ["--operations", '[{{"action": "add", "content": "Gamma {n}."}}]'],
    "memory show": [],
    "memory block": [],
    "memory guide": [],
    "memory write": ["--target", "self", "--content", "I am {n}."],
    "memory append": ["--target", "self", "--content", "I was {n}."],
    "note add": ["--title", "New {n}"],
    "note edit": ["staging.md", "--content", "Words {n}."],
    "note append": ["staging.md", "--content", "More {n}."],
    "note move": ["new{n}.md", "newer{n}.md"],
    "note remove": ["new{n}.md"],
    "note show": ["staging.md"],
    "commit": [],
    "retract": ["{ref}"],
    "forget": ["message:msg_000000000000000"],
    "diff": ["HEAD~1"],
    "revert": ["notes/staging.md"],
    "restore": ["notes/staging.md", "--as-of", "HEAD"],
    "episode list": [],
    "episode show": ["ep_000000000000000"],
    "episode close": [],
    "work create": ["Task {n}"],
    "work update": ["work_000000000000000", "--objective", "Task {n}"],
    "work pick": ["work_000000000000000"],
    "work wait": ["work_000000000000000", "--reason", "it rains"],
    "work complete": ["work_000000000000000", "--report", "done"],
    "work drop": ["work_000000000000000"],
    "work list": [],
    "work show": ["work_000000000000000"],
    "tasks": [],
    "context": [],
    "get": ["staging.md"],
    "sessions list": [],
    "sessions search": ["port"],
    "sessions scroll": ["s1", "{ref}"],
    "sessions read": ["s1"],
    "watch": ["--once"],
    "reindex": [],
    "maintain": [],
    "remote add": ["origin", "/nowhere/aria.git"],
    "remote list": [],
    "remote remove": ["origin"],
    "sync": [],
    "verify": [],
    "clone": ["/nowhere/aria.git", "elsewhere"],
    "resolve": ["notes/staging.md", "--keep", "live"],
    "quarantine list": [],
    "quarantine release": ["notes/staging.md"],
    "quarantine hold": ["notes/staging.md"],
    "proposals list": [],
    "proposals approve": ["all"],
    "proposals reject": ["all"],
    "config get": ["gitmem.branch"],
    "config set": ["gitmem.sign", "false"],
    "config list": [],
    "hooks list": [],
    "hooks install": [],
    "hooks uninstall": [],
    "hook": ["pre-commit"],
    "import": ["jsonl", "more.jsonl"],
}
#: What is run before a line, so that there is something that it can change.
FIRST = {
    "memory replace": ["memory", "add", "--content", "Alpha {n}."],
    "memory remove": ["memory", "add", "--content", "Alpha {n}."],
    "note move": ["note", "add", "new{n}.md", "--title", "New"],
    "note remove": ["note", "add", "new{n}.md", "--title", "New"],
    "commit": ["note", "add", "found{n}.md", "--title", "New"],
}


def leaves() -> dict[str, click.Command]:
    """Return each command that answers by its whole name."""
    ctx = click.Context(program)
    found = {}
    for name in (*COMMANDS, *HIDDEN):
        command = program.get_command(ctx, name)
        assert command is not None
        if not isinstance(command, click.Group) or name == "turn":
            found[name] = command
        if isinstance(command, click.Group):
            inner = click.Context(command, parent=ctx)
            for child in command.list_commands(inner):
                one = command.get_command(inner, child)
                assert one is not None
                found[f"{name} {child}"] = one
    return found


def odd_lines(name: str, command: click.Command, word: str) -> Iterator[list[str]]:
    """Yield a command's line with an odd word in the place of each argument, and as each option's value."""
    words = LINES[name]
    heads = {option.opts[0] for option in global_options(hidden=True)} - (
        {"--home"} if name == "log" else set()
    )
    for option in command.params:
        is_text = isinstance(option, click.Option) and not option.is_flag and not option.count
        if is_text and option.opts[0] not in heads:
            yield [*words, option.opts[0], word]
    for place, given in enumerate(words):
        if not given.startswith("--"):
            yield [*words[:place], word, *words[place + 1 :]]
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    if any(one.nargs == -1 or not one.required for one in arguments):
        yield [*words, word]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample home."""
    home = tmp_path_factory.mktemp("odd") / "aria"
    copy_sample_home(home)
    gitmem("reindex", cwd=home)  # a long backlog would be left to a process of its own
    (home / "more.jsonl").write_text(EVENT)
    return home


def say(home: Path) -> str:
    """Record a message; return its ref."""
    told = gitmem("turn", "--json", cwd=home, stdin=EVENT)
    return str(told.json["records"][0]["source_ref"])


def test_every_command_has_a_line() -> None:
    """A new one is tried, too."""
    assert set(leaves()) == set(LINES)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LINES))
def test_no_odd_word_is_a_bug(home: Path, name: str) -> None:
    """It is cleaned or refused; a report of a bug, exit 70, is neither."""
    lines = [
        line
        for word in ODD[: 1 if name == "demo" else None]
        for line in odd_lines(name, leaves()[name], word)
    ]
    for number, line in enumerate(lines):
        if name in FIRST:
            gitmem(*(word.format(n=number) for word in FIRST[name]), cwd=home)
        ref = say(home) if name in ("retract", "sessions scroll") else ""
        words = [part.format(n=number, ref=ref) for part in line]
        ran = gitmem(*name.split(), *words, "--json", cwd=home, stdin=EVENT, EDITOR="true")
        assert ran.code != 70, f"{name} {words!r}: {ran.err}"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(name for name in LINES if name.startswith(("memory ", "note "))))
def test_no_odd_input_is_a_bug(home: Path, name: str) -> None:
    """Standard input holds whatever another program wrote."""
    command = leaves()[name]
    for option in command.params:
        if option.opts[0] in ("--content", "--operations"):
            for content in ODD_INPUT:
                words = [*(word.format(n="") for word in LINES[name]), option.opts[0], "-"]
                ran = gitmem(*name.split(), *words, "--json", cwd=home, stdin=content)
                assert ran.code != 70, f"{name} {words!r} {content!r}: {ran.err}"


def test_a_real_command_line_with_such_bytes(home: Path) -> None:
    """The system's own way from bytes to words; the record holds what could be read."""
    ran = gitmem_process("retract", say(home), "--reason", "caf\udce9", "--json", cwd=home)
    assert ran.code == 0, ran.err
    assert ran.json["retracted"]["reason"] == "caf\N{REPLACEMENT CHARACTER}"
