"""A shell's command line as the commands in it; nothing is expanded and nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gitmem.command_programs import (
    SHELLS,
    brings_program,
    exports,
    program_name,
    script_of,
    unwrapped,
)

#: Code points that are read of a command line; the rest is data that somebody put into it.
MOST_READ: Final = 65_536
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
#: Scripts within scripts that are read: `bash -c "bash -c …"`.
_DEEPEST: Final = 4

_TOKEN: Final = re.compile(
    r"""(?P<space>(?:[ \t\r]|\\\r?\n)+)
    |(?P<here><<-?(?!<))
    |(?P<redirect>\d*(?:<<<|>>|>\||>&|<&|<>|[<>])|&>>?)
    |(?P<operator>&&|\|\||\|&|;;|[;&|()\n`])
    |(?P<piece>'[^']*'|"(?:[^"\\]|\\.)*"|\$'(?:[^'\\]|\\.)*'|\$\(\([^()\n]*\)\)|\\.
        |[^\s'"\\;&|()<>$`]+|.)""",
    re.VERBOSE | re.DOTALL,
)
#: What the word behind a redirection is: a file that is made or written on in, or a text to read.
_AWAITED: Final = {**dict.fromkeys((">", ">>", ">|", "&>", "&>>"), "write"), "<<<": "feed"}
#: What has a meaning between double quotes, or in a script there.
_QUOTING: Final = re.compile(r"""\\.|\$\(|["'`()]""", re.DOTALL)
#: By what was opened: what ends it, and what opens something within it.
_CLOSES: Final = {'"': '"', "(": ")", "`": "`", "'": "'"}
_OPENS: Final = {'"': ("$(", "`"), "(": ("(", "$(", '"', "'", "`"), "`": (), "'": ()}
#: Between double quotes a backslash takes the meaning of these alone; before others it stays.
_ESCAPED: Final = re.compile(r'\\(?:([$`"\\])|\r?\n)')
#: What a backslash stands for in `$'…'`, as far as names and texts hold it.
_ANSI: Final = re.compile(r"\\([nrt'\"\\])")
_ANSI_SIGNS: Final = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a line.

    Attributes:
        words: the program and its arguments, without quotes, assignments, redirections and programs that only
            run another (`sudo`, `env`).
        env: what is assigned for it, or was exported before it.
        is_certain: whether it succeeded if the whole line did: `a && b` says so of both, `a; b` only of b.
        written: the files to which its output goes.
        fed: the texts behind `<<<`, which it reads.
    """

    words: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    is_certain: bool = False
    written: tuple[str, ...] = ()
    fed: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """The program's name, without folders."""
        return program_name(self.words[0])


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
    written: list[str] = field(default_factory=list)
    fed: list[str] = field(default_factory=list)


def parse_command_line(text: str) -> CommandLine:
    """Return the commands of a shell's command line; any text has some reading.

    Commands stand in it also in `$(…)`, and in the text that a shell is given (`bash -c '…'`).
    """
    reader = _Reader(text[:MOST_READ])
    commands = list(_commands(reader, {}, _DEEPEST))
    is_inline = reader.has_heredoc or any(brings_program(command.words) for command in commands)
    return CommandLine(tuple(commands), "".join(reader.kept), is_inline)


def shell_script(words: Sequence[str]) -> str | None:
    """Return the line that a shell is given, that of `bash -lc LINE`; None for other programs."""
    return script_of(words) if len(words) > 2 and program_name(words[0]) in SHELLS else None


def _commands(
    reader: _Reader, env: Mapping[str, str], depth: int, *, is_certain: bool = True
) -> Iterator[Command]:
    """Yield the commands of a line, those that they bring along behind them.

    Args:
        reader: of the line.
        env: what was exported before it.
        depth: how many lines within lines are read.
        is_certain: whether the line succeeded if everything around it did.
    """
    exported = dict(env)
    for command in _flat(reader, is_certain=is_certain):
        found = replace(command, env={**exported, **command.env})
        exported.update(exports(command.words))
        yield found
        script = script_of(command.words)
        if script is not None and depth:
            inner = _Reader(script[:MOST_READ])
            yield from _commands(inner, found.env, depth - 1, is_certain=command.is_certain)
    for script in reader.substituted if depth else ():
        yield from _commands(_Reader(script), exported, depth - 1, is_certain=False)


def _flat(reader: _Reader, *, is_certain: bool) -> Iterator[Command]:
    """Yield the commands that stand in a line itself."""
    parts = [part for part in reader.parts if part.words]
    stops = bool(parts) and _stops_at_errors(parts[0].words)
    # What ran last says whether it failed; what ran before says so too only if the rest depended on it.
    depends = ("&&", ";", "\n") if stops else ("&&",)
    is_certain = is_certain and reader.is_plain
    is_certain = is_certain and not any(word in _KEYWORDS for part in parts for word in part.words[:1])
    found: list[Command] = []
    for number, part in reversed(list(enumerate(parts))):
        if number < len(parts) - 1:
            is_certain = is_certain and part.after in depends
        words, env = unwrapped(part.words, _KEYWORDS)
        if words:
            proves = is_certain and part.before not in ("||", "&")
            found.append(Command(words, env, proves, tuple(part.written), tuple(part.fed)))
    yield from reversed(found)


class _Reader:
    """Reads a line once: words into parts, bodies of heredocs left out."""

    def __init__(self, text: str) -> None:
        self.parts = [_Part("", [])]
        self.kept: list[str] = []
        #: Scripts in `$(…)` between double quotes.
        self.substituted: list[str] = []
        self.has_heredoc = False
        #: What makes it uncertain whether all of the line ran, as it was met; and the first and last token.
        self._nesting: list[str] = []
        self._edges: list[str] = []
        self._is_quoting = True
        self._word: str | None = None
        #: What the next word is instead of an argument: `here` the end of a heredoc, `redirect` a file.
        self._awaited = ""
        self._ends: list[str] = []
        at = 0
        while at < len(text):
            at = self._read(text, at)
        self._end_word()

    @property
    def is_plain(self) -> bool:
        """Whether its exit code tells how its last command ended: no part of it runs aside, or all of it."""
        return not self._nesting or (self._nesting == ["(", ")"] and self._edges == ["(", ")"])

    def _read(self, text: str, at: int) -> int:
        if text[at] == "#" and self._word is None:
            end = text.find("\n", at)
            return len(text) if end < 0 else end
        if text[at] == '"' and self._is_quoting and (end := self._quoted(text, at)):
            return end
        token = _TOKEN.match(text, at)
        assert token is not None, "every character is a piece"
        kind, found = token.lastgroup, token[0]
        self._keep(found, str(kind))
        if kind == "piece":
            self._word = (self._word or "") + _unquoted(found)
            return token.end()
        self._end_word()
        if kind == "operator":
            return self._operator(text, found, token.end())
        if kind in ("here", "redirect"):
            self._awaited = _AWAITED.get(found.lstrip("01"), str(kind))
            self.has_heredoc = self.has_heredoc or kind == "here"
        return token.end()

    def _keep(self, found: str, kind: str) -> None:
        self.kept.append(found)
        if kind != "space" and found != "\n":
            self._edges[1:] = [found]

    def _quoted(self, text: str, at: int) -> int:
        """Read a text between double quotes, and return where it ends; 0 where it never does."""
        end, scripts = _end_of_quotes(text, at)
        self._is_quoting = end > 0
        if end:
            self._keep(text[at:end], "piece")
            self._word = (self._word or "") + _unquoted(text[at:end])
            self.substituted += scripts
        return end

    def _end_word(self) -> None:
        word, self._word = self._word, None
        if word is None:
            return
        if self._awaited == "here":
            self._ends.append(word)
        elif self._awaited == "write":
            self.parts[-1].written.append(word)
        elif self._awaited == "feed":
            self.parts[-1].fed.append(word)
        elif not self._awaited:
            self.parts[-1].words.append(word)
        self._awaited = ""

    def _operator(self, text: str, operator: str, at: int) -> int:
        if operator in ("(", ")", "`", "&", ";;"):
            self._nesting.append(operator)
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
        return _ANSI.sub(lambda found: _ANSI_SIGNS.get(found[1], found[1]), piece[2:-1])
    return piece[1:] if piece[0] == "\\" else piece


def _end_of_quotes(text: str, at: int) -> tuple[int, list[str]]:
    """Return where a text between double quotes ends, and the scripts of the `$(…)` in it.

    Quotes within such a script are its own: `"$(a "b c")"` is one text.

    Args:
        text: of the line.
        at: where the first quote stands.

    Returns:
        The place behind the last quote, 0 where there is none; the scripts that are not within another.
    """
    scripts: list[str] = []
    opened = [('"', at)]
    for found in _QUOTING.finditer(text, at + 1):
        sign, (within, since) = found[0], opened[-1]
        if sign == _CLOSES[within]:
            opened.pop()
            if not opened:
                return found.end(), scripts
            if len(opened) == 1:
                scripts.append(text[since : found.start()])
        elif sign in _OPENS[within]:
            opened.append(("(" if sign == "$(" else sign, found.end()))
    return 0, []


def _stops_at_errors(words: Sequence[str]) -> bool:
    return words[0] == "set" and any(word.startswith("-") and "e" in word for word in words[1:2])
