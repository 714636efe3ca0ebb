"""What a search is asked, checked, and what it answers: the keys of the JSON are the attributes."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from gitmem.errors import UsageError
from gitmem.records import clean_text

Sort = Literal["relevance", "newest", "oldest"]
Freshness = Literal["fresh", "catching_up", "building"]

DEFAULT_LIMIT: Final = 10
MOST_HITS: Final = 50

#: What decides a hit's place: smaller comes first; 1 where it was retracted, two numbers, its ref.
Place = tuple[int, float, float, str]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search, checked.

    Attributes:
        kinds: only these; none are all.
        workspace: only what belongs to it, or to none.
        since, until: when it happened, seconds since 1970; both included.
        advanced: whether operators are read.
        after: the place of the last hit of the page before.
    """

    query: str
    limit: int
    kinds: frozenset[str]
    session: str | None
    work_item: str | None
    workspace: str | None
    since: float | None
    until: float | None
    sort: Sort
    advanced: bool
    explain: bool
    after: Place | None


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that was found.

    Attributes:
        snippet: the piece of its text that shows why, at most 240 characters.
        highlights: start and end of the question's words in the snippet.
        explanation: with `explain`, the terms that matched and what they weigh.
    """

    source_ref: str
    kind: str
    title: str
    snippet: str
    score: float
    updated_at: str
    session: str | None
    turn: str | None
    workspace_id: str | None
    path: str | None
    line: int | None
    metadata: Mapping[str, Any]
    highlights: Sequence[tuple[int, int]] = ()
    explanation: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Quarantined:
    """Something that cannot be indexed as it is."""

    name: str
    reason: str

    def __str__(self) -> str:
        """Return `name: reason`."""
        return f"{self.name}: {self.reason}"


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How complete an answer is.

    Attributes:
        indexed: records and files that the index covers.
        pending: those that it does not cover yet; the newest of them are searched all the same.
        reasons: what an answer may lack, and why.
    """

    freshness: Freshness
    indexed: int
    pending: int
    reasons: Sequence[str] = ()
    quarantined: Sequence[Quarantined] = ()


@dataclass(frozen=True, slots=True)
class SearchReply:
    """The answer to a search.

    Attributes:
        query: as it was asked, cut to what was read of it.
        results: the hits, best first.
        unmatched_terms: words of the question that nothing in this home holds.
        cursor: continues behind the last hit; None where there is no more.
        query_cut: whether the question was longer than what was read of it.
    """

    query: str
    results: Sequence[Hit]
    index_status: IndexStatus
    unmatched_terms: Sequence[str] = ()
    cursor: str | None = None
    query_cut: bool = field(default=False)


def check_request(
    query: object,
    *,
    limit: object = None,
    kinds: str | Sequence[str] = (),
    session: str | None = None,
    work_item: str | None = None,
    workspace: str | None = None,
    all_workspaces: bool = False,
    since: float | None = None,
    until: float | None = None,
    sort: str = "relevance",
    advanced: bool = False,
    explain: bool = False,
    cursor: str | None = None,
) -> SearchRequest:
    """Return a search if it can be answered.

    Raises:
        UsageError: the query is blank, or an argument has no meaning.
    """
    text = clean_text(query if isinstance(query, str) else json.dumps(query, ensure_ascii=False, default=str))
    if not text.strip():
        raise UsageError("the query is blank", hint="Say what to look for.", field="query")
    if sort not in get_args(Sort):
        raise UsageError(f"sort is one of {', '.join(get_args(Sort))}, not {sort!r}", field="sort")
    return SearchRequest(
        query=text.strip(),
        limit=_check_limit(limit),
        kinds=frozenset([kinds] if isinstance(kinds, str) else kinds),
        session=session,
        work_item=work_item,
        workspace=None if all_workspaces else workspace,
        since=since,
        until=until,
        sort=sort,  # type: ignore[arg-type]
        advanced=advanced,
        explain=explain,
        after=None if cursor is None else parse_cursor(cursor, sort),
    )


def _check_limit(limit: object) -> int:
    if limit is None:
        return DEFAULT_LIMIT
    if isinstance(limit, bool) or not isinstance(limit, int | str):
        raise UsageError(f"limit is a number, not {limit!r}", field="limit")
    try:
        return min(max(int(limit), 1), MOST_HITS)
    except ValueError as error:
        raise UsageError(f"limit is a number, not {limit!r}", field="limit") from error


def format_cursor(place: Place, sort: str) -> str:
    """Return the opaque text that stands for a place in an order."""
    last, first, second, ref = place
    row = json.dumps([sort, last, first.hex(), second.hex(), ref], separators=(",", ":"))
    return base64.urlsafe_b64encode(row.encode("utf-8", "surrogatepass")).decode("ascii").rstrip("=")


def parse_cursor(text: str, sort: str) -> Place:
    """Return the place that a cursor stands for.

    Raises:
        UsageError: it is none, or of another order.
    """
    try:
        row = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        of, last, first, second, ref = row
        place = int(last), float.fromhex(first), float.fromhex(second), str(ref)
    except (binascii.Error, AttributeError, TypeError, ValueError, OverflowError) as error:
        raise UsageError("not a cursor", hint="Take it from the page before.", field="cursor") from error
    if of != sort:
        raise UsageError(f"the cursor is of a search by {of}", hint="Keep the options.", field="cursor")
    return place
