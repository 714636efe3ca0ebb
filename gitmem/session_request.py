"""What a session search is asked: which of its four forms, by the arguments alone; numbers within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from gitmem.errors import UsageError
from gitmem.records import clean_text
from gitmem.search_reply import query_text

Form = Literal["scroll", "read", "discover", "browse"]
TimeOrder = Literal["newest", "oldest"]

DEFAULT_LIMIT: Final = 3
MOST_RESULTS: Final = 10
DEFAULT_WINDOW: Final = 5
WIDEST_WINDOW: Final = 20
DEFAULT_ROLES: Final = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """A session search, as it is meant.

    Attributes:
        query: what to find (`discover`).
        session: which conversation (`scroll`, `read`).
        anchor: the message to scroll to.
        sort: by time, where that was asked for.
        roles: whose words to search.
    """

    form: Form
    query: str
    session: str
    anchor: str
    limit: int
    window: int
    sort: TimeOrder | None
    roles: frozenset[str]


def read_request(given: Mapping[str, Any]) -> SessionRequest:
    """Return what is meant by some arguments; blank ones count as left out.

    Raises:
        UsageError: an argument is of a type that means nothing, or names the home of somebody else.
    """
    session = _text(given, "session_id").removeprefix("session:")
    anchor = _text(given, "around_message_id")
    query = clean_text(query_text(given.get("query"))).strip()
    _refuse_profile(_text(given, "profile"), session)
    form: Form = "scroll" if session and anchor else "read" if session else "discover" if query else "browse"
    return SessionRequest(
        form=form,
        query=query,
        session=session,
        anchor=_bare_id(anchor),
        limit=_number(given.get("limit"), DEFAULT_LIMIT, MOST_RESULTS),
        window=_number(given.get("window"), DEFAULT_WINDOW, WIDEST_WINDOW),
        sort=_sort(given.get("sort")),
        roles=_roles(given.get("role_filter")),
    )


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if value is None:
        return ""
    if name == "around_message_id" and isinstance(value, int):
        raise UsageError(f"around_message_id is the id of a message, such as msg_0c1d2e3f4a5b6c7: {value}")
    if not isinstance(value, str):
        raise UsageError(f"{name} is text")
    return clean_text(value).strip()


def _refuse_profile(profile: str, session: str) -> None:
    named, _, rest = session.partition("/")
    profile = profile or (named if rest else "")
    if profile:
        raise UsageError(
            f"profile {profile[:80]!r} is another home; only the conversations of this one are searched"
        )
    if "/" in session:
        raise UsageError(f"not a session: {session[:80]!r}")


def _bare_id(anchor: str) -> str:
    """Return the id in a message's id or source ref."""
    parts = anchor.split(":")
    return parts[1] if len(parts) > 1 and parts[0] in ("message", "tool_execution") else anchor


def _number(value: object, default: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return default
    try:
        return min(max(int(value), 1), most)
    except (ValueError, OverflowError):
        return default


def _sort(value: object) -> TimeOrder | None:
    named = value.strip().casefold() if isinstance(value, str) else ""
    return "newest" if named == "newest" else "oldest" if named == "oldest" else None


def _roles(value: object) -> frozenset[str]:
    words = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else ()
    named = frozenset(str(word).strip().casefold() for word in words)
    return named - {""} or frozenset(DEFAULT_ROLES)
