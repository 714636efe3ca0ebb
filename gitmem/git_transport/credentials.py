"""User names and passwords from Git's credential helpers; nobody is ever asked."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gitmem.errors import RemoteError
from gitmem.git_transport.channel import end_child
from gitmem.git_transport.deadline import Deadline
from gitmem.git_transport.programs import start
from gitmem.remote_url import RemoteUrl


@dataclass(frozen=True, slots=True)
class Login:
    """Who one is for a server.

    Attributes:
        answer: all that a helper said, which it gets back when the login worked or did not.
    """

    user: str
    password: str
    answer: bytes = b""

    def __repr__(self) -> str:
        """Return it without the password."""
        return f"Login({self.user!r})"


@dataclass(frozen=True, slots=True)
class CredentialHelpers:
    """What Git's configuration names under `credential.helper`.

    Attributes:
        git: Git's program; without it there are no helpers.
        folder: of the own repository, whose configuration counts.
    """

    git: str | None
    folder: Path

    def find(self, url: RemoteUrl, deadline: Deadline) -> Login | None:
        """Return the login for a server, or None if no helper knows one."""
        answer = self._run("fill", _question(url), deadline)
        rows = [line.partition(b"=") for line in (answer or b"").splitlines()]
        found = {key: value.decode("utf-8", "surrogateescape") for key, _, value in rows}
        if b"username" not in found or b"password" not in found:
            return None
        return Login(found[b"username"], found[b"password"], answer or b"")

    def tell(self, login: Login, verdict: Literal["approve", "reject"], deadline: Deadline) -> None:
        """Let the helpers keep a login that worked, or forget one that did not."""
        if login.answer:
            self._run(verdict, login.answer, deadline)

    def _run(self, action: str, given: bytes, deadline: Deadline) -> bytes | None:
        if self.git is None:
            return None
        process = start([self.git, "credential", action], folder=self.folder)
        try:
            output, _ = process.communicate(given + b"\n", timeout=deadline.remaining())
        except subprocess.TimeoutExpired:
            raise deadline.passed() from None
        except OSError as error:
            raise RemoteError(f"Git's credential helper failed: {error.strerror}") from error
        finally:
            end_child(process)
        return output if process.returncode == 0 else None


def _question(url: RemoteUrl) -> bytes:
    lines = [f"protocol={url.scheme}", f"host={url.authority}", f"path={url.path.removeprefix('/')}"]
    if url.user:
        lines.append(f"username={url.user}")
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
