"""Three-way merge of one path of the operator's branch: which text lives, which becomes a conflict copy.

The result depends on the three texts alone, never on who merges, and it is the same with the sides exchanged.
One set of rules for both: a write that settles hands over bytes, a merge of trees blobs that are read only
where a rule looks into them.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final, Literal

from gitmem.entries import parse_store
from gitmem.git_objects import hash_object
from gitmem.text_merge import CLASH, merge_stores, merge_text, sheds_more

CONFLICTS: Final = "conflicts"
EPISODES: Final = "episodes"
STORES: Final = ("memory/MEMORY.md", "memory/USER.md")
CONFIG_FILE: Final = "gitmem.toml"
# Above these whole files are taken: a line merge of 20,000 reversed lines takes 19 s.
_MOST_BYTES: Final = 1 << 20
_MOST_LINES: Final = 5000
#: An ending that every file system can hold behind the name of a copy.
_ENDING: Final = re.compile(r"\.[^\x00-\x1f\x7f\ud800-\udfff]{1,16}")

#: What became of a path that both sides changed, or that one changed and the other removed.
Fate = Literal["taken", "merged", "clash", "revived", "kept"]


@dataclass(frozen=True, slots=True)
class PathMerge:
    """What becomes of one path.

    Attributes:
        live: its content; None where there is no file.
        copies: texts that lost, by the path they get under `conflicts/`.
        revived: one side removed the file, the other changed it; the change stays.
    """

    live: bytes | None
    copies: Mapping[str, bytes] = field(default_factory=dict)
    revived: bool = False


class Blob:
    """A file's content, read when it is first asked for.

    Args:
        blob_id: its Git blob id.
        read: returns the content of an id.
    """

    __slots__ = ("_content", "_read", "id")

    def __init__(self, blob_id: str, read: Callable[[str], bytes]) -> None:
        self.id = blob_id
        self._read = read
        self._content: bytes | None = None

    @property
    def content(self) -> bytes:
        """The bytes."""
        if self._content is None:
            self._content = self._read(self.id)
        return self._content

    def __eq__(self, other: object) -> bool:
        """Say whether two blobs hold the same."""
        return isinstance(other, Blob) and self.id == other.id

    def __hash__(self) -> int:
        """Return the hash of the id."""
        return hash(self.id)

    def __repr__(self) -> str:
        """Return the id, for messages of tests."""
        return f"Blob({self.id[:12]})"


@dataclass(frozen=True, slots=True)
class BlobMerge:
    """What becomes of one path, as blobs.

    Attributes:
        live: its content; None where there is no file.
        lost: texts that become copies.
        fate: what was decided.
        blurred: what a virtual base holds instead of `live`, where something clashed.
    """

    live: Blob | None
    lost: tuple[Blob, ...] = ()
    fate: Fate = "taken"
    blurred: Blob | None = None


def merge_path(path: str, base: bytes | None, first: bytes | None, second: bytes | None) -> PathMerge:
    """Merge two versions of one path.

    Args:
        path: relative to the home, with slashes.
        base: content that both came from, None where there was no file.
        first: one side, None where it has no file.
        second: the other side.
    """
    merged = merge_blobs(path, *(None if text is None else make_blob(text) for text in (base, first, second)))
    copies = {conflict_path(conflict_of(path), blob.content): blob.content for blob in merged.lost}
    live = None if merged.live is None else merged.live.content
    return PathMerge(live, copies, revived=merged.fate == "revived")


def merge_blobs(
    path: str, base: Blob | None, first: Blob | None, second: Blob | None, *, is_shed: bool = False
) -> BlobMerge:
    """Merge two versions of one path, reading what the rule for its class has to see.

    Args:
        path: as for `merge_path`; of a conflict copy both versions become copies of what it is a copy of.
        base: what both came from.
        first: one side.
        second: the other side.
        is_shed: the base was forgotten; where the sides clash, the one that kept less of it lives.
    """
    if _below(path, EPISODES):
        return _merge_episode(base, first, second)
    if second in (first, base):
        return BlobMerge(first)
    if first == base:
        return BlobMerge(second)
    if _below(path, CONFLICTS):
        return BlobMerge(None, tuple(blob for blob in (first, second) if blob is not None), "merged")
    if first is None or second is None:
        return BlobMerge(second if first is None else first, fate="revived")
    return _merge_contents(path, base, first, second, is_shed=is_shed)


def make_blob(content: bytes) -> Blob:
    """Return the blob of a content."""
    return Blob(hash_object("blob", content), lambda _: content)


def conflict_path(path: str, text: bytes, *, digits: int = 12) -> str:
    """Return where a text that lost its place at `path` is kept.

    Args:
        path: of the file.
        text: what it says.
        digits: of the text's SHA-256; more where another text has the shorter name.
    """
    name = hashlib.sha256(text).hexdigest()[:digits]
    ending = PurePosixPath(path).suffix
    return f"{CONFLICTS}/{path}/{name}{ending if _ENDING.fullmatch(ending) else ''}"


def conflict_of(copy: str) -> str:
    """Return the path whose text a conflict copy keeps; the path itself if it is not called like a copy."""
    if not _below(copy, CONFLICTS):
        return copy
    original = copy.removeprefix(CONFLICTS + "/").rpartition("/")[0]
    return original or copy


def _merge_contents(path: str, base: Blob | None, first: Blob, second: Blob, *, is_shed: bool) -> BlobMerge:
    if path in STORES:
        merged = _merge_store(base, first, second)
        if merged is not None:
            return merged
    if base is None or not all(_is_mergeable(blob.content) for blob in (base, first, second)):
        return _whole(first, second)
    if path == CONFIG_FILE:
        return _merge_config(base.content, first, second)
    shed = sheds_more(base.content, first.content, second.content) if is_shed else None
    return _merge_text(base.content, first, second, first_wins=shed)


def _merge_episode(base: Blob | None, first: Blob | None, second: Blob | None) -> BlobMerge:
    if first == second and first is not None:
        return BlobMerge(first)
    sides = {blob.id: blob for blob in (first, second) if blob is not None}
    if base is not None:
        lost = tuple(sides[blob] for blob in sorted(sides) if blob != base.id)
        return BlobMerge(base, lost, "kept")
    return _whole(first, second) if first and second else BlobMerge(first or second)


def _merge_store(base: Blob | None, first: Blob, second: Blob) -> BlobMerge | None:
    try:
        texts = [(blob.content if blob else b"").decode("utf-8") for blob in (base, first, second)]
    except UnicodeDecodeError:
        return None
    # In a virtual base the order of one side would stand for both.
    same = len({tuple(entry.text for entry in parse_store(text)) for text in texts[1:]}) == 1
    blurred = min(first, second, key=lambda blob: blob.content) if same else None
    return BlobMerge(make_blob(merge_stores(*texts).encode("utf-8")), fate="merged", blurred=blurred)


def _merge_config(base: bytes, first: Blob, second: Blob) -> BlobMerge:
    merged = merge_text(base, first.content, second.content, keep_both=False)
    try:
        texts = (merged.text, first.content, second.content)
        values, *sides = ([*_leaves(tomllib.loads(text.decode())).items()] for text in texts)
    except (ValueError, RecursionError):
        return _whole(first, second)
    if merged.lost is None and all(value in side for value in values for side in [sides[0] + sides[1]]):
        return BlobMerge(make_blob(merged.text), fate="merged")
    return _whole(first, second)


def _leaves(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in data.items():
        name = f"{prefix}{key!r}."
        found.update(_leaves(value, name) if isinstance(value, dict) else {name: value})
    return found


def _merge_text(base: bytes, first: Blob, second: Blob, *, first_wins: bool | None) -> BlobMerge:
    merged = merge_text(base, first.content, second.content, first_wins=first_wins)
    live = make_blob(merged.text)
    if merged.lost is None or merged.lost == merged.text:
        return BlobMerge(live, fate="merged")
    return BlobMerge(live, (make_blob(merged.lost),), "clash", make_blob(merged.blurred or CLASH))


def _whole(first: Blob, second: Blob) -> BlobMerge:
    """Let the text with the larger blob id live, and the other become a copy."""
    live, lost = (first, second) if first.id > second.id else (second, first)
    return BlobMerge(live, (lost,), "clash", make_blob(CLASH))


def _is_mergeable(text: bytes) -> bool:
    if len(text) > _MOST_BYTES or text.count(b"\n") > _MOST_LINES:
        return False
    try:
        text.replace(CLASH, b"").decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder + "/")
