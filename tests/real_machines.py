"""A machine of a world of real homes: an agent's home, its operator's plain git, and a clock that is off."""

from __future__ import annotations

import os
import random
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from branches import in_child

from fixtures import run_git, set_identity
from gitmem import AgentHome

#: How each word looks that an agent or an operator writes; each stands for one fact.
WORD = re.compile(r"\bw\d{5}\b")
STORE = "memory/MEMORY.md"
KILLED = 9
#: Calls by which something becomes lasting or gets its name.
_CALLS = ("fsync", "rename", "replace", "unlink", "link", "truncate")
#: Where people and agents write.
_TOPS = ("memory", "notes", "conflicts", "gitmem.toml")


@dataclass
class Known:
    """What was written, said and taken out in a world.

    Attributes:
        written: words of notes and entries that somebody was told were kept.
        removed: words that somebody took out of all files of a machine.
        taken: how often a word was taken out of one of the files that hold it.
        removed_entries: entries that were taken out of the store.
        records: ids of acknowledged records -> their word.
        spoken: machine -> word of its newest message.
        told: machine -> words of messages that another process recorded and was acknowledged.
        forgotten: words of messages and entries that are forgotten.
        kept: commits that a copy of a folder has, so that nobody may take them for their own.
    """

    count: int = 0
    written: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    taken: Counter[str] = field(default_factory=Counter)
    removed_entries: set[str] = field(default_factory=set)
    records: dict[str, str] = field(default_factory=dict)
    spoken: dict[str, str] = field(default_factory=dict)
    told: dict[str, tuple[str, ...]] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)

    def word(self) -> str:
        """Return a word that stands nowhere yet."""
        self.count += 1
        return f"w{self.count:05d}"


class Place:
    """One machine.

    Args:
        name: of it.
        root: of its home, which is there.
        days: by which its clock is ahead.
        known: what all machines together have written.
        remotes: names of the remotes that it syncs with.
    """

    def __init__(self, name: str, root: Path, days: float, known: Known, remotes: tuple[str, ...]) -> None:
        self.name = name
        self.root = root
        self.days = days
        self.known = known
        self.remotes = remotes
        self.hooks = False
        set_identity(root, f"Operator {name}", f"{name}@example.com".lower())
        self.home = self._opened()

    def _opened(self) -> AgentHome:
        return AgentHome.open(self.root, now=self.now)

    def now(self) -> float:
        """Return the time as this machine has it."""
        return time.time() + self.days * 86_400

    def close(self) -> None:
        """Close the home."""
        self.home.close()

    def reopen(self) -> None:
        """Let another process go on with the home."""
        self.home.close()
        self.home = self._opened()

    def copy_to(self, root: Path) -> None:
        """Copy the folder as `cp -a` does: what is open is finished by both, each under an id of its own."""
        self.home.close()
        self.known.kept |= {*self.ask("rev-list", "main").splitlines()}
        shutil.copytree(self.root, root, symlinks=True)
        self.home = self._opened()

    # The operator

    def git(self, *args: str | Path, hooks: bool = False) -> bool:
        """Let the operator run git; say whether it went well. Most of them have no hooks, for speed."""
        quiet = () if hooks else ("-c", f"core.hooksPath={os.devnull}")
        date = f"@{int(self.now())} +0000"
        env = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "GIT_EDITOR": "true"}
        return run_git(*quiet, *args, cwd=self.root, env=env).returncode == 0

    def ask(self, *args: str | Path) -> str:
        """Return what git says."""
        return run_git(*args, cwd=self.root).stdout.decode("utf-8", "surrogateescape").strip()

    @property
    def head(self) -> str:
        """The commit that HEAD is at."""
        return self.ask("rev-parse", "HEAD")

    @property
    def is_on_main(self) -> bool:
        """Whether HEAD is on the home's branch, and nothing is under way there."""
        return self.ask("symbolic-ref", "-q", "HEAD") == "refs/heads/main"

    @property
    def has_edits(self) -> bool:
        """Whether something is not committed."""
        return self.ask("status", "--porcelain") != ""

    # Files

    def files(self) -> dict[str, str]:
        """Return the texts of all files that people and agents write, as they lie on disk."""
        found = {}
        for top in _TOPS:
            path = self.root / top
            paths = [path] if path.is_file() else sorted(path.rglob("*"))
            for one in (one for one in paths if one.is_file() and not one.is_symlink()):
                found[str(one.relative_to(self.root))] = one.read_text("utf-8", "replace")
        return found

    def notes(self) -> dict[str, str]:
        """Return the texts of the notes on disk."""
        return {path: text for path, text in self.files().items() if path.startswith("notes/")}

    def change(self, act: Callable[[], None]) -> None:
        """Let somebody change files, and note which words that took out."""
        before, entries = self.files(), self.entries()
        act()
        self.note_taken(before, self.files())
        self.known.removed_entries |= entries - self.entries()

    def note_taken(self, before: dict[str, str], after: dict[str, str]) -> None:
        """Note the words that a change took out of all files, or out of one of several."""
        was, now = (
            Counter(word for text in files.values() for word in set(WORD.findall(text)))
            for files in (before, after)
        )
        self.known.removed |= was.keys() - now.keys()
        self.known.taken.update(word for word in was if now[word] < was[word])

    def entries(self) -> set[str]:
        """Return the texts of the entries of the store, as it lies on disk."""
        path = self.root / STORE
        return {*WORD.findall(path.read_text())} if path.exists() else set()

    def write(self, path: str, text: str) -> None:
        """Write a file; what stands in its way goes."""
        target = self.root / path
        for above in target.parents:
            if above != self.root and above.is_file():
                above.unlink()
        if target.is_dir():
            shutil.rmtree(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    # Other processes

    @contextmanager
    def meanwhile(self, act: Callable[[AgentHome], object]) -> Iterator[None]:
        """Let another process act on this home while the block goes on."""
        self.home.close()
        pid = os.fork()
        if pid == 0:
            code = 70
            try:
                with self._opened() as home:
                    act(home)
                code = 0
            finally:
                os._exit(code)
        self.home = self._opened()
        try:
            yield
        finally:
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert code == 0, f"a process of {self.name} failed: {code}"

    def killed(self, at: int, act: Callable[[AgentHome], None]) -> bool:
        """Let another process act, killed at its `at`-th lasting step; say whether it got through."""
        self.home.close()

        def run() -> None:
            for name in _CALLS:
                setattr(os, name, _counted(getattr(os, name), at, steps))
            with self._opened() as home:
                act(home)

        steps = [0]
        code = in_child(run)
        self.home = self._opened()
        assert code in (0, KILLED), f"a process of {self.name} failed: {code}"
        return code == 0


def _counted(call: Callable[..., object], at: int, steps: list[int]) -> Callable[..., object]:
    def run(*args: object, **options: object) -> object:
        steps[0] += 1
        if steps[0] == at:
            os._exit(KILLED)
        return call(*args, **options)

    return run


def pick(chance: random.Random, things: object) -> str | None:
    """Return one of several strings; None where there is none."""
    rows = sorted(things)  # type: ignore[call-overload]
    return chance.choice(rows) if rows else None
