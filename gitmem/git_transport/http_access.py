"""HTTP as Git's settings want it: proxies, certificates and further headers, within a deadline."""

from __future__ import annotations

import base64
import http.client
import socket
import ssl
import threading
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from gitmem.errors import InvalidRemote, RemoteError, RemoteUnreachable
from gitmem.git_transport.deadline import Deadline
from gitmem.git_transport.pkt_line import printable
from gitmem.git_transport.sockets import open_socket
from gitmem.remote_url import RemoteUrl

#: Returns the settings of a section, each as subsection, name and value, the strongest last.
Section = Callable[[str], Sequence[tuple[str | None, str, str]]]

_FALSE: Final = ("false", "no", "off", "0")
_PROXY_PORT: Final = 1080


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """What `http.*` and `http.<url>.*` say for one URL.

    Attributes:
        values: all values by name, the strongest last.
    """

    values: Mapping[str, Sequence[str]]

    def get(self, name: str) -> str | None:
        """Return the strongest value of a setting, or None."""
        return next(reversed(self.values.get(name, ())), None)

    def headers(self) -> list[tuple[str, str]]:
        """Return `http.extraHeader`; an empty one takes those before it back."""
        found: list[tuple[str, str]] = []
        for line in self.values.get("extraheader", ()):
            name, colon, value = line.partition(":")
            found = [*found, (name.strip(), value.strip())] if colon else []
        return found


def http_settings(url: RemoteUrl, section: Section) -> HttpSettings:
    """Return the settings for a URL; those of a longer `http.<url>` are stronger.

    Args:
        url: the remote's.
        section: returns the settings of a section.
    """
    rows = [(_fit(sub, url), name, value) for sub, name, value in section("http")]
    values: dict[str, list[str]] = {}
    for fit, name, value in sorted(rows, key=lambda row: row[0]):
        if fit >= 0:
            values.setdefault(name.lower(), []).append(value)
    return HttpSettings(values)


class Watch:
    """Shuts a socket when the time is over, whatever waits for it then."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None
        self._socket: socket.socket | None = None
        self.fired = False

    def arm(self, deadline: Deadline) -> None:
        """Let the time of one request begin."""
        self.disarm()
        self.fired = False
        self._timer = threading.Timer(deadline.remaining(), self._shut)
        self._timer.daemon = True
        self._timer.start()

    def disarm(self) -> None:
        """End the time of a request."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def over(self, connection: socket.socket) -> None:
        """Watch over a socket from now on."""
        self._socket = connection

    def _shut(self) -> None:
        self.fired = True
        if self._socket is not None:
            with suppress(OSError):
                # Not the method of a TLS socket, which would pull the connection from under its reader.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


class Connection(http.client.HTTPConnection):
    """A connection to the server of a URL, or to the proxy on the way there.

    Args:
        url: the server's.
        settings: for it.
        watch: shuts the connection in time.
    """

    def __init__(self, url: RemoteUrl, settings: HttpSettings, watch: Watch) -> None:
        self._url = url
        self._settings = settings
        self._watch = watch
        self.deadline: Deadline | None = None
        self._proxy = _proxy_of(url, settings)
        self.proxy_login: dict[str, str] = {} if self._proxy is None else self._proxy.login()
        place = url if self._proxy is None else self._proxy
        super().__init__(place.host, place.port or _PROXY_PORT)
        if self._proxy is not None and url.scheme == "https":
            self.set_tunnel(url.host, url.port, headers=self.proxy_login)

    @property
    def prefix(self) -> str:
        """What goes before a path in a request: nothing, but for a proxy of plain HTTP."""
        return (
            f"http://{self._url.authority}" if self._proxy is not None and self._url.scheme == "http" else ""
        )

    def connect(self) -> None:
        """Connect, through the proxy and by TLS where the URL asks for it."""
        deadline = self.deadline
        if deadline is None:
            raise RemoteError("no time limit")
        raw = open_socket(self.host, self.port, deadline, self._url.shown)
        self._watch.over(raw)
        raw.settimeout(deadline.remaining())
        self.sock = raw
        if self._proxy is not None and self._url.scheme == "https":
            self._tunnel()  # type: ignore[attr-defined]
        if self._url.scheme == "https":
            context = _trust(self._settings)
            secured = context.wrap_socket(raw, server_hostname=self._url.host)
            self._watch.over(secured)
            self.sock = secured


def translate(error: Exception, url: RemoteUrl, watch: Watch, deadline: Deadline) -> RemoteError:
    """Return the error for a request that failed on the way."""
    if isinstance(error, RemoteError):
        return error
    if watch.fired or isinstance(error, TimeoutError):
        return deadline.passed()
    if isinstance(error, ssl.SSLCertVerificationError):
        message = f"the certificate of {url.shown} is not trusted: {error.verify_message}"
        return RemoteUnreachable(message, hint="`git config http.sslCAInfo FILE` names whom to trust.")
    words = printable(str(error)) or type(error).__name__
    return RemoteUnreachable(f"the connection to {url.shown} broke: {words}", hint="Try again.")


@dataclass(frozen=True, slots=True)
class _Proxy:
    host: str
    port: int | None
    user: str | None
    password: str | None

    def login(self) -> dict[str, str]:
        if self.user is None:
            return {}
        return {"Proxy-Authorization": basic(self.user, self.password or "")}


def basic(user: str, password: str) -> str:
    """Return the value of an Authorization header."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode("utf-8", "surrogateescape")).decode()


def _proxy_of(url: RemoteUrl, settings: HttpSettings) -> _Proxy | None:
    configured = settings.get("proxy")
    if configured is None and not urllib.request.proxy_bypass(url.host):
        known = urllib.request.getproxies()
        configured = known.get(url.scheme) or known.get("all")
    if not configured:
        return None
    parts = urlsplit(configured if "://" in configured else f"http://{configured}")
    if parts.scheme != "http" or not parts.hostname:
        raise InvalidRemote(f"gitmem uses only proxies of plain HTTP, not {parts.scheme}://{parts.hostname}")
    user = None if parts.username is None else unquote(parts.username)
    return _Proxy(parts.hostname, parts.port, user, unquote(parts.password or ""))


def _trust(settings: HttpSettings) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=settings.get("sslcainfo"), capath=settings.get("sslcapath"))
    if (settings.get("sslverify") or "true").lower() in _FALSE:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    certificate = settings.get("sslcert")
    if certificate is not None:
        context.load_cert_chain(certificate, settings.get("sslkey"))
    return context


def _fit(prefix: str | None, url: RemoteUrl) -> int:
    """Return how closely a subsection names a URL; below zero if it is another."""
    if prefix is None:
        return 0
    parts = urlsplit(prefix)
    same = parts.scheme == url.scheme and (parts.hostname or "") == url.host.lower()
    usual = 443 if parts.scheme == "https" else 80
    with suppress(ValueError):
        path = parts.path.rstrip("/")
        below = not path or url.path == path or url.path.startswith(path + "/")
        user = parts.username in (None, url.user)
        if same and below and user and (parts.port or usual) == url.port:
            return 1 + len(path)
    return -1
