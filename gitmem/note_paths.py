"""Where a new note may go: inside `notes/`, under a name that every clone can hold."""

from __future__ import annotations

import os
import stat
import unicodedata
from pathlib import Path, PurePosixPath
from typing import Final

from gitmem.curated import NOTE_SUFFIXES
from gitmem.errors import ProtectedPath, RefusedError, UsageError
from gitmem.layout import LEDGER, MANAGED_FOLDERS, NOTES
from gitmem.path_names import fold_path, name_fault
from gitmem.records import clean_text
from gitmem.tree_files import LINK, NESTED

_MAX_NAME: Final = 200
_MAX_PATH: Final = 800
_MAX_FOLDERS: Final = 24
_OTHER_FOLDERS: Final = frozenset((*MANAGED_FOLDERS, LEDGER)) - {NOTES}


def note_path(text: str) -> str:
    """Return the path of a note that a caller names, `notes/` put in front where it is missing.

    Raises:
        ProtectedPath: it leads out of `notes/`.
        UsageError: it is no name for a note.
    """
    if clean_text(text) != text:
        raise UsageError("not a path for a note: it is no UTF-8", path=clean_text(text)[:200])
    path = unicodedata.normalize("NFC", text)
    names = path.split("/")
    if path.startswith("/") or "\\" in path or ".." in names or "." in names:
        raise _outside(text)
    if fold_path(names[0]) in _OTHER_FOLDERS and len(names) > 1:
        raise _outside(text)
    if names[0] != NOTES or len(names) == 1:
        names = [NOTES, *names]
    fault = next(filter(None, map(_name_fault, names)), None) or _path_fault(names)
    if fault:
        raise UsageError(f"not a path for a note: {text[:200]!r}: {fault}", path=text[:200])
    return "/".join(names)


def check_free(root: Path, path: str, *, moved_from: str | None = None) -> None:
    """Make sure that a note can be put at a path where nothing is yet.

    Args:
        root: the work tree.
        path: as `note_path` gives it.
        moved_from: the path that the note leaves, which does not stand in its way.

    Raises:
        RefusedError: something is there, or a name that differs only in case or Unicode form.
        ProtectedPath: a folder on the way is a link or in a nested repository.
        UsageError: a folder on the way is a file.
    """
    folder = root
    names = path.split("/")
    for depth, name in enumerate(names):
        here = "/".join(names[: depth + 1])
        is_last = depth == len(names) - 1
        found = [entry.name for entry in folder.iterdir()]
        if name not in found:
            _refuse_twin(names[:depth], name, found, moved_from)
            return
        if is_last:
            raise RefusedError(
                f"{path} exists already", hint="Edit it, append to it, or choose another name.", path=path
            )
        folder = folder / name
        _check_folder(folder, here)


def _name_fault(name: str) -> str | None:
    if not name:
        return "an empty name"
    if name_fault(name):
        return name_fault(name)
    shown = "".join(char for char in name if unicodedata.category(char) != "Cf")
    if shown.startswith(".") or shown.casefold() == "git~1":
        return "a hidden name"
    if name != name.strip():
        return "a name that begins or ends in white space"
    if len(os.fsencode(name)) > _MAX_NAME:
        return f"a name of more than {_MAX_NAME} bytes"
    return None


def _path_fault(names: list[str]) -> str | None:
    file = PurePosixPath(names[-1])
    if file.suffix.lower() not in NOTE_SUFFIXES:
        return "its name must end in .md"
    if len(names) - 1 > _MAX_FOLDERS:
        return f"deeper than {_MAX_FOLDERS} folders"
    if len(os.fsencode("/".join(names))) > _MAX_PATH:
        return f"longer than {_MAX_PATH} bytes"
    return None


def _refuse_twin(folder: list[str], name: str, found: list[str], moved_from: str | None) -> None:
    folded = fold_path(name)
    twins = ["/".join((*folder, other)) for other in found if fold_path(other) == folded]
    for twin in twins:
        # A note may change the case of its own name; the folders above it are others' too.
        if twin != moved_from:
            raise RefusedError(
                f"{'/'.join((*folder, name))} differs only in case or Unicode form from {twin}",
                hint="On some file systems they would be one file; choose another name.",
                path=twin,
            )


def _check_folder(folder: Path, path: str) -> None:
    mode = folder.stat(follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        raise ProtectedPath(f"{path} is {LINK}", path=path)
    if not stat.S_ISDIR(mode):
        raise UsageError(f"{path} is a file, not a folder", path=path)
    if os.path.lexists(folder / ".git"):
        raise ProtectedPath(f"{path} is inside {NESTED}; its files would not be kept", path=path)


def _outside(text: str) -> ProtectedPath:
    return ProtectedPath(
        f"not inside {NOTES}/: {text[:200]!r}", hint=f"Name a file below {NOTES}/.", path=text[:200]
    )
