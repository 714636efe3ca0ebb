"""Every way to a remote keeps the contract, against the real servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.remote_repository_contract import Peers, RemoteRepositoryContract
from fixtures import fsck
from git_servers import GitServer, git_daemon, http_server, nginx_server, ssh_server
from gitmem.backends.dulwich_repository import DulwichRepository, init_repository, open_repository
from gitmem.git_transport.connect import RemoteConnector
from gitmem.layout import Layout, find_layout
from gitmem.remote_repository import RemoteRepository

pytestmark = pytest.mark.usefixtures("no_proxy")


def peers_of(server: GitServer, tmp_path: Path, program: str | None = "git") -> Iterator[Peers]:
    """Make two empty repositories and the way between them; at the end both are sound."""
    name = f"{tmp_path.name}.git"
    served = server.make(name)
    init_repository(tmp_path / "own")
    own = open_repository(find_layout(tmp_path / "own"))
    for key, value in server.settings.items():
        own.set_config(key, value)
    remote = DulwichRepository(Layout(served, served, served))
    connector = RemoteConnector(find_layout(tmp_path / "own"), program)
    opened: list[RemoteRepository] = []

    def connect(url: str) -> RemoteRepository:
        opened.append(connector.connect(url, repository=own))
        return opened[-1]

    yield Peers(own, remote, lambda: connect(server.url(name)), lambda: connect(server.url("nowhere.git")))
    for one in opened:
        one.close()
    own.close()
    remote.close()
    fsck(tmp_path / "own")
    fsck(served)
    packs = tmp_path / "own" / ".git" / "objects" / "pack"
    assert not [path for path in packs.iterdir() if path.suffix not in (".pack", ".idx")]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServer]:
    """Git's own daemon."""
    with git_daemon(tmp_path_factory.mktemp("daemon")) as server:
        yield server


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServer]:
    """A small web server."""
    with http_server(tmp_path_factory.mktemp("web")) as server:
        yield server


@pytest.fixture(scope="module")
def old_web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServer]:
    """A small web server before a Git of old."""
    with http_server(tmp_path_factory.mktemp("old"), old=True) as server:
        yield server


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServer]:
    """A real one."""
    with nginx_server(tmp_path_factory.mktemp("nginx")) as server:
        yield server


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServer]:
    """The SSH daemon."""
    with ssh_server(tmp_path_factory.mktemp("sshd")) as server:
        yield server


class TestPath(RemoteRepositoryContract):
    """A folder of this machine, through Git's own services."""

    @pytest.fixture
    def peers(self, tmp_path: Path) -> Iterator[Peers]:
        """Two empty repositories."""
        yield from peers_of(GitServer(tmp_path, f"{tmp_path}/"), tmp_path)


class TestPathWithoutGit(RemoteRepositoryContract):
    """A folder of this machine where Git is not installed."""

    @pytest.fixture
    def peers(self, tmp_path: Path) -> Iterator[Peers]:
        """Two empty repositories."""
        yield from peers_of(GitServer(tmp_path, f"{tmp_path}/"), tmp_path, None)


@pytest.mark.slow
class TestFileUrl(RemoteRepositoryContract):
    """A folder of this machine by its URL."""

    @pytest.fixture
    def peers(self, tmp_path: Path) -> Iterator[Peers]:
        """Two empty repositories."""
        yield from peers_of(GitServer(tmp_path, f"file://{tmp_path}/"), tmp_path)


class TestGitDaemon(RemoteRepositoryContract):
    """Git's own daemon."""

    @pytest.fixture
    def peers(self, daemon: GitServer, tmp_path: Path) -> Iterator[Peers]:
        """Two empty repositories."""
        yield from peers_of(daemon, tmp_path)


class TestHttp(RemoteRepositoryContract):
    """Git's own HTTP backend."""

    @pytest.fixture
    def peers(self, web: GitServer, tmp_path: Path) -> Iterator[Peers]:
        """Two empty repositories."""
        yield from peers_of(web, tmp_path)


class TestOldHttp(RemoteRepositoryContract):
    """Git's own HTTP backend in the first version of its protocol."""

    @pytest.fixture
    def peers(self, old_web: GitServer, tmp_path: Path) -> Iterator[Peers]:
        """Two empty repositories."""
        yield from peers_of(old_web, tmp_path)


class TestNginx(RemoteRepositoryContract):
    """Git's own HTTP backend behind nginx."""

    @pytest.fixture
    def peers(self, nginx: GitServer, tmp_path: Path) -> Iterator[Peers]:
        """Two empty repositories."""
        yield from peers_of(nginx, tmp_path)


@pytest.mark.slow
class TestSsh(RemoteRepositoryContract):
    """The SSH daemon."""

    @pytest.fixture
    def peers(self, sshd: GitServer, tmp_path: Path) -> Iterator[Peers]:
        """Two empty repositories."""
        yield from peers_of(sshd, tmp_path)
