"""Servers of Git repositories on the loopback: git's daemon, its HTTP backend behind web servers, sshd."""

from __future__ import annotations

import base64
import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fixtures import git

#: Where Debian puts servers, which are not on a user's search path.
_SERVER_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin:/sbin"

USER, PASSWORD = "aria", "correct horse"


def server_program(name: str) -> str:
    """Return the path of a server's program; where it is missing, skip the test and say so."""
    found = shutil.which(name, path=_SERVER_PATH)
    if found is None:
        pytest.skip(f"the program {name} is not installed")
    return found


@dataclass
class GitServer:
    """A running server.

    Attributes:
        root: the folder whose repositories it serves.
        base: what a repository's name follows in a URL.
        settings: what the own repository has to be configured with to get in.
    """

    root: Path
    base: str
    settings: dict[str, str] = field(default_factory=dict)

    def make(self, name: str) -> Path:
        """Make an empty bare repository that takes pushes."""
        path = self.root / name
        git("init", "-q", "--bare", "-b", "main", str(path), cwd=self.root)
        git("config", "http.receivepack", "true", cwd=path)
        return path

    def url(self, name: str) -> str:
        """Return the URL of a repository."""
        return self.base + name


@contextmanager
def git_daemon(root: Path) -> Iterator[GitServer]:
    """Serve `git://`."""
    port = free_port()
    command = ["git", "daemon", "--reuseaddr", f"--base-path={root}", "--export-all"]
    command += ["--enable=receive-pack", "--listen=127.0.0.1", f"--port={port}", str(root)]
    with running(command, port):
        yield GitServer(root, f"git://127.0.0.1:{port}/")


@contextmanager
def http_server(
    root: Path, *, password: bool = False, old: bool = False, certificate: Path | None = None
) -> Iterator[GitServer]:
    """Serve `http://` by git's own backend, which a small web server starts as a process for each request.

    Args:
        root: the folder with the repositories.
        password: whether it wants one.
        old: whether it knows only the first version of the protocol.
        certificate: a file with a key and a certificate; with one it serves `https://`.
    """
    handler = type("Handler", (_Backend,), {"root": root, "protected": password, "old": old})
    server = _WebServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        scheme = "http" if certificate is None else "https"
        yield GitServer(root, f"{scheme}://127.0.0.1:{server.server_port}/git/")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def make_certificate(path: Path) -> Path:
    """Make a key and a certificate of nobody's for this machine, in one file."""
    command = [server_program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*command, "-keyout", str(path), "-out", f"{path}.crt"], check=True, capture_output=True)
    with path.open("ab") as file:
        file.write(Path(f"{path}.crt").read_bytes())
    return path


@contextmanager
def nginx_server(root: Path) -> Iterator[GitServer]:
    """Serve `http://` by nginx and fcgiwrap, which start git's own backend."""
    nginx, fcgiwrap = server_program("nginx"), server_program("fcgiwrap")
    port, inner, place = free_port(), free_port(), root.parent / f"{root.name}-nginx"
    place.mkdir()
    # Its workers would be another user otherwise, who may not look into the folders of the tests.
    user = "user root;" if os.geteuid() == 0 else ""
    settings = _NGINX.format(user=user, place=place, port=port, inner=inner, root=root, backend=_backend())
    (place / "nginx.conf").write_text(settings)
    # Not a socket in a folder: a path of one has room for a hundred characters.
    wrapper = [fcgiwrap, "-c", "2", "-s", f"tcp:127.0.0.1:{inner}"]
    with running(wrapper, inner, {"HOME": str(place), "GIT_CONFIG_NOSYSTEM": "1"}):
        command = [nginx, "-c", f"{place}/nginx.conf", "-p", str(place), "-e", f"{place}/error.log"]
        with running(command, port):
            yield GitServer(root, f"http://127.0.0.1:{port}/git/")


@contextmanager
def ssh_server(root: Path, *, old: bool = False) -> Iterator[GitServer]:
    """Serve `ssh://` by sshd for the user who runs the tests; an old one knows only the first protocol."""
    sshd, keygen = server_program("sshd"), server_program("ssh-keygen")
    server_program("ssh")
    place, port = root.parent / f"{root.name}-sshd", free_port()
    place.mkdir(mode=0o700)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True, mode=0o755)  # where sshd locks itself in, as its package does
    for name in ("host", "user"):
        key = [keygen, "-q", "-t", "ed25519", "-N", "", "-f", str(place / name)]
        subprocess.run(key, check=True, capture_output=True)
    (place / "authorized_keys").write_text((place / "user.pub").read_text())
    (place / "known_hosts").write_text(f"[127.0.0.1]:{port} {(place / 'host.pub').read_text()}")
    (place / "sshd_config").write_text(
        _SSHD.format(place=place, port=port, accept="LANG" if old else "GIT_PROTOCOL")
    )
    (place / "ssh_config").write_text(_SSH.format(place=place))
    with running([sshd, "-D", "-e", "-f", str(place / "sshd_config")], port):
        yield GitServer(
            root,
            f"ssh://127.0.0.1:{port}{root}/",
            {"core.sshCommand": f"ssh -F {place / 'ssh_config'}"},
        )


@contextmanager
def running(
    command: Sequence[str], ready: int | Path, extra: dict[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server in a process group of its own until the context ends.

    Args:
        command: the server, staying in the foreground.
        ready: the port that it listens on, or the socket that it makes.
        extra: variables for it.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, **(extra or {})},
        start_new_session=True,
    )
    try:
        _wait_until_ready(process, ready)
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


def free_port() -> int:
    """Return a port of the loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(process: subprocess.Popen[bytes], ready: int | Path) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if process.poll() is not None:
            assert process.stderr is not None
            raise AssertionError(f"{process.args!r} ended: {process.stderr.read().decode()}")
        if isinstance(ready, Path):
            if ready.exists():
                return
        else:
            with suppress(OSError), socket.create_connection(("127.0.0.1", ready), 1):
                return
        time.sleep(0.02)
    raise AssertionError(f"{process.args!r} does not listen")


def _backend() -> str:
    folder = subprocess.run(["git", "--exec-path"], check=True, capture_output=True, text=True).stdout.strip()
    return f"{folder}/git-http-backend"


class _WebServer(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that broke its connection."""


class _Backend(BaseHTTPRequestHandler):
    """Runs git's backend for a request, by the rules of CGI."""

    root: Path
    protected = False
    old = False
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._run(b"")

    def do_POST(self) -> None:
        if "chunked" in (self.headers.get("Transfer-Encoding") or ""):
            self._run(self._chunks())
        else:
            self._run(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its parent's name
        pass

    def _chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _run(self, body: bytes) -> None:
        if self.protected and not self._knows():
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        done = subprocess.run(
            [_backend()],
            input=body,
            env={**os.environ, **self._variables(path, query, body)},
            capture_output=True,
            check=False,
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = [line.partition(": ") for line in head.decode().splitlines()]
        status = next((value for name, _, value in fields if name == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, _, value in fields:
            if name not in ("Status", "Content-Length"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _variables(self, path: str, query: str, body: bytes) -> dict[str, str]:
        return {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path.removeprefix("/git"),
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type") or "",
            "CONTENT_LENGTH": str(len(body)),
            "REMOTE_USER": USER,
            "REMOTE_ADDR": "127.0.0.1",
            "GIT_PROTOCOL": "" if self.old else self.headers.get("Git-Protocol") or "",
        }

    def _knows(self) -> bool:
        expected = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        return self.headers.get("Authorization") == f"Basic {expected}"


_NGINX = """
{user} daemon off; worker_processes 1; pid {place}/nginx.pid; error_log {place}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; client_max_body_size 0;
  client_body_temp_path {place}/body; proxy_temp_path {place}/proxy; fastcgi_temp_path {place}/fastcgi;
  uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location ~ ^/git(/.*)$ {{
      fastcgi_pass 127.0.0.1:{inner};
      fastcgi_param SCRIPT_FILENAME {backend};
      fastcgi_param GIT_PROJECT_ROOT {root};
      fastcgi_param GIT_HTTP_EXPORT_ALL 1;
      fastcgi_param PATH_INFO $1;
      fastcgi_param QUERY_STRING $query_string;
      fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param CONTENT_TYPE $content_type;
      fastcgi_param CONTENT_LENGTH $content_length;
      fastcgi_param REMOTE_USER aria;
      fastcgi_param REMOTE_ADDR $remote_addr;
      fastcgi_param GIT_PROTOCOL $http_git_protocol;
    }}
  }}
}}
"""

_SSHD = """
Port {port}
ListenAddress 127.0.0.1
HostKey {place}/host
PidFile {place}/sshd.pid
AuthorizedKeysFile {place}/authorized_keys
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
AcceptEnv {accept}
MaxStartups 50
"""

_SSH = """
Host *
  IdentityFile {place}/user
  IdentitiesOnly yes
  UserKnownHostsFile {place}/known_hosts
  GlobalKnownHostsFile {place}/known_hosts
  StrictHostKeyChecking yes
"""
