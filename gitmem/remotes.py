"""The remotes of a home: ordinary Git remotes, as they stand in the repository's own configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.durable_file import write_file
from gitmem.errors import GitmemError, NotFound, RefusedError, UsageError
from gitmem.git_config import drop_subsection, subsections
from gitmem.git_lock import git_lock
from gitmem.git_refs import is_ref_name
from gitmem.json_view import JsonView
from gitmem.layout import TURN_LINES, Layout
from gitmem.remote_url import parse_url
from gitmem.repository import ABSENT, Repository
from gitmem.writer import mint_writer

#: The remote that is meant where none is named.
USUAL: Final = "origin"
#: `HEAD` would make of a remote's refs what Git takes for its own.
_NAME: Final = re.compile(r"(?!HEAD$)[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
#: Git settings of a home; they keep episodes' tags travelling and turns from being re-committed by a pull.
#: None is about one remote's push: that would replace the operator's own default.
SETTINGS: Final[Mapping[str, str]] = {
    "push.followTags": "true",
    "fetch.pruneTags": "false",
    "pull.rebase": "false",
}


@dataclass(frozen=True, slots=True)
class Remote(JsonView):
    """One remote.

    Attributes:
        id: its name.
        url: where it is fetched from, without a password.
        address: the same as it is configured.
        push_address: where it is pushed to.
    """

    id: str
    url: str
    address: str
    push_address: str

    def to_json(self) -> dict[str, str]:
        """Return what may be shown of it."""
        return {"id": self.id, "url": self.url}


class Remotes:
    """Reads and changes the remotes of one repository.

    Args:
        repository: its refs and configuration.
        layout: where the configuration file lies.
        who: `Name <mail>` for reflogs.
    """

    def __init__(self, repository: Repository, layout: Layout, who: str) -> None:
        self._repository = repository
        self._config = layout.common_dir / "config"
        self._who = who

    def list(self) -> Sequence[Remote]:
        """Return all that have a URL, in the order of the configuration."""
        found = (self._read(name) for name in subsections(self._text(), "remote"))
        return [remote for remote in found if remote is not None]

    def find(self, name: str | None) -> Remote:
        """Return a remote; without a name `origin`, else the only one.

        Raises:
            NotFound: there is no such remote, or it is not clear which one is meant.
        """
        remotes = self.list()
        names = ", ".join(remote.id for remote in remotes)
        if name is None and not remotes:
            raise NotFound("this home has no remote", hint="Add one: gitmem remote add origin URL")
        wanted = name or (USUAL if len(remotes) > 1 else remotes[0].id)
        for remote in remotes:
            if remote.id == wanted:
                return remote
        if name is None:
            raise NotFound("there are several remotes", hint=f"Name one with --remote: {names}")
        raise NotFound(f"no remote {name!r}", hint=f"There is {names or 'none'}.", remote=name)

    def add(self, name: str, url: str) -> Remote:
        """Add a remote; one that is there under this URL is left as it is.

        Raises:
            UsageError: the name is none, or the URL is not one that gitmem connects to.
            RefusedError: there is another remote of that name.
        """
        if not _NAME.fullmatch(name) or not is_ref_name(f"refs/remotes/{name}/main"):
            raise UsageError(
                f"not a name for a remote: {name!r}", hint="Use letters, digits, dots and hyphens."
            )
        parse_url(url)
        known = self._read(name)
        if known is not None and known.address != url:
            hint = f"Remove it first: gitmem remote remove {name}"
            raise RefusedError(f"the remote {name} is {known.url}", hint=hint, remote=name)
        if known is None:
            self._repository.set_config(f"remote.{name}.url", url)
            self._repository.set_config(f"remote.{name}.fetch", f"+refs/heads/*:refs/remotes/{name}/*")
        for key, value in SETTINGS.items():
            if self._repository.config(key) is None:
                self._repository.set_config(key, value)
        return self.find(name)

    def remove(self, name: str) -> Sequence[str]:
        """Remove a remote and what was fetched from it; return the turn lines that had to be kept.

        A line that is known from this remote alone becomes a branch of this repository: its records stay.
        """
        self.find(name)
        kept = [line for line, tip in self._lines(name).items() if self._keep(name, line, tip)]
        with git_lock(self._config):
            text = self._text()
            write_file(self._config, drop_subsection(text, "remote", name).encode("utf-8", "surrogateescape"))
        for branch in subsections(self._text(), "branch"):
            if self._repository.config(f"branch.{branch}.remote") == name:
                self._repository.set_config(f"branch.{branch}.remote", None)
                self._repository.set_config(f"branch.{branch}.merge", None)
        for ref, value in self._repository.list_refs(f"refs/remotes/{name}/").items():
            self._repository.move_ref(ref, old=value, new=ABSENT, message="remote removed", who=self._who)
        return kept

    def _read(self, name: str) -> Remote | None:
        url = self._repository.config(f"remote.{name}.url")
        if url is None or _NAME.fullmatch(name) is None:
            return None
        push_url = self._repository.config(f"remote.{name}.pushurl")
        return Remote(name, shown_url(url), url, push_url or url)

    def _lines(self, name: str) -> Mapping[str, str]:
        prefix = f"refs/remotes/{name}/gitmem/turns/"
        found = self._repository.list_refs(prefix)
        return {ref.removeprefix(prefix): tip for ref, tip in found.items()}

    def _keep(self, name: str, writer: str, tip: str) -> bool:
        """Keep a line that nothing else holds; say whether that was needed."""
        others = {
            ref: value
            for prefix in (TURN_LINES, "refs/remotes/*/gitmem/turns/")
            for ref, value in self._repository.list_refs(prefix).items()
            if not ref.startswith(f"refs/remotes/{name}/")
        }
        try:
            if any(self._repository.is_ancestor(tip, value) for value in others.values()):
                return False
            own = others.get(TURN_LINES + writer)
            if own is not None and not self._repository.is_ancestor(own, tip):
                writer, own = mint_writer().writer, None  # a fork, by a copy of this folder
        except GitmemError:
            return False
        self._repository.move_ref(
            TURN_LINES + writer, old=own or ABSENT, new=tip, message="remote removed", who=self._who
        )
        return True

    def _text(self) -> str:
        try:
            return self._config.read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return ""


def shown_url(url: str) -> str:
    """Return a URL without its password; one that cannot be read is shown as it is if it has none."""
    try:
        return parse_url(url).shown
    except UsageError:
        return url if "@" not in url else "(not a URL)"
