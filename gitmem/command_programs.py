"""What the words of a command run: the program behind `sudo` and `env`, the script that a shell is given."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
#: Programs that run the command behind them, and those of their options that have a value.
_WRAPPERS: Final[Mapping[str, tuple[str, ...]]] = {
    "sudo": (
        "-u",
        "-g",
        "-h",
        "-p",
        "-C",
        "-r",
        "-t",
        "-U",
        "-D",
        "-R",
        "-T",
        "--user",
        "--group",
        "--chdir",
    ),
    "doas": ("-u", "-C"),
    "env": ("-u", "-C", "--unset", "--chdir"),
    "command": (),
    "builtin": (),
    "time": ("-f", "-o", "--format", "--output"),
    "nohup": (),
    "setsid": (),
    "exec": ("-a",),
    "nice": ("-n", "--adjustment"),
    "ionice": ("-c", "-n", "--class", "--classdata"),
    "timeout": ("-s", "-k", "--signal", "--kill-after"),
    "stdbuf": ("-i", "-o", "-e", "--input", "--output", "--error"),
    "watch": ("-n", "--interval"),
}
#: Programs that take a program as text, and the options in front of it.
_INTERPRETERS: Final = re.compile(
    r"(?:python|pypy|node|deno|bun|ruby|perl|php|lua|bash|sh|zsh|dash|ksh)[\d.]*"
)
_INLINE: Final = re.compile(r"-[a-zA-Z]*[cer]|--eval|-")
#: Shells of Windows, and what stands before the line that they are given.
_WINDOWS: Final[Mapping[str, str]] = {"cmd": "/c", "pwsh": "-c", "powershell": "-c"}
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_DURATION: Final = re.compile(r"\d+(?:\.\d+)?[smhd]?")


def program_name(word: str) -> str:
    """Return the name of a program without its folder, or Windows' ending."""
    return re.split(r"[/\\]", word)[-1].removesuffix(".exe")


def unwrapped(words: Sequence[str], keywords: Collection[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the words from the program on, and what is assigned before it.

    Args:
        words: of a command.
        keywords: words of the shell that stand before a program and are none.
    """
    env: dict[str, str] = {}
    valued: tuple[str, ...] | None = None
    has_value = False
    for number, word in enumerate(words):
        assigned = _ASSIGNMENT.fullmatch(word)
        if has_value:
            has_value = False
        elif assigned:
            env[assigned[1]] = assigned[2]
        elif word in _WRAPPERS:
            valued = _WRAPPERS[word]
        elif valued is not None and word[:1] == "-":
            has_value = word in valued
        elif word not in keywords and not (valued is not None and _DURATION.fullmatch(word)):
            return tuple(words[number:]), env
    return (), env


def exports(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what a command assigns for all commands behind it: `export NAME=value`."""
    is_export = words[0] == "export" or (words[0] in ("declare", "typeset") and "-x" in words)
    for word in words[1:] if is_export else ():
        assigned = _ASSIGNMENT.fullmatch(word)
        if assigned:
            yield assigned[1], assigned[2]


def script_of(words: Sequence[str]) -> str | None:
    """Return the line that a program is given to interpret as a shell does; None where it is given none."""
    program, arguments = program_name(words[0]), words[1:]
    if program == "eval":
        return " ".join(arguments)
    if program in SHELLS:
        return _behind_c(arguments)
    before = _WINDOWS.get(program)
    if before is None:
        return None
    place = next((n for n, word in enumerate(arguments) if _is_option(word, before)), None)
    return None if place is None else " ".join(arguments[place + 1 :])


def brings_program(words: Sequence[str]) -> bool:
    """Say whether a command brings along the program that is to be interpreted: `python -c …`."""
    program = program_name(words[0])
    return _INTERPRETERS.fullmatch(program) is not None and any(map(_INLINE.fullmatch, words[1:4]))


def _behind_c(arguments: Sequence[str]) -> str | None:
    """Return what stands behind `-c` of a shell, also among other letters: `-lc`, `-euo pipefail -c`."""
    is_given = False
    for number, word in enumerate(arguments):
        if word[:1] != "-":
            if is_given:
                return word
            if number == 0 or arguments[number - 1][-1:] not in ("o", "O"):
                return None
        elif word[:2] != "--":
            is_given = is_given or "c" in word
    return None


def _is_option(word: str, option: str) -> bool:
    return word.lower() == option or (option == "-c" and word.lower() == "-command")
