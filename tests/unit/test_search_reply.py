"""What a search is asked, checked."""

from __future__ import annotations

import inspect

import pytest

from gitmem.errors import UsageError
from gitmem.search_reply import SEARCH_OPTIONS, check_request, read_times


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("  port  ", "port"),
        (1246, "1246"),
        (0, "0"),
        (False, "false"),
        (2.5, "2.5"),
        (1246.0, "1246"),
        (["a", 1], '["a", 1]'),
        ({"q": "port"}, '{"q": "port"}'),
        ({(1, 2): 3}, "{(1, 2): 3}"),
        ("a\ud800b", "a\ufffdb"),
    ],
)
def test_any_query_is_text(query: object, text: str) -> None:
    """Models send numbers, lists and objects where words are meant; nothing is refused for its type (S2)."""
    assert check_request(query).query == text


@pytest.mark.parametrize("query", [None, "", " \n\t", "\u3000\u00a0"])
def test_nothing_asked(query: object) -> None:
    """Spaces of any script ask for nothing (S1)."""
    with pytest.raises(UsageError, match="blank") as caught:
        check_request(query)
    assert caught.value.details["field"] == "query"


@pytest.mark.parametrize(
    ("limit", "wanted"), [(0, 1), (-5, 1), (500, 50), (None, 10), ("7", 7), (7.0, 7), (10**30, 50)]
)
def test_limits(limit: object, wanted: int) -> None:
    """Too small or too large is a wish (S4); numbers come as text too."""
    assert check_request("port", limit=limit).limit == wanted


@pytest.mark.parametrize(
    "options",
    [
        {"limit": "ten"},
        {"limit": 7.5},
        {"limit": True},
        {"limit": [5]},
        {"limit": "9" * 5000},
        {"since": "yesterday"},
        {"since": True},
        {"until": float("nan")},
        {"until": float("inf")},
        {"since": 10**400},
        {"session": 5},
        {"work_item": ["w"]},
        {"workspace": b"w"},
        {"kinds": 5},
        {"kind": 5},
        {"kind": ["message", None]},
        {"kinds": "message", "kin": "message"},
        {"kinds": ["message", None]},
        {"sort": "best"},
        {"sort": None},
        {"cursor": 5},
        {"cursor": "W" * 300_000},
    ],
)
def test_options_without_meaning(options: dict[str, object]) -> None:
    """A wrong option is named, never guessed at, and its value is not repeated at length."""
    with pytest.raises(UsageError) as caught:
        check_request("port", **options)  # type: ignore[arg-type]
    assert len(caught.value.message) < 200


def test_options_are_called_as_on_the_command_line() -> None:
    """The command's `--kind` is `kind` here, one or several; an unknown one is answered with the known."""
    assert check_request("port", kind="task").kinds == {"task"}
    assert check_request("port", kind=["task", "note"], kinds=("wait",)).kinds == {"task", "note", "wait"}
    assert check_request("port", kind=None).kinds == frozenset()
    with pytest.raises(UsageError, match="no option 'window'") as caught:
        check_request("port", window=3)
    assert caught.value.code == "invalid_input"
    assert caught.value.details["field"] == "window"
    takes = set(inspect.signature(check_request).parameters) - {"query", "unknown"}
    assert set(SEARCH_OPTIONS) == takes
    assert all(name in str(caught.value.hint) for name in takes)


NOON = 1796040000.0  # 2026-11-30T12:00:00Z, a Monday


@pytest.mark.parametrize(
    ("since", "until", "wanted"),
    [
        ("2026-11-28", "2026-11-28", (1795824000.0, 1795910399.999)),
        ("yesterday", "Yesterday", (1795910400.0, 1795996799.999)),
        ("last sunday", "sunday", (1795910400.0, 1795996799.999)),
        ("2 days ago", "1 hour ago", (NOON - 172_800, NOON - 3600)),
        ("2026-11-28T09:00:00Z", "2026-11-28T09:15:00+01:00", (1795856400.0, 1795853700.0)),
        (5, 7.5, (5, 7.5)),
        (None, "now", (None, NOON)),
        ("last week", "last week", (1795392000.0, 1795996799.999)),
        ("2023-05", "2023-05", (1682899200.0, 1685577599.999)),
        ("2023", "2023", (1672531200.0, 1704067199.999)),
        ("in 2023", "2023年", (1672531200.0, 1704067199.999)),
        ("May 2023", "2023年5月", (1682899200.0, 1685577599.999)),
        ("上周", "上周", (1795392000.0, 1795996799.999)),
        ("between May and July 2023", "from May to July 2023", (1682899200.0, 1690847999.999)),
    ],
)
def test_times_are_words_or_seconds(since: object, until: object, wanted: tuple[object, object]) -> None:
    """A day, week, month or year counts to its end for `until`: who says until Monday means Monday too."""
    found = read_times({"since": since, "until": until, "limit": 3}, NOON)
    assert (found["since"], found["until"]) == pytest.approx(wanted)
    assert found["limit"] == 3


def test_words_that_are_no_time() -> None:
    """A slip of the pen is no empty answer."""
    words_of_none = ("garbage", "", "2026-13-45", "99999 years ago", "2222", "2026-11-30T25:00")
    for words in (*words_of_none, "2026-11-30 10:00 EST", "restart last week", "next week"):
        with pytest.raises(UsageError):
            read_times({"until": words}, NOON)
