"""Writes on the operator's branch with a kill, or an operator's git command, between any two steps."""

from __future__ import annotations

import os
import random
import re
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from branches import FILES, Agent, make_home, staged

from fixtures import commit_all, fsck, git, run_git, write_files
from gitmem.errors import ConflictError, ProtectedPath

PATHS = ("notes/a.md", "notes/b.md", "memory/MEMORY.md", "notes/new.md")
#: Commands of an operator; those after the bar throw away what is not committed.
GENTLE = ("commit", "commit -a", "add", "amend", "merge", "detach", "switch side", "switch main", "edit")
HARSH = ("reset --hard", "stash", "stash pop", "checkout .", "clean", "reset --hard HEAD~1")
KILLED = 9


class World:
    """One home, what was told to its agent, and what its operator did."""

    def __init__(self, repo: Path, seed: int) -> None:
        self.repo = repo
        self.random = random.Random(seed)
        self.story: list[str] = []
        self.acknowledged: dict[str, str] = {}
        self.count = 0

    def token(self, who: str) -> str:
        """Return a word that stands nowhere yet."""
        self.count += 1
        return f"{who}{self.count:03d}"

    def operator(self, action: str) -> None:
        """Let the operator do something; what Git refuses them is no concern of ours."""
        commands = {
            "commit": [("commit", "-q", "--allow-empty", "-m", "operator")],
            "commit -a": [("commit", "-qam", "operator")],
            "add": [("add", "-A", "notes", "memory")],
            "amend": [("commit", "-q", "--amend", "--allow-empty", "-m", "amended")],
            "merge": [("merge", "-q", "side"), ("merge", "--abort")][: self.random.choice([1, 2])],
            "detach": [("checkout", "-q", "--detach")],
            "switch side": [("switch", "-q", "side")],
            "switch main": [("switch", "-q", "main")],
            "reset --hard": [("reset", "-q", "--hard")],
            "reset --hard HEAD~1": [("reset", "-q", "--hard", "HEAD~1")],
            "stash": [("stash", "-q", "-u")],
            "stash pop": [("stash", "pop", "-q")],
            "checkout .": [("checkout", "-q", "--", ".")],
            "clean": [("clean", "-qfd")],
        }
        self.story.append(f"operator: {action}")
        if action == "edit":
            self.edit()
        for command in commands.get(action, []):
            run_git(*command, cwd=self.repo)

    def edit(self) -> None:
        """Put a line of the operator's at the top of a file, as an editor does."""
        path = self.repo / self.random.choice(PATHS[:2])
        before = path.read_text() if path.exists() else ""
        write_files(self.repo, {path.relative_to(self.repo).as_posix(): f"{self.token('op')}\n{before}"})

    def agent(self, act: str) -> None:
        """Let the agent write or settle in a process of its own, which may die or be disturbed."""
        at = self.random.randrange(24)
        what = self.random.choice(["nothing", "kill", "kill", *GENTLE[:-1], "edit", "reset --hard", "stash"])
        token, path = self.token("ag"), self.random.choice(PATHS)
        self.story.append(f"agent: {act} {path} {token}, at step {at}: {what}")
        mine, theirs = self.operators_words(), staged(self.repo)
        told = self.repo.parent / "told"
        told.unlink(missing_ok=True)
        code = self.in_child(lambda: self.run(act, path, token, at, what, told))
        assert code in (0, KILLED), "the agent failed"
        if told.exists():
            self.acknowledged[token] = told.read_text()
            self.story.append(f"       told: {told.read_text()}")
        if what in ("nothing", "kill"):
            assert mine <= self.operators_words(), "the operator's words are gone"
            if (self.repo / ".git" / "MERGE_HEAD").exists() and code == 0:
                assert staged(self.repo) == theirs, "the staging area of a merge was touched"

    def run(self, act: str, path: str, token: str, at: int, what: str, told: Path) -> None:
        """Act in the child."""
        steps = [0]

        def step(name: str) -> None:
            steps[0] += 1
            if steps[0] == at and what == "kill":
                os._exit(KILLED)
            if steps[0] == at and what != "nothing":
                self.operator(what)

        agent = Agent(self.repo, checkpoint=step)
        try:
            if act == "settle":
                agent.branch.settle()
                return
            separator = "§\n" if path.startswith("memory") and (self.repo / path).exists() else ""
            outcome = agent.append(path, f"{separator}{token}\n")
        except (ConflictError, ProtectedPath):
            return  # told to read again
        told.write_text(outcome.committed or f"pending: {outcome.reason}")

    def in_child(self, act: Callable[[], None]) -> int:
        """Run `act` in a child process."""
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                act()
                code = 0
            except BaseException:  # noqa: BLE001 - the parent tells the story
                traceback.print_exc()
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def operators_words(self) -> set[str]:
        """Return the operator's words on disk, conflict copies included."""
        found = [*(self.repo / "notes").rglob("*.md"), *(self.repo / "conflicts").rglob("*.md")]
        texts = [path.read_text() for path in found if path.is_file()]
        return set(re.findall(r"op\d{3}", "".join(texts)))

    def end(self) -> None:
        """Bring Git to rest, as an operator would who is done, and let the agent settle."""
        for command in (("merge", "--abort"), ("reset", "-q", "--merge"), ("checkout", "-q", "-f", "main")):
            run_git(*command, cwd=self.repo)
        old = 1
        message = self.repo / ".git" / "COMMIT_EDITMSG"
        if message.exists():
            os.utime(message, (old, old))
        for _ in range(3):
            agent = Agent(self.repo)
            agent.branch.settle()
            left = agent.branch.pending()
            agent.close()
        if left:  # an operator's partial staging holds them up; he unstages
            git("reset", "-q", cwd=self.repo)
            agent = Agent(self.repo)
            agent.branch.settle()
            left = agent.branch.pending()
            agent.close()
        assert left == [], "pending for ever"

    def committed_words(self) -> set[str]:
        """Return all words of the branch's tree."""
        return set(
            re.findall(
                r"(?:ag|op)\d{3}", git("grep", "-hE", "(ag|op)[0-9]{3}", "main", cwd=self.repo, check=False)
            )
        )

    def dropped_words(self) -> set[str]:
        """Return the agent's words that stood in a commit which an operator's command took off the branch."""
        kept = set(git("rev-list", "main", cwd=self.repo).split())
        once = git("reflog", "show", "--format=%H", "main", cwd=self.repo).split()
        gone = set(git("rev-list", *once, cwd=self.repo).split()) - kept
        shown = (git("show", "--format=", commit, cwd=self.repo) for commit in gone)
        return set(re.findall(r"ag\d{3}", "".join(shown)))


def play(repo: Path, seed: int) -> None:
    """Play one random story and judge its end."""
    make_home(repo)
    git("switch", "-qc", "side", cwd=repo)
    commit_all(repo, "side", {"notes/b.md": "side\n", "src/main.c": "side\n"})
    git("switch", "-q", "main", cwd=repo)
    commit_all(repo, "main", {"notes/b.md": FILES["notes/b.md"] + "main\n"})
    world = World(repo, seed)
    try:
        for _ in range(world.random.randrange(4, 16)):
            if world.random.random() < 0.6:
                world.agent(world.random.choice(["write", "write", "write", "settle"]))
            else:
                world.operator(world.random.choice(GENTLE + GENTLE + HARSH))
        world.end()
        lost = set(world.acknowledged) - world.committed_words() - world.dropped_words()
        assert not lost, f"acknowledged and lost: {sorted(lost)}"
        assert [path for path in (repo / ".git").rglob("*.lock") if "gitmem" not in path.parts] == []
        fsck(repo)
    except BaseException:
        print(f"seed {seed}:\n" + "\n".join(world.story))
        raise


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_no_acknowledged_write_is_lost_and_nothing_of_the_operators(tmp_path: Path, seed: int) -> None:
    """What was acknowledged is on the branch in the end, or the operator's own command took it off."""
    play(tmp_path / "home", seed)
