"""A shell's command line as the commands in it; nothing is expanded and nothing is run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

#: Code points that are read of a command line; the rest is data that somebody put into it.
MOST_READ: Final = 65_536
#: Programs that run the command behind them.
_WRAPPERS: Final = frozenset(
    {"sudo", "env", "command", "time", "nohup", "exec", "builtin", "nice", "timeout"}
)
#: Words that make it uncertain which commands ran, whatever the line's exit code is.
_KEYWORDS: Final = frozenset(
    (
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "for",
        "while",
        "until",
        "do",
        "done",
        "case",
        "esac",
        "function",
        "{",
        "}",
        "!",
    )
)
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
#: Programs that take a program as text, and the options in front of it.
_INTERPRETERS: Final = re.compile(
    r"(?:python|pypy|node|deno|bun|ruby|perl|php|lua|bash|sh|zsh|dash|ksh)[\d.]*"
)
_INLINE: Final = re.compile(r"-[a-zA-Z]*[cer]|--eval|-")

_TOKEN: Final = re.compile(
    r"""(?P<space>(?:[ \t\r]|\\\r?\n)+)
    |(?P<here><<-?(?!<))
    |(?P<redirect>\d*(?:<<<|>>|>\||>&|<&|<>|[<>])|&>>?)
    |(?P<operator>&&|\|\||\|&|;;|[;&|()\n`])
    |(?P<piece>'[^']*'|"(?:[^"\\]|\\.)*"|\$'(?:[^'\\]|\\.)*'|\$\(\([^()\n]*\)\)|\\.
        |[^\s'"\\;&|()<>$`]+|.)""",
    re.VERBOSE | re.DOTALL,
)
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_DURATION: Final = re.compile(r"\d+(?:\.\d+)?[smhd]?")
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a line.

    Attributes:
        words: the program and its arguments, without quotes, assignments, redirections and programs that only
            run another (`sudo`, `env`).
        env: what is assigned for it.
        is_certain: whether it succeeded if the whole line did: `a && b` says so of both, `a; b` only of b.
    """

    words: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    is_certain: bool = False


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The commands of a line, or of several.

    Attributes:
        text: the line without the bodies of heredocs, which are data.
        is_inline: whether it brings along a program or data of its own, as a heredoc or behind `python -c`.
    """

    commands: tuple[Command, ...]
    text: str
    is_inline: bool


@dataclass
class _Part:
    """A command while it is read: its words, and the operators around it."""

    before: str
    words: list[str]
    after: str = ""


def parse_command_line(text: str) -> CommandLine:
    """Return the commands of a shell's command line; any text has some reading."""
    reader = _Reader(text[:MOST_READ])
    parts = [part for part in reader.parts if part.words]
    is_plain = not reader.is_nested and not any(
        word in _KEYWORDS for part in parts for word in part.words[:1]
    )
    stops = bool(parts) and _stops_at_errors(parts[0].words)
    # What ran last says whether it failed; what ran before says so too only if the rest depended on it.
    depends = ("&&", ";", "\n") if stops else ("&&",)
    commands: list[Command] = []
    is_certain = is_plain
    for number, part in reversed(list(enumerate(parts))):
        if number < len(parts) - 1:
            is_certain = is_certain and part.after in depends
        words, env = _program(part.words)
        if words:
            commands.append(Command(words, env, is_certain and part.before not in ("||", "&")))
    commands.reverse()
    is_inline = reader.has_heredoc or any(_is_inline(command.words) for command in commands)
    return CommandLine(tuple(commands), "".join(reader.kept), is_inline)


def shell_script(words: Sequence[str]) -> str | None:
    """Return the line that a shell is given, that of `bash -lc LINE`; None for other programs."""
    is_shell = len(words) > 2 and words[0].rpartition("/")[2] in _SHELLS
    if is_shell and words[1].startswith("-") and words[1].endswith("c"):
        return words[2]
    return None


class _Reader:
    """Reads a line once: words into parts, bodies of heredocs left out."""

    def __init__(self, text: str) -> None:
        self.parts = [_Part("", [])]
        self.kept: list[str] = []
        self.is_nested = False
        self.has_heredoc = False
        self._word: str | None = None
        #: What the next word is instead of an argument: `here` the end of a heredoc, `redirect` a file.
        self._awaited = ""
        self._ends: list[str] = []
        at = 0
        while at < len(text):
            at = self._read(text, at)
        self._end_word()

    def _read(self, text: str, at: int) -> int:
        if text[at] == "#" and self._word is None:
            end = text.find("\n", at)
            return len(text) if end < 0 else end
        token = _TOKEN.match(text, at)
        assert token is not None, "every character is a piece"
        kind, found = token.lastgroup, token[0]
        self.kept.append(found)
        if kind == "piece":
            self._word = (self._word or "") + _unquoted(found)
            return token.end()
        self._end_word()
        if kind == "operator":
            return self._operator(text, found, token.end())
        if kind in ("here", "redirect"):
            self._awaited = str(kind)
            self.has_heredoc = self.has_heredoc or kind == "here"
        return token.end()

    def _end_word(self) -> None:
        word, self._word = self._word, None
        if word is None:
            return
        if self._awaited == "here":
            self._ends.append(word)
        elif not self._awaited:
            self.parts[-1].words.append(word)
        self._awaited = ""

    def _operator(self, text: str, operator: str, at: int) -> int:
        self.is_nested = self.is_nested or operator in ("(", ")", "`", "&", ";;")
        self._awaited = ""
        if self.parts[-1].words:
            self.parts[-1].after = operator
            self.parts.append(_Part(operator, []))
        return self._past_heredocs(text, at) if operator == "\n" else at

    def _past_heredocs(self, text: str, at: int) -> int:
        """Return where the text goes on behind the bodies of the heredocs of the line that ended here."""
        for end in self._ends:
            while at < len(text):
                stop = text.find("\n", at)
                stop = len(text) if stop < 0 else stop
                line, at = text[at:stop].strip("\t\r"), stop + 1
                if line == end:
                    break
        self._ends = []
        return min(at, len(text))


def _unquoted(piece: str) -> str:
    if piece[0] == "'" and len(piece) > 1:
        return piece[1:-1]
    if piece[0] == '"' and len(piece) > 1:
        return _ESCAPED.sub(r"\1", piece[1:-1]) if "\\" in piece else piece[1:-1]
    if piece.startswith("$'") and len(piece) > 2:
        return piece[2:-1]
    return piece[1:] if piece[0] == "\\" else piece


def _program(words: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the words from the program on, and what is assigned before it."""
    env: dict[str, str] = {}
    is_wrapped = False
    for number, word in enumerate(words):
        assigned = _ASSIGNMENT.fullmatch(word)
        if assigned:
            env[assigned[1]] = assigned[2]
        elif word in _WRAPPERS:
            is_wrapped = True
        elif word not in _KEYWORDS and not (is_wrapped and (word[:1] == "-" or _DURATION.fullmatch(word))):
            return tuple(words[number:]), env
    return (), env


def _stops_at_errors(words: Sequence[str]) -> bool:
    return words[0] == "set" and any(word.startswith("-") and "e" in word for word in words[1:2])


def _is_inline(words: Sequence[str]) -> bool:
    program = words[0].rpartition("/")[2]
    return _INTERPRETERS.fullmatch(program) is not None and any(map(_INLINE.fullmatch, words[1:4]))
