"""An operator's uncommitted edit in a file that the agent is to change: it is committed first."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from gitmem.blocked_parts import find_blocked, find_blocked_entries
from gitmem.errors import ThreatFound
from gitmem.findings import Finding, without_allowed
from gitmem.redaction import find_secrets

#: The files that are judged entry by entry.
_STORES: Final = ("memory/MEMORY.md", "memory/USER.md")


def refuse_found_secret(path: str, edit: bytes, before: bytes | None, allowed: Collection[str]) -> None:
    """Refuse to commit an edit unasked that brings a secret; its own author can still do it.

    What the agent wrote on top of it is on disk and waits meanwhile.

    Args:
        path: of the file.
        edit: what the operator made of it, as a blob.
        before: what the branch has, None where it has no such file.
        allowed: this machine's exceptions for the scanner.

    Raises:
        ThreatFound: there is a secret in it that the branch does not have.
    """
    text, old = (part.decode("utf-8", "surrogateescape") for part in (edit, before or b""))
    exceptions = frozenset(allowed)

    def judge(part: str) -> tuple[Finding, ...]:
        return without_allowed(find_secrets(part), part, exceptions)[0]

    for found in find_blocked_entries(text, judge) if path in _STORES else find_blocked(text, judge):
        for one in found.hits:
            if found.text[one.start : one.end] not in old:
                raise ThreatFound(
                    f"{path} has an edit by hand, not committed yet, that holds a secret ({one.rule}):"
                    " take it out of the file, or commit it yourself",
                    path=path,
                    rule=one.rule,
                )
