"""The watcher on a real disk, with the real kernel's notifications, beside real editors' and Git's ways."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from system.hash_index import Watching, hash_files

from fixtures import git, make_repo, set_identity, write_files
from gitmem.changes import HintBuffer, Hints
from gitmem.duty import Patience
from gitmem.errors import HomeLocked
from gitmem.layout import Layout, find_layout
from gitmem.watch_parts import Pace
from gitmem.watch_state import watch_facts
from gitmem.watched import Scope

PROGRAM = Path(__file__).with_name("hash_index.py")
LINE = "refs/heads/gitmem/turns/w0123abcd"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A committed home with two notes."""
    root = make_repo(tmp_path / "home")
    write_files(
        root, {"gitmem.toml": "", "notes/a.md": "one\n", "notes/b.md": "two\n", "memory/MEMORY.md": ""}
    )
    git("add", ".", cwd=root)
    git("commit", "-qm", "home", cwd=root)
    return root


def save_like_vim(path: Path, text: str) -> None:
    """Write a file as vim does with its default settings."""
    probe = path.with_name("4913")
    probe.touch()
    probe.unlink()
    backup = path.with_name(path.name + "~")
    path.rename(backup)
    path.write_text(text)
    backup.unlink()


class TestEditors:
    """OPEN-WATCH-01."""

    def test_vim(self, home: Path) -> None:
        """After each save the new text is indexed under the note's own name, once, and nothing else."""
        with Watching(home) as watching:
            for number in range(3):
                rounds = len(watching.index.rounds)
                save_like_vim(home / "notes/a.md", f"version {number}\n")
                watching.until_right()
                watching.settle(0.2)
                assert len(watching.index.rounds) == rounds + 1
            assert set(watching.index.files) == {"notes/a.md", "notes/b.md", "memory/MEMORY.md"}
            assert find_layout(home).catalog.read_text() == "notes/a.md\nnotes/b.md\n"

    def test_a_replacement_from_outside(self, home: Path) -> None:
        """An editor may keep its temporary file on another path."""
        with Watching(home) as watching:
            outside = home.parent / "outside"
            outside.write_text("replaced\n")
            outside.replace(home / "notes/a.md")
            watching.until_right()

    def test_many_quick_saves(self, home: Path) -> None:
        """The last one counts, also when they come faster than clocks of file systems tick."""
        with Watching(home) as watching:
            for number in range(300):
                (home / "notes/a.md").write_text(f"{number:03d}\n")
            watching.until_right()
            watching.settle(0.3)
            assert len(watching.index.rounds) < 20


class TestAnyChange:
    """Hints alone are enough; the interval is not needed for it."""

    @pytest.mark.parametrize("seed", range(4))
    def test_a_storm_of_changes(self, home: Path, seed: int) -> None:
        """Whatever is made, replaced, moved and removed, the index equals the files once it is quiet."""
        chance = random.Random(seed)
        with Watching(home, Pace(reconcile=1000.0)) as watching:
            for _ in range(6):
                end = time.monotonic() + chance.uniform(0.02, 0.15)
                while time.monotonic() < end:
                    change_something(home, chance)
                time.sleep(chance.uniform(0, 0.1))
            watching.until_right()
            assert all(hints.doubt is None for hints in watching.index.rounds[1:])


def change_something(home: Path, chance: random.Random) -> None:
    """Do one of the things that people and programs do to files and folders."""
    names = [f"{chance.choice('abc')}{chance.choice('xy')}" for _ in range(chance.randint(0, 3))]
    folder = home / "notes" / "/".join(names)
    files = [path for path in (home / "notes").rglob("*") if path.is_file()]
    outside = home.parent / "outside"
    match chance.randrange(8):
        case 0 | 1 | 2:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{chance.choice('mno')}.md").write_text(f"{chance.random()}\n")
        case 3 if files:
            chance.choice(files).unlink()
        case 4 if files:
            save_like_vim(chance.choice(files), f"{chance.random()}\n")
        case 5 if files:
            chance.choice(files).replace(home / f"notes/{chance.choice('pqr')}.md")
        case 6 if names and folder.is_dir():
            target = outside if not outside.exists() else home / "notes" / f"moved{chance.randrange(3)}"
            if not target.exists():
                folder.rename(target)
        case 7 if outside.exists() and not (home / "notes/back").exists():
            outside.rename(home / "notes/back")


class TestLosses:
    """OPEN-WATCH-02, -03, -04, -05."""

    @pytest.mark.slow
    def test_a_queue_that_overflowed(self, home: Path) -> None:
        """Ten thousand notes written while the watcher stands still are all found soon after."""
        with watching_process(home) as (process, out):
            process.send_signal(signal.SIGSTOP)
            write_files(
                home, {f"notes/n{number // 100}/{number}.md": f"text {number}\n" for number in range(10_000)}
            )
            process.send_signal(signal.SIGCONT)
            until(lambda: len(read_index(out)["files"]) == 10_003, 30)
            assert read_index(out)["files"] == hash_files(home)[0]
            (home / "notes/last.md").write_text("after\n")
            until(lambda: "notes/last.md" in read_index(out)["files"], 10)

    def test_one_bad_note(self, home: Path) -> None:
        """It is named and tried again; the notes saved after it are indexed."""
        with Watching(home, Pace(reconcile=0.2, retry=0.3)) as watching:
            (home / "notes/bad.md").write_bytes(b"BAD\n")
            (home / "notes/good.md").write_text("good\n")
            watching.until(lambda: "notes/good.md" in watching.index.files)
            layout = find_layout(home)
            watching.until(lambda: watch_facts(layout, time.time()).get("quarantined") == 1)
            rounds = len(watching.index.rounds)
            watching.until(lambda: len(watching.index.rounds) > rounds)
            (home / "notes/bad.md").write_text("mended\n")
            watching.until(lambda: "notes/bad.md" in watching.index.files)
            watching.until(lambda: watch_facts(layout, time.time()).get("quarantined") == 0)

    def test_an_index_that_fails_for_a_while(self, home: Path) -> None:
        """A locked index writer costs time, and nothing else; the failure is named while it lasts."""
        with Watching(home, Pace(patience=Patience(0.02, 0.1))) as watching:
            left = [6]

            def fail(_: Hints) -> None:
                left[0] -= 1
                if left[0] >= 0:
                    raise HomeLocked("the index is being written")

            watching.index.before = fail
            layout = find_layout(home)
            (home / "notes/c.md").write_text("c\n")
            watching.until(lambda: bool(watch_facts(layout, time.time()).get("failing")))
            assert watch_facts(layout, time.time())["failing"][0]["busy"]
            watching.until_right()
            watching.until(lambda: not reasons(layout))

    def test_a_folder_moved_out_and_in(self, home: Path) -> None:
        """Its notes go and come with it; what is written outside brings none back under its old name."""
        write_files(home, {f"notes/proj/{number}.md": f"{number}\n" for number in range(5)})
        with Watching(home) as watching:
            outside = home.parent / "outside"
            (home / "notes/proj").rename(outside)
            watching.until(lambda: len(watching.index.files) == 3)
            rounds = len(watching.index.rounds)
            with (outside / "1.md").open("a") as file:
                file.write("more\n")
            watching.settle(0.4)
            assert len(watching.index.rounds) == rounds
            outside.rename(home / "notes/proj")
            watching.until(lambda: len(watching.index.files) == 8)
            (home / "notes/proj/1.md").write_text("again\n")
            watching.until_right()

    def test_a_home_deleted_and_cloned_again(self, home: Path) -> None:
        """Noticed at once, opened anew, and everything compared; the clone is not hindered."""
        write_files(home, {f"notes/many/{number}.md": "x\n" for number in range(500)})
        git("update-ref", LINE, "HEAD", cwd=home)
        origin = home.parent / "origin.git"
        git("clone", "-q", "--bare", home, origin, cwd=home.parent)
        with Watching(home, Pace(settled=0.1)) as watching:
            shutil.rmtree(home)  # fails if anything is made behind it
            git("clone", "-q", origin, home, cwd=home.parent)
            (home / "notes/c.md").write_text("after\n")
            watching.until(lambda: "notes/c.md" in watching.index.files)
            layout = find_layout(home)
            watching.until(lambda: layout.watch_file.exists() and watch_facts(layout, time.time())["running"])
            (home / "notes/d.md").write_text("later\n")
            watching.until_right()

    def test_the_homes_folder_moved_away_and_back(self, home: Path) -> None:
        """Nothing is written to where it was."""
        with Watching(home, Pace(settled=0.1)) as watching:
            home.rename(home.parent / "elsewhere")
            time.sleep(0.3)
            assert not home.exists()
            (home.parent / "elsewhere/notes/c.md").write_text("meanwhile\n")
            (home.parent / "elsewhere").rename(home)
            watching.until(lambda: "notes/c.md" in watching.index.files)


class TestWithoutNotifications:
    """OPEN-WATCH-07, -08."""

    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
    def test_a_limit_of_the_system(self, home: Path, number: int) -> None:
        """Changes are found by polling, turns too, and the limit is named."""

        def refuse(_scope: Scope, _buffer: HintBuffer) -> Silent:
            raise OSError(number, os.strerror(number))

        with Watching(home, Pace(poll=0.1), refuse) as watching:
            (home / "notes/c.md").write_text("c\n")
            watching.until_right()
            git("update-ref", LINE, "HEAD", cwd=home)
            watching.until(lambda: Hints(turns=True) in watching.index.rounds)
            facts = watch_facts(find_layout(home), time.time())
            assert facts["mode"] == "polling"
            assert facts["reasons"][0].startswith("polling, inotify ")

    def test_a_mount_that_tells_nothing(self, home: Path) -> None:
        """The interval bounds how long a change by another machine stays unseen."""
        with Watching(home, Pace(reconcile=0.2), lambda _scope, _buffer: Silent()) as watching:
            save_like_vim(home / "notes/a.md", "elsewhere\n")
            (home / "notes/b.md").unlink()
            watching.until_right()
            rounds = len(watching.index.rounds)
            watching.settle(0.6)
            assert len(watching.index.rounds) == rounds


class Silent:
    """A source that never says anything, and never fails."""

    def intact(self) -> str | None:
        """Say that all is well."""
        return None

    def close(self) -> None:
        """Do nothing."""


class TestGit:
    """OPEN-WATCH-06, -09; OPEN-GIT-20."""

    def test_bulk_checkouts_and_a_rebase(self, home: Path) -> None:
        """However Git rewrites the files, the index equals them in the end, in few rounds."""
        git("switch", "-qc", "old", cwd=home)
        write_files(home, {f"notes/{number}.md": f"old {number}\n" for number in range(400)})
        git("add", ".", cwd=home)
        git("commit", "-qm", "old", cwd=home)
        git("switch", "-qc", "new", cwd=home)
        for commit in range(3):
            write_files(
                home, {f"notes/{number}.md": f"new {number}\n" for number in range(commit * 100, 300)}
            )
            git("commit", "-qam", f"new {commit}", "--allow-empty", cwd=home)
        git("switch", "-q", "old", cwd=home)
        write_files(home, {"notes/apart.md": "apart\n"})
        git("add", ".", cwd=home)
        git("commit", "-qm", "apart", cwd=home)
        git("switch", "-q", "new", cwd=home)
        with Watching(home) as watching:
            git("switch", "-q", "old", cwd=home)
            git("switch", "-q", "new", cwd=home)
            git("rebase", "-q", "--onto", "old", "old~1", "new", cwd=home)
            watching.until_right()
            watching.settle(0.5)
            assert "notes/apart.md" in watching.index.files
            assert watching.index.files == hash_files(home)[0]
            assert watching.index.writes <= 8

    def test_a_conflict_is_indexed_as_provisional_and_put_right(self, home: Path) -> None:
        """Search shows what stands on disk, the state says that it is not final."""
        git("switch", "-qc", "other", cwd=home)
        (home / "notes/a.md").write_text("theirs\n")
        git("commit", "-qam", "theirs", cwd=home)
        git("switch", "-q", "main", cwd=home)
        (home / "notes/a.md").write_text("mine\n")
        git("commit", "-qam", "mine", cwd=home)
        with Watching(home, Pace(operation=0.3)) as watching:
            git("merge", "-q", "other", cwd=home, check=False)
            layout = find_layout(home)
            watching.until(
                lambda: "provisional: merge in progress" in watch_facts(layout, time.time())["reasons"]
            )
            watching.until_right()
            git("merge", "--abort", cwd=home)
            watching.until_right()
            watching.until(lambda: not reasons(layout))

    def test_git_status_in_a_prompt_causes_nothing(self, home: Path) -> None:
        """One save is one round, however often somebody looks, and whatever the watcher writes itself."""
        with Watching(home) as watching:
            (home / "notes/a.md").write_text("saved\n")
            for _ in range(15):
                git("status", "--short", cwd=home)
                (home / "notes/b.md").read_text()
                time.sleep(0.05)
            assert len(watching.index.rounds) == 2

    def test_turns_are_seen_at_once_also_during_a_rebase(self, home: Path) -> None:
        """An agent's memory does not wait for the operator."""
        tree = git("rev-parse", "HEAD^{tree}", cwd=home)
        with Watching(home) as watching:
            (home / ".git/rebase-merge").mkdir()
            (home / "notes/a.md").write_text("half\n")
            took = []
            for number in range(10):
                commit = git("commit-tree", "-m", f"turn {number}", tree, cwd=home)
                rounds = watching.index.rounds.count(Hints(turns=True))
                git("update-ref", LINE, commit, cwd=home)
                took.append(watching.until(lambda: watching.index.rounds.count(Hints(turns=True)) > rounds))  # noqa: B023
            assert statistics.median(took) < 0.15
            assert not any(hints.paths for hints in watching.index.rounds)
            (home / ".git/rebase-merge").rmdir()
            watching.until(lambda: Hints(frozenset({"notes/a.md"})) in watching.index.rounds)

    @pytest.mark.parametrize("kind", ["worktree", "separate"])
    def test_a_git_dir_elsewhere(self, home: Path, kind: str) -> None:
        """A linked work tree and a separate git dir are watched like any other."""
        root = home.parent / "other"
        if kind == "worktree":
            git("worktree", "add", "-q", root, "-b", "agent2", cwd=home)
        else:
            git("clone", "-q", "--separate-git-dir", home.parent / "store", home, root, cwd=home)
            set_identity(root)
        with Watching(root) as watching:
            (root / "notes/c.md").write_text("c\n")
            watching.until_right()
            git("update-ref", LINE, "HEAD", cwd=root)
            watching.until(lambda: Hints(turns=True) in watching.index.rounds)
            assert find_layout(root).watch_file.is_file()


class TestTheProcess:
    """How it starts, stops, and what it costs."""

    def test_sigterm_in_the_middle_of_a_round(self, home: Path) -> None:
        """The round ends, what was saved meanwhile is taken along, and the state says that it stopped."""
        with watching_process(home, seconds=0.4) as (process, out):
            begun = out.with_suffix(".begun")
            begun.unlink()
            (home / "notes/c.md").write_text("first\n")
            until(begun.exists)
            (home / "notes/d.md").write_text("during\n")
            process.terminate()
            assert process.wait(10) == 0
            assert {"notes/c.md", "notes/d.md"} <= set(read_index(out)["files"])
        facts = watch_facts(find_layout(home), time.time())
        assert (facts["running"], facts["phase"]) == (False, "stopped")

    def test_a_killed_watcher_does_not_look_alive(self, home: Path) -> None:
        """Its last word stands, its lock is gone, and the next one starts without ado."""
        layout = find_layout(home)
        with watching_process(home) as (process, _):
            assert watch_facts(layout, time.time())["running"]
            process.kill()
            process.wait(10)
            assert not watch_facts(layout, time.time())["running"]
        with watching_process(home):
            assert watch_facts(layout, time.time())["running"]

    def test_a_second_watcher_gives_way(self, home: Path) -> None:
        """One is enough; it names the first."""
        with (
            watching_process(home) as (process, _),
            pytest.raises(HomeLocked, match=f"process {process.pid}"),
            Watching(home),
        ):
            pass

    @pytest.mark.slow
    def test_idling_costs_next_to_nothing(self, home: Path) -> None:
        """Under half a percent of a core, one save in a minute beside a prompt that runs `git status`."""
        write_files(home, {f"notes/many/{number}.md": f"{number}\n" for number in range(1000)})
        with watching_process(home) as (process, out):
            time.sleep(1)
            began, rounds = cpu_seconds(process.pid), read_index(out)["rounds"]
            (home / "notes/a.md").write_text("the one save\n")
            for _ in range(60):
                git("status", "--short", cwd=home)
                time.sleep(1)
            assert read_index(out)["rounds"] == rounds + 1
            assert cpu_seconds(process.pid) - began < 0.005 * 60


@contextmanager
def watching_process(home: Path, seconds: float = 0.0) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """Run a watcher as a process of its own; yield it and the file that takes its index."""
    out = home.parent / "index.json"
    out.unlink(missing_ok=True)
    command = [sys.executable, "-P", str(PROGRAM), str(home), str(out), str(seconds)]
    paths = os.pathsep.join(str(path) for path in (PROGRAM.parents[2], PROGRAM.parents[1]))
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths})
    try:
        until(
            lambda: out.exists() and watch_facts(find_layout(home), time.time()).get("phase") == "watching",
            20,
        )
        yield process, out
    finally:
        process.kill()
        process.wait()


def reasons(layout: Layout) -> list[str]:
    """Return what `status` would hold against the watcher."""
    return watch_facts(layout, time.time())["reasons"]


def read_index(out: Path) -> dict:
    """Return the index of a watching process."""
    return json.loads(out.read_text())


def until(holds, seconds: float = 10.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"did not come to hold within {seconds} s"
        time.sleep(0.01)


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
