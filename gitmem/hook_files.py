"""Git hooks as files: which of gitmem's are there, put there beside others, and taken out without a trace.

gitmem writes hooks inside the git dir only. Where Git takes its hooks from there, gitmem's stand in that
folder, and one that was there under the same name is kept beside it and runs first. Where `core.hooksPath`
names another folder, in the work tree or shared with other repositories, that folder stays as it is: Git is
pointed to a folder of gitmem's, whose hooks run those of the other folder first.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from gitmem.durable_file import remove_file, write_file
from gitmem.errors import RefusedError
from gitmem.git_config import change_value
from gitmem.git_lock import git_lock
from gitmem.hook_scripts import (
    LEGACY,
    filled_script,
    holds,
    is_foreign,
    is_ours,
    is_run,
    kept_beside,
    make_room,
    read_script,
    spelled_as_in,
    take_out,
)
from gitmem.json_view import JsonView
from gitmem.layout import Layout
from gitmem.repository import Repository

#: What gitmem does for a home, in the order in which it is listed.
CLIENT: Final = (
    *("pre-commit", "post-commit", "post-merge", "post-checkout", "post-rewrite"),
    *("reference-transaction", "pre-push"),
)
#: What gitmem does for a bare repository that others push to.
SERVER: Final = ("update",)
#: Passed on from gitmem's folder even if the other has none yet: people add them later.
_LATER: Final = (
    *("prepare-commit-msg", "commit-msg", "pre-merge-commit", "pre-rebase", "pre-auto-gc"),
    *("applypatch-msg", "pre-applypatch", "post-applypatch"),
)
#: Passed on only where the other folder has them: Git acts otherwise when one of these is there.
_PRESENT: Final = (
    *("post-index-change", "push-to-checkout", "pre-receive", "update", "proc-receive", "post-receive"),
    *("post-update", "sendemail-validate", "p4-changelist", "p4-prepare-changelist", "p4-post-changelist"),
    "p4-pre-submit",
)
#: What a commit on the command line runs.
_COMMIT: Final = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")
_RELAY: Final = "pass-on"
_KEY: Final = "core.hooksPath"
_MODE: Final = 0o755

State = Literal["installed", "outdated", "missing", "replaced"]


@dataclass(frozen=True, slots=True)
class HookState(JsonView):
    """One of gitmem's hooks in a repository.

    Attributes:
        id: the hook's name.
        path: the file that Git runs, or would run.
        state: `installed`; `outdated` (of another gitmem, or for an interpreter that is not this one);
            `missing`; `replaced` (something else stands there, put there after gitmem's).
        chained: the hook that was there, which runs first; None if there was none.
    """

    id: str
    path: str
    state: State
    chained: str | None = None


@dataclass(frozen=True, slots=True)
class HookReport(JsonView):
    """The hooks of a repository after a command.

    Attributes:
        hooks: gitmem's, each with its state.
        folder: where Git takes hooks from.
        changed: names of hooks that the command put there or took out.
        notes: what was left as it is, and why.
    """

    hooks: Sequence[HookState]
    folder: str
    changed: Sequence[str] = ()
    notes: Sequence[str] = ()


def configured_folder(layout: Layout, configured: str | None) -> Path:
    """Return the folder that a value of `core.hooksPath` names for this work tree."""
    if not configured:
        return layout.common_dir / "hooks"
    return layout.root / Path(configured).expanduser()


class HookFiles:
    """The hooks of one repository.

    Args:
        layout: of the work tree; for a bare repository its folder stands in all places.
        repository: reads `core.hooksPath`.
        names: `CLIENT` or `SERVER`.
        python: the interpreter that the hooks start.
    """

    def __init__(
        self,
        layout: Layout,
        repository: Repository,
        names: Sequence[str] = CLIENT,
        python: str = sys.executable,
    ) -> None:
        self._layout = layout
        self._repository = repository
        self._names = names
        self._python = python
        self._own = layout.common_dir / "gitmem" / "hooks"
        self._memo = layout.common_dir / "gitmem" / "hooks.json"

    @property
    def folder(self) -> Path:
        """The folder that Git takes hooks from now."""
        return configured_folder(self._layout, self._repository.config(_KEY))

    @property
    def foreign_folder(self) -> Path:
        """The folder of the operator's hooks: Git's, or the one that was before gitmem's own."""
        if self.folder != self._own:
            return self.folder
        return configured_folder(self._layout, self._remembered().get("hooks_path"))

    def states(self) -> HookReport:
        """Return the state of each hook."""
        return HookReport([self._state(name) for name in self._names], str(self.folder))

    def not_run(self) -> list[str]:
        """Return the names of the operator's hooks that only `git commit` runs, not a commit by gitmem."""
        folder = self.foreign_folder
        return [name for name in _COMMIT if any(map(is_foreign, (folder / name, kept_beside(folder / name))))]

    def install(self) -> HookReport:
        """Put the hooks there; a second time changes nothing.

        Raises:
            RefusedError: Git's configuration names a folder that cannot be overruled in the repository.
        """
        if self._is_ours_to_fill(self.folder):
            changed, notes = self._install_beside()
        else:
            changed, notes = self._install_before()
        return HookReport(self.states().hooks, str(self.folder), changed, notes)

    def uninstall(self) -> HookReport:
        """Take the hooks out, and put everything back as it was."""
        memo = self._remembered()
        changed, notes = [], []
        if self.folder == self._own:
            changed = [name for name in self._names if self._state(name).state != "missing"]
        self._point_back(memo)
        if self._own.is_dir():
            shutil.rmtree(self._own)
        default = self._layout.common_dir / "hooks"
        for folder in {default, *([self.folder] if self._is_ours_to_fill(self.folder) else [])}:
            for name in self._names:
                was_there, note = take_out(folder / name)
                changed += [name] if was_there and name not in changed else []
                notes += [note] if note else []
        remove_file(self._memo)
        for folder in (self._memo.parent, *([default] if memo.get("made_folder") else [])):
            with suppress(OSError):  # what others put there stays
                folder.rmdir()
        return HookReport(self.states().hooks, str(self.folder), changed, notes)

    def _is_ours_to_fill(self, folder: Path) -> bool:
        resolved = folder.resolve()
        return folder != self._own and resolved.is_relative_to(self._layout.common_dir.resolve())

    # In the folder that Git uses

    def _install_beside(self) -> tuple[list[str], list[str]]:
        folder = self.folder
        if not folder.is_dir():
            self._remember({**self._remembered(), "made_folder": True})
            folder.mkdir(parents=True)
        changed, notes = [], []
        for name in self._names:
            if self._state(name).state == "installed":
                continue
            note = make_room(folder / name)
            if note:
                notes.append(note)
                continue
            self._write(folder / name, self._beside(name))
            changed.append(name)
        return changed, notes

    def _beside(self, name: str) -> bytes:
        return filled_script(read_script(name), spelled_as_in(self.folder / name, self._python), None)

    # In a folder of gitmem's, before the one that Git used

    def _install_before(self) -> tuple[list[str], list[str]]:
        if self.folder != self._own:
            self._remember({**self._remembered(), "hooks_path": self._repository.config(_KEY)})
        wanted = dict(self._before())
        self._own.mkdir(parents=True, exist_ok=True)
        changed = [name for name, content in wanted.items() if not holds(self._own / name, content)]
        for name in changed:
            self._write(self._own / name, wanted[name])
        for path in self._own.iterdir():
            if path.name not in wanted:
                path.unlink()
        if self.folder != self._own:
            self._point_here()
            changed = list(self._names)
        return [name for name in changed if name in self._names], []

    def _before(self) -> Iterator[tuple[str, bytes]]:
        """Yield name and content of each hook in gitmem's folder; it must miss none that the other has."""
        configured = self._remembered().get("hooks_path")
        there = configured_folder(self._layout, configured)
        # A relative one stays so: each work tree has its own.
        other = str(Path(configured).expanduser()) if configured else str(there)
        present = [name for name in _PRESENT if name not in self._names and is_run(there / name)]
        for name in (*self._names, *_LATER, *present):
            script = name if name in self._names else _RELAY
            python = spelled_as_in(self._own / name, self._python)
            yield name, filled_script(read_script(script), python, f"{other}/{name}")

    def _point_here(self) -> None:
        before: dict[str, Any] = {}

        def pointed(text: str) -> str:
            changed = change_value(text, _KEY, str(self._own))
            before.update(zip(("old_row", "new_row"), _changed_row(text, changed), strict=True))
            return changed

        self._change_config(pointed)
        self._remember({**self._remembered(), **before})
        if self.folder != self._own:
            self._point_back(self._remembered())
            raise RefusedError(
                f"{_KEY} is set where the repository's own config cannot overrule it",
                hint=f"See where: git config --show-origin --get-all {_KEY}",
            )

    def _point_back(self, memo: dict[str, Any]) -> None:
        new_row, old_row = memo.get("new_row"), memo.get("old_row")
        if new_row:
            self._change_config(lambda text: text.replace(new_row, old_row or "", 1))

    def _change_config(self, change: Callable[[str], str]) -> None:
        path = (self._layout.common_dir / "config").resolve()
        with git_lock(path):
            text = path.read_bytes().decode("utf-8", "surrogateescape")
            changed = change(text)
            if changed != text:
                write_file(path, changed.encode("utf-8", "surrogateescape"))

    # States

    def _state(self, name: str) -> HookState:
        folder = self.folder
        path = folder / name
        if folder == self._own:
            chained = self.foreign_folder / name
            wanted: bytes | None = dict(self._before())[name]
        else:
            chained = kept_beside(path)
            wanted = self._beside(name) if self._is_ours_to_fill(folder) else None
        shown = str(chained) if is_run(chained) else None
        if not os.path.lexists(path):
            return HookState(name, str(path), "missing")
        if is_ours(path):
            current = wanted is not None and holds(path, wanted)
            return HookState(name, str(path), "installed" if current else "outdated", shown)
        legacy = path.with_name(name + LEGACY)
        if is_ours(legacy):
            return HookState(name, str(legacy), "installed", str(path))
        replaced = os.path.lexists(kept_beside(path)) and folder != self._own
        return HookState(name, str(path), "replaced" if replaced else "missing")

    def _remembered(self) -> dict[str, Any]:
        try:
            found = json.loads(self._memo.read_bytes())
        except (FileNotFoundError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _remember(self, memo: dict[str, Any]) -> None:
        write_file(self._memo, json.dumps(memo, ensure_ascii=True).encode() + b"\n")

    def _write(self, path: Path, content: bytes) -> None:
        write_file(path, content, mode=_MODE)


def _changed_row(old: str, new: str) -> tuple[str, str]:
    """Return the one line that a change of a configuration replaced (empty: none), and the one it brought."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    start = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return "".join(before[start : len(before) - end]), "".join(after[start : len(after) - end])
