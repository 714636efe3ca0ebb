"""One hook as a file: gitmem's scripts, how they are told from others, and how room is made for them."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path
from typing import Final

#: Where the framework named pre-commit moves a hook that it finds, which it then runs first.
LEGACY: Final = ".legacy"
_MARK: Final = b"\n# gitmem hook: "
_KEPT: Final = ".before-gitmem"


def hook_scripts() -> Path:
    """Return the folder of the scripts: in the installed package, else beside it in the source tree."""
    package = Path(__file__).parent
    installed = package / "_hooks"
    return installed if installed.is_dir() else package.parent / "hooks"


def read_script(name: str) -> bytes:
    """Return the text of one of the scripts as it is shipped."""
    return (hook_scripts() / name).read_bytes()


def filled_script(script: bytes, python: str, other: str | None) -> bytes:
    """Return a script that knows its interpreter and, unless it lies beside it, the hook that runs first."""
    values = {"python": python, "package": str(Path(__file__).parents[1]), "other": other}
    rows = []
    for row in script.split(b"\n"):
        name = row.partition(b"=")[0].decode("utf-8", "replace")
        value = values.get(name) if b"=" in row else None
        rows.append(row if value is None else os.fsencode(f"{name}={shlex.quote(value)}"))
    return b"\n".join(rows)


def spelled_as_in(path: Path, python: str) -> str:
    """Return an interpreter as the hook at a path spells it: `bin/python` and `bin/python3` may be one.

    Both have to lie in one folder, because those of two environments often lead to one file.
    """
    named = _interpreter_of(path)
    if named is None or _place(named) != _place(python):
        return python
    return named


def _interpreter_of(path: Path) -> str | None:
    """Return the interpreter that one of gitmem's hooks starts; None where none is to be read."""
    if not is_ours(path):
        return None
    for row in path.read_bytes().split(b"\n"):
        if row.startswith(b"python="):
            try:
                words = shlex.split(os.fsdecode(row.removeprefix(b"python=")))
            except ValueError:  # somebody edited it
                return None
            return words[0] if len(words) == 1 else None
    return None


def _place(python: str) -> tuple[Path, Path]:
    return Path(python).parent.resolve(), Path(python).resolve()


def kept_beside(path: Path) -> Path:
    """Return where the hook that was at a path is kept while gitmem's stands there."""
    return path.with_name(path.name + _KEPT)


def is_run(path: Path) -> bool:
    """Say whether Git would run what is at a path."""
    return path.is_file() and os.access(path, os.X_OK)


def is_ours(path: Path) -> bool:
    """Say whether a file is a hook of gitmem's, of this version or another."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return _MARK in file.read(200)


def is_foreign(path: Path) -> bool:
    """Say whether a hook is at a path that Git would run and that is not gitmem's."""
    return is_run(path) and not is_ours(path)


def holds(path: Path, content: bytes) -> bool:
    """Say whether a file is there that Git would run, with exactly this content."""
    try:
        found = path.lstat()
        return stat.S_ISREG(found.st_mode) and os.access(path, os.X_OK) and path.read_bytes() == content
    except OSError:
        return False


def _is_same(one: Path, other: Path) -> bool:
    if any(path.is_symlink() or not path.is_file() for path in (one, other)):
        return False
    return one.read_bytes() == other.read_bytes() and one.stat().st_mode == other.stat().st_mode


def make_room(path: Path) -> str | None:
    """Move a hook that is not gitmem's beside itself; return why not, if it stays."""
    if not os.path.lexists(path) or is_ours(path):
        return None
    if path.is_dir() and not path.is_symlink():
        return f"{path.name} is a folder and was left alone"
    kept = kept_beside(path)
    if os.path.lexists(kept):
        return f"{path.name} came after gitmem's hook; make one of it and {kept.name}, then install again"
    path.rename(kept)
    return None


def take_out(path: Path) -> tuple[bool, str | None]:
    """Remove gitmem's hook and put back what was there; say whether there was one, and what was left."""
    was_there = False
    for own in (path, path.with_name(path.name + LEGACY)):
        if is_ours(own):
            own.unlink()
            was_there = True
    kept = kept_beside(path)
    if not os.path.lexists(kept):
        return was_there, None
    if _is_same(path, kept):  # a manager of hooks wrote its own again
        kept.unlink()
        return was_there, None
    if os.path.lexists(path):
        return was_there, f"{kept.name} was left: another hook has taken its name meanwhile"
    kept.rename(path)
    return True, None
