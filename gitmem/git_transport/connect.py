"""Chooses the way to a remote by its URL, as Git's settings rewrite it."""

from __future__ import annotations

import shlex
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.errors import NotARepository
from gitmem.git_transport.conversation import Begin
from gitmem.git_transport.credentials import CredentialHelpers
from gitmem.git_transport.http_conversation import begin_by_http
from gitmem.git_transport.pack_arrival import Store
from gitmem.git_transport.path_copy import PathCopy
from gitmem.git_transport.programs import begin_at_path, begin_by_ssh
from gitmem.git_transport.remote import GitRemote
from gitmem.git_transport.sockets import begin_by_socket
from gitmem.layout import Layout
from gitmem.remote_repository import PACK_SETTING, RemoteRepository, TransferLimits
from gitmem.remote_url import RemoteUrl, parse_url, rewrite_url
from gitmem.repository import Repository

_DEFAULT_LIMITS: Final = TransferLimits()
#: How the file begins that `git bundle` makes, up to the number of its version.
_BUNDLE: Final = b"# v"
_BUNDLE_WORDS: Final = b" git bundle\n"


class RemoteConnector:
    """Connects one repository to others; its `connect` is a `Connect`.

    Args:
        layout: where the own repository lies; paths of remotes are relative to its root.
        git: Git's program, None for none; by default the one that the search path leads to.
    """

    def __init__(self, layout: Layout, git: str | None = "git") -> None:
        self._layout = layout
        self._git = None if git is None else shutil.which(git)

    def connect(
        self,
        url: str,
        *,
        repository: Repository,
        limits: TransferLimits = _DEFAULT_LIMITS,
        pushing: bool = False,
    ) -> RemoteRepository:
        """Return the remote under a URL or path; nothing is sent before it is asked something.

        Raises:
            InvalidRemote: not such a URL, or one that would run a command.
        """
        parse_url(url)
        known = parse_url(self._rewritten(url, repository, pushing=pushing))
        store = Store(repository, self._layout, limits.with_pack(repository.config(PACK_SETTING)))
        path = self._layout.root / known.path
        if known.scheme == "path":
            _refuse_bundle(path)
        if known.scheme == "path" and self._git is None:
            return PathCopy(path, store)
        return GitRemote(self._way(known, path, store), known.shown, store, self._git)

    def _way(self, url: RemoteUrl, path: Path, store: Store) -> Begin:
        if url.scheme == "path" and self._git is not None:
            return begin_at_path(path, self._git)
        if url.scheme == "git":
            return begin_by_socket(url)
        if url.scheme == "ssh":
            return begin_by_ssh(url, store.repository.config)
        helpers = CredentialHelpers(self._git, self._layout.root)
        return begin_by_http(url, store.repository.config_section, helpers)

    def _rewritten(self, url: str, repository: Repository, *, pushing: bool) -> str:
        rows = repository.config_section("url")
        if pushing:
            rules = [(base or "", value) for base, name, value in rows if name == "pushinsteadof"]
            changed = rewrite_url(url, rules)
            if changed != url:
                return changed
        return rewrite_url(url, [(base or "", value) for base, name, value in rows if name == "insteadof"])


def _refuse_bundle(path: Path) -> None:
    """Say what to do with a bundle, which is a file that Git makes a repository of.

    Raises:
        NotARepository: it is one.
    """
    with suppress(OSError):
        if not path.is_file():
            return
        with path.open("rb") as file:
            first = file.readline(64)
        if first.startswith(_BUNDLE) and first.endswith(_BUNDLE_WORDS):
            hint = f"Make a repository of it first: git clone --mirror {shlex.quote(str(path))} FOLDER.git"
            raise NotARepository(f"{path} is a bundle, not a repository", hint=hint, url=str(path))
