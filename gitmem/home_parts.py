"""The parts of an open home, each made when first needed: a command pays only for what it uses."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from gitmem.findings import allow_sentence, text_mark
from gitmem.home_cleaning_parts import CleaningParts
from gitmem.layout import EPISODES
from gitmem.sync_notes import SyncNotes

if TYPE_CHECKING:
    from gitmem.context import Contexts
    from gitmem.context_reading import ReadingTools
    from gitmem.episode_anchors import EpisodeAnchors
    from gitmem.ledger import Segment
    from gitmem.memory_stores import MemoryStores, Verdict
    from gitmem.memory_tool import MemoryTool
    from gitmem.prose_writes import ProseWrites
    from gitmem.refused_facts import RefusedFacts
    from gitmem.remote_standing import RemoteStanding
    from gitmem.remotes import Remotes
    from gitmem.resolving import Resolving
    from gitmem.session_search import SessionSearch
    from gitmem.sync import Syncing


class HomeParts(CleaningParts):
    """Wires one home: what agents call stands here, on what reads and writes it."""

    @cached_property
    def contexts(self) -> Contexts:
        """What an agent should know now."""
        from gitmem.context import Contexts, KeptJudge
        from gitmem.context_reading import ContextReader

        return Contexts(
            self.repository,
            self.ledger,
            ContextReader(self._reading_tools),
            self.recorder,
            judge=KeptJudge(self.judge, lambda: self.allowed | self.quarantine.state),
            now=self.now,
        )

    @cached_property
    def marked_contexts(self) -> Contexts:
        """The same with all that is kept from the agent, as an operator sees it."""
        from dataclasses import replace

        from gitmem.context import Contexts, KeptJudge
        from gitmem.context_reading import ContextReader
        from gitmem.store_sight import StoreSights

        sights = StoreSights(self.layout, self.config, self.ledger.receipts, lambda _: ())
        marked = self.marked_quarantine
        tools = replace(
            self._reading_tools,
            sights=sights,
            seen=marked.marked_note,
            judge=lambda _: (),
            quarantine=marked,
            episodes=self._episode_anchors(lambda _path, _blob: False),
        )
        judge = KeptJudge(lambda _: (), lambda: self.allowed)
        reader = ContextReader(tools)
        return Contexts(self.repository, self.ledger, reader, self.recorder, judge=judge, now=self.now)

    def _episode_anchors(self, is_held: Callable[[str, str], bool]) -> EpisodeAnchors:
        from gitmem.episode_anchors import EpisodeAnchors

        return EpisodeAnchors(self.layout, self.repository, self.ledger, is_held)

    @cached_property
    def _reading_tools(self) -> ReadingTools:
        from gitmem.context_reading import ReadingTools
        from gitmem.turn_places import TurnPlaces

        return ReadingTools(
            self.layout,
            self.config,
            self.repository,
            self.ledger,
            TurnPlaces(self.layout, self.ledger),
            self._episode_anchors(self._is_version_held),
            self.work_state,
            self.note_ids,
            self.sights,
            self.snapshots,
            seen=lambda note: self.sight.note(note)[0],
            retracted=self._retracted,
            corrected=self.judgements.among,
            waiting=self._waiting_episodes,
            judge=self.judge,
            quarantine=self.quarantine,
        )

    def _is_version_held(self, path: str, blob: str) -> bool:
        return bool(self.quarantine.blob(path, blob, lambda: self.repository.read(blob)[1]))

    def _retracted(self, segments: Mapping[str, Segment] | None) -> Container[str]:
        return self.judgements.retracted() if segments is None else self.judgements.retracted_at(segments)

    def _waiting_episodes(self) -> list[str]:
        paths = (path for write in self.branch.pending() for path in write.paths)
        return [path for path in paths if path.startswith(f"{EPISODES}/")]

    @cached_property
    def memory_stores(self) -> MemoryStores:
        """The memory stores as calls find them."""
        from gitmem.memory_stores import MemoryStores

        return MemoryStores(
            self.layout,
            self.branch,
            self.config.memory.__getitem__,
            self._scan_memory,
            self.ledger.receipts,
            over_limit=self._over_limit,
        )

    def _over_limit(self, text: str) -> tuple[str, ...]:
        return self.quarantine.over_limit(text)  # which is made only when it is asked

    @cached_property
    def memory_tool(self) -> MemoryTool:
        """The tool that changes the memory stores."""
        from gitmem.memory_gate import MemoryGate
        from gitmem.memory_tool import MemoryTool, ToolParts

        return MemoryTool(
            ToolParts(
                layout=self.layout,
                authoring=self.authoring,
                branch=self.branch,
                spool=self.spool,
                stores=self.memory_stores,
                gate=MemoryGate(self.approval),
                judged=self._judgement_of,
                no_room=self.refused_facts.keep,
                took=self.refused_facts.clear,
            )
        )

    def _scan_memory(self, text: str) -> Verdict:
        from gitmem.memory_stores import Verdict
        from gitmem.scanner import scan
        from gitmem.threats import blocked_message

        found = scan(text, allowed=self.allowed)
        rules = tuple(dict.fromkeys(finding.rule for finding in found.findings))
        blocked = blocked_message(found.findings[0]) if found.findings else None
        allow = allow_sentence(rules, text_mark(text)) if rules else None
        return Verdict(blocked, rules, found.allowed_uses, allow)

    def _judgement_of(self, text: str) -> tuple[str, str] | None:
        found = self.judgements.find(text)
        if found is None:
            return None
        # Reason and correction may be an agent's words, which nobody scanned.
        texts = (text for text in (found.reason, found.replaced_by) if text)
        is_harmful = any(self._scan_memory(text).blocked for text in texts)
        said = f"{found.verdict}." if is_harmful else found.sentence
        return f"This text was {said} See {found.source_ref}.", found.source_ref

    @cached_property
    def refused_facts(self) -> RefusedFacts:
        """Facts for which a store had no room."""
        from gitmem.refused_facts import RefusedFacts

        return RefusedFacts(self.layout, self.recorder, self.ledger, self.now)

    @cached_property
    def prose_writes(self) -> ProseWrites:
        """Writing of `operator.md` and `self.md`."""
        from gitmem.prose_writes import ProseWrites

        return ProseWrites(
            self.authoring,
            self.layout,
            self.config,
            self.scan,
            lambda: self.repository.head().commit,
            judged=self._judgement_of,
        )

    @cached_property
    def session_search(self) -> SessionSearch:
        """Searching conversations, and reading in them."""
        from gitmem.session_map import SessionMap
        from gitmem.session_search import SessionSearch

        sessions = SessionMap(self.ledger, self.layout)
        return SessionSearch(
            self.ledger,
            sessions,
            lambda: self.search,
            judgements=self.judgements,
            sight=self.sight,
            quarantine=self.quarantine,
        )

    @cached_property
    def remotes(self) -> Remotes:
        """The home's remotes."""
        from gitmem.remotes import Remotes

        return Remotes(self.repository, self.layout, self.agent)

    @cached_property
    def syncing(self) -> Syncing:
        """Syncing with them."""
        from gitmem.git_transport.connect import RemoteConnector
        from gitmem.quarantine import SYNC_SECONDS
        from gitmem.sync import Syncing, SyncParts

        return Syncing(
            SyncParts(
                repository=self.repository,
                layout=self.layout,
                home_id=self.config.home_id,
                agent=self.agent,
                ledger=self.ledger,
                line=self.line,
                branch=self.branch,
                remotes=self.remotes,
                settle=self.settle_all,
                restore_copy=self.restore_copy,
                connect=RemoteConnector(self.layout).connect,
                now=self.now,
                quarantined=lambda: self.quarantine.news(SYNC_SECONDS),
            )
        )

    def remote_standings(self) -> Sequence[RemoteStanding]:
        """Return how the home stands to each of its remotes."""
        from gitmem.remote_standing import remote_standings

        setting = self.repository.config(self.layout.branch_setting)
        branch = f"refs/heads/{setting}" if setting else self.repository.head().branch
        notes = SyncNotes(self.layout)
        return [*remote_standings(self.repository, self.remotes, notes, branch)]

    @cached_property
    def resolving(self) -> Resolving:
        """Listing and ending conflicts."""
        from gitmem.resolving import Resolving
        from gitmem.text_origin import TextOrigins

        origins = TextOrigins(self.repository, self.config.home_id, self._writer_of)
        return Resolving(self.repository, self.layout, self.branch, origins, lambda: self.operator)

    def _writer_of(self, turn: str) -> str | None:
        return next((record.writer for record in self.ledger.find_turn(turn)), None)
