"""The turn lines of a home: which branches they are, and which of them belong to another home."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from gitmem.durable_file import write_file
from gitmem.errors import GitmemError
from gitmem.layout import TURN_LINES, Layout
from gitmem.repository import Repository
from gitmem.subjects import parse_trailers

_LINE: Final = re.compile(r"refs/(?:heads|remotes/[^/]+)/gitmem/turns/(w[0-9a-f]{8})")


class Lines:
    """The turn lines known here: own ones and those that remotes brought.

    Args:
        repository: where their refs are.
        layout: of the work tree; what was checked is remembered in its derived folder.
        home_id: a line whose root commit names another home is ignored and listed.
    """

    def __init__(self, repository: Repository, layout: Layout, home_id: str) -> None:
        self._repository = repository
        self._home_id = home_id
        self._file = layout.derived / "lines.json"
        self._checked: dict[str, str] = _read_checked(self._file)
        self._foreign: dict[str, str] = {}

    def tips(self) -> Mapping[str, str]:
        """Return ref name and commit id of each line of this home, as they are now."""
        refs = dict(self._repository.list_refs(TURN_LINES))
        refs.update(self._repository.list_refs("refs/remotes/"))
        return {
            name: tip
            for name, tip in sorted(refs.items())
            if _LINE.fullmatch(name) and self._is_ours(name, tip)
        }

    def foreign(self) -> Mapping[str, str]:
        """Return the lines that were ignored in `tips`, with the id of the home they belong to."""
        return dict(self._foreign)

    def trust(self, name: str, tip: str) -> None:
        """Take a line's tip as checked: this process has just made it."""
        self._checked[name] = tip

    def _is_ours(self, name: str, tip: str) -> bool:
        if self._checked.get(name) == tip:
            return True
        home = self._home_of(tip, until=self._checked.get(name))
        if home not in (None, self._home_id):
            self._foreign[name] = str(home)
            return False
        self._foreign.pop(name, None)
        self._checked[name] = tip
        return True

    def _home_of(self, tip: str, until: str | None) -> str | None:
        """Return the home that a line's root names; None where it names none or is not here (shallow)."""
        root = None
        for commit in self._first_parents(tip):
            if commit == until:
                return self._home_id
            root = commit
        if root is None:
            return None
        commit_ = self._repository.read_commit(root)
        return parse_trailers(commit_.message).get("Gitmem-Home") if not commit_.parents else None

    def _first_parents(self, tip: str) -> Iterator[str]:
        try:
            for commit in self._repository.walk_first_parents(tip):
                yield commit.id
        except GitmemError:
            return

    def remember(self) -> None:
        """Keep what was checked, so that the next process does not walk the lines again."""
        if self._checked != _read_checked(self._file):
            write_file(self._file, json.dumps(self._checked, indent=1).encode() + b"\n", durable=False)


def writer_of(ref: str) -> str | None:
    """Return the writer id that a turn line's ref names, or None."""
    match = _LINE.fullmatch(ref)
    return match[1] if match else None


def _read_checked(path: Path) -> dict[str, str]:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in data.items() if isinstance(v, str)} if isinstance(data, dict) else {}
