"""What every source of hints promises; a test class for each inherits it and says how changes happen."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

from gitmem.changes import Changes, Hints

#: Longer than any gathering, shorter than patience.
SOON = 5.0
#: Within this time nothing comes where nothing should.
SHORT = 0.4


class World(ABC):
    """A home in which things change, and a source that watches it (not yet started)."""

    changes: Changes

    @abstractmethod
    def save(self, *paths: str) -> None:
        """Write files of the home's tree."""

    @abstractmethod
    def read(self, path: str) -> None:
        """Read a file."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file."""

    @abstractmethod
    def rename(self, path: str, to: str) -> None:
        """Rename a file or a folder inside the home."""

    @abstractmethod
    def move_out(self, folder: str) -> None:
        """Move a folder to a place outside of the home."""

    @abstractmethod
    def move_in(self, folder: str) -> None:
        """Move the folder back in."""

    @abstractmethod
    def move_turn_line(self) -> None:
        """Let the turn line move, as a turn does it."""

    @abstractmethod
    def spool_turn(self) -> None:
        """Let a finished turn appear in the spool."""

    @abstractmethod
    def begin_merge(self) -> None:
        """Let a merge begin."""

    @abstractmethod
    def noise(self) -> None:
        """Let happen what Git, gitmem and editors do beside: index, lock files, objects, litter."""

    def gather(self, *wanted: str, seconds: float = SOON) -> Hints:
        """Wait until all wanted paths were hinted at; return all hints."""
        got, end = Hints(), time.monotonic() + seconds
        while not set(wanted) <= got.paths:
            assert time.monotonic() < end, f"{set(wanted) - got.paths} never came; got {got}"
            got |= self.changes.wait(0.1)
        return got

    def settle(self) -> None:
        """Wait until nothing comes any more."""
        while self.changes.wait(SHORT):
            pass


class ChangesContract:
    """Inherit, and give a fixture `world`."""

    def test_a_saved_file_is_hinted_at(self, world: World) -> None:
        """An operator's save leads the watcher to the file."""
        world.save("notes/a.md")
        assert world.gather("notes/a.md").doubt is None

    def test_several_saves_come_as_one_set(self, world: World) -> None:
        """Whoever indexes wants one round for a burst."""
        world.save("notes/a.md", "notes/b.md", "memory/self.md", "AGENTS.md")
        hints = world.changes.wait(SOON)
        assert hints.paths == {"notes/a.md", "notes/b.md", "memory/self.md", "AGENTS.md"}
        assert not hints.turns
        assert not hints.state

    def test_nothing_comes_when_nothing_changes(self, world: World) -> None:
        """An idle home costs nothing, and reading is no change (OPEN-WATCH-06)."""
        world.save("notes/a.md")
        world.settle()
        world.read("notes/a.md")
        assert not world.changes.wait(SHORT)

    def test_noise_is_left_out(self, world: World) -> None:
        """Git's index, the search index, lock files and editors' temporary files are nobody's memory."""
        world.noise()
        assert not world.changes.wait(SHORT)

    def test_a_removed_file_is_hinted_at(self, world: World) -> None:
        """A deleted note must leave the index."""
        world.save("notes/a.md")
        world.settle()
        world.remove("notes/a.md")
        world.gather("notes/a.md")

    def test_both_names_of_a_rename_are_hinted_at(self, world: World) -> None:
        """A rename is a removal here and a note there."""
        world.save("notes/a.md")
        world.settle()
        world.rename("notes/a.md", "notes/b.md")
        world.gather("notes/a.md", "notes/b.md")

    def test_a_folder_stands_for_what_is_in_it(self, world: World) -> None:
        """A folder moved out takes its notes along, and its place outside is not watched (OPEN-WATCH-04)."""
        world.save("notes/proj/a.md", "notes/proj/deep/b.md")
        world.settle()
        world.move_out("notes/proj")
        world.gather("notes/proj")
        world.move_in("notes/proj")
        world.gather("notes/proj")
        world.settle()
        world.save("notes/proj/deep/b.md")
        world.gather("notes/proj/deep/b.md")

    def test_a_new_folder_is_watched_at_once(self, world: World) -> None:
        """A note in a folder of its own must not be missed, whichever of the two is seen first."""
        world.save("notes/x/y/z/a.md")
        hints = world.gather(seconds=0.0) | world.changes.wait(SOON)
        assert any("notes/x/y/z/a.md".startswith(path) for path in hints.paths)
        world.settle()
        world.save("notes/x/y/z/b.md")
        world.gather("notes/x/y/z/b.md")

    def test_a_renamed_folder_is_watched_under_its_new_name(self, world: World) -> None:
        """Hints carry the names that files have now."""
        world.save("notes/old/a.md")
        world.settle()
        world.rename("notes/old", "notes/new")
        world.gather("notes/old", "notes/new")
        world.settle()
        world.save("notes/new/a.md")
        assert "notes/old/a.md" not in world.gather("notes/new/a.md").paths

    def test_a_turn_is_told_at_once_and_apart(self, world: World) -> None:
        """A turn is to be found within 300 ms, so it does not wait until the files are quiet."""
        world.move_turn_line()
        began = time.monotonic()
        hints = world.changes.wait(SOON)
        assert hints == Hints(turns=True)
        assert time.monotonic() - began < SOON / 2

    def test_a_spooled_turn_counts_as_a_turn(self, world: World) -> None:
        """A turn that could not be committed is remembered all the same."""
        world.spool_turn()
        assert world.changes.wait(SOON) == Hints(turns=True)

    def test_an_operation_of_git_is_told(self, world: World) -> None:
        """What waits for the end of a merge has to hear of it."""
        world.begin_merge()
        assert world.changes.wait(SOON).state

    def test_wake_ends_a_wait(self, world: World) -> None:
        """A signal handler can stop the watcher."""
        world.changes.wake()
        began = time.monotonic()
        assert not world.changes.wait(SOON)
        assert time.monotonic() - began < SOON / 2

    def test_a_started_source_is_alive(self, world: World) -> None:
        """`status` asks, and a source says so itself."""
        assert world.changes.alive()
        assert world.changes.degraded() is None

    def test_a_stopped_source_says_nothing(self, world: World) -> None:
        """After stop nothing is watched, and stopping twice is no error."""
        world.changes.stop()
        world.changes.stop()
        world.save("notes/a.md")
        assert not world.changes.wait(SHORT)
        assert not world.changes.alive()

    def test_a_stopped_source_starts_again(self, world: World) -> None:
        """A home that was replaced is watched anew; what changed meanwhile is the caller's to find."""
        world.changes.stop()
        world.changes.start()
        assert world.changes.alive()
        world.save("notes/a.md")
        world.gather("notes/a.md")
