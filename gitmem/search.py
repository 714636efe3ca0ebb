"""Finds what was said, run and noted: in the index, and in what is not indexed yet.

A search never rebuilds and never waits for whoever is indexing. Without an index, or with a damaged one, it
answers from what is newest and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from gitmem.advanced_query import find_operands
from gitmem.agent_sight import AgentSight, Reader, check_reader
from gitmem.analysis import MAX_QUERY_CHARS, QueryUnit, analyze_query
from gitmem.documents import SEARCHED_KINDS, Document
from gitmem.errors import UsageError
from gitmem.exact_words import exact_words, holds_all
from gitmem.index_batch import note_paths, notes_digest
from gitmem.index_status import status_of
from gitmem.index_trouble import IndexTrouble
from gitmem.index_view import IndexView, IndexViewer
from gitmem.judgement_rules import JudgementIndex
from gitmem.judgements import Judgements
from gitmem.latest_snapshots import LatestSnapshots
from gitmem.layout import Layout
from gitmem.ledger import Ledger
from gitmem.memory_get import Memory, MemoryReader
from gitmem.note_ids import NoteIds
from gitmem.ranking import Ranking, rank
from gitmem.repository import Repository
from gitmem.search_candidates import (
    MOST_PREFIXED,
    Candidate,
    find_candidates,
    in_order,
    retracted_last,
)
from gitmem.search_hits import HitMaker
from gitmem.search_index import (
    IndexDamaged,
    IndexPart,
    SearchIndex,
    key_of,
)
from gitmem.search_reply import (
    Hit,
    IndexStatus,
    Place,
    SearchReply,
    SearchRequest,
    check_request,
    format_cursor,
)

__all__ = ["Hit", "IndexStatus", "Search", "SearchReply"]

#: Of the best hits so many are looked at for the question's exact words.
_LOOKED_AT: Final = 60


class Search:
    """Searches one home and reads what was found; safe to use from several threads.

    Args:
        repository: whose HEAD decides the ids of notes.
        ledger: its records.
        layout: its files.
        index: may be missing, behind or damaged.
        note_ids: gives notes their ids.
        reader: resolves refs.
        judgements: what was retracted ranks last.
        sight: what an agent may see of a hit; without it, everything.
        trouble: why the index could not be written here, if so.
    """

    def __init__(
        self,
        repository: Repository,
        ledger: Ledger,
        layout: Layout,
        index: SearchIndex,
        *,
        note_ids: NoteIds,
        reader: MemoryReader,
        judgements: Judgements | None = None,
        sight: AgentSight | None = None,
        trouble: IndexTrouble | None = None,
    ) -> None:
        self._sight = sight
        self._viewer = IndexViewer(
            repository, ledger, layout, index, note_ids=note_ids, trouble=trouble
        )
        self._reader = reader
        self._judgements = judgements

    def search(
        self, query: object, *, unindexed: bool = True, by: Reader = "operator", **options: Any
    ) -> SearchReply:
        """Return what matches any word of a question, best first.

        Args:
            query: plain words; its first 10,000 characters are read.
            unindexed: also search what is not indexed yet.
            by: who reads. From an agent, what the scanner refuses of memory and notes is withheld; `blocked`
                in a hit's metadata names the rules, for an operator too.
            options: `limit` (1 to 50, default 10), `kinds`, `session`, `work_item`, `workspace`,
                `all_workspaces`, `since` and `until` (seconds since 1970), `sort` (`relevance`, `newest`,
                `oldest`), `advanced`, `explain`, `cursor`.

        Raises:
            UsageError: the query is blank, or an option has no meaning.
        """
        request = check_request(query, **options)
        reader = check_reader(by)
        try:
            return self._answer(request, self._viewer.view(unindexed=unindexed), reader)
        except IndexDamaged as error:
            self._viewer.discard()
            view = self._viewer.view_without(f"the index was damaged and is built anew: {error}")
            return self._answer(request, view, reader)

    def get(self, ref: str, **options: Any) -> Memory:
        """Return what a ref names, or a part of it; options as `MemoryReader.get` takes them."""
        return self._reader.get(ref, **options)

    def index_status(self) -> IndexStatus:
        """Return how complete the index is."""
        try:
            return status_of(self._viewer.view())
        except IndexDamaged as error:
            return status_of(self._viewer.view_without(f"the index is damaged: {error}"))

    # What is shown

    def _answer(self, request: SearchRequest, view: IndexView, by: Reader) -> SearchReply:
        _check_kinds(request.kinds, view.parts)
        units = _units_of(request, view.parts)
        ranking = rank(view.parts, units)
        candidates, hidden = find_candidates(request, view.parts, ranking.scores)
        retracted = self._retracted()
        places = retracted_last(self._places(request, view, candidates, ranking), retracted)
        if request.after is not None:
            places = (found for found in places if found[0] > request.after)
        page = list(islice(places, request.limit + 1))
        hits = HitMaker(ranking, by, self._sight, self._judgements, retracted)
        shown = page[: request.limit]
        cursor = (
            format_cursor(page[request.limit - 1][0], request.sort) if len(page) > request.limit else None
        )
        return SearchReply(
            query=request.query[:MAX_QUERY_CHARS],
            results=[hits.make(document, score, explain=request.explain) for _, document, score in shown],
            index_status=status_of(view, hidden),
            unmatched_terms=ranking.unmatched if units else [request.query[:100]],
            cursor=cursor,
            query_cut=len(request.query) > MAX_QUERY_CHARS,
        )

    def _retracted(self) -> Mapping[str, str]:
        index = JudgementIndex({}, {}) if self._judgements is None else self._judgements.index()
        return index.refs

    def _places(
        self, request: SearchRequest, view: IndexView, candidates: Iterable[list[Candidate]], ranking: Ranking
    ) -> Iterator[tuple[Place, Document, float]]:
        """Yield the hits in order, each with its place: what is live, the latest, and not shown before."""
        present = _present_refs(view)
        ordered = in_order(candidates, lambda c: present(view.parts[c[2]].document(c[3])))
        best = list(islice(ordered, _LOOKED_AT))
        words = exact_words(request.query) if request.sort == "relevance" and not request.advanced else ()
        scores = ranking.scores
        top = max((scores[c[2]].get(c[3], 0.0) for c, _ in best), default=0.0)
        exact = {
            index for index, (_, document) in enumerate(best)
            if words and holds_all(f"{document.title}\n{document.keywords}\n{document.text}", words)
        }  # fmt: skip
        first = [best[index] for index in sorted(exact)]
        rest = [pair for index, pair in enumerate(best) if index not in exact]
        shown: dict[str, Document] = {}
        latest = LatestSnapshots(view.parts, lambda place, document: self._is_live(view, place, document))
        for bonus, pairs in ((top, first), (0.0, rest), (0.0, ordered)):
            for candidate, document in pairs:
                if document.source_ref in shown or not latest.is_latest(document):
                    continue
                if self._is_live(view, candidate[2], document):
                    shown[document.source_ref] = document
                    score = scores[candidate[2]].get(candidate[3], 0.0) + bonus
                    yield _place_of(request, score, candidate, document), document, score

    def _is_live(self, view: IndexView, place: int, document: Document) -> bool:
        """Say whether a document of the index is still what its source says; `get` resolves every hit."""
        kept_by = document.record if document.kind == "entry" else None  # the record that retracted it
        if kept_by is not None and not self._tells(document.source_ref, kept_by):
            return False
        return view.is_current(place, document)

    def _tells(self, entry: str, record_id: str) -> bool:
        """Say whether a retraction is the one by which an entry is known, and nothing else is."""
        return self._retracted().get(entry) == record_id and self._reader.is_in_record_only(entry)


def _check_kinds(kinds: Iterable[str], parts: Sequence[IndexPart]) -> None:
    """See that each kind is one that can be found; another one of a later gitmem may be in the index.

    Raises:
        UsageError: it is not.
    """
    for kind in sorted(set(kinds).difference(SEARCHED_KINDS)):
        if not any(key_of(kind) in part.column("kind") for part in parts):
            known = ", ".join(SEARCHED_KINDS)
            raise UsageError(f"unknown kind {kind!r}", hint=f"Kinds: {known}.", field="kind")


def _present_refs(view: IndexView) -> Callable[[Document], Document]:
    """Return what gives a document the ref that it has now.

    A note without an id of its own has one from history; a commit may have changed it since it was indexed.
    """
    if notes_digest(view.sources) == view.manifest.notes_of:
        return lambda document: document
    id_of = view.sources.note_ids.lookup(note_paths(view.sources))

    def present(document: Document) -> Document:
        mark = view.manifest.files.get(document.origin) if document.kind == "note" else None
        if mark is None or mark.declared is not None or document.origin in view.backlog.stale:
            return document
        return replace(document, source_ref=f"note:{id_of(document.origin)}")

    return present


def _units_of(request: SearchRequest, parts: Sequence[IndexPart]) -> list[QueryUnit]:
    """Return the words of a question; with operators, those that its prefixes stand for too."""
    if not request.advanced:
        return analyze_query(request.query)
    units: list[QueryUnit] = []
    for operand in find_operands(request.query):
        units += operand.units
        if operand.prefix is not None:
            terms = {term: 1.0 for part in parts for term in part.terms_from(operand.prefix, MOST_PREFIXED)}
            units.append(QueryUnit(f"{operand.prefix}*", terms, ()))
    return units


def _place_of(request: SearchRequest, score: float, candidate: Candidate, document: Document) -> Place:
    first, second = candidate[:2]
    if request.sort == "relevance":
        first = -score
    return 0, float(first), float(second), document.source_ref
