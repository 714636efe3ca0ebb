"""What a session sees of the memory stores until it ends: one text, as it was when the session began.

A prompt that changes costs its cache and confuses its reader. So what is remembered meanwhile is on disk at
once and in no prompt before the next one is built; how far both are apart can be told.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final

#: Session events behind which an agent builds its prompt anew, and which freeze a new text therefore.
FREEZING: Final = frozenset({"start", "switch", "compact", "clear"})
#: The session event behind which there is none.
ENDING: Final = "end"

_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class FrozenStore:
    """One store at that moment.

    Attributes:
        blob: Git blob id of the file's bytes; None where there was no file, or it is switched off.
        entries: SHA-256 of each entry's text, in file order.
    """

    blob: str | None = None
    entries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FrozenBlock:
    """The memory stores as one session has them in its prompt.

    Attributes:
        session: its id.
        frozen_at: when, RFC 3339 in UTC.
        event: id of the session event that froze it; None where somebody asked before there was one.
        commit: where HEAD was.
        stores: by target.
        rules: version of the scanner's rules.
        text: what stands in the prompt; None where there was nothing to say.
    """

    session: str
    frozen_at: str
    event: str | None
    commit: str | None
    stores: Mapping[str, FrozenStore]
    rules: str
    text: str | None


@dataclass(frozen=True, slots=True)
class StoreChange:
    """How one store differs from what a session sees of it, in entries."""

    added: int = 0
    removed: int = 0
    replaced: int = 0

    @property
    def is_empty(self) -> bool:
        """The session sees what the store holds."""
        return not (self.added or self.removed or self.replaced)


def compare_entries(before: Sequence[str], after: Sequence[str]) -> StoreChange:
    """Return what lies between two lists of entries; one that stands where another stood replaces it.

    Args:
        before: what tells the entries apart, in file order.
        after: the same of now.
    """
    added = removed = replaced = 0
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            both = min(i2 - i1, j2 - j1)
            replaced += both
            removed += i2 - i1 - both
            added += j2 - j1 - both
    return StoreChange(added, removed, replaced)


def encode_block(block: FrozenBlock) -> bytes:
    """Return a frozen block as the bytes of its file; the first line is the SHA-256 of the rest."""
    row = {
        "format": _FORMAT,
        "session": block.session,
        "frozen_at": block.frozen_at,
        "event": block.event,
        "commit": block.commit,
        "stores": {
            name: {"blob": store.blob, "entries": list(store.entries)} for name, store in block.stores.items()
        },
        "rules": block.rules,
        "text": block.text,
    }
    body = json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def decode_block(content: bytes) -> FrozenBlock | None:
    """Return the block of a file's bytes; None where they are damaged or of another version."""
    digest, _, body = content.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        return None
    try:
        return _parsed(json.loads(body.decode("utf-8", "surrogatepass")))
    except (ValueError, TypeError, LookupError, AttributeError):
        return None


def _parsed(row: Mapping[str, Any]) -> FrozenBlock | None:
    if row["format"] != _FORMAT or not isinstance(row["text"], str | None):
        return None
    return FrozenBlock(
        session=row["session"],
        frozen_at=row["frozen_at"],
        event=row["event"],
        commit=row["commit"],
        stores={
            name: FrozenStore(store["blob"], tuple(store["entries"])) for name, store in row["stores"].items()
        },
        rules=row["rules"],
        text=row["text"],
    )


def snapshot_field(block: FrozenBlock) -> dict[str, str | None]:
    """Return what the ledger's record of a session event says of the block that it froze."""
    return {"commit": block.commit, **{name: store.blob for name, store in block.stores.items()}}
