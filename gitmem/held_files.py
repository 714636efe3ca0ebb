"""Files of the operator's branch as they are judged here: entries, notes, episodes, plans, sections of prose.

Only what came from elsewhere is held. A file whose whole text is clean is known by its blob from then on, so
that a look at all of them reads what is new and nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from gitmem import __version__
from gitmem.arrivals import Arrivals
from gitmem.authored_files import episode_id
from gitmem.authored_text import BOM, Problem, decode_text
from gitmem.blocked_parts import BlockedPart
from gitmem.clean_blobs import CleanBlobs
from gitmem.config import HomeConfig
from gitmem.curated import NOTE_SUFFIXES, PROSE, STORES
from gitmem.entries import Entry, entry_digest, entry_id, parse_store
from gitmem.errors import GitmemError
from gitmem.front_matter import read_front_matter
from gitmem.git_objects import hash_object
from gitmem.layout import EPISODES, MEMORY, NOTES, WORK, Layout
from gitmem.memory_files import file_id
from gitmem.quarantine_file import QuarantineFile
from gitmem.quarantine_rules import (
    TOO_LARGE,
    Held,
    JudgeIn,
    entry_rules,
    holds_entry,
    holds_part,
    mark_of,
    plain,
    stretches_of,
    text_parts,
    widen,
)
from gitmem.repository import EXECUTABLE_MODE, FILE_MODE, TREE_MODE, Repository, read_path, walk_tree
from gitmem.tree_files import MAX_FILE, ManagedFile, read_managed

AGENTS: Final = "AGENTS.md"
#: Prose that prompts have, whose items are sections, with what it is read by.
_PROSE: Final = {
    **{path: f"agent_memory:{name}" for name, path in PROSE.items()},
    AGENTS: f"file:{file_id(AGENTS)}",
}
_TARGETS: Final = {path: target for target, path in STORES.items()}
#: Folders whose files are items, with what one is.
_KINDS: Final = {NOTES: "note", EPISODES: "episode", WORK: "plan"}
_FILES: Final = (FILE_MODE, EXECUTABLE_MODE)
_KEPT: Final = 5_000


@dataclass(frozen=True, slots=True)
class HeldPart:
    """A stretch of prose that is held: where it stands, and as what."""

    part: BlockedPart
    item: Held


class HeldFiles:
    """Judges files. Safe in threads.

    Args:
        layout: where the files are.
        repository: the commits by which they came.
        config: the limits of stores.
        file: remembers what came from elsewhere.
        judge: the scanner.
        allowed: returns what this machine allows.
        note_ref: returns the ref of the note at a path.
    """

    def __init__(
        self,
        layout: Layout,
        repository: Repository,
        *,
        config: HomeConfig,
        file: QuarantineFile,
        judge: JudgeIn,
        allowed: Callable[[], frozenset[str]],
        note_ref: Callable[[str], str],
    ) -> None:
        self._layout = layout
        self._repository = repository
        self._config = config
        self._file = file
        self._judge = judge
        self._allowed = allowed
        self._note_ref = note_ref
        self._arrivals = Arrivals(repository, layout)
        self._clean = CleanBlobs(layout.derived / "facts" / "quarantine-files.json")
        self._lock = threading.Lock()
        self._parts: tuple[frozenset[str], dict[tuple[str, str], tuple[BlockedPart, ...]]] = (frozenset(), {})

    @property
    def least_limit(self) -> int:
        """Characters that each store takes."""
        return min(self._config.memory[target].char_limit for target in STORES)

    def file(self, path: str) -> Held | None:
        """Return a note, an episode or a plan, as it is on disk, if it is held or was released."""
        if _kind_of(path) is None:
            return None
        found = read_managed(self._layout.root, path)
        return self.content(path, found.content) if isinstance(found, ManagedFile) else None

    def content(self, path: str, content: bytes) -> Held | None:
        """Return the same of the bytes of a version of it."""
        kind = _kind_of(path)
        if kind is None or not self._arrivals.is_possible():
            return None
        blob = hash_object("blob", content)
        if len(content) > MAX_FILE:
            came = self._came(f"blob:{blob}", path, lambda one: one is not None and len(one) > MAX_FILE)
            return self._held(kind, path, content, (TOO_LARGE,), ()) if came else None
        parts = self._refused(path, blob, content)
        rules = [part.rules for part in parts if self._came_part(path, part)]
        name = tuple(dict.fromkeys(hit.rule for hit in self._judge(path, "context")))
        if name and self._came(f"path:{path}", path, lambda one: one is not None):
            rules.append(name)
        if not rules:
            return None
        marks = tuple(mark_of(part.text) for part in parts)
        return self._held(kind, path, content, tuple(dict.fromkeys(r for some in rules for r in some)), marks)

    def blob(self, path: str, blob: str, read: Callable[[], bytes]) -> Held | None:
        """Return the same of a version that Git has; where it is known to be clean it is not read.

        Args:
            path: of the file.
            blob: id of the version.
            read: returns its bytes.
        """
        if (
            _kind_of(path) is None
            or not self._arrivals.is_possible()
            or self._clean.has(self._sign(), path, blob)
        ):
            return None
        return self._judged(path, blob, read())

    def entry(self, text: str, path: str | None = None) -> Held | None:
        """Return an entry if it is held or was released.

        Args:
            text: of it.
            path: of its store; by default either.
        """
        for store in [path] if path else STORES.values():
            limit = self._config.memory[_TARGETS[store]].char_limit
            rules = entry_rules(text, limit, self._judge)
            if rules and self._came(f"entry:{entry_digest(text)}", store, lambda one: holds_entry(one, text)):
                return _held_entry(text, store, rules)
        return None

    def entry_named(self, name: str, path: str) -> Held | None:
        """Return the entry with an id in a store, as it is on disk, if it is held or was released."""
        found = read_managed(self._layout.root, path)
        entries = _entries(found.content) if isinstance(found, ManagedFile) else []
        return next((self.entry(one.text, path) for one in entries if one.id == name), None)

    def prose(self, path: str, text: str) -> list[HeldPart]:
        """Return the stretches of prose that are held or were released, in order.

        Args:
            path: of the file.
            text: of all of it.
        """
        if path not in _PROSE:
            return []
        text = text.removeprefix(BOM)
        refused = self._refused(path, mark_of(text), text)
        parts = [part for part in refused if self._came_part(path, part)]
        found: dict[int, HeldPart] = {}
        for inner in parts:
            part = self._section_of(path, text, inner)
            known = found.get(part.start)
            rules = tuple(dict.fromkeys([*(known.item.rules if known else ()), *part.rules]))
            marks = {*(known.item.parts if known else ()), mark_of(inner.text), mark_of(part.text)}
            blob = hash_object("blob", plain(part.text).encode("utf-8", "surrogatepass"))
            ref = _PROSE[path]
            item = Held(f"blob:{blob}", ref, "section", rules, path, part.first, mark=blob, parts=(*marks,))
            found[part.start] = HeldPart(part, item)
        return [one for _, one in sorted(found.items())]

    def text(self, path: str) -> str | None:
        """Return a file's text as it is on disk; None where it has none that can be read."""
        found = read_managed(self._layout.root, path)
        text = decode_text(found.content) if isinstance(found, ManagedFile) else None
        return text if isinstance(text, str) else None

    def items(self, goes_on: Callable[[], bool]) -> tuple[list[Held], int]:
        """Return all that the branch has and that are held or were released, and how many files were left."""
        head = self._repository.head().commit
        if head is None:
            return [], 0
        tree = self._repository.read_commit(head).tree
        found: list[Held] = []
        left = 0
        for path, blob in self._blobs(tree):
            if self._clean.has(self._sign(), path, blob):
                continue
            if not goes_on():
                left += 1
                continue
            with suppress(GitmemError):
                found += self._items_in(path, blob)
        self._clean.keep()
        return found, left

    def _items_in(self, path: str, blob: str) -> list[Held]:
        content = self._repository.read(blob)[1]
        if path in _TARGETS:
            entries = _entries(content)
            held = [self.entry(one.text, path) for one in entries]
            lines = [replace(h, line=e.line) for h, e in zip(held, entries, strict=True) if h]
            if not any(self._entry_is_refused(one, path) for one in entries):
                self._clean.add(path, blob)
            return lines
        text = decode_text(content)
        if path in _PROSE:
            if isinstance(text, Problem) or not text_parts(text, _scope_of(path), self._judge):
                self._clean.add(path, blob)
                return []
            return [one.item for one in self.prose(path, text)]
        one = self._judged(path, blob, content)
        return [one] if one else []

    def _judged(self, path: str, blob: str, content: bytes) -> Held | None:
        """Judge a version of a note, an episode or a plan; remember one that has nothing to be held."""
        is_small = len(content) <= MAX_FILE
        if is_small and not self._refused(path, blob, content) and not self._judge(path, "context"):
            self._clean.add(path, blob)
            return None
        return self.content(path, content)

    def _entry_is_refused(self, entry: Entry, path: str) -> bool:
        return bool(entry_rules(entry.text, self._config.memory[_TARGETS[path]].char_limit, self._judge))

    def _blobs(self, tree: str) -> Iterator[tuple[str, str]]:
        for path in (*STORES.values(), *_PROSE):
            entry = read_path(self._repository, tree, path)
            if entry is not None and entry.mode in _FILES:
                yield path, entry.id
        for folder in _KINDS:
            root = read_path(self._repository, tree, folder)
            if root is not None and root.mode == TREE_MODE:
                walked = walk_tree(self._repository, root.id, f"{folder}/")
                yield from (
                    (path, entry.id) for path, entry in walked if entry.mode in _FILES and _kind_of(path)
                )

    def _refused(self, path: str, mark: str, content: bytes | str) -> tuple[BlockedPart, ...]:
        """Return the parts of a file that the scanner refuses, wherever they came from.

        Args:
            path: of the file.
            mark: stands for the content.
            content: bytes, or the text of them.
        """
        allowed = self._allowed()
        key = (path, mark)
        with self._lock:
            if self._parts[0] != allowed or len(self._parts[1]) > _KEPT:
                self._parts = (allowed, {})
            known = self._parts[1]
        if key not in known:
            text = decode_text(content) if isinstance(content, bytes) else content
            # What is no text is not read by anybody.
            known[key] = () if isinstance(text, Problem) else text_parts(text, _scope_of(path), self._judge)
        return known[key]

    def _section_of(self, path: str, text: str, part: BlockedPart) -> BlockedPart:
        """Return all of a section that came as a whole; of one that was here before only the part."""
        for one in stretches_of(text):
            is_around = one.start <= part.start and part.end <= one.end
            if is_around and one.heading and self._came_text(path, one.heading):
                return widen(part, text, one)
        return part

    def _came_part(self, path: str, part: BlockedPart) -> bool:
        """Say whether what was found in a part came from elsewhere; words around it may be one's own."""
        texts = {part.text[hit.start : hit.end].strip() or part.text for hit in part.hits}
        return any(self._came_text(path, text) for text in sorted(texts))

    def _came_text(self, path: str, text: str) -> bool:
        # Where a text stands is part of the question: a file may say with reason what another was given.
        key = f"text:{sha256(f'{path}//{text}'.encode('utf-8', 'surrogatepass')).hexdigest()}"
        return self._came(key, path, _Holds(text))

    def _came(self, key: str, path: str, has: Callable[[bytes | None], bool]) -> bool:
        known = self._file.read().origins.get(key)
        if known is None:
            known = self._arrivals.has_come(path, has)
            if known is None:  # an edit that is not committed yet; its commit will tell
                return False
            self._file.remember_origin(key, came=known)
        return known

    def _held(
        self, kind: str, path: str, content: bytes, rules: tuple[str, ...], marks: tuple[str, ...]
    ) -> Held:
        blob, ref = hash_object("blob", content), f"file:{file_id(path)}"
        others = (ref,)
        if kind == "note":
            ref = self._note_ref(path)
        elif kind == "episode":
            front = read_front_matter(content.decode("utf-8", "replace"))
            ref = f"episode:{episode_id(path, front)}"
        return Held(f"blob:{blob}", ref, kind, rules, path, mark=blob, parts=marks, aliases=others)

    def _sign(self) -> str:
        limits = [str(self._config.memory[target].char_limit) for target in STORES]
        return sha256(" ".join([__version__, *limits, *sorted(self._allowed())]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Holds:
    """Says whether a version of a file has a text."""

    text: str

    def __call__(self, version: bytes | None) -> bool:
        return holds_part(version, self.text)


def _held_entry(text: str, path: str, rules: tuple[str, ...]) -> Held:
    digest = entry_digest(text)
    ref = f"entry:{entry_id(text)}"
    return Held(f"entry:{digest}", ref, "entry", rules, path, mark=digest, parts=(mark_of(text),))


def _entries(content: bytes) -> Sequence[Entry]:
    text = decode_text(content)
    return [] if isinstance(text, Problem) else [*parse_store(text.removeprefix(BOM))]


def _scope_of(path: str) -> str:
    return "strict" if path.startswith(f"{MEMORY}/") else "context"


def _kind_of(path: str) -> str | None:
    folder, *names = path.split("/")
    is_text = path.lower().endswith(NOTE_SUFFIXES) and not any(name.startswith(".") for name in names)
    return _KINDS.get(folder) if names and is_text else None
