"""Session search on real homes, whatever was told: every reply is valid, bounded, and of what can be seen."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures import CounterClock
from gitmem import AgentHome
from gitmem.session_reply import REPLY_CHARS
from talks import happened, ids

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schemas" / "sessions.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
SESSIONS = ("s1", "s2", "s3", None)

TEXTS = st.builds(
    lambda word, text, times: f"{word} {text * times}",
    st.sampled_from(["zebra", "quokka", "大别山", "", "[CONTEXT SUMMARY]:"]),
    st.text(max_size=12),
    st.sampled_from([1, 1, 1, 2_000]),
)
MESSAGES = st.builds(
    lambda role, text: {"kind": "message", "role": role, "text": text},
    st.sampled_from(["user", "user", "assistant", "assistant", "tool", "system"]),
    TEXTS,
)
RUNS = st.builds(
    lambda given, output: {"kind": "tool_execution", "tool": "bash", "input": given, "output": output},
    TEXTS,
    st.one_of(TEXTS, st.none(), st.just({"stdout": "zebra", "exit_code": 0})),
)
EVENTS = st.builds(
    happened,
    st.sampled_from(["start", "title", "switch", "undo", "undo", "clear", "compact"]),
    title=st.sampled_from([None, "Zebra plan", "Zebra plan #2", "x" * 900]),
    source=st.sampled_from([None, "cli", "cron", "subagent", "tool"]),
    parent=st.sampled_from([None, "s1", "s2", "nowhere", 5]),
    reason=st.sampled_from([None, "branched", "compression"]),
)
TURNS = st.lists(
    st.tuples(st.sampled_from(SESSIONS), st.lists(st.one_of(MESSAGES, MESSAGES, RUNS, EVENTS), min_size=1)),
    min_size=1,
    max_size=8,
)


def asked(home: AgentHome, **given: Any) -> dict[str, Any]:
    """Return a reply that is valid and no longer than it may be."""
    reply = home.session_search(**given)
    VALIDATOR.validate(reply)
    assert len(json.dumps(reply, ensure_ascii=False)) <= REPLY_CHARS
    return reply


def scrolled(home: AgentHome, session: str, anchor: str, window: int) -> list[str]:
    """Return the ids of all messages from an anchor on, as replies lead through them."""
    reply = asked(home, session_id=session, around_message_id=anchor, window=window)
    seen: list[str] = ids(reply["messages"])[reply["messages_before"] :]
    while "next" in reply:
        reply = asked(home, **{**reply["next"], "window": window})
        seen += ids(reply["messages"])[reply["messages_before"] + 1 :]
    return seen


def check_session(home: AgentHome, session: str, window: int) -> set[str]:
    """Read one session in all ways; return what can be seen of it."""
    read = asked(home, session_id=session)
    if not read["messages"]:
        return set()
    every = scrolled(home, session, read["messages"][0]["id"], window)
    assert len(every) == len(set(every)) == read["message_count"]
    assert every[:20] == ids(read["messages"])[:20]
    for message in read["messages"]:
        assert home.get(message["id"], max_chars=50).source_ref.split(":")[1] == message["id"]
    return set(every)


@pytest.mark.slow
@settings(max_examples=25)
@given(TURNS, st.integers(1, 20), st.booleans())
def test_whatever_was_told(
    turns: list[tuple[str | None, list[dict[str, Any]]]], window: int, catch: bool
) -> None:
    """Scrolls cover each session, and results come from what can be seen of it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        AgentHome.init(Path(folder) / "home", "aria", now=CounterClock()) as home,
    ):
        alone = []
        for session, events in turns:
            receipt = home.record(events, session=session)
            alone += [receipt.turn_id] if session is None else []
        if catch:
            home.catch_up()
        seen = {}
        for session in [*{session for session, _ in turns if session}, *alone]:
            if home.session_search(session_id=session)["success"]:
                seen[session] = check_session(home, session, window)
        for query in ("zebra", "大别山 quokka", "Zebra plan", "AND"):
            for current in ("s1", None):
                reply = asked(home, query=query, limit=10, current_session=current)
                for result in reply["results"]:
                    parts = [result[name] for name in ("bookend_start", "messages", "bookend_end")]
                    shown = [name for part in parts for name in ids(part)]
                    assert len(shown) == len(set(shown))
                    assert set(shown) <= seen[result["session_id"]]
        asked(home, limit=10)
