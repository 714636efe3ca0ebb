"""The `memory` tool beside an operator and plain git: every state, every editor, many processes."""

from __future__ import annotations

import multiprocessing
import random
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from branches import changed_in, staged, status
from homes import new_home

from fixtures import commit_all, fsck, git, head, run_git, set_identity, show, write_files
from gitmem import AgentHome

#: Real Git in many states takes its time.
pytestmark = pytest.mark.slow

PATH = "memory/MEMORY.md"
ONE_TWO = "one\n§\ntwo\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A home with two entries and an operator."""
    root = tmp_path / "home"
    with new_home(root) as home:
        home.memory(operations=[{"action": "add", "content": text} for text in ("one", "two")])
    set_identity(root)
    return root


@pytest.fixture
def home(repo: Path) -> Iterator[AgentHome]:
    """It, open."""
    with AgentHome.open(repo) as home:
        yield home


def on_disk(repo: Path) -> str:
    """Return the store as it is on disk."""
    return (repo / PATH).read_text("utf-8")


class TestStates:
    """What the operator has under way is left as it was, and nothing that was acknowledged is lost."""

    def test_an_edit_is_committed_first_as_the_operators(self, repo: Path, home: AgentHome) -> None:
        """An editor's change is an ordinary one: it stays, under its author's name, below the agent's."""
        write_files(repo, {PATH: "one\n§\ntwo\n§\nby hand\n"})
        reply = home.memory("replace", content="2", old_text="two")
        assert reply.committed == head(repo)
        assert on_disk(repo) == show(repo, PATH) == "one\n§\n2\n§\nby hand\n"
        assert show(repo, PATH, "HEAD~1") == "one\n§\ntwo\n§\nby hand\n"
        found = git("log", "-2", "--format=%an|%s", cwd=repo).split("\n")
        assert found == ["aria|memory: ~ 1 entry (0 %)", "Olivia Operator|found: memory/MEMORY.md"]

    def test_prose_under_an_entry_is_reported_and_in_history(self, repo: Path, home: AgentHome) -> None:
        """An entry is replaced whole; what a person had put under it is told, and one command away."""
        write_files(repo, {PATH: "one\n§\ntwo\nand why: because\n"})
        reply = home.memory("replace", content="2", old_text="two")
        assert reply.replaced_entry == "two\nand why: because"
        assert "and why: because" in show(repo, PATH, "HEAD~1")

    def test_what_a_person_committed_is_not_rewritten(self, repo: Path, home: AgentHome) -> None:
        """A secret that its author put on the branch on purpose is theirs; no other call blots it out."""
        text = f"one\n§\nthe test key is {'AKIA' + 'ABCDEFGHIJKLMNOP'}\n"
        write_files(repo, {PATH: text})
        git("commit", "-q", "--no-verify", "-m", "a key for tests", "--", PATH, cwd=repo)
        assert home.memory("add", content="three").committed
        assert on_disk(repo) == show(repo, PATH) == text + "§\nthree\n"

    def test_other_files_are_left_alone(self, repo: Path, home: AgentHome) -> None:
        """What is staged and edited elsewhere stays staged and edited."""
        write_files(repo, {"notes/a.md": "staged\n", "src.c": "edited\n"})
        git("add", "notes/a.md", cwd=repo)
        before = status(repo)
        reply = home.memory("add", content="three")
        assert changed_in(repo, str(reply.committed)) == [PATH]
        assert status(repo) == before

    def test_a_staged_edit_of_the_store(self, repo: Path, home: AgentHome) -> None:
        """An edit that is staged is committed as the operator's, and the staging area follows."""
        write_files(repo, {PATH: "one\n§\ntwo\n§\nstaged\n"})
        git("add", PATH, cwd=repo)
        assert home.memory("add", content="three").committed
        assert status(repo) == ""
        assert show(repo, PATH) == "one\n§\ntwo\n§\nstaged\n§\nthree\n"

    def test_a_partly_staged_store_waits(self, repo: Path, home: AgentHome) -> None:
        """Half of a file is the operator's to commit; the agent's change is on disk and comes later."""
        write_files(repo, {PATH: "one\n§\ntwo\n§\nstaged\n"})
        git("add", PATH, cwd=repo)
        write_files(repo, {PATH: "one\n§\ntwo\n§\nstaged\n§\nnot\n"})
        reply = home.memory("add", content="three")
        assert (reply.success, reply.committed) == (True, None)
        assert "partly staged" in (reply.reason or "")
        assert git("show", f":{PATH}", cwd=repo) == "one\n§\ntwo\n§\nstaged"
        git("commit", "-qm", "half", cwd=repo)
        home.memory("add", content="four")
        assert show(repo, PATH) == "one\n§\ntwo\n§\nstaged\n§\nnot\n§\nthree\n§\nfour\n"

    @pytest.mark.parametrize("state", ["merge", "rebase", "detached", "locked", "other branch"])
    def test_calls_stack_while_the_branch_cannot_take_them(
        self, repo: Path, home: AgentHome, state: str
    ) -> None:
        """Every call sees the one before it, says why it waits, and is committed once the state clears."""
        leave = STATES[state](repo)
        index = staged(repo)
        replies = [
            home.memory("add", content="three"),
            home.memory("replace", content="2", old_text="two"),
            home.memory("add", content="four"),
            home.memory("remove", old_text="three"),
            home.memory("add", content="four"),
        ]
        assert all(reply.success and reply.committed is None and reply.reason for reply in replies)
        assert home.entries("memory").texts == ["one", "2", "four"]
        assert staged(repo) == index
        leave()
        with AgentHome.open(repo) as later:
            assert later.status().pending == []
            assert later.memory("add", content="five").committed
        assert on_disk(repo) == show(repo, PATH) == "one\n§\n2\n§\nfour\n§\nfive\n"
        assert status(repo) == ""
        fsck(repo)

    def test_reset_hard_takes_nothing_acknowledged(self, repo: Path, home: AgentHome) -> None:
        """A write that waits is brought back where Git took the file back meanwhile."""
        leave = STATES["merge"](repo)
        home.memory("add", content="three")
        git("reset", "-q", "--hard", cwd=repo)
        leave()
        with AgentHome.open(repo) as later:
            assert later.entries("memory").texts == ["one", "two", "three"]

    def test_linked_worktree(self, repo: Path, tmp_path: Path) -> None:
        """In a linked worktree the commit lands on its branch."""
        git("worktree", "add", "-qb", "side", str(tmp_path / "side"), cwd=repo)
        with AgentHome.open(tmp_path / "side") as other:
            assert other.memory("add", content="three").committed == head(repo, "side")
        assert on_disk(repo) == ONE_TWO
        assert on_disk(tmp_path / "side") == ONE_TWO + "§\nthree\n"

    def test_hooks_and_signing_do_not_stop_it(self, repo: Path, home: AgentHome) -> None:
        """An operator's hook is for people's commits."""
        hook = repo / ".git" / "hooks" / "pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\nexit 1\n")
        hook.chmod(0o755)
        assert home.memory("add", content="three").committed

    def test_autocrlf(self, repo: Path, home: AgentHome) -> None:
        """Line endings of this machine stay on this machine."""
        git("config", "core.autocrlf", "true", cwd=repo)
        (repo / ".gitattributes").write_text("")
        commit_all(repo, "no attributes")
        (repo / PATH).write_bytes(b"one\r\n\xc2\xa7\r\ntwo\r\n")
        assert home.memory("add", content="three").committed
        assert show(repo, PATH) == ONE_TWO + "§\nthree\n"
        assert status(repo) == ""

    def test_sparse_checkout(self, repo: Path) -> None:
        """A store that is not checked out is not an empty one."""
        git("sparse-checkout", "set", "--no-cone", "/gitmem.toml", "/notes/", cwd=repo)
        assert not (repo / PATH).exists()
        with AgentHome.open(repo) as home:
            reply = home.memory("add", content="three")
        assert "sparse" in (reply.error or "")
        assert show(repo, PATH) == ONE_TWO

    def test_ignored_and_removed(self, repo: Path, home: AgentHome) -> None:
        """An ignore rule swallows no entry; a store that a person removed begins anew."""
        (repo / ".git" / "info").mkdir(exist_ok=True)
        (repo / ".git" / "info" / "exclude").write_text("memory/\n")
        git("rm", "-q", PATH, cwd=repo)
        assert home.memory("add", content="three").committed
        assert show(repo, PATH) == "three\n"
        assert show(repo, PATH, "HEAD~2") == ONE_TWO


def _merge(repo: Path) -> Callable[[], object]:
    git("switch", "-qc", "side", cwd=repo)
    commit_all(repo, "side", {"notes/b.md": "side\n"})
    git("switch", "-q", "main", cwd=repo)
    commit_all(repo, "main", {"notes/b.md": "main\n"})
    run_git("merge", "side", cwd=repo)

    def leave() -> None:
        write_files(repo, {"notes/b.md": "both\n"})
        git("add", "notes/b.md", cwd=repo)
        git("commit", "-qm", "merged", cwd=repo)

    return leave


def _rebase(repo: Path) -> Callable[[], object]:
    commit_all(repo, "later", {"notes/c.md": "c\n"})
    git("-c", "sequence.editor=sed -i 1ibreak", "rebase", "-qi", "HEAD~1", cwd=repo)

    def leave() -> None:
        git("stash", "-q", cwd=repo)
        git("rebase", "--continue", cwd=repo)
        git("stash", "drop", "-q", cwd=repo)

    return leave


def _detached(repo: Path) -> Callable[[], object]:
    git("checkout", "-q", "--detach", cwd=repo)
    return lambda: git("switch", "-q", "main", cwd=repo)


def _other(repo: Path) -> Callable[[], object]:
    git("switch", "-qc", "elsewhere", cwd=repo)
    return lambda: git("switch", "-q", "main", cwd=repo)


def _locked(repo: Path) -> Callable[[], object]:
    lock = repo / ".git" / "index.lock"
    lock.touch()
    return lock.unlink


STATES: dict[str, Callable[[Path], Callable[[], object]]] = {
    "merge": _merge,
    "rebase": _rebase,
    "detached": _detached,
    "other branch": _other,
    "locked": _locked,
}


def test_blame_names_the_right_commit_for_every_entry(repo: Path, home: AgentHome) -> None:
    """After many changes plain `git blame` still names, line by line, the commit that brought each entry."""
    chance = random.Random(7)
    born = {text: str(git("rev-parse", "HEAD", cwd=repo)) for text in ("one", "two")}
    for number in range(60):
        texts = home.entries("memory").texts
        choice = chance.random()
        if choice < 0.55 or len(texts) < 3:
            text = f"fact {number}: {chance.choice(['x', 'y' * 30])}"
            born[text] = str(home.memory("add", content=text).committed)
        elif choice < 0.8:
            text = f"changed {number}"
            born[text] = str(home.memory("replace", content=text, old_text=chance.choice(texts)).committed)
        else:
            assert home.memory("remove", old_text=chance.choice(texts)).committed
    blamed = {
        line.group(2): line.group(1)
        for line in re.finditer(
            r"^\^?([0-9a-f]{40}) .*?\) (.*)$", git("blame", "-l", PATH, cwd=repo), re.MULTILINE
        )
    }
    texts = home.entries("memory").texts
    assert len(texts) > 10
    assert {text: blamed[text] for text in texts} == {text: born[text] for text in texts}


@pytest.mark.slow
def test_many_processes_lose_no_entry(repo: Path) -> None:
    """Four processes at once: each call sees the others', and every entry is there behind them."""

    def work(name: str) -> None:
        with AgentHome.open(repo) as home:
            for number in range(25):
                text = f"{name}-{number}"
                assert home.memory("add", content=text).success
                if number % 3 == 0:
                    assert home.memory("replace", content=f"{name}+{number}", old_text=text).success
                elif number % 5 == 1:
                    assert home.memory("remove", old_text=text).success

    context = multiprocessing.get_context("fork")
    running = [context.Process(target=work, args=(name,)) for name in "abcd"]
    for process in running:
        process.start()
    for process in running:
        process.join(60)
    assert [process.exitcode for process in running] == [0] * 4
    expected = {
        f"{name}{'+' if number % 3 == 0 else '-'}{number}"
        for name in "abcd"
        for number in range(25)
        if number % 3 == 0 or number % 5 != 1
    }
    with AgentHome.open(repo) as home:
        assert set(home.entries("memory").texts) - {"one", "two"} == expected
        home.apply_spool(wait=5.0)
        records = [line.id for line in home.ledger.lines_newest_first() if line.kind == "memory"]
    assert len(records) == len(set(records)) == 1 + 4 * (25 + 9 + 3)
    assert status(repo) == ""
    fsck(repo)


def _sed(path: Path, number: int) -> None:
    subprocess.run(["sed", "-i", f"$a §\\nsed {number}", str(path)], check=True)


def _vim(path: Path, number: int, *how: str) -> None:
    """Append and save; vim refuses where the file changed since it was read: then once more.

    Its exit code does not tell, nor does `&modified`: it says so itself when it has written.
    """
    saved = path.parent.parent / ".git" / "saved"
    commands = [
        *how,
        f"autocmd BufWritePost * call writefile([], '{saved}')",
        f"call append(line('$'), ['§', 'vim {number}'])",
        "w!",
        "q!",
    ]
    vim = ["vim", "-es", "-u", "NONE", "-i", "NONE", "-n", *(f"+{one}" for one in commands), str(path)]
    for _ in range(50):
        subprocess.run(vim, check=False, timeout=30)
        if saved.exists():
            saved.unlink()
            return
    raise AssertionError("vim never saved")


def _python(path: Path, number: int) -> None:
    text = path.read_text("utf-8")
    beside = path.with_name("MEMORY.md~new")
    beside.write_text(text + f"§\npython {number}\n", "utf-8")
    beside.replace(path)


def _vim_renaming(path: Path, number: int) -> None:
    """Move the file away, write a new one, remove the old one."""
    _vim(path, number, "set nocompatible backupcopy=no writebackup")


_VIMS = {"vim": _vim, "vim that renames": _vim_renaming}
EDITORS = {"sed": _sed, "python": _python, **(_VIMS if shutil.which("vim") else {})}


@pytest.mark.slow
@pytest.mark.parametrize("editor", EDITORS)
def test_an_editor_saves_while_agents_write(repo: Path, editor: str) -> None:
    """What agents and an editor write, in turns and at once, is in the file or in history: nothing is lost.

    An editor overwrites what came between its read and its write; what it took away is its own edit, is
    committed as that, and stays in the commits before.
    """
    stop = repo / ".git" / "stop"
    context = multiprocessing.get_context("fork")
    count = context.Value("i", 0)

    def work() -> None:
        with AgentHome.open(repo) as home:
            while not stop.exists() and count.value < 120:
                assert home.memory("add", content=f"agent {count.value}").success
                count.value += 1

    agent = context.Process(target=work)
    agent.start()
    for number in range(12):
        EDITORS[editor](repo / PATH, number)
        time.sleep(0.02)  # a person needs longer between two saves
    stop.touch()
    agent.join(60)
    assert agent.exitcode == 0
    stop.unlink()
    with AgentHome.open(repo) as home:
        home.commit()
        live = set(home.entries("memory").texts)
    past = git("log", "-p", "--format=", "--", PATH, cwd=repo).split("\n")
    known = live | {line[1:] for line in past if line.startswith("+")}
    assert {f"agent {number}" for number in range(count.value)} <= known
    assert {f"{editor.split(maxsplit=1)[0]} {number}" for number in range(12)} <= known
    assert count.value > 0
    assert status(repo) == ""
    fsck(repo)
