"""Remotes that ask who one is: helpers and keys answer, and nobody is ever asked."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.remote_repository_contract import LINE, turns
from fixtures import fsck, git
from git_servers import (
    PASSWORD,
    USER,
    GitServer,
    http_server,
    make_certificate,
    ssh_server,
)
from gitmem.errors import (
    NotARepository,
    RemoteDenied,
    RemoteError,
    RemoteUnreachable,
)
from gitmem.remote_repository import RefUpdate
from remote_peers import (
    Own,
    listening,
)

pytestmark = pytest.mark.usefixtures("no_proxy")


# Who one is.


@pytest.fixture
def protected(tmp_path: Path) -> Iterator[GitServer]:
    """A server that wants a password."""
    (tmp_path / "served").mkdir()
    with http_server(tmp_path / "served", password=True) as server:
        yield server


def test_a_password_that_nobody_knows(
    own: Own, protected: GitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is asked: no terminal, no window; it fails with a hint at credential helpers."""
    protected.make("a.git")
    asked = own.path / "asked"
    own.repository.set_config("core.askPass", f"touch {asked}")
    monkeypatch.setenv("SSH_ASKPASS", f"touch {asked}")
    with pytest.raises(RemoteDenied) as caught:
        own.connect(protected.url("a.git")).refs()
    assert "credential helper" in str(caught.value.hint)
    assert not asked.exists()


def test_a_stored_password(own: Own, protected: GitServer, tmp_path: Path) -> None:
    """A credential helper of Git's configuration gets one in; it is asked once for all questions."""
    protected.make("a.git")
    store = helper(own, protected, tmp_path, PASSWORD)
    tip = turns(own.repository, 1)[-1]
    remote = own.connect(protected.url("a.git"))
    assert remote.push([RefUpdate(LINE, None, tip)])[0].accepted
    store.unlink()
    git("config", "credential.helper", "", cwd=own.path)
    assert remote.refs().refs == {LINE: tip}
    with pytest.raises(RemoteDenied):
        own.connect(protected.url("a.git")).refs()


def test_a_wrong_password_is_forgotten(own: Own, protected: GitServer, tmp_path: Path) -> None:
    """The helper is told that a password did not work, and the error does not show it."""
    protected.make("a.git")
    store = helper(own, protected, tmp_path, "wrong-one")
    with pytest.raises(RemoteDenied) as caught:
        own.connect(protected.url("a.git")).refs()
    assert "wrong-one" not in str(caught.value) + str(caught.value.details)
    assert "wrong-one" not in store.read_text()


def helper(own: Own, server: GitServer, tmp_path: Path, password: str) -> Path:
    """Let Git's own store know a password for a server."""
    store = tmp_path / "credentials"
    place = server.base.removeprefix("http://").partition("/")[0]
    store.write_text(f"http://{USER}:{password.replace(' ', '%20')}@{place}\n")
    git("config", "credential.helper", f"store --file {store}", cwd=own.path)
    return store


def test_a_password_in_the_url(own: Own, protected: GitServer) -> None:
    """What stands in the URL is used and not shown."""
    protected.make("a.git")
    url = protected.url("a.git").replace("http://", f"http://{USER}:{PASSWORD.replace(' ', '%20')}@")
    assert own.connect(url).refs().refs == {}
    with pytest.raises(RemoteDenied) as caught:
        own.connect(url.replace("correct", "w0rd")).refs()
    assert "w0rd" not in str(caught.value)


def test_redirects(own: Own, protected: GitServer) -> None:
    """A repository that moved is found, and a login does not go along to another server."""
    protected.make("a.git")
    heard: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        heard.append(connection.recv(1 << 16))
        place = f"{protected.url('a.git')}/info/refs?service=git-upload-pack"
        connection.sendall(f"HTTP/1.1 302 Moved\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode())

    with listening(serve) as port, pytest.raises(RemoteDenied):
        own.connect(f"http://{USER}:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}/a.git").refs()
    assert b"Authorization: Basic" in heard[0]


def test_certificates(own: Own, tmp_path: Path) -> None:
    """A server that nobody vouches for is refused, unless the configuration vouches or asks not to look."""
    (tmp_path / "served").mkdir()
    certificate = make_certificate(tmp_path / "server.pem")
    with http_server(tmp_path / "served", certificate=certificate) as server:
        server.make("a.git")
        url = server.url("a.git")
        with pytest.raises(RemoteUnreachable, match="not trusted") as caught:
            own.connect(url).refs()
        assert "sslCAInfo" in str(caught.value.hint)
        place = url.rpartition("/git/")[0]
        own.repository.set_config(f"http.{place}.sslCAInfo", f"{certificate}.crt")
        tip = turns(own.repository, 1)[-1]
        assert own.connect(url).push([RefUpdate(LINE, None, tip)])[0].accepted
        assert own.connect(url).refs().refs == {LINE: tip}
        own.repository.set_config(f"http.{place}.sslCAInfo", None)
        own.repository.set_config("http.sslVerify", "false")
        assert own.connect(url).refs().refs == {LINE: tip}


def test_proxies(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy of the configuration, else that of the environment, is asked, with its own login."""
    heard: list[bytes] = []

    def proxy(connection: socket.socket) -> None:
        heard.append(connection.recv(1 << 16))
        connection.sendall(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")

    monkeypatch.delenv("no_proxy")
    with listening(proxy) as port:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        with pytest.raises(RemoteDenied):
            own.connect("http://example.invalid/a.git").refs()
        own.repository.set_config("http.proxy", f"http://p:q@127.0.0.1:{port}")
        for scheme in ("http", "https"):
            with pytest.raises(RemoteError):
                own.connect(f"{scheme}://u:v@example.invalid/a.git").refs()
        own.repository.set_config("http.proxy", "")
        with pytest.raises(RemoteUnreachable):
            own.connect("http://example.invalid/a.git").refs()
    assert [one.split()[:2] for one in heard] == [
        [b"GET", b"http://example.invalid/a.git/info/refs?service=git-upload-pack"],
        [b"GET", b"http://example.invalid/a.git/info/refs?service=git-upload-pack"],
        [b"CONNECT", b"example.invalid:443"],
    ]
    assert b"Proxy-Authorization: Basic cDpx" in heard[1]
    assert b"Proxy-Authorization: Basic cDpx" in heard[2]
    assert b"\r\nAuthorization" not in heard[2]


def test_headers_of_the_configuration(own: Own) -> None:
    """`http.extraHeader` goes along, as a forge's runner sets it, and an empty one takes it back."""
    heard: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        heard.append(connection.recv(1 << 16))
        connection.sendall(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")

    with listening(serve) as port:
        url = f"http://127.0.0.1:{port}/a.git"
        git("config", "--add", "http.extraHeader", "X-Lost: 1", cwd=own.path)
        git("config", "--add", "http.extraHeader", "", cwd=own.path)
        git("config", "--add", f"http.http://127.0.0.1:{port}/.extraHeader", "X-Kept: 2", cwd=own.path)
        git("config", "--add", "http.http://example.com/.extraHeader", "X-Other: 3", cwd=own.path)
        with pytest.raises(RemoteDenied):
            own.connect(url).refs()
    assert b"X-Kept: 2" in heard[0]
    assert b"X-Lost" not in heard[0]
    assert b"X-Other" not in heard[0]


def test_ssh_asks_nobody(own: Own, tmp_path: Path) -> None:
    """The ssh program is told not to ask, gets the port and the path as they are, and nothing to run."""
    note = tmp_path / "arguments"
    script = f'printf "%s\\n" "$@" > {note}; echo "Permission denied (publickey)." >&2; exit 255'
    (tmp_path / "fake-ssh").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "fake-ssh").chmod(0o755)
    own.repository.set_config("core.sshCommand", f"'{tmp_path}/fake-ssh' -4")
    with pytest.raises(RemoteDenied, match="Permission denied"):
        own.connect("ssh://git@example.com:2222/srv/it's.git").refs()
    rows = note.read_text().splitlines()
    assert rows[0] == "-4"
    assert "BatchMode=yes" in rows
    assert rows[-4:] == ["-p", "2222", "git@example.com", "git-upload-pack '/srv/it'\\''s.git'"]
    with pytest.raises(RemoteDenied):
        own.connect("git@example.com:aria.git").refs()
    assert note.read_text().splitlines()[-2:] == ["git@example.com", "git-upload-pack 'aria.git'"]


def test_a_program_that_is_missing(own: Own) -> None:
    """A missing program, here or there, is not taken for a missing repository."""
    for command in ("no-such-ssh", "sh -c 'echo bash: line 1: git-upload-pack: command not found >&2' ssh"):
        own.repository.set_config("core.sshCommand", command)
        with pytest.raises(RemoteError, match="a program is missing") as caught:
            own.connect("ssh://example.com/a.git").refs()
        assert not isinstance(caught.value, NotARepository)


def test_ssh(own: Own, tmp_path: Path) -> None:
    """The SSH daemon lets in who has the key, and its host key is checked."""
    (tmp_path / "served").mkdir()
    with ssh_server(tmp_path / "served", old=True) as server:
        served = server.make("a.git")
        for key, value in server.settings.items():
            own.repository.set_config(key, value)
        tip = turns(own.repository, 2)[-1]
        remote = own.connect(server.url("a.git"))
        assert remote.push([RefUpdate(LINE, None, tip)])[0].accepted
        assert remote.refs([LINE]).refs == {LINE: tip}
        command = own.repository.config("core.sshCommand")
        own.repository.set_config(
            "core.sshCommand", f"{command} -o UserKnownHostsFile=/dev/null -o GlobalKnownHostsFile=/dev/null"
        )
        with pytest.raises(RemoteDenied, match="host key"):
            own.connect(server.url("a.git")).refs()
        own.repository.set_config(
            "core.sshCommand",
            f"{command} -o IdentityFile=/dev/null -F /dev/null"
            f" -o StrictHostKeyChecking=no -o UserKnownHostsFile={tmp_path / 'hosts'}",
        )
        with pytest.raises(RemoteDenied, match="not let this user in"):
            own.connect(server.url("a.git")).refs()
    fsck(served)
