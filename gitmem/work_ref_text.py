"""Work refs as a prompt has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gitmem.work_ref import MOST_REASON, WorkRef, bounded_text

#: Code points of a title, and of a ref or a path.
MOST_TITLE: Final = 120
MOST_SHOWN: Final = 300


def render_refs(refs: Iterable[WorkRef], limit: int | None = None) -> str:
    """Return the active ones among some refs, one a line; empty where none is active.

    Args:
        refs: in the order in which they are to stand.
        limit: how many are rendered at most; a line more says how many are not.
    """
    lines = [render_ref(ref) for ref in refs if ref.status == "active"]
    if limit is not None and len(lines) > limit:
        lines[limit:] = [f"- … {len(lines) - limit} more"] if limit > 0 else []
    return "\n".join(lines)


def render_ref(ref: WorkRef) -> str:
    """Return one ref as a line: `- [kind] title ref=… — reason (source ref)`."""
    shown = bounded_text(ref.ref, MOST_SHOWN)
    parts = [f"- [{ref.kind}] {bounded_text(ref.title, MOST_TITLE) if ref.title else shown}"]
    if ref.title:
        parts.append(f"ref={shown}")
    if ref.reason:
        parts.append(f"— {bounded_text(ref.reason, MOST_REASON)}")
    if ref.source_ref and ref.source_ref != ref.ref:
        parts.append(f"({bounded_text(ref.source_ref, MOST_SHOWN)})")
    return " ".join(parts)
