"""Remotes that hang, lie or are not there: each call ends in time, with a clear word."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from fixtures import commit_all
from git_servers import (
    free_port,
    git_daemon,
)
from gitmem.errors import (
    NotARepository,
    RemoteDenied,
    RemoteError,
    RemoteMisbehaved,
    RemoteTimeout,
    RemoteUnreachable,
)
from gitmem.remote_repository import TransferLimits
from remote_peers import (
    Own,
    listening,
    pkt,
    saying,
    silent,
    trickling,
)

pytestmark = pytest.mark.usefixtures("no_proxy")

QUICK = TransferLimits(seconds=0.5)
A = "a" * 40


# Time.


@pytest.mark.parametrize("scheme", ["git", "http", "https"])
@pytest.mark.parametrize("serve", [silent, trickling])
def test_a_remote_that_never_finishes(own: Own, scheme: str, serve: Callable[[socket.socket], None]) -> None:
    """OPEN-GIT-21: a call ends in its time, whether the remote is silent or says a little for ever."""
    with listening(serve) as port:
        began = time.monotonic()
        with pytest.raises((RemoteTimeout, RemoteMisbehaved, RemoteUnreachable)) as caught:
            own.connect(f"{scheme}://127.0.0.1:{port}/a.git", QUICK).refs()
        assert time.monotonic() - began < 5
    if serve is silent:
        assert isinstance(caught.value, RemoteTimeout)
        assert caught.value.details["seconds"] == 0.5


def test_an_ssh_that_never_finishes(own: Own, tmp_path: Path) -> None:
    """Nothing that ssh started outlives the call."""
    note = tmp_path / "pids"
    script = f"sleep 1000 & echo $! $$ > {note}; wait"
    own.repository.set_config("core.sshCommand", f"sh -c {shlex.quote(script)} ssh")
    with pytest.raises(RemoteTimeout):
        own.connect("ssh://host/a.git", QUICK).refs()
    for pid in map(int, note.read_text().split()):
        assert is_gone(pid)


def is_gone(pid: int) -> bool:
    """Say whether a process ends, or has ended, within a moment."""
    for _ in range(200):
        with suppress(FileNotFoundError):
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                time.sleep(0.01)
                continue
        return True
    return False


@pytest.mark.parametrize("question", ["refs()", "push([RefUpdate('refs/heads/x', None, sys.argv[2])])"])
def test_control_c(own: Own, tmp_path: Path, question: str) -> None:
    """Ctrl-C ends a call at once, and every process that serves it."""
    note = tmp_path / "pid"
    own.repository.set_config("core.sshCommand", f"sh -c 'echo $$ > {note}; exec sleep 1000' ssh")
    commit = commit_all(own.path, files={"a": "a"})
    program = f"""
import sys
from pathlib import Path
from gitmem.backends.dulwich_repository import open_repository
from gitmem.git_transport.connect import RemoteConnector
from gitmem.layout import find_layout
from gitmem.remote_repository import RefUpdate

layout = find_layout(Path(sys.argv[1]))
RemoteConnector(layout).connect("ssh://host/a.git", repository=open_repository(layout)).{question}
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(own.path), commit], stderr=subprocess.PIPE, start_new_session=True
    )
    for _ in range(1000):
        if note.exists() and note.read_text().strip():
            break
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    _, words = process.communicate(timeout=20)
    assert b"KeyboardInterrupt" in words
    assert is_gone(int(note.read_text()))


# Words.


@pytest.mark.parametrize("scheme", ["git", "http", "https"])
def test_nobody_there(own: Own, scheme: str) -> None:
    """A port that nobody listens on is a matter of the network."""
    with pytest.raises(RemoteUnreachable, match="refused"):
        own.connect(f"{scheme}://127.0.0.1:{free_port()}/a.git").refs()


def test_no_such_host(own: Own) -> None:
    """So is a name that does not exist."""
    with pytest.raises(RemoteUnreachable):
        own.connect("git://no-such-host.invalid/a.git").refs()


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"", RemoteUnreachable),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", RemoteMisbehaved),
        (b"0003", RemoteMisbehaved),
        (b"fff0" + b"x" * 70_000, RemoteMisbehaved),
        (pkt(b"ERR access denied or repository not exported: /a.git"), NotARepository),
        (pkt(b"ERR Permission denied for aria"), RemoteDenied),
        (pkt(b"ERR upload-pack: overloaded"), RemoteError),
        (pkt(b"nonsense\n"), RemoteMisbehaved),
        (pkt(b"x" * 40 + b" refs/heads/main\0caps\n") + b"0000", RemoteMisbehaved),
        (pkt(A.encode() + b" refs/heads/main\0caps\n"), RemoteUnreachable),
        (pkt(b"a" * 64 + b" refs/heads/main\0object-format=sha256\n") + b"0000", RemoteError),
        (pkt(b"version 2\n") + pkt(b"object-format=sha256\n") + b"0000", RemoteError),
    ],
)
def test_answers_that_are_none(own: Own, answer: bytes, error: type[RemoteError]) -> None:
    """Each has the error that says what to do about it, and names the remote."""
    with listening(saying(answer)) as port:
        url = f"git://127.0.0.1:{port}/a.git"
        with pytest.raises(error) as caught:
            own.connect(url).refs()
    assert caught.value.details["url"] == url
    assert caught.value.exit_code == 13


def test_an_endless_list_of_refs(own: Own) -> None:
    """What a remote may say before it is too much is limited."""

    def serve(connection: socket.socket) -> None:
        connection.recv(1 << 16)
        connection.sendall(pkt(f"{A} refs/heads/x\0caps\n".encode()))
        while True:
            connection.sendall(pkt(f"{A} refs/heads/y\n".encode()) * 1000)

    with listening(serve) as port, pytest.raises(RemoteMisbehaved, match="longer than allowed"):
        own.connect(f"git://127.0.0.1:{port}/a.git", TransferLimits(30, answer_bytes=1 << 20)).refs()


def test_names_that_are_no_refs_are_left_out(own: Own) -> None:
    """A remote cannot show a name that leads out of the refs."""
    rows = [f"{A} refs/heads/../../config\n", f"{A} refs/heads/ok\n", f"{A} .have\n", f"{A} HEAD\n"]
    answer = pkt(f"{A} refs/heads/a b\0caps\n".encode()) + b"".join(pkt(row.encode()) for row in rows)
    with listening(saying(answer + b"0000")) as port:
        assert own.connect(f"git://127.0.0.1:{port}/a.git").refs().refs == {"refs/heads/ok": A}


def test_a_page_is_no_repository(own: Own) -> None:
    """A web server of pages is told from one of repositories."""
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello"
    for answer, error in (
        (page, NotARepository),
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", RemoteDenied),
        (b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", RemoteUnreachable),
        (b"rubbish\r\n\r\n", RemoteUnreachable),
    ):
        with listening(saying(answer)) as port, pytest.raises(error):
            own.connect(f"http://127.0.0.1:{port}/a.git").refs()


def test_a_server_that_dies(own: Own, tmp_path: Path) -> None:
    """A daemon that ends between two questions is found gone, and a new one is used."""
    (tmp_path / "served").mkdir()
    with git_daemon(tmp_path / "served") as server:
        server.make("a.git")
        remote = own.connect(server.url("a.git"))
        assert remote.refs().refs == {}
    with pytest.raises(RemoteUnreachable):
        remote.refs()
