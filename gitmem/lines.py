"""The turn lines of a home: which branches they are, and which of them belong to another home."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from gitmem.durable_file import write_file
from gitmem.errors import GitmemError
from gitmem.layout import TURN_LINES, Layout
from gitmem.line_astray import Astray, find_astray
from gitmem.repository import Repository
from gitmem.subjects import HOME, parse_trailers
from gitmem.writer import WriterState, read_writer

#: Where remotes' turn lines are; one folder for each remote.
REMOTE_LINES: Final = "refs/remotes/*/gitmem/turns/"
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
        self._writer_file = layout.writer_file
        self._file = layout.derived / "lines.json"
        self._kept = _read_kept(self._file)
        self._known = dict(self._kept)
        self._unreadable: dict[str, str] = {}
        self._lock = threading.RLock()
        self._moment = threading.local()

    @contextmanager
    def still(self) -> Iterator[None]:
        """Let this thread see the lines as they stand at its next look, however often it looks."""
        outer = getattr(self._moment, "held", None)
        self._moment.held = [] if outer is None else outer
        try:
            yield
        finally:
            self._moment.held = outer

    def refs(self) -> Mapping[str, str]:
        """Return ref name and value of everything that is named like a turn line, as it is now."""
        found = {**self._repository.list_refs(TURN_LINES), **self._repository.list_refs(REMOTE_LINES)}
        return {name: tip for name, tip in sorted(found.items()) if _LINE.fullmatch(name)}

    def tips(self, refs: Mapping[str, str] | None = None) -> Mapping[str, str]:
        """Return ref name and commit id of each line of this home that can be read.

        The own line is taken as gitmem left it, where somebody else deleted or moved its ref: the next turn
        puts it back, and until then nothing of it is gone.

        Args:
            refs: some of `refs()`; default all, as they should stand.
        """
        held: list[Mapping[str, str]] | None = getattr(self._moment, "held", None) if refs is None else None
        if held:
            return held[0]
        with self._lock:
            found = {
                name: tip
                for name, tip in (self._standing() if refs is None else refs).items()
                if self._is_ours(name, tip)
            }
        if held is not None:
            held.append(found)
        return found

    def own_tip(self) -> str | None:
        """Return the tip of the own line, as gitmem left it; None before its first turn."""
        return next((tip for name, tip in self.tips().items() if self._is_own(name)), None)

    def astray(self) -> Astray | None:
        """Return what the next turn would find out of place with the own line, if anything."""
        with self._lock:
            state = self._own()
            if state is None:
                return None
            found = self.refs().get(state.ref)
            astray = find_astray(self._repository, state, found)
            if astray is None and found is not None and not self._repository.contains(found):
                return Astray(state.ref, state.branch, None, None)
            return astray

    def foreign(self) -> Mapping[str, str]:
        """Return the lines that were ignored in `tips`, with the id of the home they belong to."""
        with self._lock:
            return {name: home for name, (_, home) in self._known.items() if home not in ("", self._home_id)}

    def unreadable(self) -> Mapping[str, str]:
        """Return the lines that were left out of `tips` because their commit is not here or is none."""
        with self._lock:
            return dict(self._unreadable)

    def trust(self, name: str, tip: str) -> None:
        """Take a line's tip as checked: this process has just made it."""
        with self._lock:
            self._known[name] = (tip, self._home_id)

    def remember(self) -> None:
        """Keep what was checked, so that the next process does not walk the lines again."""
        with self._lock, suppress(OSError):  # derived: it only saves time
            known = {name: found for name, found in self._known.items() if not self._is_own(name)}
            if known != self._kept:
                write_file(self._file, json.dumps(known, indent=1).encode() + b"\n", durable=False)
                self._kept = known

    def _standing(self) -> Mapping[str, str]:
        """Return the refs, the own one as gitmem left it."""
        state = self._own()  # before the refs: a turn moves its ref first
        refs = self.refs()
        astray = find_astray(self._repository, state, refs.get(state.ref)) if state is not None else None
        if astray is None:
            return refs
        others = {name: tip for name, tip in refs.items() if name != astray.ref}
        return {**others, astray.ref: astray.last} if astray.last else others

    def _own(self) -> WriterState | None:
        try:
            return read_writer(self._writer_file)
        except OSError:  # of another user's home; the refs are what can be read of it
            return None

    def _is_ours(self, name: str, tip: str) -> bool:
        known = self._known.get(name)
        if known is None or known[0] != tip:
            self._unreadable.pop(name, None)
            home = self._look_at(name, tip)
            if home is None:
                self._unreadable[name] = tip
                return False
            known = self._known[name] = (tip, home)
        return known[1] in ("", self._home_id)

    def _look_at(self, name: str, tip: str) -> str | None:
        """Return the home of a line, "" where that cannot be known (shallow); None if it cannot be read."""
        try:
            self._repository.read_commit(tip)
        except GitmemError:
            return None
        return self._home_id if self._is_own(name) else self._home_of(name, tip)

    def _is_own(self, name: str) -> bool:
        if not name.startswith(TURN_LINES):
            return False
        state = read_writer(self._writer_file)
        return state is not None and state.ref == name

    def _home_of(self, name: str, tip: str) -> str:
        until, home = self._known.get(name, ("", ""))
        root = None
        with suppress(GitmemError):
            for commit in self._repository.walk_first_parents(tip):
                if commit.id == until:
                    return home
                root = commit
        if root is None or root.parents:
            return ""
        return parse_trailers(root.message).get(HOME, "")


def _read_kept(path: Path) -> dict[str, tuple[str, str]]:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    found = data.items() if isinstance(data, dict) else ()
    return {k: (str(v[0]), str(v[1])) for k, v in found if isinstance(v, list) and len(v) == 2}
