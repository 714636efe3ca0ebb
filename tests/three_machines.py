"""A world of real homes of one agent on several machines: everybody does what they do, in any order.

Once all has come to rest, what was promised is judged. What is done is chosen by chance from a seed and kept
as a story, which a failure shows.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

from agent_deeds import AGENT_DEEDS, tried
from machines import bare
from operator_deeds import OPERATOR_DEEDS, take_back
from real_machines import WORD, Known, Place

from fixtures import fsck, git, run_git
from gitmem import AgentHome
from gitmem.errors import RemoteError, RemoteUnreachable

#: More rounds than any order of syncs needs to come to rest.
ROUNDS = 12
#: The most machines that a world grows to.
_MOST = 5
#: Days by which the clocks of machines are off.
_CLOCKS = (0.0, 3.0, -2.0, 0.04, -40.0)
#: Notes down what every ref of a remote was moved to.
_RECORDER = '#!/bin/sh\ncat >> "$GIT_DIR/moves"\n'


class World:
    """Machines, their remotes, and all that was written.

    Args:
        folder: where everything lies.
        seed: of chance.
        mesh: whether there are two remotes, and one machine that syncs with both.
    """

    def __init__(self, folder: Path, seed: int, *, mesh: bool) -> None:
        self.folder = folder
        self.chance = random.Random(seed)
        self.story: list[str] = []
        self.known = Known()
        self.remotes = {name: _remote(folder / f"{name}.git") for name in ("origin", "other")[: 1 + mesh]}
        self.places: list[Place] = []
        self.backup: tuple[Path, Place] | None = None
        AgentHome.create(folder / "A", "aria")
        self._settle_in("A", tuple(self.remotes))
        first = self.places[0]
        first.home.remote_add("origin", str(self.remotes["origin"]))
        word = self.known.word()
        first.write("notes/shared.md", f"{word}\nsame\n{self.known.word()}\n")
        self.known.written |= {*WORD.findall((first.root / "notes/shared.md").read_text())}
        first.git("add", "-A")
        first.git("commit", "-q", "-m", "begin")
        if mesh:
            first.home.remote_add("other", str(self.remotes["other"]))
        for remote in first.remotes:
            first.home.sync(remote)
        for name in ("B", "C"):
            self.join(name, ("other",) if mesh and name == "C" else ("origin",))

    def _settle_in(self, name: str, remotes: tuple[str, ...]) -> Place:
        days = _CLOCKS[len(self.places)]
        place = Place(name, self.folder / name, days, self.known, remotes)
        self.places.append(place)
        return place

    def close(self) -> None:
        """Close all homes."""
        for place in self.places:
            place.close()

    # What happens

    def step(self) -> None:
        """Let something happen somewhere."""
        place = self.chance.choice(self.places)
        kinds: list[tuple[str, int, Callable[[Place], str]]] = [
            ("agent", 10, self._agent), ("operator", 9, self._operator), ("sync", 7, self.sync),
            ("killed", 2, self._killed), ("reopen", 1, self._reopen), ("away", 1, self._away),
            ("collect", 1, self._collect), ("join", 1, self._join), ("copy", 1, self._copy),
            ("back up", 1, self._back_up), ("restore", 1, self._restore), ("clock", 1, self._clock),
            ("at once", 2, self._at_once), ("busy", 1, self._busy),
        ]  # fmt: skip
        kind, _, act = self.chance.choices(kinds, [weight for _, weight, _ in kinds])[0]
        self.story.append(f"{place.name}: {kind} …")
        self.story[-1] = f"{place.name}: {kind}: {act(place)}"

    def _agent(self, place: Place) -> str:
        deed = self.chance.choices([*AGENT_DEEDS], [*AGENT_DEEDS.values()])[0]
        return f"{deed.__name__} {tried(deed, self.chance, place)}"

    def _operator(self, place: Place) -> str:
        deed = self.chance.choices([*OPERATOR_DEEDS], [*OPERATOR_DEEDS.values()])[0]
        return f"{deed.__name__} {deed(self.chance, place)}"

    def sync(self, place: Place) -> str:
        """Sync a machine with one of its remotes."""
        reply = place.home.sync(self.chance.choice(place.remotes))
        assert not reply.moved_tags, reply.moved_tags
        assert not reply.refused, reply.refused
        assert not reply.ignored, reply.ignored
        return f"{reply.remote} {reply.branch.reason} {dict(reply.branch.blocked)} {reply.warnings}"

    def _killed(self, place: Place) -> str:
        """Kill a process of this machine at any step of a sync, a turn or a change."""
        at = self.chance.randrange(1, 90)
        word = self.known.word()
        remote = self.chance.choice(place.remotes)
        deed = self.chance.choice(["sync", "sync", "say", "remember", "note"])

        def act(home: AgentHome) -> None:
            if deed == "sync":
                home.sync(remote)
            elif deed == "say":
                home.record([{"kind": "message", "role": "user", "text": f"Killed {word}"}], session="k")
            elif deed == "remember":
                home.entries("memory").add(f"Killed {word}.")
            else:
                home.note_add(f"k{word}.md", content=f"{word}\n")

        through = place.killed(at, act)
        if through and deed in ("remember", "note"):
            self.known.written.add(word)
        return f"{deed} {word} at {at} {through}"

    def _reopen(self, place: Place) -> str:
        place.reopen()
        return ""

    def _away(self, place: Place) -> str:
        """Sync while the remote cannot be reached."""
        remote = self.remotes[place.remotes[0]]
        hidden = remote.with_suffix(".away")
        remote.rename(hidden)
        try:
            place.home.sync(place.remotes[0])
        except (RemoteUnreachable, RemoteError) as error:
            return error.message
        finally:
            hidden.rename(remote)
        raise AssertionError("a remote that was away was synced with")

    def _collect(self, place: Place) -> str:
        """Collect garbage on a remote."""
        remote = self.remotes[self.chance.choice(place.remotes)]
        git("gc", "-q", "--prune=now", cwd=remote)
        return remote.name

    def _join(self, place: Place) -> str:
        if len(self.places) >= _MOST:
            return "-"
        return self.join("DEFGH"[len(self.places) - 3], (place.remotes[0],))

    def join(self, name: str, remotes: tuple[str, ...]) -> str:
        """Let a new machine clone the home, by plain git or by gitmem."""
        url, root = self.remotes[remotes[0]], self.folder / name
        if self.chance.random() < 0.5:
            git("clone", "-q", "--origin", remotes[0], url, root, cwd=self.folder)
        else:
            AgentHome.clone(str(url), root).close()
            if remotes[0] != "origin":
                git("remote", "rename", "origin", remotes[0], cwd=root)
        self._settle_in(name, remotes)
        return name

    def _copy(self, place: Place) -> str:
        """Copy a machine's folder; both go on."""
        if len(self.places) >= _MOST:
            return "-"
        name = "DEFGH"[len(self.places) - 3]
        place.copy_to(self.folder / name)
        self._settle_in(name, place.remotes)
        return name

    def _back_up(self, place: Place) -> str:
        shutil.rmtree(self.folder / "backup", ignore_errors=True)
        place.copy_to(self.folder / "backup")
        self.backup = (self.folder / "backup", place)
        return ""

    def _restore(self, _: Place) -> str:
        """Put a machine's folder back to what it was, once all that it had is on its remotes."""
        if self.backup is None:
            return "-"
        saved, place = self.backup
        self.backup = None
        self.tidy(place)
        for remote in place.remotes:
            place.home.sync(remote)
        tips = [git("rev-parse", "main", cwd=self.remotes[name]) for name in place.remotes]
        if place.has_edits or place.head not in tips:
            return "something would be lost"
        place.close()
        shutil.rmtree(place.root)
        saved.rename(place.root)
        place.home = place._opened()
        return place.name

    def _clock(self, place: Place) -> str:
        """Set a machine's clock ahead or back."""
        place.days = self.chance.choice(_CLOCKS)
        return f"{place.days} days"

    def _at_once(self, place: Place) -> str:
        """Let two machines sync with one remote at the same time."""
        remote = place.remotes[0]
        others = [other for other in self.places if remote in other.remotes and other is not place]
        other = self.chance.choice(others) if others else place
        with other.meanwhile(lambda home: home.sync(remote)):
            place.home.sync(remote)
        return f"{other.name} {remote}"

    def _busy(self, place: Place) -> str:
        """Let another process of a machine record turns while this one syncs."""
        words = [self.known.word() for _ in range(4)]

        def talk(home: AgentHome) -> None:
            for word in words:
                home.record(
                    [{"kind": "message", "role": "user", "text": f"Meanwhile {word}"}], session="busy"
                )

        with place.meanwhile(talk):
            place.home.sync(self.chance.choice(place.remotes))
        self.known.told[place.name] = self.known.told.get(place.name, ()) + tuple(words)
        return f"{words}"

    # The end

    def tidy(self, place: Place) -> None:
        """Let an operator end what they began: take back what was put aside, and commit."""
        while place.ask("stash", "list"):
            take_back(place)
        place.home.close()
        place.home = place._opened()
        place.git("add", "-A")
        place.git("commit", "-q", "-m", "what was left")

    def settle(self) -> int:
        """Sync each machine until nothing moves any more; return how many rounds it took."""
        for place in self.places:
            self.tidy(place)
        for number in range(ROUNDS):
            before = self._refs()
            order = [(place, remote) for place in self.places for remote in place.remotes]
            self.chance.shuffle(order)
            for place, remote in order:
                reply = place.home.sync(remote)
                self.story.append(
                    f"{place.name}: last sync {remote} {reply.branch.reason} {dict(reply.branch.blocked)} "
                    f"{reply.warnings}"
                )
                if reply.branch.blocked or place.has_edits:
                    self.tidy(place)
            if before == self._refs():
                return number
        raise AssertionError("the machines come to no rest")

    def _refs(self) -> dict[str, str]:
        folders = [*(place.root for place in self.places), *self.remotes.values()]
        patterns = ("refs/heads", "refs/tags", "refs/remotes")
        return {folder.name: git("for-each-ref", *patterns, cwd=folder) for folder in folders}


def _remote(path: Path) -> Path:
    """Make a bare repository that takes everything and notes down what it was told."""
    bare(path)
    hook = path / "hooks" / "post-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(_RECORDER)
    hook.chmod(0o755)
    return path


def check_moves(remote: Path) -> int:
    """See that no ref of a remote ever moved to what does not follow its value; return how many moves."""
    moves = [line.split() for line in (remote / "moves").read_text().splitlines()]
    for old, new, ref in moves:
        if set(old) == {"0"}:
            continue
        if set(new) == {"0"}:
            holders = git("for-each-ref", "--contains", old, "refs/heads/gitmem/turns", cwd=remote)
            assert ref.startswith("refs/heads/gitmem/turns/"), ref
            assert holders, f"{ref} was deleted and nothing holds it"
            continue
        assert not ref.startswith("refs/tags/"), f"{ref} was moved"
        follows = run_git("merge-base", "--is-ancestor", old, new, cwd=remote).returncode == 0
        assert follows, f"{ref} moved from {old} to {new}, which does not follow it"
    fsck(remote)
    return len(moves)
