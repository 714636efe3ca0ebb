"""Repositories for tests of remotes, and servers that say what they are told to."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from contract.remote_repository_contract import LINE, everything, turns
from contract.repository_contract import WHO
from fixtures import git, head, make_repo
from gitmem.backends.dulwich_repository import DulwichRepository, open_repository
from gitmem.git_objects import make_object
from gitmem.git_transport.connect import RemoteConnector
from gitmem.layout import Layout, find_layout
from gitmem.pack_format import build_pack, whole_entry
from gitmem.remote_repository import RemoteRepository, TransferLimits


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


def history(path: Path, commits: int) -> str:
    """Make a long line in a bare repository and return its tip."""
    pieces = []
    for number in range(commits):
        text = f"{'x' * 2000}{number}\n"
        pieces.append(f"commit {LINE}\ncommitter {WHO} {1_772_442_000 + number} +0000\ndata 2\nt\n")
        pieces.append(f"M 100644 inline a/{number // 50}/{number}\ndata {len(text)}\n{text}\n")
    git("fast-import", "--quiet", cwd=path, stdin="".join(pieces))
    return head(path, LINE)


def commit_pack(repository: DulwichRepository, *leave_out: str) -> tuple[str, bytes]:
    """Return a commit and the pack of its history, without objects of some kinds."""
    tip = turns(repository, 2)[-1]
    kept = [
        (object_id, repository.read(object_id))
        for object_id in everything(repository, tip)
        if repository.read(object_id)[0] not in leave_out or object_id == tip
    ]
    return tip, build_pack([whole_entry(make_object(kind, body)) for _, (kind, body) in kept]).content
