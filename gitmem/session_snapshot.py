"""Frozen blocks of sessions, as files in the private folder: made at a session's start, gone behind its end.

The file is written before the session event is in the spool, and says all that is needed. Where it is lost
or damaged the text is rendered again from the blobs that the event's record names; where those are gone too,
from what there is now.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gitmem.curated import STORES, Store, read_store
from gitmem.durable_file import remove_file, write_file
from gitmem.entries import entry_digest
from gitmem.errors import GitmemError
from gitmem.file_lock import file_lock
from gitmem.findings import Finding
from gitmem.frozen_block import (
    ENDING,
    FREEZING,
    FrozenBlock,
    FrozenStore,
    StoreChange,
    compare_entries,
    decode_block,
    encode_block,
    snapshot_field,
)
from gitmem.git_objects import hash_object
from gitmem.home_owner import HomeOwner
from gitmem.layout import Layout
from gitmem.ledger import Ledger, spooled_records
from gitmem.prompt_block import shown_parts
from gitmem.records import Event, Record
from gitmem.repository import Repository
from gitmem.store_sight import StoreSight, StoreSights
from gitmem.times import format_time, parse_timestamp
from gitmem.tree_files import ManagedFile, read_managed

#: Seconds that a session event may be away from now; an older one is told behind the event.
_LIVE: Final = 3600.0
#: So many files are kept whatever their age, and so many at most.
_KEPT: Final = 200
_MOST: Final = 1000
_OLD: Final = 30 * 86_400.0
_WAIT: Final = 5.0


class SessionSnapshots:
    """Freezes what sessions see, and finds it again.

    Args:
        layout: where the files are.
        repository: knows HEAD and old blobs.
        ledger: knows the session events.
        sights: reads and renders the stores.
        rules: version of the scanner's rules.
        judge: the scanner; a kept text is judged again when it is read, because anyone may have written it.
        owner: to whom the home belongs.
        now: the wall clock, seconds since 1970.
    """

    def __init__(
        self,
        layout: Layout,
        repository: Repository,
        ledger: Ledger,
        sights: StoreSights,
        *,
        rules: str,
        judge: Callable[[str], Sequence[Finding]],
        owner: HomeOwner,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._folder = layout.private / "sessions"
        self._root = layout.root
        self._repository = repository
        self._ledger = ledger
        self._sights = sights
        self._rules = rules
        self._judge = judge
        self._owner = owner
        self._now = now

    def take_event(self, event: Event) -> Event:
        """Freeze or end what a session event freezes or ends; return the event with a word of it.

        Called while a turn is told. What fails here must not cost the event: then the text is frozen when it
        is first asked for.
        """
        told = event.body.get("event")
        if event.session is None or abs(parse_timestamp(event.ts) - self._now()) > _LIVE:
            return event
        if told == ENDING:
            with suppress(OSError):
                remove_file(self._path(event.session))
        if told not in FREEZING:
            return event
        try:
            with self._lock():
                block = self._store(self._freeze(event.session, event.id))
        except (GitmemError, OSError):
            with suppress(OSError):  # the text of an earlier start must not pass for this one's
                remove_file(self._path(event.session))
            return event
        return replace(event, body={"snapshot": snapshot_field(block), **event.body})

    def read(self, session: str) -> FrozenBlock:
        """Return what a session sees; where nothing was frozen yet, that is done now."""
        found = self._load(self._path(session))
        if found is not None and self._is_fit(found, session):
            return found
        try:
            with self._lock():
                found = self._load(self._path(session))
                if found is not None and self._is_fit(found, session):
                    return found
                return self._store(self._made_again(session, found))
        except (GitmemError, OSError):  # a home that cannot be written is read all the same
            return self._made_again(session, None)

    def peek(self, session: str, events: Iterable[Record]) -> FrozenBlock:
        """Return what a session sees and write nothing; where nothing was frozen yet, nothing is now.

        Args:
            session: its id.
            events: the records of its session events, the last one first.
        """
        found = self._load(self._path(session))
        if found is not None and self._is_fit(found, session):
            return found
        own = found if found is not None and found.session == session else None
        return self._made_again(session, own, events)

    def live(self) -> list[FrozenBlock]:
        """Return what is frozen of sessions that have not ended, the newest first."""
        loaded = (self._load(path) for path in self._files())
        return sorted((one for one in loaded if one), key=lambda one: one.frozen_at, reverse=True)

    def changed(
        self, block: FrozenBlock, now: Mapping[str, StoreSight] | None = None
    ) -> dict[str, StoreChange]:
        """Return, by store, what was changed since a block was frozen; unchanged stores are left out.

        Args:
            block: what a session sees.
            now: the stores, if the caller has them.
        """
        found = {}
        for target, sight in (now or self._sights.read()).items():
            before = block.stores.get(target, FrozenStore()).entries
            change = compare_entries(before, [entry_digest(entry.text) for entry in sight.entries])
            if not change.is_empty:
                found[target] = change
        return found

    def _freeze(self, session: str, event: str | None) -> FrozenBlock:
        commit = self._repository.head().commit
        return self._block(session, format_time(self._now()), event, commit, self._sights.read())

    def _block(
        self,
        session: str,
        at: str,
        event: str | None,
        commit: str | None,
        sights: Mapping[str, StoreSight],
    ) -> FrozenBlock:
        stores = {
            target: FrozenStore(sight.blob, tuple(entry_digest(entry.text) for entry in sight.entries))
            for target, sight in sights.items()
        }
        return FrozenBlock(session, at, event, commit, stores, self._rules, self._sights.render(sights))

    def _made_again(
        self, session: str, found: FrozenBlock | None, events: Iterable[Record] | None = None
    ) -> FrozenBlock:
        """Render what a session sees, as it was frozen if that can still be told."""
        again = self._recover(session, self._events(session) if events is None else events)
        if again is None and found is not None:
            again = self._recover_from(found)
        return again or self._freeze(session, None if found is None else found.event)

    def _recover(self, session: str, events: Iterable[Record]) -> FrozenBlock | None:
        """Render again what the last session event in the ledger froze, if its blobs are there."""
        record = _last_event(session, events)
        said = record.body.get("snapshot") if record is not None else None
        if record is None or record.body.get("event") == ENDING or not isinstance(said, Mapping):
            return None
        sights = self._sights_of({target: said.get(target) for target in STORES})
        if sights is None:
            return None
        commit = said.get("commit")
        commit = commit if isinstance(commit, str) else None
        return self._block(session, record.ts, record.id, commit, sights)

    def _recover_from(self, block: FrozenBlock) -> FrozenBlock | None:
        """Render a block again from its own blobs, without what was forgotten since."""
        sights = self._sights_of({target: store.blob for target, store in block.stores.items()})
        if sights is None:
            return None
        return self._block(block.session, block.frozen_at, block.event, block.commit, sights)

    def _sights_of(self, blobs: Mapping[str, Any]) -> dict[str, StoreSight] | None:
        """Return stores from the blobs that they were; None where one of those is gone."""
        found = {}
        for target, blob in blobs.items():
            if blob is None:
                found[target] = StoreSight()
                continue
            content = self._bytes_of(str(blob), STORES[target])
            if content is None:
                return None
            found[target] = self._sights.from_bytes(content)
        return found

    def _bytes_of(self, blob: str, path: str) -> bytes | None:
        with suppress(GitmemError):
            kind, content = self._repository.read(blob)
            return content if kind == "blob" else None
        store = read_store(self._root, path)
        same = isinstance(store, Store) and hash_object("blob", store.content) == blob
        return store.content if isinstance(store, Store) and same else None

    def _events(self, session: str) -> Iterator[Record]:
        for turn in reversed(self._ledger.spooled()):
            yield from reversed(list(spooled_records(turn)))
        yield from self._ledger.find_all(f'"session":"{session}"'.encode())

    def _is_fit(self, block: FrozenBlock, session: str) -> bool:
        if block.session != session or self._is_forgotten(block):
            return False
        return not any(self._judge(part) for part in shown_parts(block.text or ""))

    def _is_forgotten(self, block: FrozenBlock) -> bool:
        receipts = self._ledger.receipts()
        if not (receipts.entries or receipts.blobs):
            return False
        return any(
            store.blob in receipts.blobs or not receipts.entries.isdisjoint(store.entries)
            for store in block.stores.values()
        )

    def _store(self, block: FrozenBlock) -> FrozenBlock:
        path = self._path(block.session)
        write_file(path, encode_block(block), mode=0o600)
        self._owner.give(path)
        self._prune()
        return block

    def _load(self, path: Path) -> FrozenBlock | None:
        # Never through a link, and never waiting for the other end of a pipe.
        read = read_managed(self._folder, path.name)
        return decode_block(read.content) if isinstance(read, ManagedFile) else None

    def _prune(self) -> None:
        """Keep the newest; of the others only those of this month, and never more than a bound."""
        files = self._files()
        if len(files) <= _KEPT:
            return
        aged = sorted(((_mtime(path), path) for path in files), reverse=True)
        for number, (mtime, path) in enumerate(aged):
            if number >= _MOST or (number >= _KEPT and mtime < self._now() - _OLD):
                remove_file(path)

    def _files(self) -> list[Path]:
        try:
            return sorted(path for path in self._folder.iterdir() if path.suffix == ".json")
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _path(self, session: str) -> Path:
        # Not the id itself: names may differ in case only, and where that is one file they would share it.
        return self._folder / f"{hashlib.sha256(session.encode()).hexdigest()[:32]}.json"

    def _lock(self) -> Any:
        self._owner.check()
        return file_lock(self._folder / "lock", wait=_WAIT)


def _last_event(session: str, events: Iterable[Record]) -> Record | None:
    """Return the last event of a session that froze or ended something."""
    for record in events:
        is_own = record.kind == "session" and record.session == session
        if is_own and record.body.get("event") in {*FREEZING, ENDING}:
            return record
    return None


def _mtime(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
