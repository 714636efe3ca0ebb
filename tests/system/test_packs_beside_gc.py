"""Turns written and packs merged as fast as they come, beside git's own housekeeping in tight loops."""

from __future__ import annotations

import multiprocessing
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from contract.repository_contract import WHO
from fixtures import commit_all, fsck, git, make_repo, run_git
from gitmem.backends.dulwich_repository import open_repository
from gitmem.git_objects import make_commit, make_object, make_tree
from gitmem.layout import find_layout
from gitmem.pack_maintenance import merge_packs
from gitmem.repository import ABSENT, FILE_MODE, TREE_MODE, TreeEntry

SECONDS = float(os.environ.get("STRESS_SECONDS", "4"))
LOOPS = {
    "gc": [["gc", "-q", "--prune=now"]],
    "prune": [["prune", "--expire=now"], ["prune-packed"]],
    "repack": [["repack", "-q", "-a", "-d"], ["pack-refs", "--all"]],
    "maintenance": [
        ["multi-pack-index", "write"],
        ["repack", "-q", "-d", "--geometric=2"],
        ["pack-refs", "--all"],
    ],
}

#: What git says of a damaged store. That a pack vanished between two of its looks it says otherwise; it does
#: so beside its own `git repack` too.
DAMAGE = re.compile("missing|corrupt|broken|bad object|bad tree|unable to read|could not read|not a valid")

pytestmark = pytest.mark.slow


def write_turns(root: Path, writer: str, until: float, turns: Any) -> None:
    """Commit turns on one line until the time is over, merging packs as a home does; report each id."""
    layout = find_layout(root)
    repository = open_repository(layout)
    ref, tip, segment = f"refs/heads/gitmem/turns/{writer}", ABSENT, b""
    count = 0
    while time.monotonic() < until:
        segment = segment[-40_000:] + os.urandom(400).hex().encode() + b"\n"
        blob = make_object("blob", segment)
        inner = make_tree([TreeEntry(f"{writer}-0001.jsonl", FILE_MODE, blob.id)])
        tree = make_tree([TreeEntry("ledger", TREE_MODE, inner.id)])
        parents = [] if tip == ABSENT else [tip]
        commit = make_commit(
            tree=tree.id,
            parents=parents,
            author=WHO,
            committer=WHO,
            seconds=1_772_442_000 + count,
            message="turn\n",
        )
        with repository.write_pack([blob, inner, tree, commit]):
            repository.move_ref(ref, old=tip, new=commit.id, message="turn", who=WHO)
        tip = commit.id
        count += 1
        merge_packs(layout)
    turns.put((ref, tip, count))
    repository.close()


@contextmanager
def git_in_loops(repo: Path, commands: Sequence[Sequence[str]], said: list[str]) -> Iterator[None]:
    """Run git commands over and over in the background; collect what they complain about."""
    stop = threading.Event()

    def loop() -> None:
        while not stop.is_set():
            for command in commands:
                done = run_git(*command, cwd=repo)
                if done.returncode:
                    said.append(f"{command}: {done.stderr.decode()}")

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def read_until(root: Path, line: str, stopped: Callable[[], bool]) -> int:
    """Read the newest turn of a line over and over with one long-lived reader; return how often."""
    reader = open_repository(find_layout(root))
    reads = 0
    while not stopped():
        tip = reader.read_ref(line)
        if tip is None:
            continue
        reader._recent.clear()
        for _, commit in zip(range(5), reader.walk_first_parents(tip), strict=False):
            tree = reader.read_tree(commit.tree)
            inner = reader.read_tree(tree[0].id)
            assert reader.read(inner[0].id)[0] == "blob"
            reads += 1
    reader.close()
    return reads


@pytest.mark.parametrize("loop", LOOPS)
def test_nothing_is_lost_beside_git(tmp_path: Path, loop: str) -> None:
    """Writers, a reader and git at full speed: every turn is there, and git finds no fault."""
    repo = make_repo(tmp_path / "home")
    commit_all(repo, "one", {"notes/a.md": "a\n"})
    context = multiprocessing.get_context("spawn")
    turns = context.Queue()
    until = time.monotonic() + SECONDS
    writers = [
        context.Process(target=write_turns, args=(repo, writer, until, turns))
        for writer in ("w0000000a", "w0000000b")
    ]
    said: list[str] = []
    with git_in_loops(repo, LOOPS[loop], said):
        for writer in writers:
            writer.start()
        reads = read_until(repo, "refs/heads/gitmem/turns/w0000000a", lambda: time.monotonic() >= until)
        results = [turns.get(timeout=60) for _ in writers]
        for writer in writers:
            writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert reads > 0
    assert not [words for words in said if DAMAGE.search(words)]
    for ref, tip, count in results:
        assert git("rev-parse", ref, cwd=repo) == tip
        assert git("rev-list", "--count", ref, cwd=repo) == str(count)
    fsck(repo)
    for words in LOOPS[loop]:
        git(*words, cwd=repo)
    git("gc", "-q", "--prune=now", cwd=repo)
    fsck(repo)
