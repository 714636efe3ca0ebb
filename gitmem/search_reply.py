"""What a search is asked, checked, and what it answers: the keys of the JSON are the attributes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from gitmem.errors import UsageError
from gitmem.records import clean_text
from gitmem.search_cursor import Cursor, parse_cursor, sign_of
from gitmem.time_limits import read_since, read_until

Sort = Literal["relevance", "newest", "oldest"]
Freshness = Literal["fresh", "catching_up", "building"]

DEFAULT_LIMIT: Final = 10
#: The year 9999, and as far back: whatever is further away is no time, nor is NaN.
_LATEST: Final = 253_402_300_800
MOST_HITS: Final = 50
#: What a search takes besides its query and who reads.
SEARCH_OPTIONS: Final = (
    *("kind", "kinds", "session", "work_item", "workspace", "all_workspaces", "since", "until"),
    *("limit", "sort", "advanced", "explain", "cursor"),
)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search, checked.

    Attributes:
        kinds: only these; none are all.
        workspace: only what belongs to it, or to none.
        since, until: when it happened, seconds since 1970; both included.
        advanced: whether operators are read.
        after: where the page before ended.
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
    after: Cursor | None


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
        unmatched_terms: words of the question that nothing holds that was searched; `index_status.reasons`
            says what was not.
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
    kind: object = (),
    kinds: object = (),
    session: object = None,
    work_item: object = None,
    workspace: object = None,
    all_workspaces: bool = False,
    since: object = None,
    until: object = None,
    sort: str = "relevance",
    advanced: bool = False,
    explain: bool = False,
    cursor: str | None = None,
    **unknown: object,
) -> SearchRequest:
    """Return a search if it can be answered.

    Raises:
        UsageError: the query is blank, or an argument has no meaning.
    """
    for name in unknown:
        hint = f"Options: {', '.join(SEARCH_OPTIONS)}."
        raise UsageError(f"a search has no option {name!r}", hint=hint, field=name)
    text = clean_text(query_text(query)).strip()
    if not text:
        raise UsageError("the query is blank", hint="Say what to look for.", field="query")
    if sort not in get_args(Sort):
        raise UsageError(f"sort is one of {', '.join(get_args(Sort))}, not {sort!r}", field="sort")
    return SearchRequest(
        query=text,
        limit=_check_limit(limit),
        kinds=_check_kinds("kind", kind) | _check_kinds("kinds", kinds),
        session=_check_text("session", session),
        work_item=_check_text("work_item", work_item),
        workspace=None if all_workspaces else _check_text("workspace", workspace),
        since=_check_time("since", since),
        until=_check_time("until", until),
        sort=sort,  # type: ignore[arg-type]
        advanced=advanced,
        explain=explain,
        after=None if cursor is None else parse_cursor(cursor, sign_of(text, sort, advanced=advanced)),
    )


def read_times(options: Mapping[str, Any], now: float) -> dict[str, Any]:
    """Return the options of a search with `since` and `until` in seconds since 1970 where they are words.

    Args:
        options: as they were given.
        now: seconds since 1970.

    Raises:
        UsageError: the words are no time.
    """
    read = {"since": read_since, "until": read_until}
    found = {name: reader(options[name], now) for name, reader in read.items()
             if isinstance(options.get(name), str)}  # fmt: skip
    return {**options, **found}


def query_text(query: object) -> str:
    """Return what was asked as text: a number, a list and the like as their JSON."""
    if isinstance(query, str) or query is None:
        return query or ""
    if isinstance(query, float) and query.is_integer():  # some programs know no other numbers
        return str(int(query))
    try:
        return json.dumps(query, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(query)


def read_whole_number(value: object) -> int | None:
    """Return a whole number; models send it as text too, or with `.0` behind it. None if it is none."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        return int(value)
    except ValueError:
        return None


def _check_limit(limit: object) -> int:
    if limit is None:
        return DEFAULT_LIMIT
    number = read_whole_number(limit)
    if number is None:
        raise UsageError(f"limit is a number, not {str(limit)[:40]!r}", field="limit")
    return min(max(number, 1), MOST_HITS)


def _check_kinds(name: str, kinds: object) -> frozenset[str]:
    listed = () if kinds is None else [kinds] if isinstance(kinds, str) else kinds
    given: list[object] = list(listed) if isinstance(listed, Iterable) else [listed]
    texts = frozenset(kind for kind in given if isinstance(kind, str))
    if not all(isinstance(kind, str) for kind in given):
        raise UsageError(f"{name}: a kind is text", hint="One of them, or a list.", field=name)
    return texts


def _check_text(name: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{name} is text, not {str(value)[:40]!r}", field=name)
    return value


def _check_time(name: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LATEST:
        raise UsageError(f"{name} is a time in seconds since 1970, not {str(value)[:40]!r}", field=name)
    return float(value)
