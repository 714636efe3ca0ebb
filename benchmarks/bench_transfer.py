"""What one new turn costs on its way to another machine, against plain `git fetch && git push`, in one run.

    python benchmarks/bench_transfer.py [--commits 5000 20000 50000] [--tags 0] [--rounds 15]
                                        [--ways path git http ssh]

Each round: another machine's turn line has one new turn on the remote, and the own line one that the remote
lacks. gitmem, in a process that runs already, asks for the refs, fetches the one and pushes the other; Git
does the same with its two commands, in another clone with a remote of its own. Both take turns. Prints
Markdown: medians, and how gitmem compares; the goal is 1.2 at most, whatever the length of history.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from git_servers import GitServer, git_daemon, http_server, nginx_server, ssh_server
from gitmem.backends.dulwich_repository import DulwichRepository, open_repository
from gitmem.git_objects import make_commit, make_object, make_tree
from gitmem.git_transport.connect import RemoteConnector
from gitmem.layout import Layout, find_layout
from gitmem.pack_maintenance import merge_packs
from gitmem.remote_repository import RefUpdate
from gitmem.repository import ABSENT, FILE_MODE, TREE_MODE, GitObject, TreeEntry

LINES = "refs/heads/gitmem/turns/"
OWN, OTHER = f"{LINES}w00000001", f"{LINES}w00000002"
WHO = "aria <aria@example.com>"
PER_SEGMENT, PER_DAY = 200, 400
LINE = b'{"ts":"2026-03-02T09:00:00Z","kind":"message","body":{"text":"restart staging number %08d"}}\n'


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--commits", type=int, nargs="+", default=[5_000, 20_000, 50_000])
    parser.add_argument("--tags", type=int, default=0, help="of episodes, on both sides")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--ways", nargs="+", default=list(WAYS))
    options = parser.parse_args()
    print("| commits | way | fetch | push | both | git fetch | git push | both | gitmem to git |")
    print("|---|---|---|---|---|---|---|---|---|")
    for commits in options.commits:
        with tempfile.TemporaryDirectory(prefix="bench-transfer-") as folder:
            measure(Path(folder), commits, options)


def measure(folder: Path, commits: int, options: argparse.Namespace) -> None:
    """Build one history, and send turns over each way."""
    served = folder / "served"
    served.mkdir()
    build(served / "ours.git", commits, options.tags)
    shutil.copytree(served / "ours.git", served / "theirs.git")
    ours = Pair.make(folder / "ours", served / "ours.git")
    theirs = Pair.make(folder / "theirs", served / "theirs.git")
    for way in options.ways:
        with WAYS[way](served) as server:
            ours.point_at(server, "ours.git")
            theirs.point_at(server, "theirs.git")
            rows = [(by_gitmem(ours, server.url("ours.git")), by_git(theirs)) for _ in range(options.rounds)]
        report(commits, way, rows)


@dataclass
class Pair:
    """A clone and its remote, both with two turn lines of the same history."""

    clone: Path
    own: DulwichRepository
    remote: DulwichRepository
    number: int = 1_000_000

    @classmethod
    def make(cls, clone: Path, served: Path) -> Pair:
        """Clone a remote, with both lines."""
        git("clone", "-q", "--no-checkout", str(served), str(clone), cwd=served)
        git("update-ref", OWN, f"refs/remotes/origin/{OWN.removeprefix('refs/heads/')}", cwd=clone)
        for repository in (clone, served):
            for key in ("gc.auto", "maintenance.auto", "receive.autogc"):
                git("config", key, "0" if key == "gc.auto" else "false", cwd=repository)
        return cls(
            clone, open_repository(find_layout(clone)), DulwichRepository(Layout(served, served, served))
        )

    def point_at(self, server: GitServer, name: str) -> None:
        """Let `origin` be reached by a server."""
        git("config", "remote.origin.url", server.url(name), cwd=self.clone)
        for key, value in server.settings.items():
            git("config", key, value, cwd=self.clone)

    def new_turns(self) -> None:
        """Put one turn on the own line here, and one on the other line there."""
        self.number += 1
        turn(self.own, OWN, self.number)
        turn(self.remote, OTHER, self.number)
        merge_packs(find_layout(self.clone))


def by_gitmem(pair: Pair, url: str) -> tuple[float, float]:
    """Return the seconds of a fetch and of a push."""
    pair.new_turns()
    here = f"refs/remotes/origin/{OTHER.removeprefix('refs/heads/')}"
    known = [value for value in (pair.own.read_ref(here), pair.own.read_ref(OWN)) if value]
    began = time.perf_counter()
    remote = RemoteConnector(find_layout(pair.clone)).connect(url, repository=pair.own)
    shown = remote.refs([LINES]).refs
    with remote.fetch([shown[OTHER]], known):
        pair.own.move_ref(here, old=known[0], new=shown[OTHER], message="fetch", who=WHO)
    fetched = time.perf_counter()
    (outcome,) = remote.push([RefUpdate(OWN, shown[OWN], pair.own.read_ref(OWN))])
    remote.close()
    pushed = time.perf_counter()
    if not outcome.accepted:
        raise SystemExit(outcome.reason)
    return fetched - began, pushed - fetched


def by_git(pair: Pair) -> tuple[float, float]:
    """Return the seconds of the same by Git."""
    pair.new_turns()
    began = time.perf_counter()
    git("fetch", "-q", "origin", cwd=pair.clone)
    fetched = time.perf_counter()
    git("push", "-q", "origin", OWN, cwd=pair.clone)
    return fetched - began, time.perf_counter() - fetched


def report(commits: int, way: str, rows: list[tuple[tuple[float, float], tuple[float, float]]]) -> None:
    """Print one row."""
    sides = [[statistics.median(row[side][step] for row in rows) for step in (0, 1)] for side in (0, 1)]
    both = [statistics.median(sum(row[side]) for row in rows) for side in (0, 1)]
    shown = [f"{value * 1000:.0f} ms" for value in (*sides[0], both[0], *sides[1], both[1])]
    print(f"| {commits:,} | {way} | {' | '.join(shown)} | {both[0] / both[1]:.2f} |", flush=True)


def turn(repository: DulwichRepository, line: str, number: int) -> None:
    """Add one turn to a line, as a turn adds it: a segment that grew, its folders, a commit."""
    old = repository.read_ref(line)
    day = make_object("blob", LINE % number * (1 + number % PER_SEGMENT))
    folders = make_tree([TreeEntry("01", TREE_MODE, (inner := segment(day, line)).id)])
    ledger = make_tree([TreeEntry("2027-01", TREE_MODE, folders.id)])
    top = make_tree([*kept(repository, old), TreeEntry("ledger", TREE_MODE, ledger.id)])
    commit = make_commit(
        tree=top.id,
        parents=[old] if old else [],
        author=WHO,
        committer=WHO,
        seconds=1_800_000_000 + number,
        message=f"turn {number}: 1 message\n",
    )
    with repository.write_pack([day, inner, folders, ledger, top, commit]):
        repository.move_ref(line, old=old or ABSENT, new=commit.id, message="turn", who=WHO)


def segment(blob: GitObject, line: str) -> GitObject:
    """Return the folder of a day."""
    return make_tree([TreeEntry(f"{line.rpartition('/')[2]}-0001.jsonl", FILE_MODE, blob.id)])


def kept(repository: DulwichRepository, commit: str | None) -> list[TreeEntry]:
    """Return what a turn does not touch: the ledger of before, under another name."""
    if commit is None:
        return []
    entries = repository.read_tree(repository.read_commit(commit).tree)
    return [TreeEntry("before", e.mode, e.id) for e in entries if e.name in ("before", "ledger")][:1]


def build(path: Path, commits: int, tags: int = 0) -> None:
    """Make a bare repository with a line of so many turns, and a second one that is one shorter."""
    path.mkdir()
    git("init", "-q", "--bare", "-b", "main", ".", cwd=path)
    git("config", "http.receivepack", "true", cwd=path)
    process = subprocess.Popen(
        ["git", "fast-import", "--quiet", "--depth=10"], cwd=path, stdin=subprocess.PIPE
    )
    assert process.stdin is not None
    for piece in history(commits):
        process.stdin.write(piece)
    for number in range(tags):
        name = b"episode/%d" % number
        process.stdin.write(
            b"tag %s\nfrom %s\ntagger %s 1772442000 +0000\n" % (name, OWN.encode(), WHO.encode())
        )
        process.stdin.write(b"data 1\n.\n")
    process.stdin.close()
    if process.wait() != 0:
        raise SystemExit("git fast-import failed")
    git("update-ref", OTHER, f"{OWN}~1", cwd=path)
    git("update-ref", "refs/heads/main", f"{OWN}~{commits - 1}", cwd=path)
    git("pack-refs", "--all", cwd=path)


def history(commits: int) -> Iterator[bytes]:
    """Yield what `git fast-import` makes a ledger of."""
    for number in range(commits):
        start = number - number % PER_SEGMENT
        content = b"".join(LINE % n for n in range(start, number + 1))
        day = number // PER_DAY
        name = (
            f"ledger/2026-{1 + day // 28 % 12:02}/{1 + day % 28:02}/w00000001-{start // PER_SEGMENT:04}.jsonl"
        )
        message = b"turn %d: 1 message\n" % number
        yield b"commit %s\ncommitter %s %d +0000\n" % (OWN.encode(), WHO.encode(), 1_772_442_000 + number)
        yield b"data %d\n%s" % (len(message), message)
        yield b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(content), content)


def git(*arguments: str, cwd: Path) -> None:
    """Run Git."""
    subprocess.run(["git", *arguments], cwd=cwd, check=True)


@contextmanager
def by_path(root: Path) -> Iterator[GitServer]:
    """Serve folders of this machine."""
    yield GitServer(root, f"{root}/")


def web(root: Path) -> AbstractContextManager[GitServer]:
    """Serve by nginx where it is installed."""
    installed = shutil.which("nginx", path="/usr/sbin:/usr/bin") and shutil.which(
        "fcgiwrap", path="/usr/sbin"
    )
    return nginx_server(root) if installed else http_server(root)


WAYS: dict[str, Callable[[Path], AbstractContextManager[GitServer]]] = {
    "path": by_path,
    "git": git_daemon,
    "http": web,
    "ssh": ssh_server,
}

if __name__ == "__main__":
    main()
