"""Where everything of an agent home lies: the tree of files and the private folders in the git dir."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitmem.errors import NotAHome

CONFIG_FILE: Final = "gitmem.toml"
LEDGER: Final = "ledger"
NOTES: Final = "notes"
MEMORY: Final = "memory"
CONFLICTS: Final = "conflicts"
EPISODES: Final = "episodes"
WORK: Final = "work"

#: Paths of the operator's branch that gitmem commits; everything else in the tree is the operator's alone.
MANAGED_FILES: Final = ("AGENTS.md", "README.md", CONFIG_FILE)
MANAGED_FOLDERS: Final = (MEMORY, NOTES, WORK, EPISODES, CONFLICTS)

#: Prefix of the branches that hold the ledger, one for each writer.
TURN_LINES: Final = "refs/heads/gitmem/turns/"

#: Prefix of the refs that keep where a turn line had been moved to by somebody else.
RESCUES: Final = "refs/gitmem/rescue/"


@dataclass(frozen=True, slots=True)
class Layout:
    """The folders of one work tree of a home.

    Attributes:
        root: the work tree, where `gitmem.toml` is.
        git_dir: the work tree's own git dir (HEAD, index, states).
        common_dir: what linked worktrees share (objects, branches, config); equals `git_dir` without any.
    """

    root: Path
    git_dir: Path
    common_dir: Path

    @property
    def private(self) -> Path:
        """State that must outlive `git worktree remove`: writer id, lock, spool, pending writes."""
        if self.git_dir == self.common_dir:
            return self.common_dir / "gitmem" / "main"
        return self.common_dir / "gitmem" / "worktrees" / self.git_dir.name

    @property
    def branch_setting(self) -> str:
        """The Git setting with the branch of this work tree: linked ones share the file, not the branch."""
        if self.git_dir == self.common_dir:
            return "gitmem.branch"
        return f"gitmem.{self.git_dir.name}.branch"

    @property
    def derived(self) -> Path:
        """Caches of this work tree: search index, catalog, watch state; deleting it loses nothing."""
        return self.git_dir / "gitmem"

    @property
    def home_lock(self) -> Path:
        """The file whose lock serialises sealing and committing of this work tree."""
        return self.private / "lock"

    @property
    def maintenance_lock(self) -> Path:
        """The file whose lock serialises pack maintenance of the shared object store."""
        return self.common_dir / "gitmem" / "maintenance.lock"

    @property
    def spool(self) -> Path:
        """Turns that are not yet known to be durable on the turn line."""
        return self.private / "spool"

    @property
    def pending(self) -> Path:
        """Writes that the operator's branch could not take yet."""
        return self.private / "pending"

    @property
    def set_aside(self) -> Path:
        """Foreign bytes that were found where gitmem's own had to be."""
        return self.private / "set-aside"

    @property
    def writer_file(self) -> Path:
        """Writer id and the last own commit."""
        return self.private / "writer.json"

    @property
    def index(self) -> Path:
        """The search index of the engine that is the default."""
        return self.derived / "index"

    @property
    def index_request(self) -> Path:
        """A file that is made to let the watcher look at the index at once."""
        return self.private / "index-request"

    @property
    def indexes(self) -> dict[str, Path]:
        """The folder of the search index by the engine that keeps it."""
        return {"whoosh": self.index, "tantivy": self.derived / "index-tantivy"}

    @property
    def catalog(self) -> Path:
        """The rendered notes catalog."""
        return self.derived / "catalog.md"

    @property
    def watch_file(self) -> Path:
        """What the watcher last said of itself."""
        return self.derived / "watch.json"


def is_managed(path: str) -> bool:
    """Say whether a path of the tree (slashes) is one that gitmem commits on the operator's branch."""
    return path in MANAGED_FILES or path.split("/", 1)[0] in MANAGED_FOLDERS


def find_layout(root: Path) -> Layout:
    """Return the layout of the repository whose work tree is exactly `root`.

    Follows a `.git` file (linked worktree, separate git dir) and `commondir`.

    Raises:
        NotAHome: there is no repository, or the pointer leads nowhere.
    """
    root = root.resolve()
    git_dir = _git_dir(root)
    common = git_dir / "commondir"
    shared = common.read_text("utf-8").rstrip("\n") if common.is_file() else "."
    common_dir = (git_dir / shared).resolve()
    if not (common_dir / "objects").is_dir():
        raise NotAHome(f"not a Git repository: {root}", hint="Run `gitmem init` there.")
    return Layout(root, git_dir, common_dir)


def _git_dir(root: Path) -> Path:
    pointer = root / ".git"
    if pointer.is_dir():
        return pointer.resolve()
    if pointer.is_file():
        word, _, target = pointer.read_text("utf-8").rstrip("\n").partition(": ")
        if word == "gitdir" and (root / target).is_dir():
            return (root / target).resolve()
    raise NotAHome(f"not a Git repository: {root}", hint="Run `gitmem init` there.", path=str(root))


def find_home(start: Path) -> Path | None:
    """Return the nearest folder at or above `start` that holds `gitmem.toml`, or None."""
    start = start.resolve()
    return next((folder for folder in (start, *start.parents) if (folder / CONFIG_FILE).is_file()), None)
