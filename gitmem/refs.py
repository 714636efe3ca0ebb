"""Source refs: the opaque addresses that search returns and `get` resolves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gitmem.errors import InvalidRef

KINDS: Final = (
    "agent_memory",
    "workspace_profile",
    "brief",
    "message",
    "turn",
    "episode",
    "work_item",
    "task",
    "tool_execution",
    "note",
    "entry",
    "file",
    "session",
    "decision",
    "memory",
    "wait",
    "assembly",
)
_SELECTORS: Final = ("cmd", "stdout", "stderr", "output")
_SEGMENT: Final = re.compile(r"[A-Za-z0-9_.-]+")
_BATCH_INDEX: Final = re.compile(r"[1-9][0-9]{0,5}")


@dataclass(frozen=True, slots=True)
class SourceRef:
    """One parsed source ref.

    Attributes:
        id: opaque; never a path, never resolved as one.
        item: 1-based number in a batch of tool calls, else None.
        selector: the part of a tool execution (`cmd stdout stderr output`), else None.
        home: the id of another agent home that holds it, else None.
    """

    kind: str
    id: str
    item: int | None = None
    selector: str | None = None
    home: str | None = None

    def __str__(self) -> str:
        """Return the text that was parsed."""
        parts = [self.kind, self.id]
        if self.item is not None:
            parts += ["batch_item", str(self.item)]
        if self.selector is not None:
            parts.append(self.selector)
        return ":".join(parts) + (f"@{self.home}" if self.home else "")


def parse_ref(text: str) -> SourceRef:
    """Parse a source ref; `str()` of the result is `text` again.

    Raises:
        InvalidRef: with `reason` and the allowed prefixes; checked in the order whitespace, prefix, tool
            execution, empty id, id that looks like a path, URL or query, unsupported prefix.
    """
    if not isinstance(text, str) or re.search(r"\s", text):
        raise _invalid(text, "contains whitespace")
    kind, colon, rest = text.partition(":")
    if not colon:
        raise _invalid(text, "has no kind prefix")
    rest, _, home = rest.partition("@")
    if kind == "tool_execution":
        return _check_home(text, _parse_tool(text, rest, home or None))
    if not rest:
        raise _invalid(text, "has an empty identifier")
    if not _SEGMENT.fullmatch(rest):
        raise _invalid(text, "has an identifier that looks like a path, URL or query")
    if kind not in KINDS:
        raise _invalid(text, "has an unsupported prefix")
    return _check_home(text, SourceRef(kind, rest, home=home or None))


def _check_home(text: str, ref: SourceRef) -> SourceRef:
    if "@" in text and not _SEGMENT.fullmatch(ref.home or ""):
        raise _invalid(text, "names no home after @")
    return ref


def _parse_tool(text: str, rest: str, home: str | None) -> SourceRef:
    parts = rest.split(":")
    if not parts[0]:
        raise _invalid(text, "has an empty identifier")
    if not _SEGMENT.fullmatch(parts[0]):
        raise _invalid(text, "has an identifier that looks like a path, URL or query")
    if len(parts) not in (2, 4) or (len(parts) == 4 and parts[1] != "batch_item"):
        raise _invalid(text, "is not tool_execution:<id>:<part> or …:batch_item:<n>:<part>")
    if parts[-1] not in _SELECTORS:
        raise _invalid(text, f"has a part other than {', '.join(_SELECTORS)}")
    if len(parts) == 4 and not _BATCH_INDEX.fullmatch(parts[2]):
        raise _invalid(text, "has a batch number that is not 1 or more, without leading zeros")
    item = int(parts[2]) if len(parts) == 4 else None
    return SourceRef("tool_execution", parts[0], item, parts[-1], home)


def _invalid(text: object, reason: str) -> InvalidRef:
    shown = str(text)[:120]
    return InvalidRef(
        f"not a source ref: {shown!r} {reason}",
        hint="Take source_ref from a search result.",
        field="source_ref",
        value=shown,
        reason=reason,
        allowed_prefixes=list(KINDS),
    )
