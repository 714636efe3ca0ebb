"""Three-way merge of one file's text: memory stores by entry, everything else by line.

Both are symmetric: nothing here knows which side is ours. Neither ever writes conflict markers.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Final, Literal

from merge3 import Merge3

from gitmem.authored_text import BOM
from gitmem.entries import Entry, format_store, make_entry, parse_store
from gitmem.git_objects import hash_object

_Lines = Sequence[bytes]


# Named, because a merge must give the same text on every machine; its types differ from the protocol's.
_MATCHER: Final[Any] = difflib.SequenceMatcher
#: Stands in a virtual base for what two bases tell differently. It is not UTF-8, and no such file is merged
#: by line, so that against it both sides count as changed.
CLASH: Final = b"\xff two bases differ here \xff\n"


@dataclass(frozen=True, slots=True)
class TextMerge:
    """A merged text.

    Attributes:
        text: the clean changes of both sides; where they clash, the winner's lines.
        lost: None if nothing clashed, else the same text with the other side's lines.
        blurred: the text with `CLASH` in place of each clash; None if nothing clashed.
    """

    text: bytes
    lost: bytes | None = None
    blurred: bytes | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class _Region:
    """A stretch of the three texts: agreed lines, or lines that clash."""

    agreed: _Lines | None
    first: _Lines = ()
    second: _Lines = ()


def wins(text: bytes, other: bytes) -> bool:
    """Say whether `text` becomes the live one of two that clash: the larger Git blob id does."""
    return hash_object("blob", text) > hash_object("blob", other)


def sheds_more(base: bytes, text: bytes, other: bytes) -> bool:
    """Say whether `text` lives where the base was forgotten: the one with fewer lines of it, else by id."""
    old = {line for line in _split(base) if line.strip()}
    kept, other_kept = (len(old.intersection(_split(side))) for side in (text, other))
    return wins(text, other) if kept == other_kept else kept < other_kept


def merge_text(
    base: bytes, first: bytes, second: bytes, *, keep_both: bool = True, first_wins: bool | None = None
) -> TextMerge:
    """Merge two versions of a text by line; a missing last line feed is added.

    Args:
        base: what both came from.
        first: one side.
        second: the other side; exchanging them changes nothing.
        keep_both: whether two insertions at one place may both stand, one behind the other.
        first_wins: which side lives where they clash; None leaves it to `wins`.
    """
    regions = [*_regions(_split(base), _split(first), _split(second), keep_both=keep_both)]
    if first_wins is None:
        first_wins = wins(first, second)
    if all(region.agreed is not None for region in regions):
        return TextMerge(_told(regions, first=True))
    blurred = b"".join(CLASH if region.agreed is None else b"".join(region.agreed) for region in regions)
    return TextMerge(_told(regions, first=first_wins), _told(regions, first=not first_wins), blurred)


def merge_stores(base: str, first: str, second: str) -> str:
    """Merge two versions of a memory store by entry; there are no conflicts.

    Entries that either side removed go, entries that either side added stay, each run of added ones behind
    the entry it followed. An entry replaced on both sides becomes both new ones.
    """
    old, one, two = parse_store(base), parse_store(first), parse_store(second)
    marks = [text[: text.startswith(BOM)] for text in (base, first, second)]
    mark = marks[2] if marks[1] == marks[0] else marks[1]
    if len(old) == len(one) == len(two) == 1:
        merged = merge_text(_bytes(old[0]), _bytes(one[0]), _bytes(two[0]))
        if merged.lost is None:
            return format_store([make_entry(merged.text.decode())] if merged.text.strip() else [], mark=mark)
    return format_store(_merge_entries(old, one, two), mark=mark)


def _told(regions: Sequence[_Region], *, first: bool) -> bytes:
    """Return the text of regions; where they clash, as one side has it."""
    sides = (region.first if first else region.second for region in regions)
    return b"".join(
        b"".join(side if region.agreed is None else region.agreed)
        for region, side in zip(regions, sides, strict=True)
    )


def _regions(base: _Lines, first: _Lines, second: _Lines, *, keep_both: bool) -> Iterator[_Region]:
    merge = Merge3(base, first, second, sequence_matcher=_MATCHER)
    heads = [_front_matter(lines) for lines in (base, first, second)]
    for region in merge.merge_regions():
        if region[0] == "conflict":
            _, start, end, first_start, first_end, second_start, second_end = region
            one, two = first[first_start:first_end], second[second_start:second_end]
            inside = any(
                at < head for at, head in zip((start, first_start, second_start), heads, strict=True)
            )
            both = _both(one, two) if keep_both and start == end and not inside else None
            yield _Region(both, one, two)
        else:
            yield _Region(_source(region[0], base, first, second)[region[1] : region[2]])


def _source(
    kind: Literal["unchanged", "same", "a", "b"], base: _Lines, first: _Lines, second: _Lines
) -> _Lines:
    return {"unchanged": base, "same": first, "a": first, "b": second}[kind]


def _both(one: _Lines, two: _Lines) -> _Lines | None:
    """Return two insertions at one place as one; None if they say partly the same."""
    start = _count_equal(one, two)
    one_rest, two_rest = one[start:], two[start:]
    end = _count_equal(one_rest[::-1], two_rest[::-1])
    tail = one_rest[len(one_rest) - end :]
    one_rest, two_rest = one_rest[: len(one_rest) - end], two_rest[: len(two_rest) - end]
    if any(line.strip() for line in set(one_rest) & set(two_rest)):
        return None
    rests = sorted([b"".join(one_rest), b"".join(two_rest)])
    return [*one[:start], *rests, *tail]


def _count_equal(one: _Lines, two: _Lines) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))


def _front_matter(lines: _Lines) -> int:
    """Return how many lines the front matter takes, its fences included; 0 without any."""
    if not lines or lines[0].rstrip() != b"---":
        return 0
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() in (b"---", b"..."):
            return number
    return 0


def _split(text: bytes) -> list[bytes]:
    *lines, rest = text.split(b"\n")
    return [line + b"\n" for line in (*lines, rest)] if rest else [line + b"\n" for line in lines]


def _bytes(entry: Entry) -> bytes:
    return entry.text.encode("utf-8") + b"\n"


def _merge_entries(base: Sequence[Entry], first: Sequence[Entry], second: Sequence[Entry]) -> list[Entry]:
    sides = [{entry.text for entry in side} for side in (first, second)]
    kept = [entry for entry in base if all(entry.text in side for side in sides)]
    places = [_runs(base, side, kept) for side in (first, second)]
    merged: dict[str, Entry] = {}
    for anchor, standing in [("", None), *((entry.text, entry) for entry in kept)]:
        if standing is not None:
            merged[anchor] = standing
        for entry in _join(*([e for e in side.get(anchor, []) if e.text not in merged] for side in places)):
            merged.setdefault(entry.text, entry)
    return list(merged.values())


def _runs(base: Sequence[Entry], side: Sequence[Entry], kept: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Return the entries that a side added, by the kept entry that they follow (`""` at the start)."""
    old, standing = {entry.text for entry in base}, {entry.text for entry in kept}
    runs: dict[str, list[Entry]] = {}
    anchor = ""
    for entry in side:
        if entry.text in standing:
            anchor = entry.text
        elif entry.text not in old:
            runs.setdefault(anchor, []).append(entry)
    return runs


def _join(one: list[Entry], two: list[Entry]) -> list[Entry]:
    """Return two runs at one place as one; a run that the other one holds already adds nothing."""
    texts = [[entry.text for entry in run] for run in (one, two)]
    if set(texts[1]) <= set(texts[0]) and (set(texts[0]) != set(texts[1]) or texts[0] <= texts[1]):
        return one
    if set(texts[0]) <= set(texts[1]):
        return two
    return one + two if texts[0] < texts[1] else two + one
