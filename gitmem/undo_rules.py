"""What a file becomes when a change of it is taken back: pure rules.

A change is what lies between two versions of a file. It is taken back out of the file as it is now: what came
later stays, and where that stands on the change itself, nothing is done and what overlaps is named.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitmem.authored_text import BOM, newline_of
from gitmem.entries import Entry, format_store, parse_store
from gitmem.text_merge import merge_text

# Named, because its types differ from the protocol's.
_MATCHER: Final[Any] = difflib.SequenceMatcher


@dataclass(frozen=True, slots=True)
class Overlap:
    """What came later and stands on a change that was to be taken back.

    Attributes:
        now: what stands there now; None where nothing does.
        before: what would come back; None where nothing would.
    """

    now: str | None
    before: str | None


@dataclass(frozen=True, slots=True)
class Undone:
    """A file without a change.

    Attributes:
        content: as it becomes; None where the file goes.
        overlaps: what keeps the change from being taken back; `content` is what stands now then.
    """

    content: bytes | None
    overlaps: tuple[Overlap, ...] = ()


def undo_file(before: bytes | None, after: bytes | None, now: bytes | None, *, is_store: bool) -> Undone:
    """Return a file without the change that made `after` of `before`.

    Args:
        before: the file ahead of the change; None where there was none.
        after: the file behind it.
        now: as it is.
        is_store: its parts are entries; else it is taken by line.
    """
    if before in (now, after):
        return Undone(now)
    if now == after:
        return Undone(before)
    if is_store and _is_text(before, after, now):
        return undo_entries(before, after, now)
    if before is None or after is None or now is None or not _is_text(before, after, now):
        return Undone(now, (Overlap(_told(now), _told(before)),))
    merged = merge_text(after, now, before, keep_both=False, first_wins=True)
    if merged.lost is None:
        return Undone(merged.text)
    return Undone(now, _clashes(merged.text, merged.lost))


def undo_entries(
    before: bytes | None, after: bytes | None, now: bytes | None, only: str | None = None
) -> Undone:
    """Return a store without a change of its entries.

    An entry that the change replaced comes back in the place of what replaced it; one that it removed, behind
    the entry that it stood behind.

    Args:
        before: the store ahead of the change.
        after: the store behind it.
        now: the store as it is.
        only: id of the one entry to take back, added or removed; None for all.
    """
    text = (now or b"").decode()
    old, kept = _entries(before), _entries(now)
    pairs = [(gone, came) for gone, came in _steps(old, _entries(after)) if _concerns(gone, came, only)]
    overlaps = tuple(
        Overlap(None, None if gone is None else gone.text)
        for gone, came in pairs
        if came is not None and came not in kept and (gone is None or gone not in kept)
    )
    if overlaps:
        return Undone(now, tuple(_with_successor(one, kept, old) for one in overlaps))
    for gone, came in pairs:
        _put_back(kept, old, gone, came)
    mark = BOM if text.startswith(BOM) else ""
    return Undone(format_store(dict.fromkeys(kept), newline_of(text), mark).encode())


def steps_of(before: bytes | None, after: bytes | None) -> list[tuple[Entry | None, Entry | None]]:
    """Return what a change did to the entries of a store: what went and what came in its place."""
    return _steps(_entries(before), _entries(after))


def _steps(before: Sequence[Entry], after: Sequence[Entry]) -> list[tuple[Entry | None, Entry | None]]:
    # What only moved within the store is neither gone nor new.
    moved = {*before} & {*after}
    found: list[tuple[Entry | None, Entry | None]] = []
    for tag, first, last, begin, end in _MATCHER(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        gone = [one for one in before[first:last] if one not in moved]
        came = [one for one in after[begin:end] if one not in moved]
        pairs = min(len(gone), len(came))
        found += zip(gone[:pairs], came[:pairs], strict=True)
        found += [(one, None) for one in gone[pairs:]]
        found += [(None, one) for one in came[pairs:]]
    return found


def _concerns(gone: Entry | None, came: Entry | None, only: str | None) -> bool:
    return only is None or any(one is not None and one.id == only for one in (gone, came))


def _put_back(kept: list[Entry], old: Sequence[Entry], gone: Entry | None, came: Entry | None) -> None:
    if gone is not None and gone in kept:
        gone = None  # it is there again already
    if came is not None and came in kept:
        place = kept.index(came)
        kept[place : place + 1] = [] if gone is None else [gone]
    elif gone is not None:
        kept.insert(_place_of(gone, old, kept), gone)


def _place_of(entry: Entry, old: Sequence[Entry], kept: Sequence[Entry]) -> int:
    for other in reversed(old[: old.index(entry)]):
        if other in kept:
            return kept.index(other) + 1
    return 0


def _with_successor(overlap: Overlap, kept: Sequence[Entry], old: Sequence[Entry]) -> Overlap:
    """Name what stands now where the entry stood: what is most like it among those that are new."""
    texts = [entry.text for entry in kept if entry not in old]
    like = difflib.get_close_matches(overlap.before or "", texts, 1, 0.3)
    return Overlap(like[0] if like else None, overlap.before)


def _entries(content: bytes | None) -> list[Entry]:
    return [Entry(entry.text, entry.id) for entry in parse_store((content or b"").decode("utf-8", "replace"))]


def _is_text(*contents: bytes | None) -> bool:
    try:
        for content in contents:
            (content or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


def _told(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace")


def _clashes(live: bytes, lost: bytes) -> tuple[Overlap, ...]:
    one, other = (text.decode().splitlines(keepends=True) for text in (live, lost))
    blocks = _MATCHER(None, one, other, autojunk=False).get_opcodes()
    return tuple(
        Overlap("".join(one[first:last]), "".join(other[begin:end]))
        for tag, first, last, begin, end in blocks
        if tag != "equal"
    )
