"""A home cloned into a new folder: all of it or nothing, whatever happens on the way."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitmem.backends.dulwich_repository import DulwichRepository, init_repository, open_repository
from gitmem.branch_sync import BranchSync, name_given_twice
from gitmem.config import HomeConfig, parse_config
from gitmem.durable_file import sync_folder, write_file
from gitmem.errors import NotAHome, RefusedError, RemoteMisbehaved
from gitmem.forgotten import Receipts
from gitmem.git_transport.connect import RemoteConnector
from gitmem.head_advance import HeadMove
from gitmem.identity import agent_identity, operator_identity
from gitmem.json_view import JsonView
from gitmem.layout import CONFIG_FILE, TURN_LINES, Layout, find_layout
from gitmem.operator_branch import OperatorBranch
from gitmem.remote_repository import RemoteRefs, RemoteRepository, TransferLimits, checked_seconds
from gitmem.remote_url import parse_url
from gitmem.remotes import USUAL, Remotes
from gitmem.sync_intake import SyncIntake
from gitmem.tree_edit import find_file

#: Seconds that a clone may take by itself: it brings all there is.
TIMEOUT: Final = 600.0
_HEADS: Final = "refs/heads/"
_MAIN: Final = "refs/heads/main"


@dataclass(frozen=True, slots=True)
class CloneReport(JsonView):
    """What was cloned.

    Attributes:
        branch: that HEAD is on.
        commit: that it is at.
        turns: how many commits of turns came.
        episodes: how many tags of episodes came.
    """

    path: str
    home_id: str
    agent: str
    branch: str
    commit: str
    turns: int
    episodes: int


def clone_home(url: str, path: Path, *, timeout: float | None = None) -> CloneReport:
    """Clone a home into a new or empty folder.

    Args:
        url: path or URL.
        path: of the folder.
        timeout: seconds for all of it.

    Raises:
        UsageError: no such time limit, or no URL.
        NotAHome: there is none under that URL.
        RefusedError: something is at the path.
        RemoteError: the remote failed.
    """
    seconds = TIMEOUT if timeout is None else checked_seconds(timeout)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise RefusedError(f"{path} is there already", hint="Name a new or an empty folder.", path=str(path))
    address = _absolute(url)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.absolute().with_name(f".{path.absolute().name}.{secrets.token_hex(6)}.part")
    try:
        report = _Clone(address, fresh, seconds).run(path)
        fresh.replace(path)
        sync_folder(path.absolute().parent)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return report


class _Clone:
    """One clone, in a folder of its own, which it makes."""

    def __init__(self, address: str, root: Path, timeout: float) -> None:
        self._address = address
        self._timeout = timeout
        self._deadline = time.monotonic() + timeout
        init_repository(root)
        self._layout: Layout = find_layout(root)
        self._repository: DulwichRepository = open_repository(self._layout)

    def run(self, path: Path) -> CloneReport:
        """Fetch the home and write its files; `path` is where it will be."""
        try:
            Remotes(self._repository, self._layout, "").add(USUAL, self._address)
            with self._branch_fetched() as (branch, tip):
                config = _config_at(self._repository, tip, self._address)
                self._name_head(branch)
                return self._fill(config, branch, tip, path)
        finally:
            self._repository.close()

    @contextmanager
    def _branch_fetched(self) -> Iterator[tuple[str, str]]:
        """Fetch the branch that a home is on; yield its name and its commit."""
        with closing(self._connect()) as remote:
            refs = remote.refs((_HEADS,))
            branch = _branch_among(refs, self._address)
            with remote.fetch([refs.refs[branch]]):
                yield branch, refs.refs[branch]

    def _name_head(self, branch: str) -> None:
        write_file(self._layout.git_dir / "HEAD", f"ref: {branch}\n".encode())
        short = branch.removeprefix(_HEADS)
        self._repository.set_config(f"branch.{short}.remote", USUAL)
        self._repository.set_config(f"branch.{short}.merge", branch)

    def _fill(self, config: HomeConfig, branch: str, tip: str, path: Path) -> CloneReport:
        """Take in lines and tags, and let the branch and the files come to the remote's commit."""
        who = agent_identity(config.agent, config.home_id)
        here, home_id = (self._repository, self._layout), config.home_id
        sync = BranchSync(*here, home_id=home_id, agent=who, receipts=Receipts)
        taking = SyncIntake(here[0], sync, home_id=home_id, remote=USUAL, who=who, dry_run=False)
        intake = taking.take(self._connect())
        at = intake.branch or tip
        nobody = operator_identity(None, None, home_id)
        files = OperatorBranch(*here, home_id=home_id, agent=who, operator=nobody, now=time.time, branch=None)
        done = files.advance(HeadMove(branch, None, at, "clone", who))
        if not done.moved:
            why = [f"{name}: {reason}" for name, reason in done.blocked.items()]
            raise RefusedError(f"its files cannot be written here: {'; '.join(why) or done.reason}")
        came = intake.turns, len(intake.tags.come)
        short = branch.removeprefix(_HEADS)
        return CloneReport(str(path.absolute()), config.home_id, config.agent, short, at, *came)

    def _connect(self) -> RemoteRepository:
        limits = TransferLimits(seconds=max(self._deadline - time.monotonic(), 0.001), given=self._timeout)
        connect = RemoteConnector(self._layout).connect
        return connect(self._address, repository=self._repository, limits=limits)


def _absolute(url: str) -> str:
    """Return a path as it is from anywhere, and any other URL as it is."""
    known = parse_url(url)
    return str(Path(url).absolute()) if known.scheme == "path" and "://" not in url else url


def _branch_among(refs: RemoteRefs, address: str) -> str:
    """Return the branch that a home is on: HEAD's, else main, else the only one."""
    branches: Mapping[str, str] = {
        name: value for name, value in refs.refs.items() if not name.startswith(TURN_LINES)
    }
    if not branches:
        shown = parse_url(address).shown
        hint = "Make a home with gitmem init, then: gitmem remote add origin URL && gitmem sync"
        raise NotAHome(f"there is no home in {shown}: it has no branch", hint=hint)
    if refs.head in branches and refs.head is not None:
        return refs.head
    return _MAIN if _MAIN in branches else min(branches)


def _config_at(repository: DulwichRepository, commit: str, address: str) -> HomeConfig:
    tree, shown = repository.read_commit(commit).tree, parse_url(address).shown
    twice = name_given_twice(repository, tree, None)
    if twice is not None:
        message = f"the branch of {shown} is damaged: a folder of it holds {twice} twice"
        raise RemoteMisbehaved(message, hint="Run `git fsck` there.", path=twice)
    file = find_file(repository, tree, CONFIG_FILE)
    if file is None or not file.is_regular:
        raise NotAHome(
            f"{shown} is not an agent home: it has no {CONFIG_FILE}", hint="Is this the right repository?"
        )
    return parse_config(repository.read(file.id)[1])
