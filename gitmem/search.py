"""Finds what was said, run and noted: in the index, and in what is not indexed yet.

A search never rebuilds and never waits for whoever is indexing. Without an index, or with a damaged one, it
answers from what is newest and says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from gitmem.agent_sight import AgentSight, Reader, check_reader
from gitmem.analysis import MAX_QUERY_CHARS
from gitmem.documents import SEARCHED_KINDS, Document
from gitmem.errors import UsageError
from gitmem.exact_words import exact_words, holds_all, holds_as_part
from gitmem.index_batch import note_paths, notes_digest
from gitmem.index_status import should_catch_up, status_of
from gitmem.index_view import IndexView, IndexViewer
from gitmem.judgement_rules import JudgementIndex
from gitmem.judgements import Judgements
from gitmem.latest_snapshots import LatestSnapshots
from gitmem.memory_get import Memory, MemoryReader
from gitmem.postings_cache import DEFAULT_BYTES
from gitmem.quarantine import Quarantine
from gitmem.search_candidates import Candidate, Placed, in_order, retracted_last
from gitmem.search_cursor import format_cursor, next_cursor, sign_of
from gitmem.search_hits import HitMaker
from gitmem.search_index import (
    IndexDamaged,
    IndexPart,
    key_of,
)
from gitmem.search_reply import (
    Hit,
    IndexStatus,
    Quarantined,
    SearchReply,
    SearchRequest,
    check_request,
)

if TYPE_CHECKING:
    from gitmem.scoring.finder import Finder, Found

__all__ = ["Hit", "IndexStatus", "Search", "SearchReply"]

#: Of the best hits so many are looked at for the question's exact words.
_LOOKED_AT: Final = 60
#: Hits in quarantine that an answer names.
_NAMED: Final = 20


class Search:
    """Searches one home and reads what was found; safe to use from several threads.

    Args:
        viewer: looks at the index and its sources.
        reader: resolves refs.
        judgements: what was retracted ranks last.
        sight: what an agent may see of a hit; without it, everything.
        quarantine: what an agent does not find; without it, nothing.
        now: the wall clock, seconds since 1970; questions may name times relative to it.
        lacking: is called when an answer was given from an index that should catch up; must return at once.
        room: returns the bytes that the postings of an answer's words may take, to be kept for the next.
    """

    def __init__(
        self,
        viewer: IndexViewer,
        *,
        reader: MemoryReader,
        judgements: Judgements | None = None,
        sight: AgentSight | None = None,
        quarantine: Quarantine | None = None,
        now: Callable[[], float] = time.time,
        lacking: Callable[[], object] = lambda: None,
        room: Callable[[], int] = lambda: DEFAULT_BYTES // 2,
    ) -> None:
        self._sight = sight
        self._quarantine = quarantine
        self._now = now
        self._lacking = lacking
        self._room = room
        self._last_finder: Finder | None = None
        self._viewer = viewer
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
            options: `limit` (1 to 50, default 10), `kind` or `kinds`, `session`, `work_item`, `workspace`,
                `all_workspaces`, `since` and `until` (seconds since 1970), `sort` (`relevance`, `newest`,
                `oldest`), `advanced`, `explain`, `cursor`.

        Raises:
            UsageError: the query is blank, or an option has no meaning.
        """
        request = check_request(query, **options)
        reader = check_reader(by)
        with self._viewer.still():
            view, reply = self._search(request, reader, unindexed=unindexed)
        if should_catch_up(view):
            self._lacking()
        return reply

    def _search(
        self, request: SearchRequest, by: Reader, *, unindexed: bool
    ) -> tuple[IndexView, SearchReply]:
        """Answer from the index, or from what there is beside one that cannot be read."""
        try:
            view = self._viewer.view(unindexed=unindexed)
            return view, self._answer(request, view, by)
        except IndexDamaged as error:
            self._viewer.discard()
            view = self._viewer.view_beside(error)
        except OSError as error:  # the disk fails under an index that was opened; it stays
            view = self._viewer.view_beside(error)
        return view, self._answer(request, view, by)

    def get(self, ref: str, **options: Any) -> Memory:
        """Return what a ref names, or a part of it; options as `MemoryReader.get` takes them."""
        return self._reader.get(ref, **options)

    def index_status(self) -> IndexStatus:
        """Return how complete the index is."""
        try:
            return status_of(self._viewer.view())
        except IndexDamaged as error:
            return status_of(self._viewer.view_beside(error))

    # What is shown

    def _answer(self, request: SearchRequest, view: IndexView, by: Reader) -> SearchReply:
        _check_kinds(request.kinds, view.parts)
        finder = self._finder(view)
        found = finder.find(request, self._now())
        retracted = self._retracted()
        left_out: dict[str, Sequence[str]] = {}
        places = self._places(request, view, finder, found)
        if by == "agent" and self._quarantine is not None:
            places = _not_held(places, self._quarantine, left_out)
        places = retracted_last(places, retracted)
        if request.after is not None:
            is_behind = request.after.is_behind
            places = (one for one in places if is_behind(one.place, one.document.source_ref))
        page = list(islice(places, request.limit + 1))
        hits = HitMaker(found.weights, by, self._sight, self._quarantine, self._judgements, retracted)
        shown = page[: request.limit]
        return SearchReply(
            query=request.query[:MAX_QUERY_CHARS],
            results=[
                hits.make(
                    one.document, one.score, found.explain(one.number, one.score) if request.explain else None
                )
                for one in shown
            ],
            index_status=_with_held(status_of(view, found.hidden), left_out),
            unmatched_terms=_held_nowhere(found.unmatched, [one.document for one in shown]),
            cursor=_cursor_behind(request, shown) if len(page) > request.limit else None,
            query_cut=len(request.query) > MAX_QUERY_CHARS,
        )

    def _finder(self, view: IndexView) -> Finder:
        """Return what searches a view; the arrays of the search before serve if nothing has changed."""
        from gitmem.scoring.finder import Finder  # noqa: PLC0415 - numpy takes 60 ms

        found = self._last_finder
        if found is None or not found.is_over(view.parts):
            found = self._last_finder = Finder(view.parts, self._room())
        return found

    def _retracted(self) -> Mapping[str, str]:
        index = JudgementIndex({}, {}) if self._judgements is None else self._judgements.index()
        return index.refs

    def _places(
        self, request: SearchRequest, view: IndexView, finder: Finder, found: Found
    ) -> Iterator[Placed]:
        """Yield the hits in order, each with its place: what is live, the latest, and not shown before."""
        present = _present_refs(view)

        def ordered(batches: Iterable[list[Candidate]]) -> Iterator[tuple[Candidate, Document]]:
            return in_order(batches, lambda number: present(finder.place(number)[1]))

        top, pairs = _exact_first(request, found, ordered)
        shown: set[str] = set()
        latest = LatestSnapshots(view.parts, lambda place, document: self._is_live(view, place, document))
        for (first, second, number), document, is_exact in pairs:
            if document.source_ref in shown or not latest.is_latest(document):
                continue
            if self._is_live(view, finder.corpus.place(number)[0], document):
                shown.add(document.source_ref)
                score = found.score_of(number) + (top if is_exact else 0.0)
                place = (0, -score if request.sort == "relevance" else first, second, document.source_ref)
                yield Placed(place, document, score, number)

    def _is_live(self, view: IndexView, place: int, document: Document) -> bool:
        """Say whether a document of the index is still what its source says; `get` resolves every hit."""
        kept_by = document.record if document.kind == "entry" else None  # the record that retracted it
        if kept_by is not None and not self._tells(document.source_ref, kept_by):
            return False
        return view.is_current(place, document)

    def _tells(self, entry: str, record_id: str) -> bool:
        """Say whether a retraction is the one by which an entry is known, and nothing else is."""
        return self._retracted().get(entry) == record_id and self._reader.is_in_record_only(entry)


def _not_held(
    places: Iterable[Placed], quarantine: Quarantine, left_out: dict[str, Sequence[str]]
) -> Iterator[Placed]:
    """Yield what is not in quarantine; name what is, as far as it was reached."""
    for placed in places:
        rules = quarantine.document(placed.document)
        if rules:
            left_out[placed.document.source_ref] = rules
        else:
            yield placed


def _with_held(status: IndexStatus, left_out: Mapping[str, Sequence[str]]) -> IndexStatus:
    """Return the word on the index with the names of hits that are kept from the agent."""
    if not left_out:
        return status
    found = [*left_out.items()][:_NAMED]
    held = [Quarantined(ref, f"in quarantine: {', '.join(rules)}") for ref, rules in found]
    return replace(status, quarantined=[*status.quarantined, *held])


def _held_nowhere(words: Sequence[str], shown: Sequence[Document]) -> list[str]:
    """Leave out the names that a hit holds inside of a longer one: its parts stood in for them."""
    return [word for word in words if not any(holds_as_part(_whole_text(one), word) for one in shown)]


def _whole_text(document: Document) -> str:
    return f"{document.title}\n{document.keywords}\n{document.text}"


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


def _exact_first(
    request: SearchRequest,
    found: Found,
    ordered: Callable[[Iterable[list[Candidate]]], Iterator[tuple[Candidate, Document]]],
) -> tuple[float, Iterator[tuple[Candidate, Document, bool]]]:
    """Put those of the best hits first that have the question's words as they were typed.

    Returns:
        What is added to the score of these, and all hits, each with whether it is one of them; these come
        again at their own places.
    """
    words = exact_words(request.query) if request.sort == "relevance" and not request.advanced else ()
    may_be = found.best_with_all_words(_LOOKED_AT) if words else []
    exact = [(*pair, True) for pair in ordered([may_be]) if _holds_all(pair[1], words)]
    rest = ((*pair, False) for pair in ordered(found.candidates))
    return found.top, chain(exact, rest)


def _cursor_behind(request: SearchRequest, shown: Sequence[Placed]) -> str:
    sign = sign_of(request.query, request.sort, advanced=request.advanced)
    refs = [one.document.source_ref for one in shown]
    return format_cursor(next_cursor(request.after, sign, shown[-1].place, refs))


def _holds_all(document: Document, words: tuple[str, ...]) -> bool:
    return holds_all(_whole_text(document), words)
