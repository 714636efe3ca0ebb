"""Three-way merge of one path of the operator's branch: which text lives, which becomes a conflict copy.

The result depends on the three texts alone, never on who merges, and it is the same with the sides exchanged.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final

from gitmem.text_merge import TextMerge, merge_stores, merge_text, wins

CONFLICTS: Final = "conflicts"
_STORES: Final = ("memory/MEMORY.md", "memory/USER.md")
_CONFIG_FILE: Final = "gitmem.toml"
_EPISODES: Final = "episodes"
# Above these whole files are taken: a line merge of 20,000 reversed lines takes 19 s.
_MOST_BYTES: Final = 1 << 20
_MOST_LINES: Final = 5000


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


def merge_path(path: str, base: bytes | None, first: bytes | None, second: bytes | None) -> PathMerge:
    """Merge two versions of one path.

    Args:
        path: relative to the home, with slashes.
        base: content that both came from, None where there was no file.
        first: one side, None where it has no file.
        second: the other side.
    """
    if _below(path, _EPISODES):
        return _merge_episode(path, base, first, second)
    if second in (first, base):
        return PathMerge(first)
    if first == base:
        return PathMerge(second)
    if _below(path, CONFLICTS):
        return _merge_copy(path, first, second)
    if first is None or second is None:
        return PathMerge(second if first is None else first, revived=True)
    return _merge_contents(path, base, first, second)


def conflict_path(path: str, text: bytes) -> str:
    """Return where a text that lost its place at `path` is kept."""
    name = hashlib.sha256(text).hexdigest()[:12]
    return f"{CONFLICTS}/{path}/{name}{PurePosixPath(path).suffix}"


def conflict_of(copy: str) -> str:
    """Return the path whose text a conflict copy keeps; the copy's own path if it is not called like one."""
    original = copy.removeprefix(CONFLICTS + "/").rpartition("/")[0]
    return original or copy


def _merge_contents(path: str, base: bytes | None, first: bytes, second: bytes) -> PathMerge:
    if path in _STORES:
        merged = _merge_store(base, first, second)
        if merged is not None:
            return PathMerge(merged)
    if base is None or not all(_is_mergeable(text) for text in (base, first, second)):
        return _whole(path, first, second)
    if path == _CONFIG_FILE:
        return _merge_config(path, base, first, second)
    return _from_text(path, merge_text(base, first, second))


def _merge_episode(path: str, base: bytes | None, first: bytes | None, second: bytes | None) -> PathMerge:
    if first == second and first is not None:
        return PathMerge(first)
    if base is not None or first is None or second is None:
        return PathMerge(next((text for text in (base, first, second) if text is not None), None))
    return _whole(path, first, second)


def _merge_copy(path: str, first: bytes | None, second: bytes | None) -> PathMerge:
    """Copies are a set of texts, each named by its present text; they are never merged into one."""
    texts = [text for text in (first, second) if text is not None]
    return PathMerge(None, {conflict_path(conflict_of(path), text): text for text in texts})


def _merge_store(base: bytes | None, first: bytes, second: bytes) -> bytes | None:
    try:
        texts = [(text or b"").decode("utf-8") for text in (base, first, second)]
    except UnicodeDecodeError:
        return None
    return merge_stores(*texts).encode("utf-8")


def _merge_config(path: str, base: bytes, first: bytes, second: bytes) -> PathMerge:
    merged = merge_text(base, first, second, keep_both=False)
    try:
        values, *sides = ([*_leaves(tomllib.loads(t.decode())).items()] for t in (merged.text, first, second))
    except (tomllib.TOMLDecodeError, RecursionError):
        return _whole(path, first, second)
    if merged.lost is None and all(value in side for value in values for side in [sides[0] + sides[1]]):
        return PathMerge(merged.text)
    return _whole(path, first, second)


def _leaves(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in data.items():
        name = f"{prefix}{key!r}."
        found.update(_leaves(value, name) if isinstance(value, dict) else {name: value})
    return found


def _from_text(path: str, merged: TextMerge) -> PathMerge:
    if merged.lost is None or merged.lost == merged.text:
        return PathMerge(merged.text)
    return PathMerge(merged.text, {conflict_path(path, merged.lost): merged.lost})


def _whole(path: str, first: bytes, second: bytes) -> PathMerge:
    live, lost = (first, second) if wins(first, second) else (second, first)
    return PathMerge(live, {conflict_path(path, lost): lost})


def _is_mergeable(text: bytes) -> bool:
    if len(text) > _MOST_BYTES or text.count(b"\n") > _MOST_LINES:
        return False
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder + "/")
