"""What the names in a path mean on other machines: twins, names no list can show, and names that do harm."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_CONTROLS: Final = frozenset(map(chr, (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)))
#: HFS+ takes a name for the same one without these; Git refuses `.git` spelled with them.
_IGNORED_BY_HFS: Final = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_DRIVE: Final = re.compile("[A-Za-z]:")
#: NTFS takes both for one folder.
_GIT_FOLDERS: Final = frozenset({".git", "git~1"})


@dataclass(frozen=True, slots=True)
class Twins:
    """Paths that are one name on another machine: equal but for `case` or `unicode` form."""

    paths: tuple[str, ...]
    differs: str


def fold_path(path: str) -> str:
    """Return a path as the most forgiving file system sees it: composed, without case."""
    return path.casefold() if path.isascii() else _composed(_composed(path).casefold())


def find_twins(paths: Sequence[str]) -> tuple[Twins, ...]:
    """Return the groups of paths that are one name on another machine."""
    groups: dict[str, list[str]] = {}
    for path in paths:
        groups.setdefault(fold_path(path), []).append(path)
    return tuple(_twins(group) for group in groups.values() if len(group) > 1)


def name_fault(name: str) -> str | None:
    """Say why a name cannot be listed, if it cannot."""
    if name.isascii() and name.isprintable():
        return None
    if any("\udc80" <= char <= "\udcff" for char in name):
        return "its name is not UTF-8"
    if not _CONTROLS.isdisjoint(name):
        return "its name has a control character"
    return None


def path_harm(path: str) -> str | None:
    """Say why no checkout may write a path of a tree, if none may; Git refuses the same paths.

    Args:
        path: relative to the tree, with slashes.
    """
    if not _MAY_HARM.search(path):
        return None
    # A backslash parts names on Windows.
    names = path.replace("\\", "/").split("/")
    if _DRIVE.fullmatch(names[0]) or not names[0]:
        return "an absolute path"
    if not {"", ".", ".."}.isdisjoint(names):
        return "a path that leads out of its folder"
    if any(map(_is_git_folder, names)):
        return "a path into a Git folder"
    return None


#: What all harmful paths have; most paths are told harmless by it alone.
_MAY_HARM: Final = re.compile(
    r"\\|//|^/|/$|^$|^[A-Za-z]:|(?:^|/)\.{1,2}(?:/|$)|git|[^\x00-\x7f]", re.IGNORECASE
)


def _is_git_folder(name: str) -> bool:
    seen_by_hfs = _IGNORED_BY_HFS.sub("", name).casefold()
    # A colon opens one of a file's streams; blanks and dots at the end of a name do not count.
    seen_by_ntfs = name.partition(":")[0].rstrip(" .").casefold()
    return seen_by_hfs == ".git" or seen_by_ntfs in _GIT_FOLDERS


def _twins(paths: Sequence[str]) -> Twins:
    forms = {_composed(path) for path in paths}
    return Twins(tuple(paths), "unicode form" if len(forms) == 1 else "case")


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)
