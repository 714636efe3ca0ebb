"""Signing of commits with the program that Git's configuration names, where `gitmem.sign` asks for it."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.git_objects import make_object
from gitmem.repository import GitObject

#: Turns signing of the agent's commits on; `commit.gpgSign` is for people, who can type a passphrase.
SWITCH: Final = "gitmem.sign"

_TRUE: Final = ("true", "yes", "on", "1")
#: How long the program may take, for one commit.
_SECONDS: Final = 5.0
_PROGRAMS: Final = {"openpgp": "gpg", "x509": "gpgsm", "ssh": "ssh-keygen"}
_CREATED: Final = b"\n[GNUPG:] SIG_CREATED "

Setting = Callable[[str], str | None]


class SigningFailed(Exception):
    """A commit could not be signed; its message says why, for a receipt."""


def is_signing(setting: Setting) -> bool:
    """Say whether commits are to be signed."""
    return (setting(SWITCH) or "").lower() in _TRUE


def sign_commit(commit: GitObject, setting: Setting, who: str) -> GitObject:
    """Return the commit with a signature.

    Args:
        commit: as it would be without one.
        setting: returns a Git configuration value.
        who: `Name <mail>`, whose key is taken where `user.signingKey` is not set.

    Raises:
        SigningFailed: it failed, or took longer.
    """
    style = (setting("gpg.format") or "openpgp").lower()
    if style not in _PROGRAMS:
        raise SigningFailed(f"signing failed: unknown gpg.format {style}")
    program = setting(f"gpg.{style}.program") or _PROGRAMS[style]
    if style == "openpgp":
        program = setting("gpg.program") or program
    key = setting("user.signingKey") or ("" if style == "ssh" else who)
    if style == "ssh":
        signature = _sign_by_ssh(program, key, commit.content)
    else:
        signature = _sign_by_gpg(program, key, commit.content)
    return make_object("commit", _with_signature(commit.content, signature))


def _with_signature(content: bytes, signature: bytes) -> bytes:
    head, blank, message = content.partition(b"\n\n")
    lines = signature.replace(b"\r\n", b"\n").rstrip(b"\n").split(b"\n")
    return head + b"\ngpgsig " + b"\n ".join(lines) + blank + message


def _sign_by_gpg(program: str, key: str, content: bytes) -> bytes:
    output, said = _run([program, "--status-fd=2", "-bsau", key], content)
    if not output or _CREATED not in b"\n" + said:
        raise SigningFailed(f"signing failed: {_last_line(said) or 'no signature was made'}")
    return output


def _sign_by_ssh(program: str, key: str, content: bytes) -> bytes:
    if not key:
        raise SigningFailed("signing failed: user.signingKey is not set")
    with tempfile.TemporaryDirectory(prefix="gitmem-sign-") as folder:
        literal = key.removeprefix("key::")
        key_file, agent = str(Path(key).expanduser()), []
        if key.startswith(("key::", "ssh-")):
            (Path(folder) / "key").write_text(literal + "\n", "utf-8")
            key_file, agent = str(Path(folder) / "key"), ["-U"]
        signed = Path(folder) / "commit"
        signed.write_bytes(content)
        _run([program, "-Y", "sign", "-n", "git", "-f", key_file, *agent, str(signed)], b"")
        try:
            return signed.with_suffix(".sig").read_bytes()
        except FileNotFoundError:
            raise SigningFailed("signing failed: no signature was made") from None


def _run(command: Sequence[str], given: bytes) -> tuple[bytes, bytes]:
    try:
        # In a session of its own, so that what the program started can be ended with it.
        process = subprocess.Popen(  # noqa: S603 - the program that the operator configured for signing
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise SigningFailed(f"signing failed: {command[0]}: {error.strerror}") from error
    try:
        output, said = process.communicate(given, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise SigningFailed(f"signing failed: no answer within {_SECONDS:g} s") from None
    finally:
        _end(process)
    if process.returncode != 0:
        raise SigningFailed(f"signing failed: {_last_line(said) or f'exit {process.returncode}'}")
    return output, said


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    process.wait()


def _last_line(said: bytes) -> str:
    lines = [line for line in said.decode("utf-8", "replace").splitlines() if not line.startswith("[GNUPG:]")]
    shown = "".join(c for c in (lines[-1] if lines else "") if c.isprintable())
    return shown.strip()[:200]
