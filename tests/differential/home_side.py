"""gitmem's memory tool in a real home: every call through `AgentHome.memory`, committed by Git."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Self

from differential.facts import Facts
from differential.plain_side import facts_of_call
from differential.sequences import Sequence, decode
from fixtures import git, run_git
from gitmem import AgentHome
from gitmem.curated import STORES
from gitmem.scanner import find_secrets

#: A home is left for a new one after so many sequences, so that none grows without end.
_SEQUENCES_OF_A_HOME = 200
_AUTHOR = ("-c", "user.name=Olivia Operator", "-c", "user.email=olivia@example.com")


class HomeSide:
    """Drives the tool in homes below one folder, one home for each pair of limits; a context manager.

    Args:
        folder: an empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._homes: dict[tuple[int, int], tuple[AgentHome, int]] = {}
        self._made = 0
        self._turns = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for home, _used in self._homes.values():
            home.close()

    def begin(self, sequence: Sequence) -> None:
        """Stand where a sequence begins, in a home that has seen others: its files are written by hand."""
        assert not sequence.get("failures"), "a home begins with none"
        limits = (sequence["limits"]["memory"], sequence["limits"]["user"])
        home, used = self._homes.get(limits, (None, 0))
        if home is None or used >= _SEQUENCES_OF_A_HOME:
            if home is not None:
                home.close()
            home, used = self._new_home(limits), 0
        self._homes[limits] = (home, used + 1)
        self._home = home
        for target, content in sequence["files"].items():
            self.write(target, decode(content))
        self.turn()

    def call(self, call: dict[str, Any]) -> Facts:
        """Return the facts of one call, with what became of its file."""
        before = {target: self.file(target) for target in STORES}
        arguments = {
            name: call.get(name) for name in ("action", "target", "content", "old_text", "operations")
        }
        reply = self._home.memory(**arguments, session=f"s{self._turns}")
        assert reply.committed or not reply.success or reply.unchanged, f"{call}: {reply}"
        return facts_of_call(call, reply, before, {target: self.file(target) for target in STORES})

    def write(self, target: str, content: bytes | None) -> None:
        """Write or remove a file by hand; a secret in it is committed, as its author decides in the end."""
        if content is None:
            self._path(target).unlink(missing_ok=True)
        else:
            self._path(target).write_bytes(content)
        if find_secrets((content or b"").decode("utf-8", "replace")):
            root, path = self._home.layout.root, STORES[target]
            git("add", path, cwd=root)
            run_git(*_AUTHOR, "commit", "--no-verify", "-qm", "by hand", "--", path, cwd=root)

    def turn(self) -> None:
        """Begin a new turn; here it is one of a new session."""
        self._turns += 1

    def file(self, target: str) -> bytes | None:
        """Return the bytes of a file."""
        return self._path(target).read_bytes() if self._path(target).exists() else None

    def _path(self, target: str) -> Path:
        return self._home.layout.root / STORES[target]

    def _new_home(self, limits: tuple[int, int]) -> AgentHome:
        self._made += 1
        root = self._folder / f"home-{self._made}"
        AgentHome.init(root).close()
        settings = root / "gitmem.toml"
        text = settings.read_text()
        for name, limit in zip(("memory_char_limit", "user_char_limit"), limits, strict=True):
            text, count = re.subn(rf"(?m)^(#\s*)?{name}\s*=.*$", f"{name} = {limit}", text)
            assert count == 1, text
        settings.write_text(text)
        return AgentHome.open(root)
