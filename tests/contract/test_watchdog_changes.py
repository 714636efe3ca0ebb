"""Hints from the real kernel: the contract, and the ways in which notifications fail."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, InotifyFD, WatchDescriptor
from watchdog.observers.polling import PollingObserver

from contract.changes_contract import SOON, ChangesContract, World
from fixtures import git, make_repo, write_files
from gitmem.backends.watchdog_changes import ObserverTap, OpenTap, Tap, WatchdogChanges, open_native_tap
from gitmem.changes import HintBuffer, Hints
from gitmem.layout import find_layout
from gitmem.watched import Scope

WRITER = "refs/heads/gitmem/turns/w0123abcd"


class RealWorld(World):
    """Changes are made on a disk."""

    def __init__(self, root: Path, open_tap: OpenTap | None = None) -> None:
        make_repo(root)
        write_files(root, {"gitmem.toml": "", "notes/seed.md": "seed\n", "memory/MEMORY.md": ""})
        self.root = root
        self.outside = root.parent / "outside"
        self.layout = find_layout(root)
        self.layout.spool.mkdir(parents=True)
        self.changes = WatchdogChanges(self.layout, open_tap=open_tap)

    def save(self, *paths: str) -> None:
        """Write files."""
        write_files(self.root, dict.fromkeys(paths, "text\n"))

    def read(self, path: str) -> None:
        """Read a file and list its folder."""
        (self.root / path).read_bytes()
        list((self.root / "notes").iterdir())

    def remove(self, path: str) -> None:
        """Remove a file."""
        (self.root / path).unlink()

    def rename(self, path: str, to: str) -> None:
        """Rename a file or folder."""
        (self.root / path).rename(self.root / to)

    def move_out(self, folder: str) -> None:
        """Move a folder out."""
        (self.root / folder).rename(self.outside)

    def move_in(self, folder: str) -> None:
        """Move it back in."""
        self.outside.rename(self.root / folder)

    def move_turn_line(self) -> None:
        """Move the turn line as Git moves refs."""
        ref = self.layout.common_dir / WRITER
        ref.parent.mkdir(parents=True, exist_ok=True)
        lock = ref.with_name(ref.name + ".lock")
        lock.write_text("0" * 40 + "\n")
        lock.rename(ref)

    def spool_turn(self) -> None:
        """Give a spool file its final name."""
        path = self.layout.spool / "turn_1.open"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}\n")
        path.rename(path.with_name("0001-turn_1.turn"))

    def begin_merge(self) -> None:
        """Leave the sign of a merge."""
        (self.layout.git_dir / "MERGE_HEAD").write_text("0" * 40 + "\n")

    def noise(self) -> None:
        """Do what is beside the point."""
        git("status", cwd=self.root)
        git("add", "notes/seed.md", cwd=self.root)
        git("commit", "-qm", "seed", cwd=self.root)
        private = self.layout.derived / "index"
        private.mkdir(parents=True)
        write_files(private, {"MAIN_1.toc": "x"})
        write_files(
            self.root / "notes", {"4913": "", ".a.md.swp": "x", "a.md~": "x", ".obsidian/w.json": "x"}
        )
        write_files(
            self.root, {"ledger/2026-12/01/w0-0001.jsonl": "{}\n", "src/main.py": "", "other.txt": ""}
        )
        write_files(self.layout.spool, {"turn_1.open": "{}\n"})


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RealWorld]:
    """A home and its started source."""
    world = RealWorld(tmp_path / "home")
    world.changes.start()
    yield world
    world.changes.stop()


class TestWatchdogChanges(ChangesContract):
    """Linux: inotify by watchdog's lower layer."""

    def test_a_turn_line_is_seen_again_after_git_packed_its_folder_away(self, world: RealWorld) -> None:
        """`git gc` removes the empty folders of packed refs."""
        git("commit", "-qm", "seed", "--allow-empty", cwd=world.root)
        git("update-ref", WRITER, "HEAD", cwd=world.root)
        git("pack-refs", "--all", cwd=world.root)
        world.settle()
        assert not (world.layout.common_dir / "refs/heads/gitmem").exists()
        git("commit", "-qm", "next", "--allow-empty", cwd=world.root)
        git("update-ref", WRITER, "HEAD", cwd=world.root)
        assert world.changes.wait(SOON).turns

    def test_a_fetched_turn_line_is_told(self, world: RealWorld) -> None:
        """What other machines remembered is to be found here once it was fetched."""
        git("commit", "-qm", "seed", "--allow-empty", cwd=world.root)
        git("update-ref", "refs/remotes/origin/gitmem/turns/w0000aaaa", "HEAD", cwd=world.root)
        assert world.changes.wait(SOON).turns

    def test_a_file_written_without_being_closed_is_told(self, world: RealWorld) -> None:
        """A program may keep a note open for hours."""
        with (world.root / "notes/open.md").open("w") as file:
            world.gather("notes/open.md")
            world.settle()
            file.write("more")
            file.flush()
            world.gather("notes/open.md")

    def test_a_file_replaced_from_outside_is_told(self, world: RealWorld) -> None:
        """An editor may keep its temporary files elsewhere (OPEN-WATCH-01)."""
        outside = world.root.parent / "temporary"
        outside.write_text("new")
        outside.replace(world.root / "notes/seed.md")
        world.gather("notes/seed.md")

    def test_links_are_not_followed(self, world: RealWorld) -> None:
        """A planted link must not make the watcher look outside, or round in circles (OPEN-AGENT-10)."""
        world.outside.mkdir()
        (world.root / "notes/away").symlink_to(world.outside)
        (world.root / "notes/loop").symlink_to(world.root / "notes")
        world.settle()
        (world.outside / "a.md").write_text("x")
        assert not world.changes.wait(0.3)

    def test_a_spool_that_comes_and_goes_is_watched(self, world: RealWorld) -> None:
        """It comes with the first turn, whose file may be there before its folder is watched."""
        for _ in range(2):
            world.spool_turn()
            assert world.changes.wait(SOON).turns
            world.settle()
            shutil.rmtree(world.layout.common_dir / "gitmem")
            world.settle()

    def test_nothing_is_made_in_a_home(self, world: RealWorld) -> None:
        """Watching must not be in the way of a removal, nor bring anything back (OPEN-WATCH-05)."""
        world.changes.stop()
        shutil.rmtree(world.layout.common_dir / "gitmem")
        world.changes.start()
        assert not (world.layout.common_dir / "gitmem").exists()
        shutil.rmtree(world.root)
        assert world.changes.wait(SOON).doubt
        world.changes.stop()
        world.changes.start()
        assert not world.root.exists()

    def test_a_removed_anchor_is_a_doubt_and_watched_anew(self, world: RealWorld) -> None:
        """Without it turns would be missed for ever."""
        refs = world.layout.common_dir / "refs"
        refs.rename(refs.with_name("away"))
        refs.with_name("away").rename(refs)
        assert world.changes.wait(SOON).doubt
        world.settle()
        world.move_turn_line()
        assert world.changes.wait(SOON).turns

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
    def test_a_dead_thread_is_replaced(self, world: RealWorld, monkeypatch: pytest.MonkeyPatch) -> None:
        """A library's thread that died must not look like a quiet home (OPEN-WATCH-03, -05)."""
        thread = next(one for one in threading.enumerate() if isinstance(one, InotifyFD))

        def fail(_: object) -> None:
            raise RuntimeError("a fault in the library")

        monkeypatch.setattr(thread, "handle_event", fail)
        world.save("notes/a.md")
        thread.join(SOON)
        assert not world.changes.alive()
        assert world.changes.wait(0).doubt == "the watching thread ended"
        assert world.changes.alive()
        world.save("notes/b.md")
        world.gather("notes/b.md")

    def test_an_overflow_is_a_doubt(self, world: RealWorld) -> None:
        """The kernel drops what its queue cannot hold, and nobody knows what it was (OPEN-WATCH-02)."""
        thread = next(one for one in threading.enumerate() if isinstance(one, InotifyFD))
        thread.handle_event(overflow())
        assert "dropped" in (world.changes.wait(SOON).doubt or "")
        assert world.changes.alive()
        world.save("notes/b.md")
        world.gather("notes/b.md")


def overflow() -> InotifyEvent:
    """Return what the kernel puts in place of the notifications that it dropped."""
    return InotifyEvent(WatchDescriptor(-1), InotifyConstants.IN_Q_OVERFLOW, 0, b"")


class Refusals:
    """Opens taps as the operating system does, after refusing a number of times."""

    def __init__(self, number: int, times: int = 1) -> None:
        self.number, self.left = number, times

    def __call__(self, scope: Scope, buffer: HintBuffer) -> Tap:
        """Open a tap, or refuse."""
        if self.left:
            self.left -= 1
            raise OSError(self.number, os.strerror(self.number))
        return open_native_tap(scope, buffer)


class TestLimits:
    """What remains where the system refuses (OPEN-WATCH-07)."""

    @pytest.mark.parametrize(
        ("number", "named"),
        [
            (errno.ENOSPC, "fs.inotify.max_user_watches"),
            (errno.EMFILE, "fs.inotify.max_user_instances"),
            (errno.EACCES, os.strerror(errno.EACCES)),
        ],
    )
    def test_the_limit_is_named_and_polling_goes_on(self, tmp_path: Path, number: int, named: str) -> None:
        """Whoever reads `status` knows which setting to raise; the source still serves waits."""
        world = RealWorld(tmp_path / "home", Refusals(number))
        world.changes.start()
        assert (world.changes.degraded() or "").startswith("polling, ")
        assert named in (world.changes.degraded() or "")
        assert world.changes.alive()
        assert world.changes.wait(0.01) == Hints()
        world.changes.stop()

    def test_watching_is_tried_again(self, tmp_path: Path) -> None:
        """Once the limit is raised nobody has to restart anything; what was missed is a doubt."""
        root = tmp_path / "home"
        now = [0.0]
        world = RealWorld(root)
        world.changes = WatchdogChanges(world.layout, open_tap=Refusals(errno.ENOSPC), clock=lambda: now[0])
        world.changes.start()
        now[0] += 301
        assert world.changes.wait(0.01).doubt
        assert world.changes.degraded() is None
        world.save("notes/a.md")
        world.gather("notes/a.md")
        world.changes.stop()


def observe_by_polling(scope: Scope, buffer: HintBuffer) -> Tap:
    """Open the tap of other systems over an observer that runs on any."""
    return ObserverTap(scope, buffer, PollingObserver(timeout=0.04))


class TestObserverTap(ChangesContract):
    """Elsewhere: watchdog's own observer."""

    @pytest.fixture
    def world(self, tmp_path: Path) -> Iterator[RealWorld]:
        """Watch by the observer."""
        world = RealWorld(tmp_path / "home", observe_by_polling)
        world.changes.start()
        yield world
        world.changes.stop()
