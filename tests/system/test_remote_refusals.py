"""What a remote does not want, or is not to want: refused with its own words, and never forced."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from contract.remote_repository_contract import LINE, MAIN, set_ref, turns
from fixtures import commit_all, fsck, git, head, make_repo
from gitmem.backends.dulwich_repository import open_repository
from gitmem.errors import (
    InvalidRemote,
    RemoteDenied,
    RemoteError,
)
from gitmem.git_objects import make_object
from gitmem.layout import find_layout
from gitmem.remote_repository import RefUpdate
from remote_peers import (
    Own,
    bare,
    history,
    listening,
    pkt,
    saying,
)

pytestmark = pytest.mark.usefixtures("no_proxy")

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
            assert process.stdout.readline() == b"\n"  # it has begun
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
