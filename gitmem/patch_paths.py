"""The files that a patch names: unified and context diffs, Git's headers, and what models write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

#: Bytes of a C string that stand behind a backslash; other digits are octal.
_ESCAPES: Final = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_ESCAPED: Final = re.compile(r'\\([0-7]{1,3}|[abtnvfr"\\])|([^\\]+|\\)')
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
#: A time that `diff` puts behind a name, where no tab stands between them.
_TIME: Final = re.compile(r" {1,4}\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: [+-]\d{4})?$")
_HUNK: Final = re.compile(r"@@+ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
#: What begins the part of one file; that of a merge has one name.
_BEGUN: Final = re.compile(r"diff --(git|cc|combined) (?=.)")
_RENAMED: Final = re.compile(r"(rename|copy) (from|to) (.+)")
_WRITTEN: Final = re.compile(r"\*\*\* (Update|Add|Delete) File: *(.+)|\*\*\* Move to: *(.+)")
#: What Git puts before names: old and new, and by `diff.mnemonicPrefix` commit, index, working tree, object.
_PREFIXES: Final = ("a/", "b/", "c/", "i/", "w/", "o/")
#: The two of them, as they stand before names with Windows' backslashes, too.
_SIDES: Final = ("a/", "b/", "a\\", "b\\")
_NOWHERE: Final = "/dev/null"

#: What happened to a file, by the words of the headers that tell it.
_CHANGES: Final = {
    ("rename", "from"): "moved_away",
    ("rename", "to"): "moved_here",
    ("copy", "from"): "copied",
    ("copy", "to"): "added",
    ("Update",): "changed",
    ("Add",): "added",
    ("Delete",): "deleted",
}


@dataclass(frozen=True, slots=True)
class PatchedFile:
    """What a patch does to one file.

    Attributes:
        path: as the patch names it, without the `a/` or `b/` before it.
        change: `changed`, `added`, `deleted`, `moved_away` (old name), `moved_here`, `copied` (source).
    """

    path: str
    change: str

    @property
    def is_gone(self) -> bool:
        """Whether there is no such file afterwards."""
        return self.change in ("deleted", "moved_away")


def patched_files(text: str) -> tuple[PatchedFile, ...]:
    """Return the files that a patch names, each once, in the order of its headers.

    Args:
        text: a patch, or a text in which patches stand; what is no header is passed over.
    """
    found: dict[str, PatchedFile] = {}
    for file in _Reader(text).files():
        if file.path.strip() and file.path != _NOWHERE:
            found[file.path] = file
    return tuple(found.values())


class _Reader:
    """Goes through the lines of a patch once; a hunk's own lines are never headers."""

    def __init__(self, text: str) -> None:
        self._lines = [line.removesuffix("\r") for line in text.split("\n")]
        self._left = (0, 0)
        #: The names of the last `diff --git`, and what its other headers say, until its files are told.
        self._header: tuple[str, str] | None = None
        self._change = "changed"
        #: Whether lines that are no headers may look like a pair of names: no numbers say where a hunk ends.
        self._is_loose = False

    def files(self) -> Iterator[PatchedFile]:
        number = 0
        while number < len(self._lines):
            line = self._lines[number]
            if self._is_in_hunk(number):
                number += 1
            elif self._is_pair(number):
                yield from self._pair(line[4:], self._lines[number + 1][4:])
                number += 2
            else:
                yield from self._header_line(line)
                number += 1
        yield from self._told()

    def _is_in_hunk(self, number: int) -> bool:
        """Say whether a line is one of a hunk's, and count it."""
        old, new = self._left
        line = self._lines[number]
        if old <= 0 and new <= 0:
            return False
        # Models miscount: a header that cannot be content ends a hunk whatever its numbers say.
        is_content = line[:1] in (" ", "+", "-", "\\", "")
        if not is_content or (self._is_pair(number) and self._line(number + 2).startswith("@@")):
            self._left = (0, 0)
            return False
        self._left = old - (line[:1] in (" ", "-", "")), new - (line[:1] in (" ", "+", ""))
        return True

    def _is_pair(self, number: int) -> bool:
        """Say whether here stand the two names of a diff, or of one in the form of context diffs."""
        old = self._lines[number][:4]
        following = self._lines[number + 1][:4] if number + 1 < len(self._lines) else ""
        if old == "--- ":
            return following == "+++ " and (not self._is_loose or self._is_sure_pair(number))
        return old == "*** " and following == "--- " and self._line(number + 2).startswith("*" * 15)

    def _is_sure_pair(self, number: int) -> bool:
        """Say whether two lines are the names of a diff, and not a line taken out and one put in."""
        hunk = self._line(number + 2)
        old, new = (_name(self._line(place)[4:]) for place in (number, number + 1))
        is_one = (old[:2], new[:2]) == ("a/", "b/") and old[2:] == new[2:]
        return hunk.startswith("@@ -") or (is_one and hunk.startswith("@@"))

    def _line(self, number: int) -> str:
        return self._lines[number] if number < len(self._lines) else ""

    def _header_line(self, line: str) -> Iterator[PatchedFile]:
        if hunk := _HUNK.match(line):
            self._left = int(hunk[1] or "1"), int(hunk[2] or "1")
            self._is_loose = False
        elif line.startswith("@@"):
            self._is_loose = True
        elif begun := _BEGUN.match(line):
            yield from self._told()
            self._is_loose = False
            names = line[begun.end() :]
            self._header = _git_names(names) if begun[1] == "git" else (_name(names), _name(names))
            self._change = "changed"
        elif line.startswith("new file mode "):
            self._change = "added"
        elif line.startswith("deleted file mode "):
            self._change = "deleted"
        elif renamed := _RENAMED.fullmatch(line):
            self._header = None
            yield PatchedFile(_name(renamed[3]), _CHANGES[renamed[1], renamed[2]])
        elif written := _WRITTEN.fullmatch(line):
            yield from self._written(written)

    def _pair(self, old: str, new: str) -> Iterator[PatchedFile]:
        old_path, new_path = _without_prefix(_name(old), _name(new))
        self._header = None
        if new_path == _NOWHERE:
            yield PatchedFile(old_path, "deleted")
        elif old_path in (_NOWHERE, new_path):
            yield PatchedFile(new_path, "added" if old_path == _NOWHERE else "changed")
        else:  # two names without a rename: `diff x.orig x`, or a patch of two trees
            yield PatchedFile(new_path, "changed")

    def _written(self, match: re.Match[str]) -> Iterator[PatchedFile]:
        self._is_loose = True
        if match[3] is None:
            path = _name(match[2])
            self._header = (path, path)
            self._change = _CHANGES[(match[1],)]
            yield PatchedFile(path, self._change)
        elif self._header is not None:
            yield PatchedFile(self._header[0], "moved_away")
            yield PatchedFile(_name(match[3]), "moved_here")
            self._header = None

    def _told(self) -> Iterator[PatchedFile]:
        """Yield what a header without a diff names: a change of mode, a binary or an empty file."""
        if self._header is not None:
            yield PatchedFile(self._header[1], self._change)
        self._header = None


def _git_names(rest: str) -> tuple[str, str] | None:
    """Return the two names behind `diff --git`; they are not separated where they hold spaces."""
    if rest.startswith('"') and (first := _QUOTED.match(rest)):
        return _without_prefix(_unquoted(first[1]), _name(rest[first.end() :].strip()))
    if rest.endswith('"') and (at := rest.find(' "')) > 0:
        return _without_prefix(rest[:at], _name(rest[at + 1 :]))
    middle = len(rest) // 2
    halves = _without_prefix(rest[:middle], rest[middle + 1 :])
    if rest[middle : middle + 1] == " " and halves[0] == halves[1]:
        return halves
    old, _, new = rest.partition(" b/") if " b/" in rest else rest.partition(" ")
    return _without_prefix(old, f"b/{new}" if " b/" in rest else new) if new else None


def _name(text: str) -> str:
    """Return the name in a header: unquoted, without a time behind it."""
    if text.startswith('"') and (quoted := _QUOTED.match(text)):
        return _unquoted(quoted[1])
    text, tab, _ = text.partition("\t")
    return text if tab else _TIME.sub("", text).rstrip()


def _unquoted(text: str) -> str:
    """Return what stands in a C string as Git writes one; bytes that are no UTF-8 become U+FFFD."""
    raw = bytearray()
    for escape, plain in _ESCAPED.findall(text):
        if plain:
            raw += plain.encode("utf-8", "replace")
        else:
            raw.append(_ESCAPES[escape] if escape in _ESCAPES else int(escape, 8) & 255)
    return raw.decode("utf-8", "replace")


def _without_prefix(old: str, new: str) -> tuple[str, str]:
    """Return both names without Git's prefixes, if each has one or is nowhere."""
    if all(name == _NOWHERE or name.startswith(_SIDES) for name in (old, new)):
        return _stripped(old), _stripped(new)
    is_mnemonic = old[:2] != new[:2] and old[2:] == new[2:]
    if is_mnemonic and old.startswith(_PREFIXES) and new.startswith(_PREFIXES):
        return old[2:], new[2:]
    return old, new


def _stripped(name: str) -> str:
    return name if name == _NOWHERE else name[2:]
