"""Three machines of one home in memory: people and agents change trees, forget, and sync in any order."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from trees import forget

from gitmem.closed_tree import episode_stub
from gitmem.commit_merge import make_merge_commit, merge_commits, merge_roots
from gitmem.conflict_copies import list_conflicts
from gitmem.conflict_resolution import resolve_conflict
from gitmem.entries import entry_digest, format_store, make_entry, parse_store
from gitmem.forgotten import Receipts, join_receipts
from gitmem.git_objects import hash_object, make_commit, make_object
from gitmem.repository import FILE_MODE, walk_tree
from gitmem.testing.memory_repository import MemoryRepository
from gitmem.tree_edit import TreeFile, edit_tree

CONFIG = 'format = 1\nhome = "h0123456789abcde"\nagent = "Ada"\n'
STORE = "memory/MEMORY.md"
AGENT = "Ada <Ada@h0123456789abcde.gitmem.invalid>"
WORD = re.compile(r"w\d{4}")
NOTES = ("notes/a.md", "notes/b.md", "notes/c/d.md", "notes/c", "notes/e.md")
#: More rounds than any order of pulls needs to come to rest.
ROUNDS = 12


@dataclass
class Machine:
    """One clone: where its branch is, and which receipts it knows."""

    name: str
    head: str
    receipts: Receipts = field(default_factory=Receipts)


class World:
    """What three machines and their remote hold, and what was written, removed and forgotten."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.objects = MemoryRepository()
        self.story: list[str] = []
        self.time = 1_780_000_000
        self.count = 0
        self.written: set[str] = set()
        self.removed: set[str] = set()
        self.taken: Counter[str] = Counter()
        self.removed_entries: set[str] = set()
        self.forgotten_entries: set[str] = set()
        self.forgotten_blobs: set[str] = set()
        self.episodes: dict[str, str] = {}
        self.merges = 0
        start = {
            "gitmem.toml": CONFIG,
            STORE: f"{self.word()}\n§\n{self.word()}\n",
            "notes/a.md": self.lines(5),
        }
        first = self.commit(None, {path: self.file(text) for path, text in start.items()})
        self.machines = [Machine(name, first) for name in "ABC"]
        self.remote = Machine("remote", first)

    # Objects

    def file(self, text: str | bytes) -> TreeFile:
        """Keep a content; return its file."""
        raw = text.encode() if isinstance(text, str) else text
        blob = make_object("blob", raw)
        self.objects.objects[blob.id] = ("blob", raw)
        return TreeFile(FILE_MODE, blob.id)

    def text(self, file: TreeFile) -> str:
        """Return what a file says."""
        return self.objects.read(file.id)[1].decode()

    def tree(self, head: str) -> dict[str, TreeFile]:
        """Return the files of a commit."""
        root = self.objects.read_commit(head).tree
        return {path: TreeFile(entry.mode, entry.id) for path, entry in walk_tree(self.objects, root)}

    def commit(self, parent: str | None, edits: dict[str, TreeFile | None]) -> str:
        """Commit a change of a tree; clocks of machines are off by up to an hour."""
        root = None if parent is None else self.objects.read_commit(parent).tree
        tree, trees = edit_tree(self.objects, root, edits)
        self.time += 1
        made = make_commit(
            tree=tree,
            parents=[parent] if parent else [],
            author=AGENT,
            committer=AGENT,
            seconds=self.time + self.random.randrange(-3600, 3600),
            message="change\n",
        )
        self.keep(*trees, made)
        return made.id

    def keep(self, *objects: object) -> None:
        """Write objects."""
        for one in objects:
            self.objects.objects[one.id] = (one.kind, one.content)  # type: ignore[attr-defined]

    def word(self) -> str:
        """Return a word that stands nowhere yet."""
        self.count += 1
        word = f"w{self.count:04d}"
        self.written.add(word)
        return word

    def lines(self, most: int) -> str:
        """Return a few lines of new words."""
        return "".join(f"{self.word()}\n" for _ in range(self.random.randrange(1, most + 1)))

    def words(self, files: dict[str, TreeFile]) -> set[str]:
        """Return all words of a tree, conflict copies included."""
        return {word for file in files.values() for word in WORD.findall(self.text(file))}

    # What people and agents do

    def act(self, machine: Machine) -> None:
        """Let somebody change the tree of one machine."""
        deeds: list[tuple[int, Callable[[Machine, dict[str, TreeFile]], dict[str, TreeFile | None]]]] = [
            (6, self.edit), (2, self.write), (1, self.delete), (2, self.move), (4, self.change_store),
            (3, self.resolve), (1, self.edit_copy), (1, self.change_config), (1, self.add_episode),
            (1, self.forget_entry), (1, self.forget_note), (1, self.forget_passage), (1, self.forget_episode),
        ]  # fmt: skip
        deed = self.random.choices([deed for _, deed in deeds], [weight for weight, _ in deeds])[0]
        before = self.tree(machine.head)
        edits = deed(machine, before)
        if not edits:
            return
        self.story.append(f"{machine.name}: {deed.__name__} {sorted(edits)}")
        machine.head = self.commit(machine.head, edits)
        self.close(machine)
        self.note_removed(before, self.tree(machine.head))

    def note_removed(self, before: dict[str, TreeFile], after: dict[str, TreeFile]) -> None:
        """Note what a person took out of a tree: of all of it, or of one of the files that held a word."""
        self.removed |= self.words(before) - self.words(after)
        was, now = (
            Counter(word for file in tree.values() for word in set(WORD.findall(self.text(file))))
            for tree in (before, after)
        )
        self.taken.update(word for word in was if now[word] < was[word])
        entries = [self.entries(tree) for tree in (before, after)]
        self.removed_entries |= entries[0] - entries[1]

    def entries(self, tree: dict[str, TreeFile]) -> set[str]:
        """Return the entries of a tree's store."""
        return {entry.text for entry in parse_store(self.text(tree[STORE]))} if STORE in tree else set()

    def notes(self, tree: dict[str, TreeFile]) -> list[str]:
        """Return the notes of a tree."""
        return [path for path in tree if path.startswith("notes/")]

    def edit(self, _: Machine, tree: dict[str, TreeFile]) -> dict[str, TreeFile | None]:
        """Insert, replace or delete a line of a note."""
        if not (notes := self.notes(tree)):
            return {}
        path = self.random.choice(notes)
        lines = self.text(tree[path]).splitlines(keepends=True)
        at = self.random.randrange(len(lines) + 1)
        size = self.random.choice([0, 0, 0, 1, 1, 2])
        new = [] if size and self.random.random() < 0.3 else [f"{self.word()}\n"]
        text = "".join(lines[:at] + new + lines[at + size :])
        return {path: self.file(text)} if text else {path: None}

    def write(self, _: Machine, tree: dict[str, TreeFile]) -> dict[str, TreeFile | None]:
        """Begin a note; a folder in its way, or a file where it needs a folder, is removed."""
        path = self.random.choice(NOTES)
        clear = {
            other: None for other in tree if other.startswith(f"{path}/") or path.startswith(f"{other}/")
        }
        return {**clear, path: self.file(self.lines(4))}

    def delete(self, _: Machine, tree: dict[str, TreeFile]) -> dict[str, TreeFile | None]:
        """Remove a note."""
        notes = self.notes(tree)
        return {self.random.choice(notes): None} if notes else {}

    def move(self, _: Machine, tree: dict[str, TreeFile]) -> dict[str, TreeFile | None]:
        """Move a note to a free name."""
        free = [
            path
            for path in (*NOTES, "notes/f.md", "notes/g/h.md")
            if path not in tree
            and not any(other.startswith(f"{path}/") or path.startswith(f"{other}/") for other in tree)
        ]
        notes = self.notes(tree)
        if not notes or not free:
            return {}
        old = self.random.choice(notes)
        return {old: None, self.random.choice(free): tree[old]}

    def change_store(self, _: Machine, tree: dict[str, TreeFile]) -> dict[str, TreeFile | None]:
        """Add, remove or replace an entry."""
        entries = parse_store(self.text(tree[STORE])) if STORE in tree else []
        at = self.random.randrange(len(entries) + 1)
        size = self.random.choice([0, 0, 1])
        new = [] if size and self.random.random() < 0.5 else [make_entry(self.word())]
        return {STORE: self.file(format_store([*entries[:at], *new, *entries[at + size :]]))}

    def resolve(self, _: Machine, tree: dict[str, TreeFile]) -> dict[str, TreeFile | None]:
        """End a conflict."""
        conflicts = list_conflicts(tree)
        if not conflicts:
            return {}
        path = self.random.choice([*conflicts])
        keep = self.random.choice(["live", "edited", self.random.choice(conflicts[path])])
        if keep == "edited" and path == "gitmem.toml":
            keep = "live"
        if any(other.startswith(f"{path}/") or path.startswith(f"{other}/") for other in tree):
            keep = "live"
        elif path.startswith("notes/") and self.random.random() < 0.3:
            keep = "both"
        text = self.lines(2).encode() if keep == "edited" else None
        done = resolve_conflict(
            tree, path, keep, lambda blob: self.objects.read(blob)[1], mint_id=self.word, edited=text
        )
        for content in done.made.values():
            self.file(content)
        return dict(done.files)

    def edit_copy(self, _: Machine, tree: dict[str, TreeFile]) -> dict[str, TreeFile | None]:
        """Write a line into a conflict copy, where it stands."""
        copies = [path for path in tree if path.startswith("conflicts/") and "gitmem.toml" not in path]
        if not copies:
            return {}
        path = self.random.choice(copies)
        return {path: self.file(f"{self.text(tree[path])}{self.word()}\n")}

    def change_config(self, _: Machine, tree: dict[str, TreeFile]) -> dict[str, TreeFile | None]:
        """Give the home's file another value or a comment."""
        kept = [line for line in self.text(tree["gitmem.toml"]).splitlines() if "[catalog]" not in line]
        kept = [line for line in kept if "max" not in line]
        limit = f"[catalog]\nmax_notes = {self.random.randrange(1, 99)}"
        value = limit if self.random.random() < 0.5 else f"# {self.word()}"
        return {"gitmem.toml": self.file("\n".join([*kept, value]) + "\n")}

    def add_episode(self, _: Machine, tree: dict[str, TreeFile]) -> dict[str, TreeFile | None]:
        """Write an episode."""
        word = self.word()
        path = f"episodes/2026-11/30-{word}.md"
        self.episodes[path] = f"ep_{word}"
        return {path: self.file(f"---\nid: ep_{word}\n---\n{word}\n")}

    # Forgetting

    def forget(self, machine: Machine, receipts: Receipts) -> None:
        """Write receipts on the machine's line."""
        machine.receipts = join_receipts([machine.receipts, receipts])
        self.forgotten_blobs |= receipts.blobs

    def forget_entry(self, machine: Machine, tree: dict[str, TreeFile]) -> dict[str, TreeFile | None]:
        """Forget an entry."""
        if not (entries := sorted(self.entries(tree))):
            return {}
        text = self.random.choice(entries)
        self.forget(machine, forget(entries=(entry_digest(text),)))
        self.forgotten_entries.add(text)
        kept = [make_entry(one.text) for one in parse_store(self.text(tree[STORE])) if one.text != text]
        return {STORE: self.file(format_store(kept))}

    def forget_note(self, machine: Machine, tree: dict[str, TreeFile]) -> dict[str, TreeFile | None]:
        """Forget a note: each version that its path had."""
        if not (notes := self.notes(tree)):
            return {}
        path = self.random.choice(notes)
        self.forget(machine, forget(blobs=tuple(self.versions(machine, path))))
        return {path: None}

    def forget_passage(self, machine: Machine, tree: dict[str, TreeFile]) -> dict[str, TreeFile | None]:
        """Remove a line of a note, and forget the versions that held it."""
        notes = [path for path in self.notes(tree) if len(self.text(tree[path]).split()) > 1]
        if not notes:
            return {}
        path = self.random.choice(notes)
        word = self.random.choice(self.text(tree[path]).split())
        text = self.text(tree[path]).replace(f"{word}\n", "")
        held = [blob for blob in self.versions(machine, path) if word in self.text(TreeFile(0, blob))]
        if hash_object("blob", text.encode()) in machine.receipts.blobs:
            return {}
        self.forget(machine, forget(blobs=tuple(held)))
        return {path: self.file(text)}

    def forget_episode(self, machine: Machine, tree: dict[str, TreeFile]) -> dict[str, TreeFile | None]:
        """Forget an episode whole."""
        whole = [path for path in tree if path in self.episodes and "forgotten" not in self.text(tree[path])]
        if not whole:
            return {}
        path = self.random.choice(whole)
        self.forget(machine, forget(blobs=(tree[path].id,)))
        return {path: self.file(episode_stub(self.episodes[path]))}

    def versions(self, machine: Machine, path: str) -> set[str]:
        """Return every blob that a path had in the history of a machine."""
        seen: set[str] = set()
        found: set[str] = set()
        todo = [machine.head]
        while todo:
            here = todo.pop()
            if here in seen:
                continue
            seen.add(here)
            commit = self.objects.read_commit(here)
            todo += commit.parents
            file = self.tree(here).get(path)
            found |= {file.id} if file else set()
        return found

    def close(self, machine: Machine) -> None:
        """Bring a machine's tree under the receipts that it knows, by a commit that any would make."""
        commit = self.objects.read_commit(machine.head)
        done = merge_roots(self.objects, commit.tree, commit.tree, commit.tree, receipts=machine.receipts)
        if done.tree == commit.tree:
            return
        made = make_merge_commit(done.tree, [commit], AGENT)
        self.keep(*done.objects, made)
        machine.head = made.id

    # Sync

    def sync(self, machine: Machine) -> None:
        """Fetch, merge and push."""
        self.pull(machine, self.remote)
        self.remote.head, self.remote.receipts = machine.head, machine.receipts

    def pull(self, machine: Machine, other: Machine) -> None:
        """Bring what another machine has into one."""
        self.story.append(f"{machine.name} pulls {other.name}")
        before = self.tree(machine.head)
        theirs = self.tree(other.head)
        machine.receipts = join_receipts([machine.receipts, other.receipts])
        if self.objects.is_ancestor(machine.head, other.head):
            machine.head = other.head
        elif not self.objects.is_ancestor(other.head, machine.head):
            machine.head = self.merge(machine, other.head)
        self.close(machine)
        self.removed |= self.forgotten_words(before, machine) | self.forgotten_words(theirs, machine)

    def forgotten_words(self, tree: dict[str, TreeFile], machine: Machine) -> set[str]:
        """Return the words of a tree that receipts take out of it."""
        blobs = machine.receipts.blobs
        lost = self.words({path: file for path, file in tree.items() if file.id in blobs})
        gone = {text for text in self.entries(tree) if machine.receipts.is_forgotten_entry(text)}
        return lost | {word for text in gone for word in WORD.findall(text)}

    def merge(self, machine: Machine, other: str) -> str:
        """Merge; whoever does it makes the same commit."""
        self.merges += 1
        done = merge_commits(self.objects, machine.head, other, receipts=machine.receipts)
        turned = merge_commits(self.objects, other, machine.head, receipts=machine.receipts)
        assert done.commit == turned.commit
        assert done.merge == turned.merge
        assert {one.id for one in done.objects} == {one.id for one in turned.objects}
        self.keep(*done.objects)
        merged = self.tree(done.commit.id)
        again = merge_roots(
            self.objects, *([self.objects.read_commit(done.commit.id).tree] * 3), receipts=machine.receipts
        )
        assert again.tree == self.objects.read_commit(done.commit.id).tree, "merging again changes something"
        known = {word for head in done.bases for word in self.words(self.tree(head))}
        sides = [self.tree(head) for head in (machine.head, other)]
        for side in sides:
            new = self.words(side) - known - self.forgotten_words(side, machine)
            assert new <= self.words(merged), f"a merge lost {new - self.words(merged)}"
            assert all(path in merged for path in side if path.startswith("episodes/"))
        assert self.words(merged) <= {word for side in sides for word in self.words(side)}, "words are back"
        assert done.merge.conflicts == list_conflicts(merged)
        return done.commit.id

    def settle_remote(self) -> None:
        """Sync until nothing moves any more."""
        for _ in range(2):
            for machine in self.machines:
                self.sync(machine)

    def settle_mesh(self) -> int:
        """Pull around in any order until nothing moves; return how many rounds it took."""
        for number in range(ROUNDS):
            pairs = [(one, two) for one in self.machines for two in self.machines if one is not two]
            self.random.shuffle(pairs)
            before = [machine.head for machine in self.machines]
            for one, two in pairs:
                self.pull(one, two)
            if before == [machine.head for machine in self.machines]:
                return number
        raise AssertionError("the machines come to no rest")

    def judge(self) -> None:
        """Check what holds once everything has come to rest."""
        trees = [self.tree(machine.head) for machine in self.machines]
        assert trees[0] == trees[1] == trees[2], "the machines have different trees"
        tree = trees[0]
        # One took it from one file, another from another: both had their way.
        twice = {word for word, count in self.taken.items() if count > 1}
        lost = self.written - self.removed - twice - self.words(tree)
        assert not lost, f"words are gone that nobody removed: {sorted(lost)}"
        assert not self.entries(tree) & self.forgotten_entries, "a forgotten entry is back"
        assert not {file.id for file in tree.values()} & self.forgotten_blobs, "a forgotten file is back"
        back = self.entries(tree) & self.removed_entries
        assert not back, f"removed entries are back: {back}"
        for path in self.episodes:
            assert path in tree, "an episode is gone"
        for file in tree.values():
            text = self.text(file)
            assert "<<<<<<<" not in text
            assert ">>>>>>>" not in text
            assert "\udcff" not in text


def play(seed: int, *, mesh: bool) -> World:
    """Play one random story and judge its end."""
    world = World(seed)
    try:
        for _ in range(world.random.randrange(5, 45)):
            machine = world.random.choice(world.machines)
            if world.random.random() < 0.7:
                world.act(machine)
            elif mesh:
                world.pull(
                    machine, world.random.choice([one for one in world.machines if one is not machine])
                )
            else:
                world.sync(machine)
        if mesh:
            world.settle_mesh()
        else:
            world.settle_remote()
        world.judge()
    except BaseException:
        print(f"seed {seed}:\n" + "\n".join(world.story))
        raise
    return world
