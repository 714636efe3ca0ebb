"""URLs of remotes: what they name, how Git's settings rewrite them, and which are refused.

Refused is whatever would make Git, ssh or a shell run something: `ext::` and every other named transport, and
hosts, users and paths that a program would take for an option.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Literal, cast
from urllib.parse import unquote

from gitmem.errors import InvalidRemote

Scheme = Literal["path", "git", "ssh", "http", "https"]

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_NAMED_TRANSPORT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*::")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_HOST: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?|[0-9A-Fa-f:.]+(?:%[A-Za-z0-9_.]+)?")
_USER: Final = re.compile(r"[^-@:/\s][^@:/\s]*")
_PORTS: Final = {"git": 9418, "ssh": None, "http": 80, "https": 443}
_SSH: Final = ("ssh", "git+ssh", "ssh+git")
_LARGEST_PORT: Final = 65535


@dataclass(frozen=True, slots=True)
class RemoteUrl:
    """Where a remote is.

    Attributes:
        path: of the repository; what a `path` remote is relative to, the caller knows.
        port: None where it is the program's own choice (ssh).
        password: from the URL itself, never to be shown.
    """

    scheme: Scheme
    path: str
    host: str = ""
    port: int | None = None
    user: str | None = None
    password: str | None = None

    @property
    def shown(self) -> str:
        """The URL without its password."""
        if self.scheme == "path":
            return self.path
        user = f"{self.user}@" if self.user else ""
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{user}{_bracketed(self.host)}{port}{self.path}"

    @property
    def authority(self) -> str:
        """Host and port, as a server expects to be called; without the port where it is the usual one."""
        port = "" if self.port in (None, _PORTS.get(self.scheme)) else f":{self.port}"
        return _bracketed(self.host) + port


def parse_url(text: str) -> RemoteUrl:
    """Return what a URL or path names.

    Raises:
        InvalidRemote: it is none that gitmem connects to.
    """
    if not text or text != text.strip() or _CONTROL.search(text):
        raise InvalidRemote(f"not a URL or path of a repository: {text!r}")
    if text.startswith("-"):
        raise InvalidRemote(
            f"a remote does not begin with a hyphen: {text!r}", hint="Write ./ before a path."
        )
    if _NAMED_TRANSPORT.match(text):
        name = text.partition("::")[0]
        raise InvalidRemote(f"gitmem does not run the transport {name}::", hint="Use a path, ssh or https.")
    found = _SCHEME.fullmatch(text)
    if found is not None:
        return _parse_scheme(found[1].lower(), found[2], text)
    return _parse_plain(text)


def rewrite_url(text: str, rules: Iterable[tuple[str, str]]) -> str:
    """Return a URL as Git's `insteadOf` has it: the longest prefix that matches is replaced.

    Args:
        text: as configured.
        rules: pairs of the new base and the prefix that it stands for.
    """
    matching = [(len(prefix), base) for base, prefix in rules if text.startswith(prefix)]
    if not matching:
        return text
    length, base = max(matching, key=lambda found: found[0])
    return base + text[length:]


def _parse_scheme(scheme: str, rest: str, text: str) -> RemoteUrl:
    if scheme == "file":
        host, slash, path = rest.partition("/")
        if host not in ("", "localhost") or not slash:
            raise InvalidRemote(f"a file URL names a path of this machine: {text!r}", hint="file:///path")
        return RemoteUrl("path", "/" + unquote(path))
    if scheme in _SSH:
        scheme = "ssh"
    if scheme not in _PORTS:
        hint = "Use a path, file, git, ssh or https."
        raise InvalidRemote(f"gitmem does not connect by {scheme}://", hint=hint)
    place, slash, path = rest.partition("/")
    login, at, address = place.rpartition("@")
    user, colon, password = login.partition(":")
    host, port = _split_address(address, text)
    if not slash or not path:
        raise InvalidRemote(f"no repository named: {scheme}://{_bracketed(host)}/", hint="A path is missing.")
    known = RemoteUrl(
        cast("Scheme", scheme),
        _checked_path(_ssh_path("/" + unquote(path)) if scheme in ("ssh", "git") else "/" + path),
        _checked_host(host),
        _PORTS[scheme] if port is None else port,
        _checked_user(unquote(user)) if at and user else None,
        unquote(password) if colon else None,
    )
    if scheme in ("ssh", "git") and (colon or (scheme == "git" and at)):
        raise InvalidRemote(f"{known.shown} takes no password", hint="ssh uses keys.")
    return known


def _parse_plain(text: str) -> RemoteUrl:
    # As Git decides it: a colon before the first slash makes it `host:path`.
    head, colon, path = text.partition(":")
    if text.startswith("[") and "]:" in text:
        head, _, path = text[1:].partition("]:")
    elif not colon or "/" in head:
        return RemoteUrl("path", text)
    login, at, address = head.rpartition("@")
    host, port = (address, None) if address.count(":") > 1 else _split_address(address, text)
    if not path:
        raise InvalidRemote(f"no repository named: {text!r}", hint="A path is missing after the colon.")
    user = _checked_user(login) if at else None
    return RemoteUrl("ssh", _checked_path(_ssh_path(path)), _checked_host(host), port, user)


def _split_address(address: str, text: str) -> tuple[str, int | None]:
    if address.startswith("["):
        host, _, rest = address[1:].partition("]")
        port = rest.removeprefix(":")
    else:
        host, _, port = address.partition(":")
    if not port:
        return host, None
    if not (port.isascii() and port.isdigit() and 0 < int(port) <= _LARGEST_PORT):
        raise InvalidRemote(f"not a port: {port!r} in {_without_login(text)!r}")
    return host, int(port)


def _ssh_path(path: str) -> str:
    return path[1:] if path.startswith("/~") else path


def _checked_host(host: str) -> str:
    if not _HOST.fullmatch(host):
        raise InvalidRemote(f"not a host name: {host!r}")
    return host


def _checked_user(user: str) -> str:
    if not _USER.fullmatch(user) or _CONTROL.search(user):
        raise InvalidRemote(f"not a user name: {user!r}")
    return user


def _checked_path(path: str) -> str:
    if path.startswith("-") or _CONTROL.search(path) or PurePosixPath(path).name.startswith("-"):
        raise InvalidRemote(f"not a path of a repository: {path!r}")
    return path


def _without_login(text: str) -> str:
    return re.sub(r"//[^/@]*@", "//", text)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
