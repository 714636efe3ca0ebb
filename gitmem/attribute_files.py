"""Reads the attribute files that speak of a path, as Git does, and remembers them while they stand."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from gitmem.attributes import AttributeFile, Conversion, conversion_of
from gitmem.layout import Layout

_Stamp = tuple[int, int, int, int]


class AttributeFiles:
    """Gives the attribute files of a home.

    Args:
        layout: where the files lie.
        setting: returns a Git configuration value.
    """

    def __init__(self, layout: Layout, setting: Callable[[str], str | None]) -> None:
        self._layout = layout
        self._setting = setting
        self._known: dict[Path, tuple[_Stamp, bytes]] = {}

    def look(self) -> AttributeLook:
        """Return the files as they stand at one moment."""
        return AttributeLook(self._files_of, self._setting)

    def _files_of(self, above: str) -> list[AttributeFile]:
        """Return the files that speak of what is in a folder, as it stands in paths."""
        user = self._setting("core.attributesFile") or "~/.config/git/attributes"
        files = [self._file(Path(user).expanduser(), user, "", follow=True)]
        folder = ""
        for name in ("", *filter(None, above.split("/"))):
            folder = f"{folder}/{name}".strip("/")
            place = f"{folder}/.gitattributes".strip("/")
            files.append(self._file(self._layout.root / place, place, folder))
        info = self._layout.common_dir / "info" / "attributes"
        files.append(self._file(info, "info/attributes of the git dir", "", follow=True))
        return [file for file in files if file is not None]

    def _file(self, path: Path, name: str, folder: str, *, follow: bool = False) -> AttributeFile | None:
        content = self._content(path, follow=follow)
        if content is None:
            return None
        return AttributeFile(name, folder, content, defines=folder == "")

    def _content(self, path: Path, *, follow: bool) -> bytes | None:
        # In the tree a link is not followed, by Git neither.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
        try:
            found = path.stat(follow_symlinks=follow)
            stamp = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            known = self._known.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
            with open(os.open(path, flags), "rb") as file:
                content = file.read()
        except OSError:
            return None
        self._known[path] = (stamp, content)
        return content


class AttributeLook:
    """The attribute files at one moment: for many paths of a folder each is looked at once.

    Args:
        files_of: returns the files that speak of what is in a folder.
        setting: returns a Git configuration value.
    """

    def __init__(
        self, files_of: Callable[[str], list[AttributeFile]], setting: Callable[[str], str | None]
    ) -> None:
        self._files_of = files_of
        self._known: dict[str, list[AttributeFile]] = {}
        self._autocrlf = setting("core.autocrlf")
        self._eol = setting("core.eol")

    def conversion(self, path: str) -> Conversion:
        """Return how the bytes of a path are converted between work tree and blob."""
        folder = path.rpartition("/")[0]
        if folder not in self._known:
            self._known[folder] = self._files_of(folder)
        return conversion_of(path, self._known[folder], autocrlf=self._autocrlf, eol=self._eol)
