"""Git configuration read through dulwich, as Git reads it, and written as an editor would."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from gitmem.durable_file import write_file
from gitmem.errors import HomeError
from gitmem.git_config import change_value, git_dir_pattern, object_format, split_key
from gitmem.git_lock import git_lock
from gitmem.layout import Layout
from gitmem.repository import Head

if TYPE_CHECKING:
    from dulwich.config import ConfigFile

#: Seconds for which the configuration files of the user and the machine are trusted without a look.
_FOREIGN_CONFIG_FOR: Final = 1.0
#: A file written within this time may be written again without any change that `stat` shows.
_RACY_NS: Final = 20_000_000

_Stamp = tuple[int, ...] | float | None


class GitSettings:
    """Git configuration as Git reads it: of the work tree, the repository, the user and the machine."""

    def __init__(self, layout: Layout, head: Callable[[], Head]) -> None:
        self._layout = layout
        self._head = head
        self._lock = threading.Lock()
        self._own: list[ConfigFile] = []
        self._own_stamps: dict[str, _Stamp] | None = None
        self._foreign: list[ConfigFile] = []
        self._foreign_until = float("-inf")
        self._known: dict[str, str | None] = {}

    def get(self, key: str) -> str | None:
        """Return a value, the most local one, or None."""
        with self._lock:
            files = self._files()
            if key not in self._known:
                self._known[key] = _find(files, key)
            return self._known[key]

    def section(self, name: str) -> list[tuple[str | None, str, str]]:
        """Return subsection, name and value of every setting of a section, the strongest last."""
        with self._lock:
            return [row for file in reversed(self._files()) for row in _rows(file, name.encode().lower())]

    def set(self, key: str, value: str | None) -> None:
        """Set a value in the repository's own file; None removes it."""
        path = (self._layout.common_dir / "config").resolve()
        with git_lock(path):
            text = path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""
            changed = change_value(text, key, value)
            if changed != text:
                write_file(path, changed.encode("utf-8", "surrogateescape"))
        self._own_stamps = None

    def object_format(self) -> str:
        """Return `sha1`, or name what gitmem does not support."""
        own = self._read(self._layout.common_dir / "config", {})
        return "sha1" if own is None else _unsupported(own)

    def _files(self) -> list[ConfigFile]:
        if self._own_stamps is None or self._own_stamps != _stamps(self._own_stamps):
            self._known.clear()
            self._read_own()
        if time.monotonic() >= self._foreign_until:
            self._known.clear()
            self._foreign = self._read_foreign()
            self._foreign_until = time.monotonic() + _FOREIGN_CONFIG_FOR
        return [*self._own, *self._foreign]

    def _read_own(self) -> None:
        stamps: dict[str, _Stamp] = {}
        shared = self._read(self._layout.common_dir / "config", stamps)
        self._own = [] if shared is None else [shared]
        if shared is not None and _flag(shared, (b"extensions",), b"worktreeconfig"):
            private = self._read(self._layout.git_dir / "config.worktree", stamps)
            self._own = [*([] if private is None else [private]), shared]
        self._own_stamps = stamps

    def _read_foreign(self) -> list[ConfigFile]:
        from dulwich.config import StackedConfig  # noqa: PLC0415

        try:
            found = StackedConfig.default_backends()
        except OSError:
            return []  # a service without a home directory
        except ValueError as error:
            raise HomeError(f"the Git configuration of this user cannot be read: {error}") from error
        # Read again, because only from_path knows what `includeIf` of this repository means.
        again = [self._read(Path(file.path), {}) for file in found if file.path]
        return [file for file in again if file is not None]

    def _read(self, path: Path, stamps: dict[str, _Stamp]) -> ConfigFile | None:
        from dulwich.config import ConfigFile  # noqa: PLC0415 - costs 20 ms

        def opened(name: str | os.PathLike[str]) -> IO[bytes]:
            stamps[os.fspath(name)] = _stamp(os.fspath(name))
            return Path(name).open("rb")

        try:
            matchers = self._matchers(path, stamps)
            return ConfigFile.from_path(path, file_opener=opened, condition_matchers=matchers)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError as error:
            message = f"the Git configuration file {path.name} cannot be read: {error}"
            raise HomeError(message, hint="Run `git config --list`.") from error

    def _matchers(self, file: Path, stamps: dict[str, _Stamp]) -> dict[str, Callable[[str], bool]]:
        """Return what decides on `includeIf`; a condition on the branch makes the stamps depend on HEAD."""
        from dulwich.config import match_glob_pattern  # noqa: PLC0415

        git_dir = str(self._layout.git_dir)

        def is_git_dir(pattern: str) -> bool:
            return match_glob_pattern(git_dir, git_dir_pattern(pattern, file))

        def is_git_dir_in_any_case(pattern: str) -> bool:
            return match_glob_pattern(git_dir.lower(), git_dir_pattern(pattern, file).lower())

        def is_on_branch(pattern: str) -> bool:
            stamps[f"{git_dir}/HEAD"] = _stamp(f"{git_dir}/HEAD")
            branch = (self._head().branch or "").removeprefix("refs/heads/")
            return match_glob_pattern(branch, pattern + ("**" if pattern.endswith("/") else ""))

        return {"gitdir:": is_git_dir, "gitdir/i:": is_git_dir_in_any_case, "onbranch:": is_on_branch}


def _stamps(names: Iterable[str]) -> dict[str, _Stamp]:
    return {name: _stamp(name) for name in names}


def _stamp(name: str) -> _Stamp:
    try:
        status = os.stat(name)  # noqa: PTH116 - several times a turn
    except OSError:
        return None
    if time.time_ns() - status.st_mtime_ns < _RACY_NS:
        return float("nan")  # equal to nothing
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _find(files: Sequence[ConfigFile], key: str) -> str | None:
    section, sub, name = split_key(key)
    where = (section.encode(),) if sub is None else (section.encode(), sub.encode())
    found = (_value(file, where, name.encode()) for file in files)
    return next((value for value in found if value is not None), None)


def _unsupported(own: ConfigFile) -> str:
    version = _value(own, (b"core",), b"repositoryformatversion") or "0"
    extensions = own.items((b"extensions",)) if own.has_section((b"extensions",)) else ()
    named = {name.decode("ascii", "replace"): value.decode("utf-8", "replace") for name, value in extensions}
    if any(_flag(own, section, b"promisor") for section in own if section[0] == b"remote"):
        named.setdefault("partialClone", "true")
    return object_format(version, named)


def _value(file: ConfigFile, section: tuple[bytes, ...], name: bytes) -> str | None:
    try:
        return file[section][name].decode("utf-8", "replace")
    except KeyError:
        return None


def _rows(file: ConfigFile, name: bytes) -> Iterator[tuple[str | None, str, str]]:
    for section in file.sections():
        if section[0].lower() == name:
            sub = section[1].decode("utf-8", "surrogateescape") if len(section) > 1 else None
            for key, value in file.items(section):
                yield sub, key.decode("ascii", "replace").lower(), value.decode("utf-8", "surrogateescape")


def _flag(file: ConfigFile, section: tuple[bytes, ...], name: bytes) -> bool:
    return (_value(file, section, name) or "").lower() in ("true", "yes", "on", "1")
