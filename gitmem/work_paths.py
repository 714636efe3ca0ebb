"""Where a work item's plan lies: `work/<date>-<slug>-<id4>/plan.md`, and below `work/done/` once it ended."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from gitmem.slugs import make_slug

FOLDER: Final = "work"
DONE: Final = "work/done"
PLAN: Final = "plan.md"

_MINTED: Final = re.compile(r"work_([0-9a-f]{4})[0-9a-f]{11}")
_PLAN: Final = re.compile(r"work/(?:(done)/)?([^/]*-([0-9a-f]{4}))/plan\.md")


def plan_path(created_at: str, objective: str, item: str) -> str:
    """Return the path of an open work item's plan.

    Args:
        created_at: RFC 3339; its day is in the name.
        objective: its first one; another one later does not move the file.
        item: its id.
    """
    parts = (created_at[:10], make_slug(objective) or "work", short_id(item))
    return f"{FOLDER}/{'-'.join(parts)}/{PLAN}"


def short_id(item: str) -> str:
    """Return four hex digits of a work item's id, or of its hash where a caller made it up."""
    minted = _MINTED.fullmatch(item)
    return minted[1] if minted else sha256(item.encode("utf-8", "surrogatepass")).hexdigest()[:4]


def done_path(path: str) -> str:
    """Return the path of a plan once its work item ended."""
    return f"{DONE}/{path.removeprefix(f'{FOLDER}/')}" if not is_done(path) else path


def open_path(path: str) -> str:
    """Return the path of a plan while its work item is open."""
    return f"{FOLDER}/{path.removeprefix(f'{DONE}/')}" if is_done(path) else path


def is_plan_path(path: str) -> bool:
    """Say whether a path is one that a plan may have."""
    return _PLAN.fullmatch(path) is not None


def is_done(path: str) -> bool:
    """Say whether a plan lies where those of ended work items do."""
    return path.startswith(f"{DONE}/")
