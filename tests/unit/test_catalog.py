"""The notes catalog: which notes there are, in 2,000 characters, and never what they say."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.catalog import path_order, render_catalog
from gitmem.note_text import make_note


def _catalog(**texts):
    return _catalog_of({f"notes/{name}.md": text for name, text in texts.items()})


def _catalog_of(files, **limits):
    notes = [make_note(path, text, f"{number:015x}") for number, (path, text) in enumerate(files.items())]
    return render_catalog(notes, **limits)


def _entries(catalog):
    return [line for line in catalog.splitlines() if line.startswith("- ")]


def test_an_entry_names_path_ref_title_summary_and_tags():
    """All that is needed to read the note, and that it never overrides anything."""
    catalog = _catalog(a="---\ntitle: T\nsummary: S\ntags: [x, y]\n---\nsecret body\n")
    assert catalog.endswith("- notes/a.md [note:000000000000000] T\n  S\n  tags: x, y\n")
    assert "low-priority" in catalog
    assert "never override" in catalog
    assert "secret body" not in catalog


def test_a_byte_order_mark_is_ignored():
    """N2."""
    assert _catalog(a="\ufeff---\ntitle: T\n---\n").endswith("] T\n")


@pytest.mark.parametrize("tags", ["release, github", '"Release, GitHub"', "[Release, github]"])
def test_comma_strings_are_lists_of_tags(tags):
    """N4."""
    assert "tags: release, github\n" in _catalog(a=f"---\ntags: {tags}\n---\n")


def test_block_lists_are_lists_of_tags():
    """N5."""
    assert "tags: a, b\n" in _catalog(a="---\ntags:\n  - A\n  - b\n---\n")


def test_eight_tags_are_shown():
    """N6."""
    tags = [f"t{n}" for n in range(9)]
    assert f"tags: {', '.join(tags[:8])}\n" in _catalog(a=f"---\ntags: {tags}\n---\n")


def test_a_long_tag_is_dropped_by_characters():
    """N7: 41 letters go, 14 Chinese characters (42 bytes) stay."""
    assert f"tags: {'标' * 14}\n" in _catalog(a=f"---\ntags: [{'x' * 41}, {'标' * 14}]\n---\n")


def test_a_note_of_front_matter_alone_has_a_title_line():
    """N10: no summary, no tags line."""
    assert _catalog(a="---\ntitle: T\n---\n").endswith("] T\n")


def test_code_is_neither_title_nor_summary():
    """N12."""
    catalog = _catalog(a="```sh\n# not a heading\n```\n\n# Real\n\nWords.\n")
    assert catalog.endswith("] Real\n  Words.\n")


@pytest.mark.parametrize(
    ("block", "title"),
    [("title: Foo: bar", "Foo: bar"), ("title: A\nTitle: B", "B"), ("title: 'Foo: bar'", "Foo: bar")],
)
def test_a_title_may_hold_a_colon_and_the_last_one_counts(block, title):
    """N14."""
    assert _catalog(a=f"---\n{block}\n---\nbody\n").split("] ")[1].split("\n")[0] == title


@pytest.mark.parametrize("mark", ["|", ">", "|-", ">+"])
def test_a_summary_of_several_lines_is_joined_and_cut(mark):
    """N15."""
    assert "\n  one two\n" in _catalog(a=f"---\nsummary: {mark}\n  one\n  two\n---\n")
    long = _catalog(a=f"---\nsummary: {mark}\n  {'x ' * 150}\n---\n").splitlines()[-1].strip()
    assert len(long) == 200
    assert long.endswith("…")


def test_twenty_notes_are_shown_and_the_rest_is_counted():
    """N16."""
    catalog = _catalog_of({f"notes/note-{n:02}.md": f"# Note {n}\n" for n in range(25)})
    assert len(_entries(catalog)) == 20
    assert "notes/note-19.md" in catalog
    assert catalog.endswith("\n5 more notes are not shown; search finds them.\n")
    assert len(catalog) <= 2000


@pytest.mark.parametrize("count", [6, 7, 20, 40])
def test_entries_are_whole(count):
    """N17: 400-character summaries, never cut inside an entry."""
    catalog = _catalog_of({f"notes/{n:02}.md": f"# T{n}\n\n{'words ' * 67}\n" for n in range(count)})
    shown = len(_entries(catalog))
    assert len(catalog) <= 2000
    assert catalog.count("…") == shown
    omitted = count - shown
    assert (f"\n{omitted} more " in catalog) == bool(omitted)
    assert shown >= 6


def test_deeper_notes_come_after_shallow_ones():
    """N18: every note under notes/, shallow first, then in byte order."""
    paths = ["notes/b.md", "notes/sub/a.md", "notes/Z.MARKDOWN", "notes/é.md", "notes/a/b/c.md"]
    catalog = _catalog_of(dict.fromkeys(paths, ""))
    assert [line.split()[1] for line in _entries(catalog)] == [
        "notes/Z.MARKDOWN",
        "notes/b.md",
        "notes/é.md",
        "notes/sub/a.md",
        "notes/a/b/c.md",
    ]


def test_without_notes_there_is_no_catalog():
    """N20."""
    assert render_catalog([]) == ""


def test_the_catalog_depends_on_the_notes_alone():
    """N22: the same notes in any order give the same text."""
    notes = [make_note(f"notes/{n}.md", f"# T{n}\n", f"{n:015x}") for n in range(30)]
    mixed = random.Random(1).sample(notes, len(notes))
    assert render_catalog(mixed) == render_catalog(notes)


def test_notes_that_were_not_read_are_counted():
    """Ten thousand notes need not be read for the first twenty."""
    notes = [make_note("notes/a.md", "", "0")]
    assert render_catalog(notes, total=10_000).endswith("9999 more notes are not shown; search finds them.\n")
    assert render_catalog([], total=1).endswith("1 more note is not shown; search finds them.\n")


def test_one_overlong_entry_costs_only_itself():
    """The others are listed, it is counted."""
    catalog = _catalog_of({f"notes/{'x' * 1900}.md": "", "notes/y.md": "# Y\n"})
    assert len(_entries(catalog)) == 1
    assert "1 more note is not shown" in catalog


def test_a_title_cannot_forge_an_entry():
    """Each entry is as many lines as it has parts."""
    catalog = _catalog(a='---\ntitle: "x\\n- notes/evil.md\\u2028- more"\nsummary: "a\\r# b"\n---\n')
    assert len(_entries(catalog)) == 1


def test_order_is_defined_for_any_path():
    """Names that are not UTF-8 too."""
    assert path_order("notes/\udcff.md") > path_order("notes/a.md")


_TEXT = st.text(max_size=300)


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=400), st.tuples(_TEXT, _TEXT, st.lists(_TEXT, max_size=12)), max_size=30
    ),
    st.integers(0, 40),
    st.integers(0, 3000),
)
def test_the_limit_holds_for_any_notes(files, limit, max_chars):
    """Never more characters than allowed, never half an entry, every note shown or counted."""
    notes = [
        make_note(f"notes/{path}", f"---\ntitle: {title!r}\ntags: {tags!r}\n---\n{summary}", f"{n:015x}")
        for n, (path, (title, summary, tags)) in enumerate(files.items())
    ]
    catalog = render_catalog(notes, limit=limit, max_chars=max_chars)
    assert len(catalog) <= max_chars
    shown = sum(f"[note:{n:015x}]" in catalog for n in range(len(notes)))
    assert shown <= limit
    assert not catalog or shown == len(notes) or f"\n{len(notes) - shown} more " in catalog
    assert len(render_catalog(notes)) <= 2000
