"""What holds of every conversation: its order, its windows and bookends, and the length of every reply."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gitmem.ledger_format import BadLine, parse_line
from gitmem.records import Record
from gitmem.session_reply import (
    BOOKEND_CHARS,
    MESSAGE_CHARS,
    REPLY_CHARS,
    ToldMessage,
    clip_to,
    cut_message,
    fit,
    leave_out_calls,
)
from gitmem.session_rows import PartDraft, from_row, segment_rows, to_row
from gitmem.session_view import PlacedPart, SessionView, bookends, fold_session, window_around
from ledgers import chain, join_lines

ROLES = ("user", "assistant", "system", "tool")
MESSAGES = st.builds(
    lambda role, text: {"kind": "message", "role": role, "text": text},
    st.sampled_from(ROLES),
    st.sampled_from(["words", " ", "", "[CONTEXT SUMMARY]: of it", "[CONTEXT COMPACTION] of it", "字"]),
)
RUNS = st.just({"kind": "tool_execution", "tool": "ls"})
EVENTS = st.builds(
    lambda event, count: {"kind": "session", "event": event, "count": count},
    st.sampled_from(["start", "title", "switch", "end", "undo", "clear", "compact"]),
    st.integers(0, 3),
)
TALKS = st.lists(st.one_of(MESSAGES, MESSAGES, MESSAGES, RUNS, EVENTS), max_size=60)


def record_of(number: int, event: dict[str, Any], writer: str) -> Record:
    """Return an event as the record that was told as the `number`th."""
    body = {name: value for name, value in event.items() if name != "kind"}
    clock, ts = f"{number:016x}", f"2026-11-30T09:00:{number % 60:02d}.000Z"
    return Record(f"msg_{number:015x}", event["kind"], ts, "t", body, writer, number, clock, session="s1")


def parts_of(talk: Sequence[dict[str, Any]], places: Sequence[tuple[str, int]]) -> list[PlacedPart]:
    """Return a talk in the parts of several writers' segments; a place is a writer and a segment."""
    drafts: dict[tuple[str, int], PartDraft] = {}
    latest: dict[str, int] = {}
    for number, (event, (writer, segment)) in enumerate(zip(talk, places, strict=True)):
        latest[writer] = max(latest.get(writer, 0), segment)  # a writer never goes back to an older segment
        place = writer, latest[writer]
        drafts.setdefault(place, PartDraft()).add(record_of(number, event, writer), 0, 0)
    return [
        PlacedPart(f"{writer}-{number}", writer, number, draft.part())
        for (writer, number), draft in drafts.items()
    ]


def modelled(talk: Sequence[dict[str, Any]]) -> list[tuple[int, bool]]:
    """Return the numbers of what can be seen of a talk, and whether each is live, told step by step."""
    shown: list[list[Any]] = []
    for number, event in enumerate(talk):
        told = event.get("event") if event["kind"] == "session" else None
        if event["kind"] != "session":
            is_asked = event.get("role") == "user" and not event["text"].startswith("[CONTEXT")
            shown.append([number, True, is_asked])
        elif told == "clear":
            shown.clear()
        elif told == "compact":
            shown = [[row[0], False, False] for row in shown]
        elif told == "undo":
            asked = [at for at, row in enumerate(shown) if row[2]]
            count = min(max(event["count"], 1), len(asked))
            if count:
                start = asked[-count]
                shown = [row for at, row in enumerate(shown) if at < start or not row[1]]
    return [(row[0], row[1]) for row in shown]


PLACES = st.tuples(st.sampled_from(["w00000001", "w00000002"]), st.integers(1, 3))


@given(st.data(), TALKS)
def test_order_and_what_was_taken_back(data: st.DataObject, talk: list[dict[str, Any]]) -> None:
    """However writers share a conversation, it reads as it was told, without what was taken back."""
    places = data.draw(st.lists(PLACES, min_size=len(talk), max_size=len(talk)))
    view = fold_session(data.draw(st.permutations(parts_of(talk, places))))
    expected = modelled(talk)
    assert [int(name[4:], 16) for name in view.ids] == [number for number, _ in expected]
    assert list(view.live) == [is_live for _, is_live in expected]
    assert [view.index[name] for name in view.ids] == list(range(len(view)))
    assert all(
        part.rows.ids.split()[row] == name for (part, row), name in zip(view.where, view.ids, strict=True)
    )


@given(TALKS, st.integers(0, 60))
def test_twice_is_once(talk: list[dict[str, Any]], until: int) -> None:
    """A record that came on two ways counts once; a session can be seen as it was."""
    parts = parts_of(talk, [("w00000001", 1)] * len(talk))
    copies = parts_of(talk, [("w00000002", 1)] * len(talk))
    assert fold_session([*parts, *copies]).ids == fold_session(parts).ids
    before = fold_session(parts, until=f"{until:016x}")
    assert before.ids == fold_session(parts_of(talk[:until], [("w00000001", 1)] * len(talk[:until]))).ids


def view_of(codes: str) -> SessionView:
    """Return a view of messages with some codes."""
    names = [f"m{at}" for at in range(len(codes))]
    return SessionView(
        names, codes, [True] * len(codes), [], {name: at for at, name in enumerate(names)}, has_let_go=False
    )


CODES = st.text("uastUASTxpq", min_size=1, max_size=80)


@given(CODES, st.data(), st.integers(1, 20), st.integers(0, 3))
def test_windows_and_bookends_never_overlap(codes: str, data: st.DataObject, size: int, most: int) -> None:
    """Bookends are words from outside of the window, in order, as near to the ends as there are any."""
    view = view_of(codes)
    anchor = data.draw(st.integers(0, len(codes) - 1))
    window = window_around(view, anchor, size)
    first, last = bookends(view, window, most)
    assert window.start <= anchor < window.end
    assert (window.before, window.after) == (min(size, anchor), min(size, len(codes) - 1 - anchor))
    assert first == [at for at in range(window.start) if codes[at] in "ua"][:most]
    assert last == ([at for at in range(window.end, len(codes)) if codes[at] in "ua"][-most:] if most else [])


@given(CODES, st.integers(1, 20))
def test_scrolls_cover_a_session(codes: str, size: int) -> None:
    """Re-anchored on the last row again and again, windows show every row, each after the one before."""
    view = view_of(codes)
    seen, anchor = [0], 0
    while True:
        window = window_around(view, anchor, size)
        seen += range(anchor + 1, window.end)
        if window.after < size or window.end == len(view):
            break
        anchor = window.end - 1
    assert seen == list(range(len(codes)))


TEXTS = st.one_of(
    st.text(max_size=80),
    st.builds(lambda text, count: text * count, st.text(min_size=1, max_size=8), st.integers(1, 6_000)),
)


@given(TEXTS, st.integers(0, 5_000), st.integers(0, 50_000), st.sampled_from([BOOKEND_CHARS, MESSAGE_CHARS]))
def test_a_cut_says_where_it_is(text: str, level: int, focus: int, most: int) -> None:
    """What is shown is a piece of the text; offsets lead to what is not shown."""
    told = ToldMessage({"id": "m", "role": "user"}, text, "message:m", most, min(focus, len(text)))
    cut = cut_message(told, level)
    start, content = cut.get("content_offset", 0), cut["content"]
    assert text[start : start + len(content)] == content
    assert len(json.dumps(content, ensure_ascii=False)) - 2 <= level
    assert len(content) <= most
    assert cut.get("content_truncated", False) == (content != text)
    if content != text:
        assert cut["original_content_chars"] == len(text)
        assert cut["source_ref"] == "message:m"
        assert cut.get("next_offset", len(text)) == start + len(content)


@given(st.lists(TEXTS, max_size=41), st.integers(0, 20_000))
def test_no_reply_is_too_long(texts: list[str], calls: int) -> None:
    """Whatever was said; and while there is room nothing is cut that may stand."""
    fields = {"id": "m", "role": "tool", "timestamp": 1.5, "tool_calls": "c" * min(calls, 300)}
    told = [ToldMessage(fields, text, "message:m") for text in texts]
    reply = fit({"success": True, "messages": told}, leave_out_calls)
    length = len(json.dumps(reply, ensure_ascii=False))
    assert length <= REPLY_CHARS
    assert len(reply["messages"]) == len(texts)
    cut = [one for one in reply["messages"] if one.get("content_truncated")]
    if all(len(text) <= MESSAGE_CHARS for text in texts) and cut:
        assert length > REPLY_CHARS // 2


@given(TEXTS, st.integers(0, 200))
def test_clipping(text: str, most: int) -> None:
    """A clipped text is the longest beginning that takes no more than it may."""
    clipped = clip_to(text, most)
    assert text.startswith(clipped)
    assert len(json.dumps(clipped, ensure_ascii=False)) - 2 <= most
    if clipped != text:
        assert len(json.dumps(text[: len(clipped) + 1], ensure_ascii=False)) - 2 > most


@given(st.lists(st.one_of(MESSAGES, RUNS, EVENTS), min_size=1, max_size=12), st.data())
def test_places_lead_to_the_lines(talk: list[dict[str, Any]], data: st.DataObject) -> None:
    """Among damaged bytes too, a row's place is that of its record."""
    lines = chain([{**event, "session": f"s{number % 2}"} for number, event in enumerate(talk)])
    items: list[Any] = []
    for line in lines:
        items += [data.draw(st.sampled_from([b"", b"\0\0", b'{"ts":"torn', b"{}"])), line]
    content = join_lines(items)
    kept = json.loads(json.dumps(segment_rows(content)))
    rows = {name: from_row(row) for name, row in kept.items()}
    assert json.loads(json.dumps({name: to_row(row) for name, row in rows.items()})) == kept
    found = {}
    for row in rows.values():
        for at, name in enumerate(row.ids.split()):
            read = parse_line(content[row.places[2 * at] : row.places[2 * at] + row.places[2 * at + 1]])
            assert not isinstance(read, BadLine)
            found[name] = read.id
    assert found == {line.id: line.id for line in lines}
