"""Git configuration as text: keys, formats, and changes as an editor makes them, nothing else touched."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gitmem.errors import UsageError

_HEADER: Final = re.compile(r"\s*\[\s*([A-Za-z0-9.-]+)(?:\s+\"((?:[^\"\\]|\\.)*)\")?\s*\]")
_NAME: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=|$|[#;])")
#: Lines end in a line feed alone: other separators of Unicode may stand in a value.
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_WORDS: Final = re.compile(r"[A-Za-z0-9-]+")


#: Extensions that change nothing for gitmem.
_HARMLESS: Final = ("noop", "noop-v1", "preciousobjects", "worktreeconfig", "relativeworktrees")
_PLAIN: Final = (("objectformat", "sha1"), ("refstorage", "files"))


def object_format(version: str, extensions: Mapping[str, str]) -> str:
    """Return `sha1`, or name what of a repository's format gitmem does not read.

    Args:
        version: `core.repositoryFormatVersion`.
        extensions: the settings of the section `extensions`.
    """
    if version not in ("0", "1"):
        return f"repository format {version}"
    for name, value in extensions.items():
        word, setting = name.lower(), value.lower()
        if word in _HARMLESS or (word, setting) in _PLAIN:
            continue
        if word in ("objectformat", "refstorage"):
            return setting
        return "partialClone" if word == "partialclone" else word
    return "sha1"


def split_key(key: str) -> tuple[str, str | None, str]:
    """Return section (lower case), subsection and name (lower case) of `section.name` or `section.sub.name`.

    Raises:
        UsageError: it is no such key.
    """
    section, dot, rest = key.partition(".")
    sub, _, name = rest.rpartition(".")
    subsection = sub if "." in rest else None
    bad = not dot or not _WORDS.fullmatch(section) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", name)
    if bad or "\n" in sub or "\0" in sub:
        raise UsageError(f"not a Git configuration key: {key!r}", key=key)
    return section.lower(), subsection, name.lower()


def git_dir_pattern(pattern: str, file: Path) -> str:
    """Return the pattern of an `includeIf "gitdir:…"` with the short forms written out.

    Args:
        pattern: as it stands in the file.
        file: the configuration file, from which `./` starts.
    """
    if pattern.startswith("./"):
        pattern = f"{file.resolve().parent}/{pattern[2:]}"
    pattern = os.path.expanduser(pattern)  # noqa: PTH111 - not a path: it has wildcards
    if not pattern.startswith("/"):
        pattern = f"**/{pattern}"
    return pattern + ("**" if pattern.endswith("/") else "")


def change_value(text: str, key: str, value: str | None) -> str:
    """Return a configuration file's text with one key set, or with all its lines removed.

    Args:
        text: the file.
        key: `section.name` or `section.sub.name`.
        value: the new value; None removes the key.
    """
    section, sub, name = split_key(key)
    lines = _one_by_one(text, (section, sub))
    found, last = _places(lines, (section, sub), name)
    if value is None:
        dropped = {number for start, end in found for number in range(start, end)}
        kept = [line for number, line in enumerate(lines) if number not in dropped]
        return "".join(_without_empty(kept, (section, sub)) if dropped else kept)
    row = f"\t{key.rpartition('.')[2]} = {_quoted(value)}\n"
    if found:
        start, end = found[-1]
        lines[start:end] = [row]
    elif last is not None:
        lines[last - 1] = _ended(lines[last - 1])
        lines.insert(last, row)
    else:
        if lines:
            lines[-1] = _ended(lines[-1])
        lines += [_header(key), row]
    return "".join(lines)


def subsections(text: str, section: str) -> list[str]:
    """Return the names of a section's subsections in a configuration file's text, each once, in its order."""
    headers = (_HEADER.match(line) for line in _LINE.findall(text))
    named = (_section_of(header) for header in headers if header)
    return list(dict.fromkeys(sub for name, sub in named if name == section and sub is not None))


def drop_subsection(text: str, section: str, sub: str) -> str:
    """Return a configuration file's text without a subsection, whatever it holds."""
    kept, inside = [], False
    for line in _LINE.findall(text):
        header = _HEADER.match(line)
        inside = _section_of(header) == (section, sub) if header else inside
        kept += [] if inside else [line]
    return "".join(kept)


def _one_by_one(text: str, wanted: tuple[str, str | None]) -> list[str]:
    """Return the lines; a setting that stands beside the header of its section gets a line of its own."""
    lines: list[str] = []
    for line in _LINE.findall(text):
        header = _HEADER.match(line)
        rest = line[header.end() :].strip() if header else ""
        if header and rest and rest[0] not in "#;" and _section_of(header) == wanted:
            lines += [header[0] + "\n", "\t" + line[header.end() :].lstrip()]
        else:
            lines.append(line)
    return lines


def _places(
    lines: list[str], wanted: tuple[str, str | None], name: str
) -> tuple[list[tuple[int, int]], int | None]:
    """Return line ranges that hold the key, and the line behind the last one of its section."""
    found, last, inside = [], None, False
    number = 0
    while number < len(lines):
        end = _end_of(lines, number)
        header = _HEADER.match(lines[number])
        if header:
            inside = _section_of(header) == wanted
            last = end if inside else last
        elif inside and (key := _NAME.match(lines[number])):
            last = end
            if key[1].lower() == name:
                found.append((number, end))
        number = end
    return found, last


def _without_empty(lines: list[str], wanted: tuple[str, str | None]) -> list[str]:
    """Return the lines without the headers of a section in which nothing is left, not even a comment."""
    kept = []
    for number, line in enumerate(lines):
        header = _HEADER.match(line)
        is_bare = header is not None and not line[header.end() :].strip()
        following = lines[number + 1] if number + 1 < len(lines) else "["
        if not (header and is_bare and _section_of(header) == wanted and following.lstrip().startswith("[")):
            kept.append(line)
    return kept


def _section_of(header: re.Match[str]) -> tuple[str, str | None]:
    sub = header[2]
    if sub is not None:
        return header[1].lower(), re.sub(r"\\(.)", r"\1", sub)
    section, dot, old_sub = header[1].lower().partition(".")
    return section, old_sub if dot else None


def _end_of(lines: list[str], number: int) -> int:
    # A value goes on in the next line behind a backslash.
    while lines[number].rstrip("\r\n").endswith("\\") and number + 1 < len(lines):
        number += 1
    return number + 1


def _header(key: str) -> str:
    section, sub, _ = split_key(key)
    if sub is None:
        return f"[{section}]\n"
    escaped = sub.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{section} "{escaped}"]\n'


def _quoted(value: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\b", "\\b")):
        value = value.replace(plain, escaped)
    return f'"{value}"' if value != value.strip() or re.search(r"[;#\r]", value) or not value else value


def _ended(line: str) -> str:
    return line if line.endswith("\n") else line + "\n"
