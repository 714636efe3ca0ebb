"""Documents that were found as the hits of an answer: a snippet, marks, nothing its reader may not see."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gitmem.agent_sight import AgentSight, Reader
from gitmem.documents import Document
from gitmem.judgement_rules import subject_of
from gitmem.judgements import Judgements
from gitmem.memory_text import bounded, shortened
from gitmem.quarantine import Quarantine
from gitmem.search_reply import Hit
from gitmem.snippet import make_snippet


@dataclass(frozen=True, slots=True)
class HitMaker:
    """Makes the hits of one answer.

    Attributes:
        terms: of the question that were found anywhere.
        by: who reads.
        sight: what an agent may see; without it, everything.
        quarantine: what is held of what came by sync; without it, nothing.
        judgements: tells of retractions.
        retracted: refs that were retracted.
    """

    terms: Collection[str]
    by: Reader
    sight: AgentSight | None
    quarantine: Quarantine | None
    judgements: Judgements | None
    retracted: Mapping[str, str]

    def make(self, document: Document, score: float, explanation: Mapping[str, Any] | None) -> Hit:
        """Return a hit, marked where it was retracted, and where an agent may not see all of it."""
        seen, rules = (document, ()) if self.sight is None else self.sight.document(document)
        hit = _hit_of(seen if self.by == "agent" else document, score, self.terms, explanation)
        if rules:
            hit = replace(hit, metadata={**hit.metadata, "blocked": list(rules)})
        held = () if self.quarantine is None else self.quarantine.document(document)
        if held:  # an agent has no such hit
            hit = replace(hit, metadata={**hit.metadata, "quarantined": list(held)})
        return self._mark(hit)

    def _mark(self, hit: Hit) -> Hit:
        if self.judgements is None or subject_of(hit.source_ref) not in self.retracted:
            return hit
        judgement = self.judgements.of(hit.source_ref)
        if judgement is None:
            return hit
        facts = judgement.as_metadata()
        if self.by == "agent" and self.sight is not None:
            facts = self.sight.retracted(facts)
        metadata = {**hit.metadata, "retracted": facts}
        return replace(hit, title=f"(retracted) {hit.title}".rstrip(), metadata=metadata)


def _hit_of(
    document: Document, score: float, terms: Collection[str], explanation: Mapping[str, Any] | None
) -> Hit:
    snippet = make_snippet(document.text or document.title, terms)
    return Hit(
        source_ref=document.source_ref,
        kind=document.kind,
        title=shortened(document.title),
        snippet=snippet.text,
        score=round(score, 6),
        updated_at=document.ts,
        session=document.session,
        turn=document.turn,
        workspace_id=document.workspace,
        path=document.path,
        line=document.line,
        metadata=bounded(document.metadata),
        highlights=snippet.highlights,
        explanation=explanation,
    )
