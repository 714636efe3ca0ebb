"""What changed in memory between two states of its files, in the terms of memory: pure rules, without I/O."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from gitmem.curated import PROSE, STORES
from gitmem.entries import Entry
from gitmem.front_matter import FrontMatter, read_front_matter
from gitmem.layout import CONFIG_FILE, CONFLICTS, EPISODES, NOTES
from gitmem.note_identity import match_renames
from gitmem.note_text import Note, make_note, split_sections
from gitmem.undo_rules import steps_of
from gitmem.work_paths import is_done, is_plan_path, open_path

Kind = Literal["entry", "section", "note", "work_item", "episode", "conflict", "config", "file"]
#: What happened; a note may have several in one diff.
Word = Literal[
    "added",
    "removed",
    "replaced",
    "moved",
    "renamed",
    "retitled",
    "retagged",
    "edited",
    "finished",
    "reopened",
]

_TARGETS: Final = {path: target for target, path in STORES.items()}
_SECTIONED: Final = (*PROSE.values(), "AGENTS.md", "README.md")
_ORDER: Final[tuple[Kind, ...]] = (
    "entry", "section", "note", "work_item", "episode", "conflict", "config", "file",
)  # fmt: skip
#: A removed and an added file are one that was renamed where so much of their words is the same.
_LIKE: Final = 0.6

#: Pairs of removed and added files that are held against each other at most.
_MOST_PAIRS: Final = 10_000
#: Word pairs that are compared in order at most.
_MOST_COMPARED: Final = 4_000_000

# Named, because its types differ from the protocol's.
_MATCHER: Final[Any] = difflib.SequenceMatcher


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is different.

    Attributes:
        kind: of thing.
        change: what happened to it.
        path: of its file, behind the change; where it is gone, ahead of it.
        name: what it is called for people: a note's title, a section's heading, a store.
        source_ref: its address; None where it has none of its own.
        before: what it was: the text of an entry or section, a title, tags, a path; None for nothing.
        after: what it is.
        words: how many words of a body came and went.
        key: what it is looked for by in a commit: the texts of entries.
    """

    kind: Kind
    change: Word
    path: str
    name: str
    source_ref: str | None = None
    before: str | None = None
    after: str | None = None
    words: tuple[int, int] = (0, 0)
    key: tuple[str | None, str | None] = (None, None)


def diff_files(
    before: Mapping[str, bytes], after: Mapping[str, bytes], note_ref: Callable[[str], str | None]
) -> list[Change]:
    """Return what is different between two states, kind by kind, in the order of paths.

    Args:
        before: content by path, of the files that differ; one that is missing here was added.
        after: the same behind the change; one that is missing here was removed.
        note_ref: returns the ref of the note at a path, None where it has none any more.
    """
    paths = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    before, after = ({path: side[path] for path in paths if path in side} for side in (before, after))
    stores = [path for path in paths if path in _TARGETS]
    found = [*_entries(stores, before, after)]
    renamed = _renames(before, after)
    for path in paths:
        if path in _TARGETS or path in renamed.values():
            continue
        new = renamed.get(path, path)
        found += _file(path, new, before.get(path), after.get(new), note_ref)
    return sorted(found, key=lambda one: (_ORDER.index(one.kind), one.path))


def _entries(
    paths: Sequence[str], before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> Iterator[Change]:
    steps = [(path, step) for path in paths for step in steps_of(before.get(path), after.get(path))]
    gone = {old: path for path, (old, new) in steps if old is not None}
    came = {new: path for path, (old, new) in steps if new is not None}
    moved = gone.keys() & came.keys()
    for path, step in steps:
        old, new = (None if one in moved else one for one in step)
        if old is not None or new is not None:
            yield _entry(path, old, new)
    for entry in sorted(moved, key=lambda one: one.text):
        where = (_TARGETS[gone[entry]], _TARGETS[came[entry]])
        key = (entry.text, entry.text)
        yield Change("entry", "moved", came[entry], where[1], f"entry:{entry.id}", *where, key=key)


def _entry(path: str, old: Entry | None, new: Entry | None) -> Change:
    word: Word = "added" if old is None else "removed" if new is None else "replaced"
    known = new or old
    assert known is not None
    texts = (None if old is None else old.text, None if new is None else new.text)
    return Change("entry", word, path, _TARGETS[path], f"entry:{known.id}", *texts, key=texts)


def _file(
    path: str, new: str, old: bytes | None, content: bytes | None, note_ref: Callable[[str], str | None]
) -> Iterator[Change]:
    texts = _texts(old, content)
    if texts is None:
        word = "renamed" if path != new else _word(old, content)
        yield Change(_kind_of(new), word, new, new, None, *((path, new) if path != new else ()))
    elif path in _SECTIONED and None not in texts:
        yield from _sections(path, texts[0] or "", texts[1] or "")
    elif is_plan_path(new):
        yield from _plan(path, new, *texts)
    elif _kind_of(new) == "episode":
        yield _episode(new, *texts)
    elif _kind_of(new) == "note":
        yield from _note(path, new, texts, note_ref)
    else:
        if path != new:
            yield Change(_kind_of(new), "renamed", new, new, None, path, new)
        if old != content:
            yield Change(_kind_of(new), _word(old, content), new, new, None, *texts, words=_words(*texts))


def _sections(path: str, old: str, new: str) -> Iterator[Change]:
    sides = [_by_heading(old), _by_heading(new)]
    for heading in dict.fromkeys([*sides[1], *sides[0]]):
        before, after = (side.get(heading) for side in sides)
        if before != after:
            word: Word = "added" if before is None else "removed" if after is None else "edited"
            name = heading[0] or "(before the first heading)"
            yield Change("section", word, path, name, None, before, after, _words(before, after))


def _by_heading(text: str) -> dict[tuple[str, int], str]:
    found: dict[tuple[str, int], str] = {}
    seen: Counter[str] = Counter()
    for section in split_sections(text):
        heading = section.heading or ""
        found[heading, seen[heading]] = section.text
        seen[heading] += 1
    return found


def _note(
    path: str, new: str, texts: tuple[str | None, str | None], note_ref: Callable[[str], str | None]
) -> Iterator[Change]:
    notes = [
        None if text is None else make_note(at, text, "") for at, text in zip((path, new), texts, strict=True)
    ]
    old, now = notes
    ref = note_ref(new)
    if old is None or now is None:
        one = now or old
        assert one is not None
        word: Word = "added" if old is None else "removed"
        was, is_now = (None if note is None else note.title for note in notes)
        yield Change("note", word, new, one.title, ref, was, is_now, _words(_body(old), _body(now)))
        return
    if path != new:
        yield Change("note", "renamed", new, now.title, ref, path, new)
    if old.title != now.title:
        yield Change("note", "retitled", new, now.title, ref, old.title, now.title)
    if old.tags != now.tags:
        yield Change("note", "retagged", new, now.title, ref, ", ".join(old.tags), ", ".join(now.tags))
    if old.body != now.body or _rest(old) != _rest(now):
        yield Change("note", "edited", new, now.title, ref, words=_words(old.body, now.body))


def _rest(note: Note) -> str:
    """Return what a note's front matter holds besides title and tags, as text."""
    fields = note.front.fields.items()
    return repr([(name, one.node.value) for name, one in fields if name not in ("title", "tags")])


def _body(note: Note | None) -> str | None:
    return None if note is None else note.body


def _plan(path: str, new: str, old: str | None, text: str | None) -> Iterator[Change]:
    was, now = _objective(old), _objective(text)
    item = _value(read_front_matter(text if text is not None else old or ""), "id")
    name, ref = now or was or new, f"work_item:{item}" if item else None
    if old is None or text is None:
        yield Change("work_item", "added" if old is None else "removed", new, name, ref, was, now)
        return
    if is_done(path) != is_done(new):
        yield Change("work_item", "finished" if is_done(new) else "reopened", new, name, ref, was, now)
    elif path != new:
        yield Change("work_item", "renamed", new, name, ref, path, new)
    elif was != now:
        yield Change("work_item", "retitled", new, name, ref, was, now)
    if old != text:
        yield Change("work_item", "edited", new, name, ref, words=_words(old, text))


def _objective(text: str | None) -> str | None:
    return None if text is None else _value(read_front_matter(text), "objective")


def _episode(path: str, old: str | None, text: str | None) -> Change:
    front = read_front_matter(text if text is not None else old or "")
    title = _value(front, "title") or path
    word: Word = "added" if old is None else "removed" if text is None else "edited"
    ref = f"episode:{front.id}" if front.id else None
    titles = (None if old is None else title, None if text is None else title)
    return Change("episode", word, path, title, ref, *titles)


def _value(front: FrontMatter, name: str) -> str | None:
    found = front.fields.get(name)
    return None if found is None or found.node.value is None else str(found.node.value)


def _kind_of(path: str) -> Kind:
    if path == CONFIG_FILE:
        return "config"
    folder = path.split("/", 1)[0]
    kinds: dict[str, Kind] = {NOTES: "note", EPISODES: "episode", CONFLICTS: "conflict"}
    return kinds.get(folder, "work_item" if is_plan_path(path) else "file")


def _word(old: bytes | None, new: bytes | None) -> Word:
    return "added" if old is None else "removed" if new is None else "edited"


def _texts(old: bytes | None, new: bytes | None) -> tuple[str | None, str | None] | None:
    """Return both sides as text, None where one is none."""
    try:
        before, after = (None if one is None else one.decode() for one in (old, new))
    except UnicodeDecodeError:
        return None
    return before, after


def _words(old: str | None, new: str | None) -> tuple[int, int]:
    """Return how many words came and how many went."""
    one, other = ((text or "").split() for text in (old, new))
    came = went = 0
    if len(one) * len(other) > _MOST_COMPARED:  # counted, where comparing in order would take long
        counts = Counter(one), Counter(other)
        return (counts[1] - counts[0]).total(), (counts[0] - counts[1]).total()
    for tag, first, last, begin, end in _MATCHER(None, one, other, autojunk=False).get_opcodes():
        if tag != "equal":
            came, went = came + end - begin, went + last - first
    return came, went


def _renames(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> dict[str, str]:
    """Return where files went: those that only moved first, then those that are much alike."""
    gone = {path: content for path, content in before.items() if path not in after and _may_move(path)}
    came = {path: content for path, content in after.items() if path not in before and _may_move(path)}
    same = match_renames(_marks(gone), _marks(came)).items()
    found = {old: new for new, old in same if _kind_of(old) == _kind_of(new)}
    if len(gone) * len(came) > _MOST_PAIRS:
        return found
    for path, content in gone.items():
        free = [new for new in came if new not in found.values() and _kind_of(new) == _kind_of(path)]
        like = max(((_likeness(path, content, new, came[new]), new) for new in free), default=(0.0, ""))
        if path not in found and like[0] >= _LIKE:
            found[path] = like[1]
    return found


def _may_move(path: str) -> bool:
    return path not in _TARGETS and path not in _SECTIONED


def _likeness(path: str, old: bytes, new_path: str, new: bytes) -> float:
    if is_plan_path(path) and open_path(path) == open_path(new_path):
        return 1.0
    one, other = Counter(old.split()), Counter(new.split())
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def _marks(files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: content.hex() for path, content in files.items()}
