"""Git's smart protocol over HTTP: each question is a request, with a login where the server wants one."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from gitmem.errors import (
    NotARepository,
    RemoteDenied,
    RemoteError,
    RemoteMisbehaved,
    RemoteUnreachable,
)
from gitmem.git_transport.conversation import Begin, Conversation, ServiceName
from gitmem.git_transport.credentials import CredentialHelpers, Login
from gitmem.git_transport.deadline import Deadline
from gitmem.git_transport.http_access import (
    Connection,
    HttpSettings,
    Section,
    Watch,
    basic,
    http_settings,
    translate,
)
from gitmem.git_transport.pkt_line import FLUSH, Source
from gitmem.remote_url import RemoteUrl, parse_url

Sender = Callable[[], http.client.HTTPResponse]

_TROUBLE: Final = (OSError, http.client.HTTPException, ValueError)
_MOST_REDIRECTS: Final = 5
#: A request up to this length is sent in one piece and may be sent again.
_WHOLE: Final = 1 << 20
_REDIRECTS: Final = (301, 302, 303, 307, 308)
_AGENT: Final = "git/gitmem"


def begin_by_http(url: RemoteUrl, section: Section, helpers: CredentialHelpers) -> Begin:
    """Return what begins conversations over HTTP.

    Args:
        url: where the repository is.
        section: returns the settings of a section of Git's configuration.
        helpers: know logins.
    """
    logins: dict[str, Login] = {}

    def begin(service: ServiceName, deadline: Deadline) -> Conversation:
        return HttpConversation(url, service, deadline, section=section, helpers=helpers, logins=logins)

    return begin


class HttpConversation:
    """A conversation over HTTP; the server remembers nothing between its answers.

    Args:
        url: where the repository is.
        service: which of its services.
        deadline: for what comes first.
        section: returns the settings of a section of Git's configuration.
        helpers: know logins.
        logins: those that worked before, by server; kept up to date.
    """

    def __init__(
        self,
        url: RemoteUrl,
        service: ServiceName,
        deadline: Deadline,
        *,
        section: Section,
        helpers: CredentialHelpers,
        logins: dict[str, Login],
    ) -> None:
        self._url = url
        self._service = service
        self._deadline = deadline
        self._section = section
        self._helpers = helpers
        self._logins = logins
        self._login = _login_of(url) or logins.get(url.authority)
        self._watch = Watch()
        self._settings: HttpSettings = http_settings(url, section)
        self._connection: Connection | None = None
        self._response: http.client.HTTPResponse | None = None

    def greeting(self) -> Source:
        """Ask for what the service says first, following redirects and finding a login."""
        response = self._authorised(lambda: self._send("GET", self._greeting_path, {}))
        for _ in range(_MOST_REDIRECTS):
            if response.status not in _REDIRECTS:
                break
            self._follow(response.headers.get("Location") or "")
            response = self._authorised(lambda: self._send("GET", self._greeting_path, {}))
        self._expect(response, f"application/x-{self._service}-advertisement")
        source = _Answer(response, self)
        return _without_banner(source)

    def ask(self, request: Iterable[bytes]) -> Source:
        """Send a request and return the answer."""
        whole, rest = _begun(request)
        headers = {
            "Content-Type": f"application/x-{self._service}-request",
            "Accept": f"application/x-{self._service}-result",
        }
        path = f"{self._path}/{self._service}"
        if rest is None:
            response = self._authorised(lambda: self._send("POST", path, headers, whole))
        else:
            response = self._send("POST", path, headers, chain([whole], rest))
        self._expect(response, f"application/x-{self._service}-result")
        return _Answer(response, self)

    def limit(self, deadline: Deadline) -> None:
        """Set how long what comes next may take."""
        self._deadline = deadline

    def close(self) -> None:
        """Close the connection."""
        self._watch.disarm()
        if self._response is not None:
            self._response.close()
            self._response = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def read_some(self, response: http.client.HTTPResponse, size: int) -> bytes:
        """Return some bytes of an answer within the deadline."""
        try:
            piece = response.read1(size)
        except _TROUBLE as error:
            raise translate(error, self._url, self._watch, self._deadline) from error
        if not piece:
            self._watch.disarm()
            if self._watch.fired:
                raise self._deadline.passed()
        return piece

    def broken(self) -> RemoteError:
        """Return the error for an answer that ended too soon."""
        return RemoteUnreachable(f"{self._url.shown} closed the connection", hint="Try again.")

    @property
    def _path(self) -> str:
        return quote(self._url.path.rstrip("/"), safe="/%:@!$&'()*+,;=~")

    @property
    def _greeting_path(self) -> str:
        return f"{self._path}/info/refs?service={self._service}"

    def _authorised(self, send: Sender) -> http.client.HTTPResponse:
        """Send a request; where the server asks who it is, again with a login."""
        response = send()
        if response.status != http.client.UNAUTHORIZED:
            return response
        self._tell(worked=False)
        self._login = self._helpers.find(self._url, self._deadline)
        if self._login is not None:
            response = send()
            self._tell(worked=response.status != http.client.UNAUTHORIZED)
        return response

    def _tell(self, *, worked: bool) -> None:
        """Let the helpers, and the next conversation, know what a login was good for."""
        if self._login is None or not self._login.answer:
            return
        self._helpers.tell(self._login, "approve" if worked else "reject", self._deadline)
        if worked:
            self._logins[self._url.authority] = self._login
        else:
            self._logins.pop(self._url.authority, None)

    def _send(
        self, method: str, path: str, headers: dict[str, str], body: bytes | Iterable[bytes] | None = None
    ) -> http.client.HTTPResponse:
        fresh = self._ready()
        try:
            return self._sent(method, path, headers, body)
        except (http.client.RemoteDisconnected, ConnectionError) as error:
            if fresh or not (body is None or isinstance(body, bytes)) or self._watch.fired:
                raise translate(error, self._url, self._watch, self._deadline) from error
            # The server closed a connection that it had kept open, before it heard anything.
            self.close()
            return self._send(method, path, headers, body)
        except _TROUBLE as error:
            raise translate(error, self._url, self._watch, self._deadline) from error

    def _sent(
        self, method: str, path: str, headers: dict[str, str], body: bytes | Iterable[bytes] | None
    ) -> http.client.HTTPResponse:
        connection = self._connection
        if connection is None:
            raise RemoteError("not connected")
        self._watch.arm(self._deadline)
        connection.putrequest(method, connection.prefix + path, skip_host=True)
        for name, value in (*self._headers(connection).items(), *headers.items(), *self._settings.headers()):
            connection.putheader(name, value)
        if isinstance(body, bytes):
            connection.putheader("Content-Length", str(len(body)))
        elif body is not None:
            connection.putheader("Transfer-Encoding", "chunked")
        # A server that refuses what it is sent says so and hears no more; a dead one has no answer below.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.endheaders(body, encode_chunked=body is not None and not isinstance(body, bytes))
        self._response = connection.getresponse()
        if self._watch.fired:
            raise self._deadline.passed()  # headers that were cut off look like headers that ended
        return self._response

    def _headers(self, connection: Connection) -> dict[str, str]:
        headers = {"Host": self._url.authority, "User-Agent": self._settings.get("useragent") or _AGENT}
        headers["Accept"] = "*/*"
        if self._service == "git-upload-pack":
            headers["Git-Protocol"] = "version=2"
        if self._login is not None:
            headers["Authorization"] = basic(self._login.user, self._login.password)
        return headers | (connection.proxy_login if connection.prefix else {})

    def _ready(self) -> bool:
        """Have a connection with nothing under way on it; say whether it is a new one."""
        if self._response is not None and not self._is_read(self._response):
            self.close()
        fresh = self._connection is None or self._connection.sock is None
        if self._connection is None:
            self._connection = Connection(self._url, self._settings, self._watch)
        self._connection.deadline = self._deadline
        if not fresh:
            self._connection.sock.settimeout(self._deadline.remaining())
        return fresh

    def _is_read(self, response: http.client.HTTPResponse) -> bool:
        """Say whether an answer was read to its end, so that the connection can take another question."""
        if response.isclosed():
            return True
        try:
            # What ends an answer comes behind the last packet of it.
            return not response.read(1)
        except _TROUBLE:
            return False

    def _follow(self, location: str) -> None:
        """Go on at another URL; a login does not go along to another server, nor TLS to none."""
        target = urljoin(f"{self._url.scheme}://{self._url.authority}{self._greeting_path}", location)
        parts = urlsplit(target)
        base = target.partition("/info/refs")[0]
        if "/info/refs" not in target or parts.scheme not in ("http", "https"):
            raise NotARepository(f"{self._url.shown} leads to something else than a repository")
        url = parse_url(base)
        if url.scheme == "http" and self._url.scheme == "https":
            raise RemoteDenied(f"{self._url.shown} leads to a connection that is not protected")
        same = (url.scheme, url.host, url.port) == (self._url.scheme, self._url.host, self._url.port)
        self.close()
        self._login = self._login if same else self._logins.get(url.authority)
        self._url = replace(url, user=self._url.user) if same else url
        self._settings = http_settings(self._url, self._section)

    def _expect(self, response: http.client.HTTPResponse, kind: str) -> None:
        shown, status = self._url.shown, response.status
        if status == http.client.UNAUTHORIZED:
            hint = "Store a login with one of Git's credential helpers; gitmem never asks for one."
            raise RemoteDenied(
                f"{shown} wants a login that is not known here, or wrong", hint=hint, url=shown
            )
        if status == http.client.FORBIDDEN:
            raise RemoteDenied(f"{shown} does not let this user in", hint="Ask who runs it.", url=shown)
        if status in (http.client.NOT_FOUND, http.client.GONE):
            raise NotARepository(f"there is no Git repository at {shown}", hint="Check the URL.", url=shown)
        if status != http.client.OK:
            reason = "".join(sign for sign in response.reason if sign.isprintable())[:100]
            raise RemoteUnreachable(f"{shown} answers {status} {reason}", hint="Try again.", url=shown)
        if response.headers.get_content_type() != kind:
            hint = "Check the URL; a server of files alone is not enough."
            raise NotARepository(f"{shown} does not speak Git's protocol", hint=hint, url=shown)


class _Answer:
    """The body of an answer."""

    def __init__(self, response: http.client.HTTPResponse, conversation: HttpConversation) -> None:
        self._response = response
        self._conversation = conversation

    def read(self, size: int) -> bytes:
        return self._conversation.read_some(self._response, size)

    def read_exactly(self, size: int) -> bytes:
        return read_exactly(self, size, self._conversation)


class _Ahead:
    """A source of which some bytes were read already."""

    def __init__(self, begun: bytes, source: _Answer) -> None:
        self._begun = begun
        self._source = source

    def read(self, size: int) -> bytes:
        if not self._begun:
            return self._source.read(size)
        piece, self._begun = self._begun[:size], self._begun[size:]
        return piece

    def read_exactly(self, size: int) -> bytes:
        piece = self.read(size) if self._begun else b""
        return piece + (self._source.read_exactly(size - len(piece)) if len(piece) < size else b"")


def read_exactly(source: _Answer, size: int, conversation: HttpConversation) -> bytes:
    """Return `size` bytes of an answer."""
    out = bytearray()
    while len(out) < size:
        piece = source.read(size - len(out))
        if not piece:
            raise conversation.broken()
        out += piece
    return bytes(out)


def _without_banner(source: _Answer) -> Source:
    """Pass over the line with which version 0 begins over HTTP."""
    head = source.read_exactly(4)
    if not head.isalnum():
        raise RemoteMisbehaved(f"not Git's protocol: {head!r}", hint="Check the URL.")
    try:
        size = int(head, 16)
    except ValueError:
        raise RemoteMisbehaved(f"not Git's protocol: {head!r}", hint="Check the URL.") from None
    line = source.read_exactly(size - 4) if size > 4 else b""
    if not line.startswith(b"# service="):
        return _Ahead(head + line, source)
    end = source.read_exactly(4)
    return source if end == FLUSH else _Ahead(end, source)


def _begun(request: Iterable[bytes]) -> tuple[bytes, Iterator[bytes] | None]:
    """Return the whole request, or its beginning and what follows where it is long."""
    pieces = iter(request)
    begun = bytearray()
    for piece in pieces:
        begun += piece
        if len(begun) > _WHOLE:
            return bytes(begun), pieces
    return bytes(begun), None


def _login_of(url: RemoteUrl) -> Login | None:
    if url.user is None or url.password is None:
        return None
    return Login(url.user, url.password)
