"""The files that a command changes by its own words: what `sed -i`, `rm`, `mv` or `cat > file` are given.

Only what such a command says outright is told: no pattern, no variable, no folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gitmem.command_line import Command
from gitmem.patch_paths import PatchedFile

#: What a shell would have expanded, and what names a folder.
_NO_NAME: Final = re.compile(r"[*?\[\]{}$`]|^~|/$|^-$|^$")
#: Places that are no files of anybody's work.
_ELSEWHERE: Final = ("/dev/", "/tmp/", "/proc/")  # noqa: S108 - looked for, never written to
#: Programs whose output is text that the line itself brings; what others print is a log or a build.
_WRITERS: Final = frozenset({"cat", "echo", "printf"})
#: Options with which Git leaves the files themselves alone.
_UNTOUCHED: Final = frozenset(("--cached", "-n", "--dry-run"))
#: Options with a value behind them.
_VALUED: Final[Mapping[str, tuple[str, ...]]] = {
    "sed": ("-l", "--expression", "--file", "--line-length"),
    "perl": ("-I", "-M", "-F"),
    "touch": ("-d", "-r", "-t", "--date", "--reference"),
    "cp": ("-S", "-t", "--suffix", "--target-directory"),
    "mv": ("-S", "-t", "--suffix", "--target-directory"),
}
#: Options that bring the script: `-e` may end a bundle of letters, but behind `i` it is part of a name.
_SED_SCRIPT: Final = re.compile(r"-[a-hj-zA-Z]*[ef]|--expression|--file")
_PERL_SCRIPT: Final = re.compile(r"-[a-hj-zA-Z0-9]*[eE]")
#: Programs that edit in place where they are told to.
_EDIT: Final = frozenset({"sed", "gsed", "perl"})
#: Programs that change every file that they are given.
_CHANGERS: Final = frozenset({"tee", "touch", "truncate"})


def written_files(command: Command) -> Iterator[PatchedFile]:
    """Yield the files that a command changed, if it succeeded."""
    for file in (*_given(command), *_redirected(command)):
        if not _NO_NAME.search(file.path) and not file.path.startswith(_ELSEWHERE):
            yield file


def _redirected(command: Command) -> Iterator[PatchedFile]:
    if command.program in _WRITERS:
        yield from (PatchedFile(path, "changed") for path in command.written)


def _given(command: Command) -> Iterator[PatchedFile]:
    program, words = command.program, command.words[1:]
    if program == "git":
        program, words = (words[0] if words[:1] in (("mv",), ("rm",)) else ""), words[1:]
        if not _UNTOUCHED.isdisjoint(words):
            return
    options, names = _sorted_out(program, words)
    if program in _EDIT:
        yield from _edited_in_place(program, options, names)
    elif program in ("rm", "unlink"):
        is_folder = _has_letter(options, "rR") or "--recursive" in options
        yield from (PatchedFile(name, "deleted") for name in names if not is_folder)
    elif program in ("mv", "cp"):
        yield from _put(names, is_copy=program == "cp") if not _names_target(options) else ()
    elif program in _CHANGERS:
        yield from (PatchedFile(name, "changed") for name in names)


def _edited_in_place(program: str, options: list[str], names: list[str]) -> Iterator[PatchedFile]:
    """Yield what `sed -i` and `perl -pi` change; the first word is the script where no option gives it."""
    is_in_place = _has_letter(options, "i") or any(word.startswith("--in-place") for word in options)
    if not is_in_place:
        return
    is_given = _PERL_SCRIPT.match if program == "perl" else _SED_SCRIPT.match
    has_script = any(map(is_given, options))
    yield from (PatchedFile(name, "changed") for name in names[0 if has_script else 1 :])


def _put(names: list[str], *, is_copy: bool) -> Iterator[PatchedFile]:
    """Yield what a move or a copy leaves and makes; with several names the last one is a folder."""
    *sources, target = names or [""]
    for source in sources:
        if not is_copy:
            yield PatchedFile(source, "moved_away")
        is_folder = len(sources) > 1 or target.endswith("/")
        path = f"{target.rstrip('/')}/{source.rpartition('/')[2]}" if is_folder else target
        if source and not source.endswith("/"):
            yield PatchedFile(path, "added" if is_copy else "moved_here")


def _sorted_out(program: str, words: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the options of a command, and its other words."""
    valued = _VALUED.get("sed" if program == "gsed" else program, ())
    bundle = _PERL_SCRIPT if program == "perl" else _SED_SCRIPT
    options: list[str] = []
    names: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            names += rest
        elif word.startswith("-") and len(word) > 1:
            options.append(word)
            if word in valued or (program in _EDIT and bundle.fullmatch(word)):
                next(rest, "")
        else:
            names.append(word)
    return options, names


def _has_letter(options: list[str], letters: str) -> bool:
    """Say whether one of some letters is among the options of one letter, also bundled: `-Ei.bak`."""
    pattern = re.compile(rf"-[a-zA-Z0-9]*[{letters}]")
    return any(pattern.match(word) for word in options)


def _names_target(options: list[str]) -> bool:
    return any(word.startswith(("-t", "--target-directory")) for word in options)
