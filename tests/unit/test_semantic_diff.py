"""Tests of `gitmem.semantic_diff`: what changed, in the terms of memory."""

from __future__ import annotations

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.entries import Entry, entry_id, format_store
from gitmem.semantic_diff import Change, diff_files

MEMORY, USER = "memory/MEMORY.md", "memory/USER.md"
PLAN = "2026-03-02-move-staging-1f0a/plan.md"


def store(*texts: str) -> bytes:
    """Return a store's bytes."""
    return format_store([Entry(text, entry_id(text)) for text in texts]).encode()


def diff(before: dict[str, bytes], after: dict[str, bytes]) -> list[Change]:
    """Return what changed; a note's ref is its path."""
    return diff_files(before, after, lambda path: f"note:{path}")


def told(changes: list[Change]) -> list[tuple[str, str, str | None, str | None]]:
    """Return what happened to what."""
    return [(one.kind, one.change, one.before, one.after) for one in changes]


def test_entries() -> None:
    """Added, removed, rephrased in place, and moved from one store to the other."""
    before = {MEMORY: store("one", "two", "three"), USER: store("a")}
    after = {MEMORY: store("one", "TWO", "a"), USER: store("b")}
    assert told(diff(before, after)) == [
        ("entry", "replaced", "two", "TWO"),
        ("entry", "removed", "three", None),
        ("entry", "moved", "user", "memory"),
        ("entry", "added", None, "b"),
    ]
    assert [one.source_ref for one in diff({}, {MEMORY: store("one")})] == [f"entry:{entry_id('one')}"]
    assert diff({MEMORY: store("one", "two")}, {MEMORY: store("two", "one")}) == []


def test_sections_of_prose() -> None:
    """By heading; a heading that comes twice counts twice."""
    before = {"memory/self.md": b"I am Aria.\n\n# Work\n\nby day\n\n# Rest\n\nnever\n"}
    after = {"memory/self.md": b"I am Aria.\n\n# Work\n\nby night\n\n# Play\n\nchess\n\n# Work\n\nmore\n"}
    assert [(one.name, one.change, one.words) for one in diff(before, after)] == [
        ("Work", "edited", (1, 1)),
        ("Play", "added", (3, 0)),
        ("Work", "added", (3, 0)),
        ("Rest", "removed", (0, 3)),
    ]


def test_notes() -> None:
    """Added, removed, renamed also with an edit, retitled, retagged, body changed."""
    text = "---\ntitle: Staging\ntags: [ops]\n---\nport 2222 on the staging host, behind the bastion\n"
    before = {"notes/a.md": text.encode(), "notes/gone.md": b"# Gone\n\nx\n"}
    after = {
        "notes/ops/a.md": text.replace("Staging", "Host")
        .replace("ops", "ops, db")
        .replace("2222", "2223")
        .encode(),
        "notes/new.md": b"# New\n\nentirely different\n",
    }
    assert told(diff(before, after)) == [
        ("note", "removed", "Gone", None),
        ("note", "added", None, "New"),
        ("note", "renamed", "notes/a.md", "notes/ops/a.md"),
        ("note", "retitled", "Staging", "Host"),
        ("note", "retagged", "ops", "ops, db"),
        ("note", "edited", None, None),
    ]
    assert diff(before, after)[-1].words == (1, 1)
    (only,) = diff(
        {"notes/a.md": text.encode()}, {"notes/a.md": text.replace("[ops]", "[ops]\nowner: me").encode()}
    )
    assert only.change == "edited"


def test_work_items_and_episodes() -> None:
    """By the folder of a plan, by its objective; an episode that is there now was closed."""
    plan = b"---\nid: w1\nobjective: Move staging\n---\n- [ ] dump\n"
    assert told(diff({}, {f"work/{PLAN}": plan})) == [("work_item", "added", None, "Move staging")]
    done = plan.replace(b"[ ]", b"[x]")
    changes = diff({f"work/{PLAN}": plan}, {f"work/done/{PLAN}": done})
    assert [(one.change, one.source_ref) for one in changes] == [
        ("finished", "work_item:w1"),
        ("edited", "work_item:w1"),
    ]
    assert [one.change for one in diff({f"work/done/{PLAN}": plan}, {f"work/{PLAN}": plan})] == ["reopened"]
    episode = b"---\nid: ep_1\ntitle: Moved it\n---\n# Moved it\n"
    (closed,) = diff({}, {"episodes/2026-03/04-moved.md": episode})
    assert (closed.kind, closed.change, closed.source_ref, closed.after) == (
        "episode", "added", "episode:ep_1", "Moved it",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("gitmem.toml", "config"),
        ("own.bin", "file"),
        ("notes/x.md", "note"),
        ("conflicts/notes/a/b.md", "conflict"),
    ],
)
def test_what_is_no_text_is_named(path: str, kind: str) -> None:
    """Whatever stands in a file, it is told that it changed."""
    assert [(one.kind, one.change) for one in diff({path: b"\xff\x00"}, {path: b"\xfe"})] == [
        (kind, "edited")
    ]


FILES = st.dictionaries(
    st.sampled_from(["notes/a.md", "notes/b.md", "memory/self.md", "gitmem.toml", f"work/{PLAN}", "x.bin"]),
    st.sampled_from(
        [b"# A\n\none two\n", b"# B\n\none two three\n", b"", b"\xff", b"---\ntitle: T\n---\nx\n"]
    ),
    max_size=4,
)
ENTRIES = st.lists(st.sampled_from("abcdef"), unique=True, max_size=4)


@given(FILES, FILES)
@settings(max_examples=examples(200))
def test_every_file_that_differs_is_told_of_and_no_other(
    before: dict[str, bytes], after: dict[str, bytes]
) -> None:
    """Equal states have no difference; the way back tells of the same files."""
    assert diff(before, before) == []
    for one, other in ((before, after), (after, before)):
        changes = diff(one, other)
        named = {change.path for change in changes}
        named |= {str(change.before) for change in changes if change.change == "renamed"}
        assert named == {path for path in one.keys() | other.keys() if one.get(path) != other.get(path)}


@given(ENTRIES, ENTRIES, ENTRIES, ENTRIES)
@settings(max_examples=examples(300))
def test_entries_as_a_model_has_them(
    one: list[str], two: list[str], three: list[str], four: list[str]
) -> None:
    """What is told makes the one state of the other."""
    before, after = {MEMORY: store(*one), USER: store(*two)}, {MEMORY: store(*three), USER: store(*four)}
    held = {MEMORY: set(one), USER: set(two)}
    names = {"memory": MEMORY, "user": USER}
    for change in diff(before, after):
        if change.change == "moved":
            held[names[str(change.before)]].discard(str(change.key[0]))
            held[names[str(change.after)]].add(str(change.key[1]))
        else:
            held[change.path] -= {str(change.before)}
            held[change.path] |= {change.after} if change.after is not None else set()
    assert held == {MEMORY: set(three), USER: set(four)}
