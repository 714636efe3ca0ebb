"""The diff and merge drivers of a home, in Git's own configuration of this clone.

Attributes in the tree name the drivers; what they run stands in the local configuration alone, so no file
that travels makes a machine run anything. Each command is plain Git again where gitmem or its interpreter is
gone.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final, Literal

from gitmem.durable_file import write_file
from gitmem.layout import LEDGER, Layout
from gitmem.repository import Repository

DriverState = Literal["set", "missing", "stale", "foreign"]

#: Part of every command that is gitmem's, whatever interpreter it names.
_MODULE: Final = "-P -m gitmem.git_driver"
#: The trees of turn lines hold no `.gitattributes`: this one stands in the clone, for every branch.
_ATTRIBUTE: Final = f"/{LEDGER}/** diff=gitmem-ledger"
_DIFFS: Final = {"gitmem-ledger": "ledger", "gitmem-entries": "store"}
_MERGES: Final = {
    "gitmem-entries": ("entries", "memory entries, one by one"),
    "gitmem-text": ("text", "lines, keeping both of two additions"),
}


def driver_settings(python: str) -> dict[str, str]:
    """Return the settings that make Git use the drivers.

    Args:
        python: the interpreter that can import gitmem, as an absolute path.
    """
    settings = {f"diff.{name}.textconv": _textconv(python, kind) for name, kind in _DIFFS.items()}
    for name, (kind, title) in _MERGES.items():
        settings[f"merge.{name}.name"] = title
        settings[f"merge.{name}.driver"] = _merge(python, kind)
    return settings


def install_drivers(layout: Layout, repository: Repository, python: str) -> dict[str, str]:
    """Make Git use the drivers in this clone; done again it changes nothing but a stale interpreter.

    Settings of these names that an operator made otherwise are left; `driver_state` calls them foreign.

    Args:
        layout: where the clone's own files are.
        repository: its configuration.
        python: the interpreter to run; an empty one, as in an embedded Python, sets nothing.

    Returns:
        The settings that were set.
    """
    if not python:
        return {}
    states = driver_state(repository, python)
    wanted = driver_settings(python)
    done = {key: wanted[key] for key, state in states.items() if state in ("missing", "stale")}
    for key, value in done.items():
        repository.set_config(key, value)
    _add_attribute(_attributes(layout))
    return done


def uninstall_drivers(layout: Layout, repository: Repository) -> list[str]:
    """Take away what `install_drivers` set, and nothing else; return the keys."""
    gone = []
    for key, value in driver_settings("python").items():
        found = repository.config(key)
        if found is not None and _is_ours(found, value):
            repository.set_config(key, None)
            gone.append(key)
    _remove_attribute(_attributes(layout))
    return gone


def driver_state(repository: Repository, python: str) -> dict[str, DriverState]:
    """Return for each setting how it stands.

    Returns:
        `set`: as it should be; `missing`: not there; `stale`: gitmem's, of another interpreter or version;
        `foreign`: somebody else's.
    """
    return {key: _state(repository.config(key), value) for key, value in driver_settings(python).items()}


def _state(found: str | None, wanted: str) -> DriverState:
    if found is None:
        return "missing"
    if found == wanted:
        return "set"
    return "stale" if _is_ours(found, wanted) else "foreign"


def _is_ours(found: str, wanted: str) -> bool:
    return found == wanted or (_MODULE in found and _MODULE in wanted)


def _textconv(python: str, kind: str) -> str:
    """Return the command that makes a text of a file: Git puts the file's name behind it."""
    program = shlex.quote(python)
    run = f'test -x {program} && {program} {_MODULE} textconv {kind} "$1" 2>/dev/null'
    return f'f() {{ {run} || cat "$1"; }}; f'


def _merge(python: str, kind: str) -> str:
    """Return the command that merges a file, or leaves Git's ordinary conflict in it.

    Git before 2.44 knows no `%X` and leaves it as it stands; then the sides get fixed names.
    """
    program = shlex.quote(python).replace("%", "%%")
    run = f"test -x {program} && {program} {_MODULE} merge {kind} %O %A %B 2>/dev/null && exit"
    labels = 'case %X in "%"X) set -- HEAD base other;; *) set -- %X %S %Y;; esac'
    plain = 'git merge-file -q --marker-size=%L -L "$1" -L "$2" -L "$3" %A %O %B || exit 1'
    return f"{run}; {labels}; {plain}"


def _attributes(layout: Layout) -> Path:
    return layout.common_dir / "info" / "attributes"


def _add_attribute(path: Path) -> None:
    found = _read(path)
    # Also where an operator gave the ledger an attribute of his own: that one stands.
    if any(line.lstrip().startswith(f"/{LEDGER}/**".encode()) for line in found.splitlines()):
        return
    end = b"" if found.endswith(b"\n") or not found else b"\n"
    write_file(path, found + end + _ATTRIBUTE.encode() + b"\n")


def _remove_attribute(path: Path) -> None:
    lines = _read(path).splitlines(keepends=True)
    kept = [line for line in lines if line.strip() != _ATTRIBUTE.encode()]
    if len(kept) == len(lines):
        return
    if kept:
        write_file(path, b"".join(kept))
    else:
        path.unlink()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
