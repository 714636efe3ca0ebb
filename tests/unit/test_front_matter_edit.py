"""Edits of front matter: one line changes, all else stays, what cannot be read is not touched."""

from __future__ import annotations

import difflib

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from gitmem.errors import RefusedError
from gitmem.front_matter import read_front_matter
from gitmem.front_matter_edit import (
    add_tag,
    ensure_id,
    format_block,
    format_scalar,
    quote_secrets,
    set_field,
    set_tags,
)
from gitmem.note_tags import normalise_tags
from gitmem.redaction import redact_secrets


def _changes(before, after):
    """Return the lines that a diff shows, line endings and all."""
    lines = difflib.ndiff(before.splitlines(keepends=True), after.splitlines(keepends=True))
    return [line for line in lines if line[0] in "+-"]


def _note(block, body="body\n\n"):
    return f"---\n{block}\n---\n{body}"


def test_one_added_tag_is_one_changed_line():
    """CRLF, a comment, odd key order, a quoted date and two final newlines stay (OPEN-FM-05)."""
    note = '---\nz: 1\n# keep\na: 2\ndate: "2026-11-30"\ntags: [x, Y] # mine\n---\n\nText\n\n\n'.replace(
        "\n", "\r\n"
    )
    assert _changes(note, add_tag(note, "New")) == [
        "- tags: [x, Y] # mine\r\n",
        "+ tags: [x, Y, new] # mine\r\n",
    ]


@pytest.mark.parametrize(
    ("tags", "line"),
    [
        ("tags: [a]", "tags: [a, new]"),
        ("tags: []", "tags: [new]"),
        ("tags: [ a, b, ]", "tags: [ a, b, new, ]"),
        ("tags: a, B", "tags: [a, b, new]"),
        ("tags: '[\"A\"]' # c", "tags: [a, new] # c"),
        ("tags:", "tags: [new]"),
        ("tags: # mine", "tags: [new] # mine"),
        ("tags: null", "tags: [new]"),
        ("Tags: ['q']", "Tags: ['q', new]"),
    ],
)
def test_a_tag_joins_the_tags_as_they_are_written(tags, line):
    """In place, on the same line (OPEN-FM-05)."""
    note = _note(f"title: x\n{tags}\nz: 1")
    assert _changes(note, add_tag(note, "#New")) == [f"- {tags}\n", f"+ {line}\n"]


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("tags:\n  - a # one\n  - B\n\n# c\nz: 1", "  - new"),
        ("tags:\n- a\nz: 1", "- new"),
        ("tags: # mine\n    - a", "    - new"),
        ("title: x", "tags: [new]"),
        ("  title: x", "  tags: [new]"),
        ("", "tags: [new]"),
        ("title: |\n  x\n  y", "tags: [new]"),
        ("? title\n: x", "tags: [new]"),
    ],
)
def test_a_tag_that_needs_a_line_gets_one(block, line):
    """A block list grows by one item, a block without tags by one field."""
    note = _note(block) if block else "---\n---\nbody\n"
    assert _changes(note, add_tag(note, "new")) == [f"+ {line}\n"]


@pytest.mark.parametrize("tags", ["tags:\n  - a # one\n  - B", "tags: [a, B] # c", "tags: a, B"])
def test_tags_that_only_grow_change_one_line(tags):
    """OPEN-FM-05: who names the old tags and a new one adds that one, in the way the old ones are written."""
    note = _note(f"{tags}\nz: 1")
    assert set_tags(note, ["a", "b", "new"]) == add_tag(note, "new")
    assert len(_changes(note, set_tags(note, ["a", "b", "new"]))) <= 2


def test_tag_in_a_list_of_several_lines_changes_one_of_them():
    """Brackets over several lines are common in hand-made files."""
    note = _note("tags: [\n  a,\n  b, # c\n]")
    assert _changes(note, add_tag(note, "new")) == ["-   b, # c\n", "+   b, new, # c\n"]


@pytest.mark.parametrize("tags", ["tags: [x, New]", "tags: new", "tags:\n - '#NEW'", "tags: 'a, new'"])
def test_a_tag_that_is_there_changes_nothing(tags):
    """No change, no commit."""
    assert add_tag(_note(tags), "new") == _note(tags)


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("title: old # why", "title: new one # why"),
        ("title: 'old'", "title: new one"),
        ("title:", "title: new one"),
        ("title: # later", "title: new one # later"),
        ("TITLE: old", "TITLE: new one"),
        ("title: [a]", "title: new one"),
        ("title: ~", "title: new one"),
    ],
)
def test_a_field_is_replaced_in_place(field, line):
    """The name as written and the comment stay."""
    note = _note(f"z: 1\n{field}\na: 2")
    assert _changes(note, set_field(note, "title", "new one")) == [f"- {field}\n", f"+ {line}\n"]


@pytest.mark.parametrize(
    "value", ["|\n  a\n  b", ">-\n  a\n\n  b", "\n  a\n  b", "'a\n  b'", "\n  - a\n  - b"]
)
def test_a_value_of_several_lines_gives_way_as_a_whole(value):
    """What belonged to the value goes, what did not stays."""
    after = set_field(_note(f"title: {value}\n\n# c\nz: 1"), "title", "new")
    assert after == _note("title: new\n\n# c\nz: 1")


def test_of_equal_keys_the_one_that_counts_is_changed():
    """The last one is what is read."""
    assert set_field(_note("title: A\nTitle: B"), "title", "C") == _note("title: A\nTitle: C")


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("body\n", "---\nid: 1a\n---\n\nbody\n"),
        ("\ufeffbody\r\n", "\ufeff---\r\nid: 1a\r\n---\r\n\r\nbody\r\n"),
        ("", "---\nid: 1a\n---\n"),
        ("\nbody", "---\nid: 1a\n---\n\nbody"),
        ("---\n- list\n---\nx\n", "---\nid: 1a\n---\n\n---\n- list\n---\nx\n"),
    ],
)
def test_a_note_without_a_block_gets_one_above_its_text(text, after):
    """A byte order mark stays first; a rule is not taken for a block (OPEN-FM-04)."""
    assert ensure_id(text, "1a") == after
    assert read_front_matter(after).id == "1a"


@pytest.mark.parametrize(
    ("tags", "line"),
    [
        ("tags: [x] # mine", "tags: [a, b] # mine"),
        ("tags: x, y", "tags: [a, b]"),
        ("tags:", "tags: [a, b]"),
        ("tags: {x: 1}", "tags: [a, b]"),
        ("tags: # mine\n  - x\n  - y", "tags: [a, b] # mine"),
    ],
)
def test_new_tags_take_the_place_of_the_old(tags, line):
    """Given as a whole, they replace what was there, in whatever shape."""
    assert set_tags(_note(f"z: 1\n{tags}\n# c\ny: 2"), ["A", "#b"]) == _note(f"z: 1\n{line}\n# c\ny: 2")


def test_tags_that_are_there_already_change_nothing():
    """Also when they are written in another shape."""
    note = _note("tags: 'A, #b'")
    assert set_tags(note, ["a", "B"]) == note
    assert set_tags("body", []) == "body"
    assert set_tags(note, []) == _note("tags: []")


def test_an_id_that_is_there_stays():
    """An address never changes."""
    note = _note("id: mine")
    assert ensure_id(note, "1a") == note
    assert ensure_id(_note("id:"), "1a") == _note("id: 1a")


@pytest.mark.parametrize(
    "block",
    [
        "tags:\n\t- a",
        "title: a: b",
        "x: &a 1\ny: *a",
        "title: a\0",
        "? [a]\n: b",
        "title: 'open",
        "owner: @bob",
    ],
)
def test_a_malformed_block_is_refused_with_its_fault(block):
    """Neither overwritten nor hidden behind a second block (OPEN-FM-06)."""
    note = _note(block)
    for edit in (
        lambda: add_tag(note, "x"),
        lambda: set_field(note, "title", "x"),
        lambda: ensure_id(note, "x"),
    ):
        with pytest.raises(RefusedError, match=r"line \d: front matter is not readable") as caught:
            edit()
        assert caught.value.details["reason"]


def test_an_unclosed_block_is_refused():
    """A second block on top of it would hide the first (OPEN-FM-06)."""
    with pytest.raises(RefusedError, match="without a closing"):
        add_tag("---\ntitle: x\nbody\n", "x")


@pytest.mark.parametrize(
    ("block", "edit"),
    [
        ("tags: {a: 1}", lambda text: add_tag(text, "x")),
        ("{title: x}", lambda text: set_field(text, "id", "x")),
        ("title: x\n...", lambda text: set_field(text, "id", "x")),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(block, edit):
    """Better a refusal than a guess."""
    with pytest.raises(RefusedError, match="cannot be changed safely"):
        edit(_note(block))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("Deploy plan", "Deploy plan"),
        ("发布：流程", "发布：流程"),
        ("Tom's C++ (v2)", "Tom's C++ (v2)"),
        ("Deploy: plan", '"Deploy: plan"'),
        ("42", '"42"'),
        ("1e3", '"1e3"'),
        ("2026-11-30", '"2026-11-30"'),
        ("yes", '"yes"'),
        ("null", '"null"'),
        ("", '""'),
        ("- x", '"- x"'),
        ("a #b", '"a #b"'),
        ("a\u2028b", '"a\\u2028b"'),
        ("a ", '"a "'),
    ],
)
def test_a_value_is_written_so_that_every_reader_takes_it_for_that_text(value, written):
    """Obsidian and other readers of YAML open the same files."""
    assert format_scalar(value) == written
    assert yaml.safe_load(written) == value


def test_a_new_block_is_read_as_it_was_meant():
    """What `note add` writes is what any reader sees."""
    block = format_block({"id": "0123456789abcde", "title": "42: a", "tags": ("a", "7")})
    assert block == '---\nid: 0123456789abcde\ntitle: "42: a"\ntags: [a, "7"]\n---\n'
    front = read_front_matter(block)
    assert (front.id, front.title, front.tags) == ("0123456789abcde", "42: a", ("a", "7"))


_VALUES = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20)


@given(_VALUES)
def test_any_value_survives_writing(value):
    """Also as other readers of YAML see it."""
    assert yaml.safe_load(format_scalar(value)) == value
    assert read_front_matter(set_field(_note("z: 1"), "x", value)).fields["x"].node.value == value


_FIELDS = st.sampled_from(
    "title: a;title: 'b' # c;tags: [x, y];tags: x, y;tags:\n  - x\n  - Y # c;tags:;tags: #x;z: |\n  t\n  u;"
    "# comment;;w: [a,\n  b];date: 2026-11-30;id: abc;Title: T".split(";")
)


@given(
    st.lists(_FIELDS, max_size=6),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from(["", "body", "body\n\n\n", "\n---\n# x\n"]),
    _VALUES,
)
@example(["tags:\n  - x\n  - Y # c"], "\n", "", "", "0,1")
def test_an_edit_changes_one_line(fields, newline, mark, body, value):
    """Set a title, add a tag: at most a line for each differs unless the old had several (OPEN-FM-05)."""
    note = mark + _note("\n".join(fields), body).replace("\n", newline)
    front = read_front_matter(note)
    assume(not front.is_malformed and front.block is not None)
    for name, after in (
        ("title", set_field(note, "title", value)),
        ("tags", add_tag(note, value)),
        ("id", ensure_id(note, "1a")),
    ):
        changes = _changes(note.replace("\r\n", "\u2003\n"), after.replace("\r\n", "\u2003\n"))
        most = len(normalise_tags([value])) if name == "tags" else 1  # "a,b" is two tags, in a list two lines
        assert sum(line.startswith("+") for line in changes) <= max(most, 1)
        assert sum(line.startswith("-") for line in changes) <= 1
        assert read_front_matter(after).is_malformed is False
        if name == "tags":
            assert set(normalise_tags([value])) <= set(read_front_matter(after).tags)


@pytest.mark.parametrize(
    "block",
    [
        "title: the key {}\ntags: [a, {}]\nsummary: {}",
        "tags:\n- a\n- {}\ntitle: 'it is {}'",
        "title: |\n  folded {}\nmore: {{a: {}}}",
    ],
)
def test_a_block_is_readable_when_its_secrets_are_taken_out(block):
    """What stands in a secret's place has brackets and a colon, which a bare value must not have."""
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    note = _note(block.format(*[secret] * 3))
    before = read_front_matter(note).fields
    text, rules = redact_secrets(quote_secrets(note))
    after = read_front_matter(text)
    assert (len(rules), after.problems) == (block.count("{}"), ())
    assert {name: redact_secrets(str(one.node.value))[0] for name, one in before.items()} == {
        name: str(one.node.value) for name, one in after.fields.items()
    }
    plain = _note("title: no secret\ntags: [a]")
    assert quote_secrets(plain) == plain
