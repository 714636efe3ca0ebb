"""Quarantine: what came by sync and must not reach the agent here, until an operator lets it through.

It is derived and local: `scan(content)` less what was released on this machine. It decides what the agent is
shown and finds, never what a tree holds; an operator sees all of it, marked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitmem.blocked_parts import BlockedPart
from gitmem.curated import STORES
from gitmem.documents import Document
from gitmem.errors import NotFound, RefusedError, Unavailable
from gitmem.held_files import AGENTS, HeldFiles
from gitmem.held_records import HeldRecords
from gitmem.json_view import JsonView
from gitmem.layout import MEMORY
from gitmem.memory_text import Whole
from gitmem.note_text import Note
from gitmem.quarantine_file import NamedItems, QuarantineFile, Release
from gitmem.quarantine_rules import TOO_LARGE, TOO_LONG, Held, without_parts
from gitmem.records import Record
from gitmem.times import format_time

#: Seconds for which a sync and a status look at what is new; readers judge what they show all the same.
SYNC_SECONDS: Final = 10.0
STATUS_SECONDS: Final = 1.0
#: Hex digits of an id that name an item at least.
_LEAST: Final = 6


@dataclass(frozen=True, slots=True)
class QuarantineList(JsonView):
    """What is in quarantine here.

    Attributes:
        quarantined: kept from the agent, the oldest first.
        released: let through here, though still there.
        unread: segments and files that were not looked at yet; readers judge what they show all the same.
    """

    quarantined: Sequence[Held]
    released: Sequence[Held]
    unread: int = 0


@dataclass(frozen=True, slots=True)
class QuarantineChange(JsonView):
    """What a release, or the taking back of one, changed; items that were so already are left out."""

    released: Sequence[Held] = ()
    held: Sequence[Held] = ()


class Quarantine:
    """Judges what readers are about to show. Safe in threads.

    Args:
        records: judges records.
        files: judges files.
        file: remembers what was released.
        named: remembers what a sync has named.
        now: seconds since 1970.
    """

    def __init__(
        self,
        records: HeldRecords,
        files: HeldFiles,
        file: QuarantineFile,
        named: NamedItems,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._records = records
        self._files = files
        self._file = file
        self._named_items = named
        self._now = now

    # What readers ask

    @property
    def state(self) -> frozenset[str]:
        """What was released, for those who keep what they made under it."""
        return frozenset(f"{one.id} {one.mark}" for one in self._file.read().releases.values())

    def refuses(self, body: Mapping[str, Any]) -> bool:
        """Say whether the scanner refuses a record's words, whoever wrote them: only then it may be held."""
        return self._records.refuses(body)

    def record(self, record: Record) -> tuple[str, ...]:
        """Return the rules for which a record is held; none if it is not."""
        return self._rules(self._records.judge(record))

    def told(self, record: Record) -> Record | None:
        """Return a record as a context tells it; None where it is held."""
        return None if self.record(record) else record

    def entry(self, text: str, path: str | None = None) -> tuple[str, ...]:
        """Return the rules for which an entry is held."""
        return self._rules(self._files.entry(text, path))

    def over_limit(self, text: str) -> tuple[str, ...]:
        """Return the rules for which an entry is held that is longer than an agent could write it."""
        return self.entry(text) if len(text) > self._files.least_limit else ()

    def file(self, path: str) -> tuple[str, ...]:
        """Return the rules for which a note, an episode or a plan is held as it is on disk."""
        return self._rules(self._files.file(path))

    def version(self, path: str, content: bytes) -> tuple[str, ...]:
        """Return the rules for which a version of such a file is held."""
        return self._rules(self._files.content(path, content))

    def blob(self, path: str, blob: str, read: Callable[[], bytes]) -> tuple[str, ...]:
        """Return the same of a version that Git has; `read` returns its bytes."""
        return self._rules(self._files.blob(path, blob, read))

    def is_let(self, path: str) -> bool:
        """Say whether such a file was released as it is on disk."""
        found = self._files.file(path) if self._file.read().releases else None
        return found is not None and self._is_released(found)

    def parts(self, path: str, text: str) -> list[BlockedPart]:
        """Return the stretches of a prose file that are held."""
        return [one.part for one in self._files.prose(path, text) if not self._is_released(one.item)]

    def agents_md(self, text: str) -> str:
        """Return the role contract without what is held of it."""
        text = text.removeprefix("\ufeff")
        return without_parts(AGENTS, text, self.parts(AGENTS, text))

    def document(self, document: Document) -> tuple[str, ...]:
        """Return the rules for which a hit is held."""
        path = document.path
        if document.record is not None:
            is_snapshot = document.group is not None
            found = self._records.judge_at(document.origin, document.record, is_snapshot=is_snapshot)
            return next((rules for rules in map(self._rules, found) if rules), ())
        if path is None:
            return ()
        if path in STORES.values():
            if document.kind != "entry":
                return ()
            return self._rules(self._files.entry_named(document.source_ref.partition(":")[2], path))
        if path.startswith(f"{MEMORY}/"):
            held = (
                part.rules
                for part in self._prose_parts(path)
                if part.first <= (document.line or 1) <= _last(part)
            )
            return next(held, ())
        return self.file(path)

    def whole(self, whole: Whole) -> tuple[str, ...]:
        """Return the rules for which what a ref names is held as a whole."""
        if whole.record is not None:
            return self.record(whole.record)
        kind, path = whole.ref.partition(":")[0], whole.metadata.get("path")
        if kind == "entry":
            return self.entry(whole.text, path if path in STORES.values() else None)
        return self.file(path) if isinstance(path, str) and kind in ("note", "episode", "file") else ()

    def note(self, note: Note) -> tuple[str, ...]:
        """Return the rules for which a note is held."""
        return self._rules(self._files.file(note.path))

    # What an operator asks

    def list(self, seconds: float | None = None) -> QuarantineList:
        """Return what is in quarantine.

        Args:
            seconds: what is new is looked at for so long; the rest is counted. None looks at all of it.
        """
        end = None if seconds is None else time.monotonic() + seconds

        def goes_on() -> bool:
            return end is None or time.monotonic() < end

        files, unread_files = self._files.items(goes_on)
        records, unread = self._records.items(goes_on)
        unique = {(one.id, one.path): one for one in [*files, *records]}.values()
        held = [one for one in unique if not self._is_released(one)]
        released = [one for one in unique if self._is_released(one)]
        return QuarantineList(held, released, unread + unread_files)

    def news(self, seconds: float) -> Sequence[Held]:
        """Return what is in quarantine and was in no answer of this method before.

        Args:
            seconds: for which what is new is looked at.
        """
        held = self.list(seconds).quarantined
        return self._named_items.news(held)

    def release(self, ref: str) -> QuarantineChange:
        """Let through what a ref names, here.

        Args:
            ref: a source ref, an id or the beginning of its hash, or the path of a file.

        Raises:
            NotFound: nothing of that name is in quarantine.
            RefusedError: it is too large to be read at all.
        """
        listed = self.list()
        held = _named(ref, listed.quarantined)
        if not held and not _named(ref, listed.released):
            raise _unknown(ref)
        for one in held:
            if TOO_LARGE in one.rules or (one.kind == "entry" and TOO_LONG in one.rules):
                hint = "Divide it and commit that; its parts are judged anew."
                raise RefusedError(f"{one.path or ref} is too large to be shown to an agent", hint=hint)
        at = format_time(self._now())
        self._file.release(Release(one.id, one.mark, one.parts, one.source_ref, at) for one in held)
        return QuarantineChange(released=held)

    def hold(self, ref: str) -> QuarantineChange:
        """Take a release back.

        Raises:
            NotFound: nothing of that name was released, or is in quarantine.
        """
        listed = self.list()
        released = _named(ref, listed.released)
        if not released and not _named(ref, listed.quarantined):
            raise _unknown(ref)
        self._file.hold(one.id for one in released)
        return QuarantineChange(held=released)

    def _prose_parts(self, path: str) -> Sequence[BlockedPart]:
        text = self._files.text(path)
        return [] if text is None else self.parts(path, text)

    def _rules(self, held: Held | None) -> tuple[str, ...]:
        return held.rules if held is not None and not self._is_released(held) else ()

    def _is_released(self, held: Held) -> bool:
        release = self._file.read().releases.get(held.id)
        return release is not None and release.mark == held.mark


def held_source(ref: str, rules: Sequence[str]) -> Unavailable:
    """Return the error for what the agent may not see."""
    return Unavailable(
        f"{ref} came by sync and is in quarantine ({', '.join(rules)})",
        hint=f"The operator can read it, and let it through: gitmem quarantine release {ref}",
        source_ref=ref,
        reason="quarantined",
        rules=list(rules),
    )


def _named(ref: str, items: Sequence[Held]) -> list[Held]:
    """Return the items that a text names: all of a file by its path or ref."""
    exact = [
        one for one in items if ref in (one.id, one.source_ref, one.path, _bare(one.source_ref), *one.aliases)
    ]
    if exact:
        return exact
    found = [one for one in items if _is_beginning(ref, one)]
    return found if len({one.id for one in found}) == 1 else []


def _is_beginning(ref: str, item: Held) -> bool:
    kind, colon, name = ref.rpartition(":")
    if kind.startswith("tool_execution:"):  # its command, its output: one record
        return item.id == f"record:{_bare(ref)}"
    if len(name) < _LEAST or (colon and kind != item.id.partition(":")[0]):
        return False
    return any(one.startswith(name) for one in (item.id.partition(":")[2], _bare(item.source_ref)))


def _bare(ref: str) -> str:
    return ref.split(":")[1] if ":" in ref else ref


def _last(part: BlockedPart) -> int:
    return part.first + part.text.count("\n")


def _unknown(ref: str) -> NotFound:
    hint = "What is there: gitmem quarantine list"
    return NotFound(f"nothing in quarantine is {ref[:120]}", hint=hint, source_ref=ref[:120])
