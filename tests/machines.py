"""Homes of one agent on several machines, with an ordinary remote between them."""

from __future__ import annotations

import shutil
from pathlib import Path

from fixtures import git, set_identity, write_files
from gitmem import AgentHome
from gitmem.repository import walk_tree
from gitmem.sync_reply import SyncReply


def bare(path: Path) -> Path:
    """Make an empty bare repository."""
    path.parent.mkdir(parents=True, exist_ok=True)
    git("init", "-q", "--bare", "-b", "main", path, cwd=path.parent)
    return path


class Machine:
    """One home, with its operator's plain git beside it.

    Args:
        root: of the home.
        remote: that it syncs with.
    """

    def __init__(self, root: Path, remote: Path) -> None:
        self.root = root
        self.remote = remote
        self.home = AgentHome.open(root)

    def say(self, text: str) -> str:
        """Record a turn of one message; return the message's ref."""
        receipt = self.home.record([{"kind": "message", "role": "user", "text": text}], session="s1")
        return str(receipt.records[0]["source_ref"])

    def hears(self, words: str) -> bool:
        """Say whether a search finds a message with these words."""
        return any(words in hit.snippet for hit in self.home.search(words).results)

    def sync(self, **options: object) -> SyncReply:
        """Sync with the remote."""
        return self.home.sync("origin", **options)  # type: ignore[arg-type]

    def commit(self, files: dict[str, str | None], message: str = "operator") -> str:
        """Let the operator change files and commit them with plain git."""
        write_files(self.root, {path: text for path, text in files.items() if text is not None})
        for path in (path for path, text in files.items() if text is None):
            (self.root / path).unlink()
        git("add", "-A", *files, cwd=self.root)
        git("commit", "-q", "-m", message, cwd=self.root)
        return self.head

    @property
    def line(self) -> str:
        """The ref of the own turn line."""
        writer = self.home._parts.line.writer()
        assert writer is not None
        return writer.ref

    @property
    def head(self) -> str:
        """The commit of HEAD."""
        return git("rev-parse", "HEAD", cwd=self.root)

    @property
    def status(self) -> str:
        """What `git status` shows."""
        return git("status", "--porcelain", cwd=self.root)

    def text(self, path: str) -> str:
        """Return a file's text."""
        return (self.root / path).read_text()

    def records(self) -> dict[str, int]:
        """Return how often each record of the ledger can be read, by its id."""
        found: dict[str, int] = {}
        for line in self.home.ledger.lines_newest_first():
            found[line.id] = found.get(line.id, 0) + 1
        return found

    def ledger_on_disk(self) -> set[str]:
        """Return the lines of the copy of the ledger on disk."""
        return {
            line for path in self.root.glob("ledger/*/*/*.jsonl") for line in path.read_text().splitlines()
        }

    def ledger_in_git(self) -> set[str]:
        """Return the lines that the trees of all turn lines hold."""
        repository = self.home._parts.repository
        lines = set()
        for tip in self.home.ledger.tips().values():
            for path, entry in walk_tree(repository, repository.read_commit(tip).tree):
                if path.endswith(".jsonl") and "forgotten" not in path:
                    lines |= {*repository.read(entry.id)[1].decode().splitlines()}
        return lines

    def close(self) -> None:
        """Close the home."""
        self.home.close()


def first_machine(folder: Path) -> Machine:
    """Return a new home with two turns and a note, synced with a new remote."""
    remote = bare(folder / "remote.git")
    AgentHome.create(folder / "a", "aria")
    set_identity(folder / "a")
    machine = Machine(folder / "a", remote)
    machine.home.remote_add("origin", str(remote))
    machine.say("The staging port is 2222")
    machine.say("The colour is blue")
    machine.commit({"notes/a.md": "1\n2\n3\n4\n5\n", "notes/b.md": "b\n"})
    machine.sync()
    return machine


def next_machine(folder: Path, name: str, remote: Path) -> Machine:
    """Return a clone by plain git, as an operator makes it."""
    git("clone", "-q", remote, folder / name, cwd=folder)
    set_identity(folder / name)
    return Machine(folder / name, remote)


def copied_machine(machine: Machine, root: Path) -> Machine:
    """Return a copy of a machine's folder, as an operator makes one with `cp -a`."""
    machine.close()
    shutil.copytree(machine.root, root, symlinks=True)
    machine.home = AgentHome.open(machine.root)
    return Machine(root, machine.remote)
