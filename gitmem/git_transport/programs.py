"""Child processes that lead to a repository: Git's own services for a path, and ssh."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, Final

from gitmem.errors import InvalidRemote, RemoteError
from gitmem.git_transport.channel import child_channel, end_child
from gitmem.git_transport.conversation import Begin, Conversation, ServiceName, StreamConversation
from gitmem.git_transport.deadline import Deadline
from gitmem.git_transport.failures import failure
from gitmem.remote_url import RemoteUrl

Setting = Callable[[str], str | None]

#: What tells Git about the repository that it runs in; a remote is another one.
_OF_ONE_REPOSITORY: Final = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)
#: Configuration that was given to one command of Git alone; another repository has its own.
_OF_ONE_COMMAND: Final = ("GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS")
#: Nobody is there to answer a question, and messages are read by `failure`.
_SILENT: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "LC_ALL": "C",
}
_VERSION_2: Final = {"GIT_PROTOCOL": "version=2"}
_PUTTY: Final = ("plink", "putty", "tortoiseplink")


def start(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    extra: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
    stdin: IO[bytes] | int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    """Start a program that asks nobody anything, as leader of a process group of its own.

    Args:
        command: program and arguments.
        folder: where it runs.
        extra: variables beside those that all of them get.
        without: variables that it does not get.
        stdin: what it reads.

    Raises:
        RemoteError: there is no such program.
    """
    try:
        return subprocess.Popen(  # noqa: S603 - Git, ssh, or what the operator configured for ssh
            command,
            cwd=folder,
            env={**_inherited(without), **_SILENT, **(extra or {})},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        message = f"{command[0]} cannot be run: {error.strerror}"
        raise RemoteError(message, hint=f"Install {PurePath(command[0]).name}.") from error


def begin_at_path(path: Path, git: str) -> Begin:
    """Return what begins conversations with a repository on this machine, by Git itself."""

    def begin(service: ServiceName, deadline: Deadline) -> Conversation:
        command = [git, service.removeprefix("git-"), str(path)]
        extra = _VERSION_2 if service == "git-upload-pack" else {}
        process = start(command, extra=extra, without=_OF_ONE_COMMAND)
        return _conversation(process, deadline, str(path))

    return begin


def begin_by_ssh(url: RemoteUrl, setting: Setting) -> Begin:
    """Return what begins conversations over ssh.

    Args:
        url: where the repository is.
        setting: returns a Git configuration value.
    """

    def begin(service: ServiceName, deadline: Deadline) -> Conversation:
        remote_command = f"{service} {_quoted(url.path)}"
        command = [*_ssh(url, setting, deadline), remote_command]
        extra = _VERSION_2 if service == "git-upload-pack" else {}
        return _conversation(start(command, extra=extra), deadline, url.shown)

    return begin


@dataclass(frozen=True, slots=True)
class _Program:
    words: tuple[str, ...]
    variant: str


def _ssh(url: RemoteUrl, setting: Setting, deadline: Deadline) -> list[str]:
    program = _ssh_program(setting)
    place = f"{url.user}@{url.host}" if url.user else url.host
    if program.variant == "simple":
        if url.port is not None:
            raise InvalidRemote(f"the ssh program of this machine takes no port: {url.shown}")
        return [*program.words, place]
    if program.variant in _PUTTY:
        port = [] if url.port is None else ["-P", str(url.port)]
        return [*program.words, "-batch", *port, place]
    seconds = max(1, int(deadline.remaining()))
    options = ["-o", "BatchMode=yes", "-o", f"ConnectTimeout={seconds}", "-o", "SendEnv=GIT_PROTOCOL"]
    port = [] if url.port is None else ["-p", str(url.port)]
    return [*program.words, *options, *port, place]


def _ssh_program(setting: Setting) -> _Program:
    """Return the program that Git would run; Git's own variables go before its configuration."""
    line = os.environ.get("GIT_SSH_COMMAND") or setting("core.sshCommand")
    words: tuple[str, ...] = (os.environ.get("GIT_SSH") or "ssh",)
    name = PurePath(words[0]).name
    if line:
        name = _first_word(line)
        words = ("/bin/sh", "-c", f'{line} "$@"', name)
    variant = os.environ.get("GIT_SSH_VARIANT") or setting("ssh.variant") or "auto"
    known = name.lower().removesuffix(".exe")
    return _Program(words, known if variant == "auto" and known in _PUTTY else variant)


def _first_word(line: str) -> str:
    try:
        return PurePath(shlex.split(line)[0]).name or "ssh"
    except (ValueError, IndexError):
        return "ssh"


def _conversation(process: subprocess.Popen[bytes], deadline: Deadline, shown: str) -> Conversation:
    try:
        return StreamConversation(child_channel(process, deadline, lambda words: failure(shown, words)))
    except BaseException:
        end_child(process)
        raise


def _quoted(path: str) -> str:
    """Return a path for the shell of the other machine, in the quotes that Git uses itself."""
    return "'" + path.replace("'", "'\\''").replace("!", "'\\!'") + "'"


def _inherited(without: Sequence[str]) -> dict[str, str]:
    """Return the variables of this process, without those that bind Git to one repository."""
    dropped = {*_OF_ONE_REPOSITORY, *without}
    return {name: value for name, value in os.environ.items() if name not in dropped}
