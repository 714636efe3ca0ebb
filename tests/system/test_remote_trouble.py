"""Remotes that hang, lie, refuse or ask who one is: each ends in time, with a clear word."""

from __future__ import annotations

import os
import random
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from contract.remote_repository_contract import LINE, MAIN, TAG, everything, set_ref, tag_of, turns
from contract.repository_contract import WHO, commit_of
from fixtures import commit_all, fsck, git, head, make_repo
from git_servers import PASSWORD, USER, GitServer, free_port, git_daemon, http_server, ssh_server
from gitmem.backends.dulwich_repository import DulwichRepository, open_repository
from gitmem.errors import (
    InvalidRemote,
    NotARepository,
    RemoteDenied,
    RemoteError,
    RemoteMisbehaved,
    RemoteTimeout,
    RemoteUnreachable,
)
from gitmem.git_objects import make_object, make_tree
from gitmem.git_transport.connect import RemoteConnector
from gitmem.layout import Layout, find_layout
from gitmem.pack_format import build_pack, whole_entry
from gitmem.pack_maintenance import merge_packs
from gitmem.remote_repository import RefUpdate, RemoteRepository, TransferLimits
from gitmem.repository import ABSENT, FILE_MODE, TREE_MODE, TreeEntry

QUICK = TransferLimits(seconds=0.5)
A = "a" * 40


class Own:
    """One's own repository, and ways to remotes."""

    def __init__(self, path: Path) -> None:
        self.path = make_repo(path)
        self.repository = open_repository(find_layout(path))
        self.opened: list[RemoteRepository] = []

    def close(self) -> None:
        """Close everything."""
        for remote in self.opened:
            remote.close()
        self.repository.close()

    def connect(
        self,
        url: str | Path,
        limits: TransferLimits | None = None,
        *,
        program: str | None = "git",
        pushing: bool = False,
    ) -> RemoteRepository:
        """Return a remote."""
        connector = RemoteConnector(find_layout(self.path), program)
        limits = limits or TransferLimits(seconds=30)
        remote = connector.connect(str(url), repository=self.repository, limits=limits, pushing=pushing)
        self.opened.append(remote)
        return remote

    def is_clean(self) -> bool:
        """Say whether the store holds neither objects nor what is left of a pack."""
        folder = self.path / ".git" / "objects"
        return not [path for path in folder.rglob("*") if path.is_file()]


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Own]:
    """An empty one."""
    made = Own(tmp_path / "own")
    yield made
    made.close()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loopback is reached without this machine's proxy."""
    monkeypatch.setenv("no_proxy", "*")


def bare(path: Path) -> DulwichRepository:
    """Make a bare repository."""
    git("init", "-q", "--bare", "-b", "main", str(path), cwd=path.parent)
    return DulwichRepository(Layout(path, path, path))


@contextmanager
def listening(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Serve each connection by a function, and say on which port; what it raises ends the connection."""

    def answer(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            serve(connection)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def silent(connection: socket.socket) -> None:
    """Take everything and say nothing."""
    while connection.recv(1 << 16):
        pass


def trickling(connection: socket.socket) -> None:
    """Say something for ever, a byte at a time, and nothing that ends."""
    connection.recv(1 << 16)
    for byte in b"HTTP/1.1 200 OK\r\nX: " + b"0" * 10_000:
        connection.sendall(bytes([byte]))
        time.sleep(0.02)


def saying(*answers: bytes) -> Callable[[socket.socket], None]:
    """Return a server that answers each request by the next of some answers, and then closes."""

    def serve(connection: socket.socket) -> None:
        for answer in answers:
            connection.recv(1 << 16)
            connection.sendall(answer)

    return serve


def pkt(content: bytes) -> bytes:
    """Return a packet."""
    return b"%04x%s" % (len(content) + 4, content)


def old_server(*wanted: str, pack: bytes) -> Callable[[socket.socket], None]:
    """Return a server of version 0 that shows one commit and sends a pack."""
    shown = pkt(f"{wanted[0]} {LINE}\0side-band-64k agent=x\n".encode()) + b"0000"
    pieces = [pkt(b"\x01" + pack[at : at + 60_000]) for at in range(0, len(pack), 60_000)]
    return saying(shown, pkt(b"NAK\n") + b"".join(pieces) + b"0000")


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


# What arrives.


def commit_pack(repository: DulwichRepository, *leave_out: str) -> tuple[str, bytes]:
    """Return a commit and the pack of its history, without objects of some kinds."""
    tip = turns(repository, 2)[-1]
    kept = [
        (object_id, repository.read(object_id))
        for object_id in everything(repository, tip)
        if repository.read(object_id)[0] not in leave_out or object_id == tip
    ]
    return tip, build_pack([whole_entry(make_object(kind, body)) for _, (kind, body) in kept]).content


@pytest.mark.parametrize("missing", ["blob", "tree", "commit"])
def test_too_little(own: Own, tmp_path: Path, missing: str) -> None:
    """A pack that lacks something is refused whole."""
    tip, pack = commit_pack(bare(tmp_path / "x.git"), missing)
    with listening(old_server(tip, pack=pack)) as port:
        remote = own.connect(f"git://127.0.0.1:{port}/a.git")
        assert remote.refs().refs == {LINE: tip}
        with pytest.raises(RemoteMisbehaved, match="is missing"), remote.fetch([tip]):
            raise AssertionError
    assert own.is_clean()


def test_something_else(own: Own, tmp_path: Path) -> None:
    """A sound pack of other things than what was asked for is refused."""
    _, pack = commit_pack(bare(tmp_path / "x.git"))
    with listening(old_server(A, pack=pack)) as port:
        remote = own.connect(f"git://127.0.0.1:{port}/a.git")
        with pytest.raises(RemoteMisbehaved, match=A), remote.fetch([A]):
            raise AssertionError
    assert own.is_clean()


def test_too_much(own: Own, tmp_path: Path) -> None:
    """A pack that is larger than allowed is not read to its end."""
    tip, pack = commit_pack(bare(tmp_path / "x.git"))
    limits = TransferLimits(30, pack_bytes=len(pack) - 1)
    with listening(old_server(tip, pack=pack)) as port:
        remote = own.connect(f"git://127.0.0.1:{port}/a.git", limits)
        with pytest.raises(RemoteMisbehaved, match="allowed"), remote.fetch([tip]):
            raise AssertionError
    assert own.is_clean()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_pack_that_breaks_off(own: Own, tmp_path: Path, share: float) -> None:
    """A connection that breaks leaves nothing in the store."""
    tip, pack = commit_pack(bare(tmp_path / "x.git"))
    shown = pkt(f"{tip} {LINE}\0side-band-64k\n".encode()) + b"0000"
    half = pkt(b"NAK\n") + pkt(b"\x01" + pack[: int(share * len(pack))])
    for end in (b"", b"0000", pkt(b"\x03out of memory")):
        with listening(saying(shown, half + end)) as port:
            remote = own.connect(f"git://127.0.0.1:{port}/a.git")
            with pytest.raises(RemoteError), remote.fetch([tip]):
                raise AssertionError
    assert own.is_clean()


def test_what_is_done_with_the_pack_fails(own: Own, tmp_path: Path) -> None:
    """Where the refs cannot be moved the pack stays for another time, and nothing holds it."""
    remote = bare(tmp_path / "x.git")
    tip = turns(remote, 2)[-1]
    set_ref(remote, LINE, tip)
    with pytest.raises(ZeroDivisionError), own.connect(tmp_path / "x.git").fetch([tip]):
        raise ZeroDivisionError
    assert own.repository.contains(tip)
    assert not list((own.path / ".git/objects/pack").glob("*.keep"))


def history(path: Path, commits: int) -> str:
    """Make a long line in a bare repository and return its tip."""
    pieces = []
    for number in range(commits):
        text = f"{'x' * 2000}{number}\n"
        pieces.append(f"commit {LINE}\ncommitter {WHO} {1_772_442_000 + number} +0000\ndata 2\nt\n")
        pieces.append(f"M 100644 inline a/{number // 50}/{number}\ndata {len(text)}\n{text}\n")
    git("fast-import", "--quiet", cwd=path, stdin="".join(pieces))
    return head(path, LINE)


def test_a_whole_history(own: Own, tmp_path: Path) -> None:
    """A long history comes and goes as one pack, which fits among gitmem's own and can be merged."""
    served, other = tmp_path / "x.git", tmp_path / "y.git"
    bare(served)
    bare(other)
    tip = history(served, 1100)
    with own.connect(served).fetch([tip]) as pack:
        assert pack.objects > 3000
        (kept,) = (own.path / ".git/objects/pack").glob("*.keep")
        assert kept.name.startswith("pack-")
        set_ref(own.repository, LINE, tip)
    assert own.connect(other).push([RefUpdate(LINE, None, tip)])[0].accepted
    for number in range(40):
        turns(own.repository, 1, name=f"n{number}")
    merge_packs(find_layout(own.path), seconds=60)
    for path in (own.path, other):
        fsck(path)
    assert head(other, LINE) == tip


@pytest.mark.parametrize("program", ["git", None])
def test_many_turns_go_as_deltas(own: Own, tmp_path: Path, program: str | None) -> None:
    """A first push takes little more room than Git's own, although Git makes no deltas of it afterwards."""
    for name in ("ours.git", "theirs.git", "back"):
        bare(tmp_path / name)
    text = b"".join(b"%d %d\n" % (n, random.Random(n).getrandbits(200)) for n in range(120))
    tip = None
    for number in range(120):
        blob = make_object("blob", text[: (number + 1) * len(text) // 120])
        tree = make_tree([TreeEntry("a.jsonl", FILE_MODE, blob.id)])
        top = make_tree([TreeEntry("ledger", TREE_MODE, tree.id)])
        commit = commit_of(
            top, *([tip] if tip else []), seconds=1_772_442_000 + number, message=f"{number}\n"
        )
        with own.repository.write_pack([blob, tree, top, commit]):
            set_ref(own.repository, LINE, commit.id, old=tip or ABSENT)
        tip = commit.id
    assert tip is not None
    own.connect(tmp_path / "ours.git", program=program).push([RefUpdate(LINE, None, tip)])
    git("push", "-q", str(tmp_path / "theirs.git"), LINE, cwd=own.path)
    sizes = [
        sum(one.stat().st_size for one in (tmp_path / name / "objects/pack").glob("*.pack"))
        for name in ("ours.git", "theirs.git")
    ]
    assert sizes[0] <= 1.15 * sizes[1]
    fsck(tmp_path / "ours.git")
    with Own(tmp_path / "again").connect(tmp_path / "ours.git", program=program).fetch([tip]) as pack:
        assert pack.objects == 480
    fsck(tmp_path / "again")


def test_a_remote_that_lacks_what_it_should_have(own: Own, tmp_path: Path) -> None:
    """A turn still goes where an old version of its segment was lost there: without a delta of that."""
    served = tmp_path / "x.git"
    remote = bare(served)
    ids = turns(own.repository, 60)
    way = own.connect(served)
    way.push([RefUpdate(LINE, None, ids[0])])
    way.push([RefUpdate(LINE, ids[0], ids[-2])])
    lost = git("rev-parse", f"{ids[-2]}:ledger/a.jsonl", cwd=own.path)
    packs = [*(served / "objects/pack").iterdir()]
    held = tmp_path / "held"
    held.mkdir()
    for pack in packs:
        pack.rename(held / pack.name)
    for pack in held.glob("*.pack"):
        git("unpack-objects", "-q", cwd=served, stdin=pack.read_bytes())
    (served / "objects" / lost[:2] / lost[2:]).unlink()
    remote.close()
    assert way.push([RefUpdate(LINE, ids[-2], ids[-1])])[0].accepted
    assert git("cat-file", "-p", f"{LINE}:ledger/a.jsonl", cwd=served).endswith("59 a")


def test_a_pack_larger_than_memory_should_hold(own: Own, tmp_path: Path) -> None:
    """A large pack goes through a file without a name, of which nothing is left, also where it is refused."""
    served = bare(tmp_path / "x.git")
    big = make_object("blob", os.urandom(6 << 20))
    with served.write_pack([big]):
        set_ref(served, "refs/big", big.id)
    with (
        pytest.raises(RemoteMisbehaved, match="allowed"),
        own.connect(tmp_path / "x.git", TransferLimits(30, object_bytes=1 << 20)).fetch([big.id]),
    ):
        raise AssertionError
    assert own.is_clean()
    with own.connect(tmp_path / "x.git").fetch([big.id]) as pack:
        assert pack.bytes > 6 << 20
    assert own.repository.read(big.id) == ("blob", big.content)


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
    """A credential helper of Git's configuration gets one in, for all questions."""
    protected.make("a.git")
    helper(own, protected, tmp_path, PASSWORD)
    tip = turns(own.repository, 1)[-1]
    remote = own.connect(protected.url("a.git"))
    assert remote.push([RefUpdate(LINE, None, tip)])[0].accepted
    assert remote.refs().refs == {LINE: tip}


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


# What a remote does not want.


@pytest.mark.parametrize("program", ["git", None])
def test_a_branch_that_is_checked_out(own: Own, tmp_path: Path, program: str | None) -> None:
    """Under nobody's feet a branch moves: one that a work tree stands on is refused, others are not."""
    repo = make_repo(tmp_path / "other")
    first = commit_all(repo, files={"a": "a"})
    git("worktree", "add", "-q", "-b", "linked", str(tmp_path / "linked"), cwd=repo)
    remote = own.connect(repo, program=program)
    with remote.fetch([first]):
        set_ref(own.repository, MAIN, first)
    tip = turns(own.repository, 1, after=first)[-1]
    names = [MAIN, "refs/heads/linked", LINE]
    outcomes = remote.push([RefUpdate(name, first if name != LINE else None, tip) for name in names])
    assert [outcome.code for outcome in outcomes] == ["refused", "refused", "accepted"]
    assert "checked out" in outcomes[0].reason
    assert git("status", "--porcelain", cwd=repo) == ""
    assert (head(repo), head(repo, LINE)) == (first, tip)


def test_what_a_hook_refuses(own: Own, tmp_path: Path) -> None:
    """A hook's words reach whoever pushes; without Git, which alone can run it, nothing is pushed."""
    served = tmp_path / "x.git"
    bare(served)
    hook = served / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\ncase "$1" in */main) echo "not on a \033[31mFriday" >&2; exit 1;; esac\n')
    hook.chmod(0o755)
    tip = turns(own.repository, 1)[-1]
    updates = [RefUpdate(MAIN, None, tip), RefUpdate(LINE, None, tip)]
    with pytest.raises(RemoteDenied, match="hook update"):
        own.connect(served, program=None).push(updates)
    refused, accepted = own.connect(served).push(updates)
    assert (refused.code, accepted.code) == ("refused", "accepted")
    assert "not on a [31mFriday" in refused.reason


@pytest.mark.slow
def test_kills(tmp_path: Path) -> None:
    """Killed at any moment of a fetch or a push, both sides are sound, and the next goes through.

    What was being written goes with the process, or is removed when the repository is opened again.
    """
    served = tmp_path / "x.git"
    bare(served)
    ids = history(served, 300)
    git("update-ref", MAIN, f"{ids}~200", cwd=served)
    program = """
import sys
from pathlib import Path
from gitmem.backends.dulwich_repository import open_repository
from gitmem.git_transport.connect import RemoteConnector
from gitmem.layout import find_layout
from gitmem.remote_repository import RefUpdate
layout = find_layout(Path(sys.argv[1]))
own = open_repository(layout)
remote = RemoteConnector(layout).connect(sys.argv[2], repository=own)
print(flush=True)
with remote.fetch(list(remote.refs().refs.values())):
    print(remote.push([RefUpdate("refs/heads/new", None, sys.argv[3])]))
"""
    chance = random.Random(3)
    for number in range(40):
        path = make_repo(tmp_path / f"own{number}")
        with subprocess.Popen(
            [sys.executable, "-c", program, str(path), str(served), ids], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(chance.random() * 0.25)
            process.kill()
        open_repository(find_layout(path)).close()
        left = [one.name for one in (path / ".git/objects/pack").iterdir()]
        assert not [name for name in left if not name.endswith((".pack", ".idx"))]
        fsck(path)
        made = Own(path)
        with made.connect(served).fetch([ids]):
            set_ref(made.repository, LINE, ids)
        made.connect(served).push([RefUpdate("refs/heads/new", None, ids)])
        git("update-ref", "-d", "refs/heads/new", cwd=served)
        made.close()
        fsck(path)
        fsck(served)


def test_two_who_push_at_once(own: Own, tmp_path: Path) -> None:
    """Of two who move one ref at the same time one does, and the other is told; nothing is overwritten."""
    served = tmp_path / "x.git"
    bare(served)
    first = turns(own.repository, 1)[-1]
    own.connect(served).push([RefUpdate(LINE, None, first)])
    tips = [turns(own.repository, 1, after=first, name=name)[-1] for name in ("one", "two")]
    outcomes: list[str] = []

    def push(tip: str) -> None:
        (outcome,) = own.connect(served).push([RefUpdate(LINE, first, tip)])
        outcomes.append(outcome.code)

    threads = [threading.Thread(target=push, args=(tip,)) for tip in tips]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) in (["accepted", "moved"], ["accepted", "fetch_first"])
    assert head(served, LINE) in tips


def test_a_partial_clone_as_remote(own: Own, tmp_path: Path) -> None:
    """From a clone without file contents either all of it comes, or nothing, with a word."""
    source = make_repo(tmp_path / "source")
    tip = commit_all(source, files={"a": "a" * 1000})
    git("config", "uploadpack.allowFilter", "true", cwd=source)
    git("clone", "-q", "--bare", "--filter=blob:none", f"file://{source}", "part.git", cwd=tmp_path)
    (source / ".git").rename(source / "gone")
    with pytest.raises(RemoteError), own.connect(tmp_path / "part.git").fetch([tip]):
        raise AssertionError
    with pytest.raises(RemoteError), own.connect(tmp_path / "part.git", program=None).fetch([tip]):
        raise AssertionError
    assert own.is_clean()


def test_the_largest_pack_is_a_setting(own: Own, tmp_path: Path) -> None:
    """How large a pack may be that a machine takes is said by its configuration."""
    served = bare(tmp_path / "x.git")
    big = make_object("blob", os.urandom(2 << 20))
    with served.write_pack([big]):
        set_ref(served, "refs/big", big.id)
    own.repository.set_config("gitmem.sync.packMiB", "1")
    with pytest.raises(RemoteMisbehaved, match="1048576"), own.connect(tmp_path / "x.git").fetch([big.id]):
        raise AssertionError


def test_a_push_that_is_too_large(own: Own, tmp_path: Path) -> None:
    """A server that stops listening in the middle of a push has said why."""
    blob = make_object("blob", os.urandom(8 << 20))
    with own.repository.write_pack([blob]):
        pass
    update = RefUpdate("refs/big", None, blob.id)
    served = tmp_path / "x.git"
    bare(served)
    git("config", "receive.maxInputSize", "100k", cwd=served)
    (outcome,) = own.connect(served).push([update])
    assert outcome.code == "refused"
    assert "maximum allowed size" in outcome.reason
    refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"
    shown = (
        pkt(b"# service=git-receive-pack\n") + b"0000" + pkt(b"0" * 40 + b" capabilities^{}\0report-status\n")
    )
    kind = b"application/x-git-receive-pack-advertisement"
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind, len(shown) + 4)
    with (
        listening(saying(answer + shown + b"0000", refusal)) as port,
        pytest.raises(RemoteError, match="413 Too Large"),
    ):
        own.connect(f"http://127.0.0.1:{port}/a.git").push([update])


def test_settings_rewrite_urls(own: Own, tmp_path: Path) -> None:
    """`insteadOf` and `pushInsteadOf` lead elsewhere, but never to what runs a command."""
    bare(tmp_path / "a.git")
    bare(tmp_path / "b.git")
    own.repository.set_config(f"url.{tmp_path}/a.insteadOf", "mem:")
    own.repository.set_config(f"url.{tmp_path}/b.pushInsteadOf", "mem:")
    tip = turns(own.repository, 1)[-1]
    assert own.connect("mem:.git", pushing=True).push([RefUpdate(LINE, None, tip)])[0].accepted
    assert head(tmp_path / "b.git", LINE) == tip
    assert own.connect("mem:.git").refs().refs == {}
    own.repository.set_config("url.ext::sh -c touch% x;.insteadOf", "evil:")
    with pytest.raises(InvalidRemote):
        own.connect("evil:.git")


# Histories that are cut off.


def test_own_shallow_clone(tmp_path: Path) -> None:
    """OPEN-GIT-29: a shallow clone fetches and pushes what is above its edge."""
    served = tmp_path / "x.git"
    remote = bare(served)
    ids = turns(remote, 6)
    set_ref(remote, MAIN, ids[3])
    git("clone", "-q", "--depth=1", f"file://{served}", str(tmp_path / "shallow"), cwd=tmp_path)
    own = open_repository(find_layout(tmp_path / "shallow"))
    way = RemoteConnector(find_layout(tmp_path / "shallow")).connect(str(served), repository=own)
    set_ref(remote, MAIN, ids[5], old=ids[3])
    with way.fetch([ids[5]], [ids[3]]) as pack:
        assert pack.objects == 8
    more = turns(own, 1, after=ids[5], name="more")[-1]
    assert way.push([RefUpdate(MAIN, ids[5], more), RefUpdate(LINE, None, more)])[1].accepted
    assert head(served, MAIN) == more
    fsck(served)
    fsck(tmp_path / "shallow")


def test_shallow_remote(own: Own, tmp_path: Path) -> None:
    """From a remote whose history is cut off nothing comes that would be incomplete here, with a word why."""
    source = make_repo(tmp_path / "source")
    ids = [commit_all(source, f"c{number}", {"a": str(number)}) for number in range(4)]
    git("clone", "-q", "--bare", "--depth=1", f"file://{source}", str(tmp_path / "cut.git"), cwd=tmp_path)
    for settings in ({}, {"protocol.version": "0"}):
        for key, value in settings.items():
            git("config", key, value, cwd=tmp_path / "cut.git")
        with (
            pytest.raises(RemoteError, match=r"cut off|missing"),
            own.connect(tmp_path / "cut.git").fetch([ids[-1]]),
        ):
            raise AssertionError
    assert own.is_clean()
    with own.connect(source).fetch([ids[2]], []), pytest.MonkeyPatch.context():
        set_ref(own.repository, MAIN, ids[2])
    with own.connect(tmp_path / "cut.git").fetch([ids[-1]], [ids[2]]):
        set_ref(own.repository, MAIN, ids[-1], old=ids[2])
    fsck(own.path)


def test_a_tag_that_was_there_comes_no_more(own: Own, tmp_path: Path) -> None:
    """A push after the remote lost what it had: the tag and the turns behind it are sent again."""
    served = tmp_path / "x.git"
    bare(served)
    ids = turns(own.repository, 3)
    tag = tag_of(ids[1])
    with own.repository.write_pack([tag]):
        set_ref(own.repository, TAG, tag.id)
    way = own.connect(served)
    way.push([RefUpdate(LINE, None, ids[2]), RefUpdate(TAG, None, tag.id)])
    git("update-ref", "-d", LINE, cwd=served)
    git("update-ref", "-d", TAG, cwd=served)
    git("prune", "--expire=now", cwd=served)
    assert way.push([RefUpdate(TAG, None, tag.id)])[0].accepted
    fsck(served)


def test_a_server_that_dies(own: Own, tmp_path: Path) -> None:
    """A daemon that ends between two questions is found gone, and a new one is used."""
    (tmp_path / "served").mkdir()
    with git_daemon(tmp_path / "served") as server:
        server.make("a.git")
        remote = own.connect(server.url("a.git"))
        assert remote.refs().refs == {}
    with pytest.raises(RemoteUnreachable):
        remote.refs()
