"""Commit messages of gitmem: a grammar of subjects and a set of trailers, written and read here only.

    turn 118: 2 messages, 3 tools            turn 119 (interrupted): 1 message
    note: edit ops/staging.md                note: move a.md to ops/a.md
    memory: + 1 entry (34 %)                 memory: ~ 1, - 2 user entries (8 %)
    found: notes/staging.md                  edit: 3 files
    init: agent home                         episode: move-staging-db (12 turns)
    sync: merge                              revert: notes/staging.md

Without percent a change of memory had to wait: by then the store is otherwise full.

No caller's text stands in a turn's message. Where a path or a reason stands, nothing is left in it on which a
forge would act (`#12`, `@name`), that would break the line, or that would reach into the next trailer.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.records import clean_text

KIND: Final = "Gitmem-Kind"
TURN: Final = "Gitmem-Turn"
CHAIN: Final = "Gitmem-Chain"
HEAD: Final = "Gitmem-Head"
HOME: Final = "Gitmem-Home"
SESSION: Final = "Gitmem-Session"
SOURCE: Final = "Gitmem-Source"
REASON: Final = "Gitmem-Reason"
ALLOWED: Final = "Gitmem-Allowed"
APPROVED_BY: Final = "Gitmem-Approved-By"
REVERTS: Final = "Gitmem-Reverts"

Trailers = Sequence[tuple[str, str | None]]

#: Kind of record -> how one and several are called in a subject; the turn's own record is not counted.
_NOUNS: Final[Mapping[str, tuple[str, str]]] = {
    "message": ("message", "messages"),
    "tool_execution": ("tool", "tools"),
    "brief": ("brief", "briefs"),
    "decision": ("decision", "decisions"),
    "work_item": ("work item", "work items"),
    "task": ("task", "tasks"),
    "wait": ("wait", "waits"),
    "file": ("file", "files"),
    "memory": ("memory change", "memory changes"),
    "session": ("session event", "session events"),
    "assembly": ("context", "contexts"),
    "episode": ("episode", "episodes"),
}
_OTHER: Final = ("other", "others")
_KINDS: Final = {noun: kind for kind, nouns in _NOUNS.items() for noun in nouns}
_TURN: Final = re.compile(r"turn(?: (?P<index>\d+))?(?: \((?P<state>[a-z]+)\))?: (?P<counts>.+)")
_AREA: Final = re.compile(
    r"(?P<area>init|note|found|edit|memory|episode|work|sync|forget|revert|restore): (?P<rest>.+)"
)
_TRAILER: Final = re.compile(r"([A-Za-z][A-Za-z0-9-]*): ?(.*)")
_PERCENT: Final = re.compile(r" \(\d+ %\)$")
_LONGEST_VALUE: Final = 500
_LONGEST_TARGET: Final = 60


@dataclass(frozen=True, slots=True)
class Subject:
    """A parsed subject.

    Attributes:
        area: `turn`, `note`, `found`, `edit`, `init`, …
        index, state, counts: of turns; `counts` by kind of record.
        action: of notes: `add edit append move remove`.
        rest: what follows the area, as it stands.
    """

    area: str
    rest: str
    index: int | None = None
    state: str | None = None
    counts: Mapping[str, int] | None = None
    action: str | None = None


def turn_subject(index: int | None, kinds: Iterable[str], state: str = "completed") -> str:
    """Return `turn 118: 2 messages, 3 tools`.

    Args:
        index: the turn's number, if it has one.
        kinds: the kind of each record of the turn.
        state: its end state; anything but `completed` is shown.
    """
    number = "" if index is None else f" {index}"
    how = "" if state == "completed" else f" ({state})"
    return f"turn{number}{how}: {list_counts(Counter(kinds)) or 'nothing'}"


def list_counts(counts: Mapping[str, int]) -> str:
    """Return `2 messages, 3 tools` for counts by kind of record; a turn's own record is not counted."""
    known = {kind: counts.get(kind, 0) for kind in _NOUNS}
    other = sum(count for kind, count in counts.items() if kind not in _NOUNS and kind != "turn")
    named = [(count, _NOUNS[kind]) for kind, count in known.items()]
    return ", ".join(f"{count} {noun[count != 1]}" for count, noun in [*named, (other, _OTHER)] if count)


def note_subject(action: str, path: str, target: str | None = None) -> str:
    """Return `note: edit ops/staging.md`; paths are shown below `notes/`."""
    moved = f" to {_shown_path(target)}" if target is not None else ""
    return f"note: {action} {_shown_path(path)}{moved}"


def memory_subject(target: str, percent: int, *, added: int = 0, changed: int = 0, removed: int = 0) -> str:
    """Return `memory: + 1 entry (34 %)`: how many entries came, changed and went, and how full the store is.

    Args:
        target: `memory`, or `user`, which is named.
        percent: of the store's limit, behind the change.
        added: number of entries that came.
        changed: number of entries that have another text.
        removed: number of entries that went.
    """
    counts = [(sign, count) for sign, count in (("+", added), ("~", changed), ("-", removed)) if count]
    noun = "entry" if counts and counts[-1][1] == 1 else "entries"
    whose = "" if target == "memory" else f"{target} "
    told = ", ".join(f"{sign} {count}" for sign, count in counts) or "0"
    return f"memory: {told} {whose}{noun} ({percent} %)"


def without_percent(subject: str) -> str:
    """Return a subject without how full a store is: a change that waits finds it otherwise full."""
    return _PERCENT.sub("", subject)


def episode_subject(slug: str, turns: int) -> str:
    """Return `episode: move-staging-db (12 turns)`.

    Args:
        slug: of what it was about, as in the name of its file.
        turns: how many it holds.
    """
    return f"episode: {slug or 'episode'} ({turns} {'turn' if turns == 1 else 'turns'})"


def file_subject(path: str) -> str:
    """Return `memory: edit self.md`, for a file that the agent edited with its own tools."""
    folder, slash, name = path.partition("/")
    area = {"notes": "note", "episodes": "episode"}.get(folder, folder)
    return f"{area}: edit {_shown_path(name, below='')}" if slash else edit_subject([path])


def work_subject(action: str, path: str) -> str:
    """Return `work: finish 2026-03-02-move-staging-1f0a`, for the plan of a work item.

    Args:
        action: `add`, `edit`, `finish` or `reopen`.
        path: of the plan, behind the change.
    """
    return f"work: {action} {_shown_path(path.split('/')[-2], below='')}"


def found_subject(paths: Sequence[str]) -> str:
    """Return the subject for an operator's edits that are committed as they were found."""
    return f"found: {_shown_paths(paths)}"


def edit_subject(paths: Sequence[str]) -> str:
    """Return the subject for an operator's commit that came without a message."""
    return f"edit: {_shown_paths(paths)}"


def revert_subject(action: str, paths: Sequence[str]) -> str:
    """Return `revert: memory/MEMORY.md`, or `restore: …`."""
    return f"{action}: {_shown_paths(paths)}"


def merge_subject() -> str:
    """Return the subject of a merge; it names nothing, so that every machine makes the same commit."""
    return "sync: merge"


def resolve_subject(path: str) -> str:
    """Return `sync: resolve ops/staging.md`, for an operator's choice between two texts."""
    return f"sync: resolve {_shown_path(path)}"


def forget_subject(files: int) -> str:
    """Return `forget: 2 files`, for a commit that takes off what was forgotten; it names nothing."""
    return f"forget: {files} {'file' if files == 1 else 'files'}"


def init_subject() -> str:
    """Return the subject of a home's first commit."""
    return "init: agent home"


def format_message(subject: str, trailers: Trailers, body: str = "") -> str:
    """Return a commit message: subject, optional body, trailers, each paragraph apart, ending in a line feed.

    Args:
        subject: as the functions above give it, or an operator's own.
        trailers: keys and values in the order they are to stand; empty values are left out.
        body: text of a person, if any.
    """
    lines = [f"{key}: {value}" for key, text in trailers if (value := clean_value(text))]
    parts = [clean_line(subject), body.strip("\n"), "\n".join(lines)]
    return "\n\n".join(part for part in parts if part) + "\n"


def parse_trailers(message: str) -> dict[str, str]:
    """Return a message's trailers: its last paragraph, if each line of it is one; the last of a key wins."""
    paragraphs = re.split(r"\n[ \t]*\n", message.strip("\n"))
    if len(paragraphs) < 2:
        return {}
    found = [_TRAILER.fullmatch(line) for line in paragraphs[-1].strip("\n").split("\n")]
    if not all(found):
        return {}
    return {match[1]: match[2].strip() for match in found if match}


def parse_subject(message: str) -> Subject | None:
    """Return what the first line of a message says in gitmem's grammar, or None if it is not in it."""
    first = message.split("\n", 1)[0].rstrip()
    turn = _TURN.fullmatch(first)
    if turn:
        index = turn["index"]
        counts = _parse_counts(turn["counts"])
        return Subject(
            "turn", turn["counts"], int(index) if index else None, turn["state"] or "completed", counts
        )
    area = _AREA.fullmatch(first)
    if area is None:
        return None
    word = area["rest"].split(" ", 1)[0]
    return Subject(area["area"], area["rest"], action=word if area["area"] == "note" else None)


def clean_line(text: str) -> str:
    """Return `text` as one line without control characters."""
    if text.isascii() and text.isprintable():  # as most are that come with a turn
        return " ".join(text.split())
    kept = "".join(" " if unicodedata.category(c) in {"Cc", "Zl", "Zp"} else c for c in clean_text(text))
    return " ".join(kept.split())


def clean_value(text: str | None) -> str:
    """Return `text` as a trailer's value: one line, bounded, with nothing on which a forge would act."""
    line = re.sub(r"([#@])(?=\w)", r"\1 ", clean_line(text or ""))
    return line if len(line) <= _LONGEST_VALUE else line[: _LONGEST_VALUE - 1].rstrip() + "…"


def _parse_counts(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for part in text.split(", "):
        number, _, noun = part.partition(" ")
        if number.isdigit():
            kind = _KINDS.get(noun, "other")
            counts[kind] = counts.get(kind, 0) + int(number)
    return counts


def _shown_paths(paths: Sequence[str]) -> str:
    return _shown_path(paths[0], below="") if len(paths) == 1 else f"{len(paths)} files"


def _shown_path(path: str, below: str = "notes/") -> str:
    plain = "".join(
        c if c.isalnum() or c in " ._-/+()" else "_" for c in clean_line(path.removeprefix(below))
    )
    return plain if len(plain) <= _LONGEST_TARGET else "…" + plain[-(_LONGEST_TARGET - 1) :]
