"""An operator's uncommitted edit in a file that the agent is to change: it is committed first."""

from __future__ import annotations

from collections.abc import Collection

from gitmem.errors import ThreatFound
from gitmem.findings import text_mark
from gitmem.redaction import find_secrets


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
    mark = text_mark(text)
    for one in find_secrets(text):
        if text[one.start : one.end] not in old and not {one.rule, f"{one.rule}:{mark}"} & set(allowed):
            raise ThreatFound(
                f"{path} has an edit by hand, not committed yet, that holds a secret ({one.rule}):"
                " take it out of the file, or commit it yourself",
                path=path,
                rule=one.rule,
            )
