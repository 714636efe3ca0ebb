"""Turn lines only grow and tags of episodes stay, here and on a server, while Git keeps house."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures import commit_all, git, head, run_git
from gitmem.home import AgentHome
from gitmem.hook_files import SERVER
from hooked import act, make_home, write_hook

#: Real Git in many states takes its time.
pytestmark = pytest.mark.slow


def tell(home: Path, count: int = 1) -> None:
    """Record turns."""
    with AgentHome.open(home) as opened:
        for number in range(count):
            opened.record([{"kind": "message", "role": "user", "text": f"message {number}"}])


def line_of(home: Path) -> str:
    """Return the full name of the turn line."""
    return git("for-each-ref", "--format=%(refname)", "refs/heads/gitmem/turns", cwd=home)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with hooks, three turns, and an episode's tag."""
    home = make_home(tmp_path / "aria")
    tell(home, 3)
    git("tag", "-a", "-m", "episode", "episode/e1", cwd=home)
    return home


@pytest.fixture(params=["loose", "packed"])
def kept(request: pytest.FixtureRequest, home: Path) -> Path:
    """The home, its refs as files or in packed-refs."""
    if request.param == "packed":
        git("pack-refs", "--all", "--prune", cwd=home)
        assert not list((home / ".git/refs/tags").iterdir())
    return home


def refs(home: Path) -> str:
    """Return all refs with their values."""
    return git("for-each-ref", "--format=%(refname) %(objectname)", cwd=home)


class TestHere:
    """The hook `reference-transaction`."""

    @pytest.mark.parametrize(
        "command",
        [
            "update-ref -d LINE",
            "update-ref -d LINE VALUE",
            "update-ref LINE LINE~1",
            "update-ref LINE main",
            "branch -D NAME",
            "branch -f NAME LINE~1",
            "branch -m NAME other",
            "tag -d episode/e1",
            "tag -f episode/e1 HEAD",
            "update-ref -d refs/tags/episode/e1",
        ],
    )
    def test_lines_and_tags_neither_move_back_nor_go(self, kept: Path, command: str) -> None:
        """Whatever the command: the refs are as they were, and one line says why and what to do."""
        line = line_of(kept)
        names = {"LINE": line, "LINE~1": f"{line}~1", "NAME": line[11:], "VALUE": head(kept, line)}
        before = refs(kept)
        done = run_git(*(names.get(word, word) for word in command.split()), cwd=kept)
        assert done.returncode != 0
        assert refs(kept) == before
        (said,) = [row for row in done.stderr.decode().splitlines() if row.startswith("gitmem: ")]
        assert "git -c core.hooksPath=/dev/null" in said
        tell(kept)

    @pytest.mark.parametrize(
        "command",
        ["branch -M main NAME", "branch -M NAME", "branch -f -m a/side NAME", "branch --move -f a/side NAME"],
    )
    def test_no_branch_is_lost_to_a_refused_rename(self, kept: Path, command: str) -> None:
        """[real case] Git deletes the old branch before it asks for the new one: branch and reflog stay."""
        name = line_of(kept)[11:]
        git("branch", "a/side", cwd=kept)
        before = refs(kept), git("reflog", "main", cwd=kept), git("reflog", "a/side", cwd=kept)
        done = run_git(*(name if word == "NAME" else word for word in command.split()), cwd=kept)
        assert done.returncode != 0
        assert (refs(kept), git("reflog", "main", cwd=kept), git("reflog", "a/side", cwd=kept)) == before
        assert b"git -c core.hooksPath=/dev/null" in done.stderr

    def test_branches_are_renamed_and_deleted_as_ever(self, kept: Path) -> None:
        """What has nothing to do with an existing turn line is let through, whatever its name."""
        git("branch", "gitmem/turns-of-mine", cwd=kept)
        git("branch", "-m", "gitmem/turns-of-mine", "x", cwd=kept)
        git("branch", "-M", "x", "gitmem/turns/w00000000-copy", cwd=kept)
        git("branch", "y", cwd=kept)
        git("branch", "-D", "y", cwd=kept)
        assert "refs/heads/y" not in refs(kept)
        assert "refs/heads/gitmem/turns/w00000000-copy" in refs(kept)

    def test_refs_are_packed_while_turns_go_on(self, home: Path) -> None:
        """[real case] Git packs the value that it read; the line may have grown since."""
        line = line_of(home)
        packed = f"{'0' * 40} {head(home, f'{line}~1')} {line}\n"
        hook = home / ".git/hooks/reference-transaction"
        lock = home / ".git/packed-refs.lock"
        for holds_lock in (True, False):
            if holds_lock:
                lock.touch()
            done = subprocess.run([hook, "prepared"], input=packed.encode(), cwd=home, check=False)
            assert (done.returncode == 0) == holds_lock
            lock.unlink(missing_ok=True)

    def test_many_at_once_are_judged_too(self, kept: Path) -> None:
        """A long transaction holds what a short one holds."""
        for number in range(30):
            git("tag", f"other/{number:02d}", cwd=kept)
        lines = [f"delete refs/tags/other/{number:02d}\n" for number in range(30)]
        for bad in ("delete refs/tags/episode/e1\n", f"update {line_of(kept)} {head(kept)}\n"):
            before = refs(kept)
            done = run_git("update-ref", "--stdin", cwd=kept, stdin="".join([*lines, bad]))
            assert done.returncode != 0
            assert refs(kept) == before
        git("update-ref", "--stdin", cwd=kept, stdin="".join(lines))
        for number in range(10):
            git("tag", f"episode/m{number}", cwd=kept)
        assert run_git("tag", "-d", *(f"episode/m{n}" for n in range(10)), cwd=kept).returncode != 0

    def test_growing_and_new_ones_are_let_through(self, kept: Path) -> None:
        """A fetched line that is ahead, a new line and a new tag are what these refs are for."""
        line = line_of(kept)
        tree = git("rev-parse", f"{line}^{{tree}}", cwd=kept)
        ahead = git("commit-tree", tree, "-p", line, "-m", "turn", cwd=kept)
        git("update-ref", line, ahead, cwd=kept)
        git("update-ref", "refs/heads/gitmem/turns/w00000000", ahead, cwd=kept)
        git("tag", "episode/e2", cwd=kept)
        git("update-ref", line, ahead, ahead, cwd=kept)

    def test_git_keeps_house(self, home: Path) -> None:
        """`gc` and `pack-refs` take away a loose ref that they have packed, which looks like deleting it."""
        for command in ("pack-refs --all --prune", "gc -q --prune=now", "gc -q --auto", "repack -adq"):
            before = refs(home)
            done = run_git(*command.split(), cwd=home)
            assert (done.returncode, done.stderr) == (0, b"")
            assert refs(home) == before
            tell(home)
            git("tag", "episode/" + command.replace(" ", "_"), cwd=home)
        git("pack-refs", "--all", "--prune", cwd=home)
        assert not [path for path in (home / ".git/refs/heads").rglob("*") if path.is_file()]
        done = run_git("tag", "-d", "episode/e1", cwd=home)
        assert done.returncode != 0

    def test_what_is_not_gitmems_is_the_operators(self, home: Path) -> None:
        """Branches, tags and remote branches come and go as ever."""
        git("branch", "x", cwd=home)
        git("branch", "-D", "x", cwd=home)
        git("tag", "v1", cwd=home)
        git("tag", "-f", "v1", "HEAD", cwd=home)
        git("tag", "-d", "v1", cwd=home)
        line = line_of(home)
        git("update-ref", "refs/remotes/o/gitmem/turns/w00000000", line, cwd=home)
        git("update-ref", "refs/remotes/o/gitmem/turns/w00000000", f"{line}~1", cwd=home)
        git("update-ref", "-d", "refs/remotes/o/gitmem/turns/w00000000", cwd=home)
        git("update-ref", "refs/gitmem/rescue/x", line, cwd=home)
        git("update-ref", "-d", "refs/gitmem/rescue/x", cwd=home)

    def test_the_operator_has_the_last_word(self, home: Path) -> None:
        """Without hooks Git does what it is told, with Git's own option or after `hooks uninstall`."""
        git("-c", "core.hooksPath=/dev/null", "tag", "-d", "episode/e1", cwd=home)
        act(home, "uninstall")
        git("branch", "-D", line_of(home)[11:], cwd=home)

    def test_a_transaction_costs_next_to_nothing(self, home: Path) -> None:
        """Under 15 ms with the start of the process, the best of some: each move of a ref runs it."""
        hook = home / ".git/hooks/reference-transaction"
        zero, value = "0" * 40, head(home)

        def seconds(state: str, count: int) -> float:
            lines = "".join(f"{zero} {value} refs/heads/b{n}\n" for n in range(count)).encode()
            began = time.perf_counter()
            subprocess.run([hook, state], input=lines, cwd=home, check=True)
            return time.perf_counter() - began

        for state, count in (("prepared", 2), ("committed", 2), ("prepared", 1000)):
            assert min(seconds(state, count) for _ in range(7)) < 0.015

    def test_a_fetch_that_forces_tags(self, home: Path, tmp_path: Path) -> None:
        """OPEN-GIT-04: a fetch does not move an episode's tag, whatever refspec it was given."""
        git("clone", "-q", "--bare", str(home), str(tmp_path / "o.git"), cwd=tmp_path)
        git("tag", "-f", "-am", "moved", "episode/e1", "HEAD", cwd=tmp_path / "o.git", env=_WHO)
        before = refs(home)
        for options in (["--force", "--tags"], ["--prune", "--no-tags"]):
            url = str(tmp_path / "o.git")
            run_git("fetch", "-q", *options, url, "+refs/tags/*:refs/tags/*", cwd=home)
            assert refs(home) == before


_WHO = {f"GIT_{who}_{what}": "o@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


class TestPush:
    """The hook `pre-push`."""

    def test_it_says_what_stays_behind_and_never_says_no(self, home: Path, tmp_path: Path) -> None:
        """One line, as long as there is something; where nothing is sent by itself, with what sends it."""
        git("config", "gitmem.sync.afterPush", "false", cwd=home)
        git("init", "-q", "--bare", "-b", "main", str(tmp_path / "o.git"), cwd=tmp_path)
        git("remote", "add", "origin", str(tmp_path / "o.git"), cwd=home)

        def said(*args: str) -> list[str]:
            done = run_git("-c", "push.followTags=false", "push", *args, cwd=home)
            assert done.returncode == 0
            return [row for row in done.stderr.decode().splitlines() if row.startswith("gitmem: ")]

        commit_all(home, "more", {"notes/a.md": "a\n"})
        (line,) = said("origin", "main")
        assert line.startswith("gitmem: origin lacks 3 turns; to send them: git push origin ")
        git("tag", "-a", "-m", "e", "episode/e2", f"{line_of(home)}", cwd=home)
        commit_all(home, "more", {"notes/a.md": "b\n"})
        (line,) = said("origin", "main")
        assert line.startswith("gitmem: origin lacks 3 turns and 1 episode tag; ")
        assert said("origin", "refs/heads/gitmem/turns/*", "refs/tags/episode/*") == []
        commit_all(home, "more", {"notes/a.md": "c\n"})
        assert said("origin", "main") == []
        tell(home)
        commit_all(home, "more", {"notes/a.md": "d\n"})
        (line,) = said("file://user:password@/" + str(tmp_path / "o.git"), "main")
        assert "password" not in line
        assert said("origin", "--delete", "refs/tags/episode/e2") != []


class TestServer:
    """The hook `update` in a bare repository."""

    @pytest.fixture(params=["with gitmem", "without gitmem"])
    def push(self, request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Callable[..., str]:
        """Push to a server with the hook; returns what gitmem said there, empty where it took the push."""
        bare = tmp_path / "o.git"
        git("init", "-q", "--bare", "-b", "main", str(bare), cwd=tmp_path)
        python = {} if request.param == "with gitmem" else {"python": "/nonexistent/python3"}
        act(bare, "install", names=SERVER, **python)
        write_hook(bare / "hooks" / "post-update", "#!/bin/sh\n")

        def push(*args: str) -> str:
            done = run_git("-c", "push.followTags=false", "push", "-q", str(bare), *args, cwd=home)
            rows = [row for row in done.stderr.decode().splitlines() if row.startswith("remote: gitmem: ")]
            assert (done.returncode == 0) == (not rows), done.stderr
            return "\n".join(rows)

        push.with_gitmem = request.param == "with gitmem"  # type: ignore[attr-defined]
        return push

    def test_growing_is_taken(self, home: Path, push: Callable[..., str]) -> None:
        """New lines, longer lines, new tags, and whatever is not gitmem's."""
        line = line_of(home)
        assert push("main", f"{line}~1:{line}", "episode/e1") == ""
        assert push(line) == ""
        assert push("--force", "HEAD~0:refs/heads/other") == ""
        assert push("--delete", "refs/heads/other") == ""

    def test_shrinking_is_not(self, home: Path, push: Callable[..., str]) -> None:
        """A line that is set back, deleted or replaced, and a tag that moves or goes, with force too."""
        line = line_of(home)
        assert push(line, "episode/e1") == ""
        assert "only grows" in push("--force", f"{line}~1:{line}")
        assert "only grows" in push("--force", f"main:{line}")
        assert "is not deleted" in push("--delete", line)
        assert "does not move" in push("--force", "main:refs/tags/episode/e1")
        assert "does not move" in push("--delete", "refs/tags/episode/e1")

    def test_a_line_that_another_contains_may_go(self, home: Path, push: Callable[..., str]) -> None:
        """[W4] Nothing is lost with it."""
        line = line_of(home)
        assert push(line, f"{line}~1:refs/heads/gitmem/turns/w00000000") == ""
        assert "is not deleted" in push("--delete", line)
        assert push("--delete", "refs/heads/gitmem/turns/w00000000") == ""

    @pytest.mark.parametrize("harm", ["delete", "cut", "reword"])
    def test_a_fast_forward_that_loses_lines(self, home: Path, push: Callable[..., str], harm: str) -> None:
        """[V3] A descendant that deletes the ledger's lines is refused where gitmem can look inside."""
        line = line_of(home)
        assert push(line) == ""
        segment = git("ls-tree", "-r", "--name-only", line, cwd=home)
        content = (home / segment).read_bytes()
        rows = content.splitlines(keepends=True)
        changed = {
            "delete": None,
            "cut": b"".join(rows[1:]),
            "reword": content.replace(b"message 1", b"message 7"),
        }[harm]
        bad = commit_with(home, line, segment, changed)
        said = push(f"{bad}:{line}")
        if push.with_gitmem:  # type: ignore[attr-defined]
            assert segment in said
            assert "message" not in said.replace("a message", "")
        else:
            assert said == ""


def commit_with(home: Path, line: str, path: str, content: bytes | None) -> str:
    """Return a commit at the end of a turn line in which one file is gone or other."""
    env = {"GIT_INDEX_FILE": str(home.parent / "index")}
    git("read-tree", line, cwd=home, env=env)
    if content is None:
        git("update-index", "--force-remove", path, cwd=home, env=env)
    else:
        blob = git("hash-object", "-w", "--stdin", stdin=content, cwd=home)
        git("update-index", "--cacheinfo", f"100644,{blob},{path}", cwd=home, env=env)
    tree = git("write-tree", cwd=home, env=env)
    return git("commit-tree", tree, "-p", line, "-m", "turn", cwd=home)
