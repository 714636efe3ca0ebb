"""A work ref as a prompt has it."""

from __future__ import annotations

from typing import Final

from gitmem.work_ref import MOST_REASON, WorkRef, bounded_text

#: Code points of a title, and of a ref or a path.
MOST_TITLE: Final = 120
MOST_SHOWN: Final = 300


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
