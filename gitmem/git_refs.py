"""Refs as bytes: names, loose ref files, packed-refs, reflog lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mmap import mmap

_ID: Final = re.compile(rb"[0-9a-f]{40}")
_FORBIDDEN: Final = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|[/.]$")
_SORTED: Final = b" sorted"


@dataclass(frozen=True, slots=True)
class RefFile:
    """What a ref's own file says: an id, or the name of another ref."""

    id: str | None
    target: str | None


def is_ref_name(name: str) -> bool:
    """Say whether Git takes `name` for a full ref name; nothing that could lead out of `refs/` is one."""
    return name.startswith("refs/") and _FORBIDDEN.search(name) is None


def parse_ref_file(content: bytes) -> RefFile | None:
    """Decode a loose ref or HEAD; None if it is damaged or names no valid ref."""
    if content.startswith(b"ref:"):
        target = content[4:].strip().decode("utf-8", "surrogateescape")
        return RefFile(None, target) if is_ref_name(target) else None
    found = _ID.match(content)
    if found is None or content[40:41] not in (b"", b"\n", b" ", b"\t", b"\r"):
        return None
    return RefFile(found[0].decode("ascii"), None)


def find_packed(content: bytes | mmap, name: bytes) -> str | None:
    """Return the value of `name` in the bytes of packed-refs (or a memory map of them)."""
    header = _header(content)
    if _SORTED in header:
        at = _first_line(content, len(header), name)
        line = content[at : _line_end(content, at)]
        return line[:40].decode("ascii") if line[40:] == b" " + name and _ID.match(line) else None
    at = content.find(b" " + name + b"\n")
    while at >= 0:
        if at >= 40 and content[at - 41 : at - 40] in (b"", b"\n"):
            return content[at - 40 : at].decode("ascii")
        at = content.find(b" " + name + b"\n", at + 1)
    return None


def packed_below(content: bytes | mmap, prefix: bytes = b"") -> Iterator[tuple[str, str]]:
    """Yield name and value of each packed ref whose name starts with `prefix`; damaged lines are passed over.

    In a file that Git sorted only the lines that match are read.
    """
    header = _header(content)
    ordered = _SORTED in header
    at = _first_line(content, len(header), prefix) if ordered and prefix else len(header)
    while at < len(content):
        end = _line_end(content, at)
        line = content[at:end]
        at = end + 1
        if line[40:41] != b" " or not _ID.match(line):
            continue
        if line.startswith(prefix, 41):
            yield line[41:].decode("utf-8", "surrogateescape"), line[:40].decode("ascii")
        elif ordered:
            return


def packed_folders(content: bytes | mmap, prefix: bytes) -> list[str]:
    """Return the names of the folders directly below `prefix` that packed refs stand in.

    In a file that Git sorted a few lines are read for each, however many refs it holds.
    """
    header = _header(content)
    if _SORTED not in header:
        names = (name.encode("utf-8", "surrogateescape") for name, _ in packed_below(content, prefix))
        parts = [name[len(prefix) :].partition(b"/") for name in names]
        return [
            *dict.fromkeys(folder.decode("utf-8", "surrogateescape") for folder, slash, _ in parts if slash)
        ]
    folders: list[str] = []
    after = prefix
    while True:
        at = _first_line(content, len(header), after)
        name = content[at + 41 : _line_end(content, at)]
        if not name.startswith(prefix):
            return folders
        folder, slash, _ = name[len(prefix) :].partition(b"/")
        folders += [folder.decode("utf-8", "surrogateescape")] if slash else []
        # What sorts behind everything in the folder, or behind this one ref.
        after = prefix + folder + b"0" if slash else name + b"\0"


def without_packed(content: bytes, name: bytes) -> bytes:
    """Return packed-refs less one ref and the peeled value that belongs to it; all other lines unchanged."""
    kept: list[bytes] = []
    dropping = False
    for line in content.splitlines(keepends=True):
        if line.startswith(b"^") and dropping:
            continue
        dropping = line[40:].rstrip(b"\n") == b" " + name
        if not dropping:
            kept.append(line)
    return b"".join(kept)


def clash_with(name: str, existing: Mapping[str, str]) -> str | None:
    """Return a ref that stands where `name` needs a folder, or below `name`; None if there is none."""
    parts = name.split("/")
    for depth in range(3, len(parts)):
        above = "/".join(parts[:depth])
        if above in existing:
            return above
    return next((other for other in existing if other.startswith(name + "/")), None)


def format_reflog(*, old: str, new: str, who: str, seconds: int, message: str) -> bytes:
    """Return one line of a reflog."""
    text = " ".join(message.split())
    line = f"{old} {new} {who} {seconds} +0000" + (f"\t{text}" if text else "") + "\n"
    return line.encode("utf-8", "surrogateescape")


def parse_reflog(content: bytes) -> list[str]:
    """Return the values that a reflog says its ref had, newest first; damaged lines are passed over."""
    values: dict[str, None] = {}
    for line in reversed(content.split(b"\n")):
        old, new = line[:40], line[41:81]
        for value in (new, old):
            if _ID.fullmatch(value) and value.strip(b"0"):
                values.setdefault(value.decode("ascii"))
    return [*values]


def is_logged(name: str, setting: str | None) -> bool:
    """Say whether Git starts a reflog for a ref.

    Args:
        name: full ref name.
        setting: `core.logAllRefUpdates`; None stands for true, as in every repository with a work tree.
    """
    word = (setting or "true").lower()
    if word == "always":
        return True
    if word in ("false", "no", "off", "0", ""):
        return False
    return name == "HEAD" or name.startswith(("refs/heads/", "refs/remotes/", "refs/notes/"))


def _header(content: bytes | mmap) -> bytes:
    return content[: content.find(b"\n") + 1] if content[:1] == b"#" else b""


def _line_end(content: bytes | mmap, at: int) -> int:
    end = content.find(b"\n", at)
    return len(content) if end < 0 else end


def _first_line(content: bytes | mmap, start: int, name: bytes) -> int:
    """Return where the first line stands whose ref is not before `name`, in a sorted file."""
    low, high = start, len(content)
    while low < high:
        middle = (low + high) // 2
        line = max(low, content.rfind(b"\n", low, middle) + 1)
        # A peeled value belongs to the line before it.
        while content[line : line + 1] == b"^" and line > low:
            line = max(low, content.rfind(b"\n", low, line - 1) + 1)
        end = _line_end(content, line)
        if content[line + 41 : end] >= name:
            high = line
            continue
        low = end + 1
        while content[low : low + 1] == b"^":
            low = _line_end(content, low) + 1
    return low
