"""What the unique beginning of an id, a bare id or a note's name stands for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from gitmem.errors import AmbiguousMatch, GitmemError
from gitmem.judgement_rules import Judgement
from gitmem.ledger import Ledger
from gitmem.memory_files import MemoryFiles
from gitmem.notes import Notes
from gitmem.records import ID_PREFIXES, is_name
from gitmem.refs import SourceRef, parse_ref
from gitmem.source_errors import unknown_source

_RECORD_ID: Final = re.compile(rf"(?:{'|'.join(ID_PREFIXES.values())})_[0-9a-f]{{1,15}}")
_HEX: Final = re.compile(r"[0-9a-f]{4,40}")
_KIND_OF_PREFIX: Final = {prefix: kind for kind, prefix in ID_PREFIXES.items()}


class ShortRefs:
    """Completes what people and agents write short.

    Args:
        ledger: the records.
        files: the entries.
        notes: finds notes by id and path.
        judged: returns the retraction of what a ref names.
    """

    def __init__(
        self,
        ledger: Ledger,
        files: MemoryFiles,
        notes: Notes,
        judged: Callable[[str], Judgement | None],
    ) -> None:
        self._ledger = ledger
        self._files = files
        self._notes = notes
        self._judged = judged

    def parse(self, text: str) -> SourceRef:
        """Return the ref that a text is or stands for."""
        if not isinstance(text, str) or ":" in text or not text:
            return parse_ref(text)
        found = list(dict.fromkeys(self._complete(text)))
        if not found:
            # The reason why it is no ref says more than that nothing was found.
            if not re.fullmatch(r"[A-Za-z0-9_.-]+", text):
                parse_ref(text)
            raise unknown_source(text)
        if len(found) > 1:
            raise AmbiguousMatch(
                f"{len(found)} things begin with {text}", hint="Write more of it.", matches=sorted(found)[:20]
            )
        return parse_ref(found[0])

    def _complete(self, text: str) -> Iterator[str]:
        """Yield the refs whose id is, or begins with, a text."""
        prefix = text.partition("_")[0]
        if _RECORD_ID.fullmatch(text) and prefix in _KIND_OF_PREFIX:
            if prefix == "turn":
                yield from self._turns_named(text)
                return
            record = self._ledger.find(text)
            if record is not None:
                yield _bare_ref(record.kind, record.id)
                return
            ids = (one for one in self._ledger.record_ids() if one.startswith(text))
            yield from {_bare_ref(_KIND_OF_PREFIX[prefix], one) for one in ids}
            return
        exact = self._objects_named(text)
        yield from exact
        if exact or not _HEX.fullmatch(text):
            if not exact:
                yield from self._note_named(text)
            return
        yield from (f"entry:{entry}" for entry, *_ in self._files.entries() if entry.startswith(text))
        if self._judged(f"entry:{text}") is not None:
            yield f"entry:{text}"
        yield from self._note_named(text)

    def _turns_named(self, text: str) -> list[str]:
        found = {r.turn for r in self._ledger.find_all(f'"turn":"{text}'.encode()) if r.turn.startswith(text)}
        return sorted(f"turn:{turn}" for turn in found)

    def _objects_named(self, text: str) -> list[str]:
        """Return the tasks, waits, work items and sessions that a caller called so."""
        if not is_name(text):
            return []
        found = {
            f"{record.kind}:{record.object}"
            for record in self._ledger.find_all(f'"object":"{text}"'.encode())
            if record.object == text
        }
        if any(r.session == text for r in self._ledger.find_all(f'"session":"{text}"'.encode())):
            found.add(f"session:{text}")
        return sorted(found)

    def _note_named(self, text: str) -> Iterator[str]:
        try:
            yield self._notes.find(text).source_ref
        except GitmemError:
            return


def _bare_ref(kind: str, record_id: str) -> str:
    return f"tool_execution:{record_id}:cmd" if kind == "tool_execution" else f"{kind}:{record_id}"
