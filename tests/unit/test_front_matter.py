"""Front matter as people and agents write it: read tolerantly, every fault named, no body lost."""

from __future__ import annotations

import json
import time

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from gitmem import front_matter_yaml
from gitmem.authored_text import decode_text
from gitmem.front_matter import is_usable_id, read_front_matter
from gitmem.note_tags import normalise_tags
from gitmem.note_text import make_note, split_sections

BODY = "# Heading\n\nzebra\n"


def _note(block, body=BODY):
    return f"---\n{block}\n---\n{body}"


def _read(block, body=BODY):
    return make_note("notes/d.md", _note(block, body), "0")


def _searched(text):
    return "\n".join(section.text for section in split_sections(text))


def _problems(block):
    return [str(problem) for problem in read_front_matter(_note(block)).problems]


def test_fields_that_gitmem_reads():
    """Title, summary, tags and id come from a plain block; the body begins behind it."""
    front = read_front_matter(_note("id: abc-1\nTitle: A  b\nsummary: short\ntags: [x, Y]\nowner: bob"))
    assert (front.title, front.summary, front.tags, front.id) == ("A b", "short", ("x", "y"), "abc-1")
    assert front.fields["owner"].node.value == "bob"
    assert front.problems == ()
    assert _note("a: 1")[read_front_matter(_note("a: 1")).body_start :] == BODY


# FM-01


@pytest.mark.parametrize("value", ["Deploy: rollback plan", "a: b: c", "'open", '"open', "x: {y"])
def test_a_colon_in_a_title_costs_only_the_title(value):
    """Body searchable, title from the heading, file listed with line and reason (OPEN-FM-01)."""
    note = _read(f"tags: [a]\ntitle: {value}")
    assert note.title == "Heading"
    assert note.body == BODY
    assert note.front.is_malformed
    assert [problem.line for problem in note.problems] == [3]
    assert "zebra" in _searched(note.text)


def test_without_a_heading_the_title_is_what_the_line_says():
    """`title: Foo: bar` means `Foo: bar` to a person (holon N14); the fault is listed all the same."""
    note = _read("title: Foo: bar", "zebra\n")
    assert note.title == "Foo: bar"
    assert note.problems


def test_a_malformed_block_keeps_the_notes_id():
    """An operator's slip in one field must not change the note's address."""
    assert _read("id: 0123456789abcde\ntitle: a: b").front.id == "0123456789abcde"
    assert _read("id: a b\ntitle: a: b").front.id is None


# FM-02


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("2026-11-30", "2026-11-30"),
        ("42", "42"),
        ("yes", "yes"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        (".inf", ".inf"),
        ("'null'", "null"),
        ("null", "Heading"),
        ("~", "Heading"),
        ("", "Heading"),
        ("'  '", "Heading"),
        ("[a, b]", "Heading"),
        ("{a: 1}", "Heading"),
    ],
)
def test_a_title_is_shown_as_written(written, shown):
    """YAML's dates, numbers and booleans are text here; null is missing (OPEN-FM-02)."""
    assert _read(f"title: {written}").title == shown


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("[2026, true, null, 1.0, no]", ("2026", "true", "1.0", "no")),
        ("7", ("7",)),
        ("2026-11-30", ("2026-11-30",)),
        ("null", ()),
        ("[a, [B, a], c]", ("a", "b", "c")),
        ("[]", ()),
    ],
)
def test_tags_of_any_scalar_type_become_texts(written, tags):
    """Tags are lower-case strings without repeats, whatever YAML takes them for (OPEN-FM-02)."""
    assert _read(f"tags: {written}").tags == tags
    assert _problems(f"tags: {written}") == []


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("tags: {a: 1}", "line 2: tags holds a map, which is no tag"),
        ("x: 1\ntags: [a, {b: c}]", "line 3: tags holds a map, which is no tag"),
        ("title: [a]", "line 2: title is a list, not text"),
        ("summary: {a: b}", "line 2: summary is a map, not text"),
    ],
)
def test_a_value_of_the_wrong_shape_is_named(block, reason):
    """It costs only itself, with a notice (OPEN-FM-02)."""
    assert _problems(block) == [reason]
    assert not read_front_matter(_note(block)).is_malformed


# FM-03


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nRemember: call the vet\n\n---\nrest\n",
        "---\nACME notes call the vet\n---\nbody\n",
        "---\n- call\n- the vet\n---\nbody\n",
        "---\n# call the vet\n---\nbody\n",
        "---\n\n- call: x\n- the vet: y\n\n---\nbody\n",
        "---\n*the vet* called\n---\nbody\n",
        "---\n\nSee: `x: y`, the vet\n\n---\n",
        "---\n<b>: the vet\n---\n",
        "---\nthe vet, no second rule\n",
        "----\ntitle: the vet\n----\n",
        " ---\ntitle: the vet\n---\n",
        "text\n---\ntitle: the vet\n---\n",
    ],
)
def test_text_between_two_rules_is_body(text):
    """What is no mapping of plain keys is not metadata, so nothing of it is lost (OPEN-FM-03)."""
    front = read_front_matter(text)
    assert (front.block, front.body_start, front.problems) == (None, 0, ())
    assert "the vet" in _searched(text)


def test_prose_that_reads_as_a_mapping_is_still_searched():
    """A field that gitmem does not read is text like any other (OPEN-FM-03)."""
    text = "---\nRemember: call the vet\n---\nrest\n"
    assert "call the vet" in _searched(text)
    assert make_note("notes/x.md", text, "0").summary == "rest"


def test_a_blank_line_does_not_hide_fields_that_gitmem_reads():
    """Only prose is set apart by blank lines."""
    assert read_front_matter("---\n\ntitle: X\n\n---\nbody").title == "X"


# FM-04


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_byte_order_mark_does_not_hide_the_block(newline):
    """Windows editors write one, and CRLF (OPEN-FM-04, holon N2)."""
    text = decode_text("---\ntitle: Windows note\n---\nbody\n".replace("\n", newline).encode("utf-8-sig"))
    note = make_note("notes/x.md", text, "0")
    assert (note.title, note.summary) == ("Windows note", "body")
    assert note.text.startswith("\ufeff")


# FM-07


def test_an_alias_bomb_is_refused_at_once():
    """Anchors and aliases are not read, so they cannot multiply (OPEN-FM-07)."""
    lines = ["a0: &a0 [lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 8)]
    text = _note("\n".join([*lines, "tags: *a7"]))
    began = time.process_time()
    note = make_note("notes/x.md", text, "0")
    json.dumps([note.title, note.tags, {k: f.node.value for k, f in note.front.fields.items()}])
    assert time.process_time() - began < 0.1
    assert note.front.is_malformed
    assert "alias" in note.problems[0].reason
    assert "zebra" in _searched(text)


@pytest.mark.parametrize("block", ["a: &x 1\ntitle: t", "a: &x [*x]\ntitle: t", "<<: *base\ntitle: t"])
def test_one_anchor_is_as_unread_as_many(block):
    """Recursive ones included."""
    assert read_front_matter(_note(block)).is_malformed


@pytest.mark.parametrize(
    "block",
    [
        "title: " + "[" * 5000,
        "title: " + "{a: " * 5000,
        "\n".join(" " * n + "a:" for n in range(100)),
        "a: " + "x" * 70_000,
        "a" + " " * 60_000 + "\ntitle: x",
        "a: b\n" * 12_000,
        "title: " + "1:" * 30_000 + "1",
        "tags: [" + "a, " * 20_000 + "]",
    ],
)
def test_large_and_deep_blocks_cost_little(block):
    """Time is bounded, whoever wrote the note."""
    began = time.process_time()
    note = _read(block)
    assert time.process_time() - began < 1
    assert note.body == BODY


# FM-08


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("date: 2026-13-45", "line 2: date looks like a date or number and is none"),
        ("created: 2026-02-30 10:00:00", "line 2: created looks like a date"),
        ("version: " + "7" * 5000, "line 2: version looks like a date or number"),
        ("a: 1\nid: " + "7" * 5000, "line 3: id"),
        ("id: a/b", "line 2: id is not 1 to 80 of"),
        ("id: ..", "line 2: id is not 1 to 80 of"),
        ("? [a, b]\n: x", "line 2: front matter is not readable: a key that is not plain text"),
        ("title: x\n{a: b}: c", "line 3: front matter is not readable"),
        ("x: 1\ntitle: a\0b", "line 3: front matter is not readable: a character that YAML forbids (U+0000)"),
        ("title: a\x1bb", "line 2: front matter is not readable: a character that YAML forbids (U+001B)"),
        ("key: !secret x", "line 2: key has a YAML tag"),
        ("key: [!secret x]", "line 2: key has a YAML tag"),
        ("key: !!python/object/apply:os.system [id]", "line 2: key has a YAML tag"),
        ("key: !!binary x", "line 2: key has a YAML tag"),
        ("title: x\n...\ntitle: y", "line 4: front matter is not readable"),
        ("%YAML 9.9\ntitle: x", "front matter is not readable"),
        ("title: 'x\ny'z", "front matter is not readable"),
        ('title: "\\q"', "front matter is not readable"),
        ('title: "\\ud800"', "front matter is not readable"),
    ],
)
def test_every_fault_is_listed_with_its_own_reason(block, reason):
    """No exception of any class leaves the reader (OPEN-FM-08)."""
    assert any(reason in problem for problem in _problems(block))
    assert _read(block).body == BODY


def test_one_bad_field_leaves_the_others():
    """A tag or a date that cannot be costs that field (OPEN-FM-08)."""
    note = _read("title: T\nsummary: !secret s\ndate: 2026-13-45\ntags: [a]")
    assert (note.title, note.summary, note.tags) == ("T", "zebra", ("a",))


def test_an_unclosed_block_is_named():
    """The whole file is body then, and an edit must not stack a second block on it."""
    front = read_front_matter("---\ntitle: x\n\nzebra\n")
    assert front.is_malformed
    assert str(front.problems[0]) == "line 1: front matter without a closing --- line"
    assert "zebra" in _searched("---\ntitle: x\n\nzebra\n")


# FM-09


@pytest.mark.parametrize(
    "written",
    [
        '\'["Alpha","beta"]\'',
        "alpha, Beta",
        '["#alpha", "ALPHA", beta]',
        "[alpha, beta]",
        "\n  - Alpha\n  - beta",
        "\n- '#alpha'\n- beta",
        "'#alpha #beta'",
        "'[alpha, beta]'",
        "\"'alpha', 'beta'\"",
        "alpha，beta",
        "[[alpha], beta]",
        "|\n  alpha,\n  beta",
        "[\n  alpha,\n  beta, # c\n]",
        "' alpha ,, beta, '",
    ],
)
def test_tags_in_every_shape(written):
    """Lower-case, once each, without # or brackets (OPEN-FM-09, holon N4, N5)."""
    assert _read(f"tags: {written}").tags == ("alpha", "beta")


@pytest.mark.parametrize("written", ["alpha", "'#alpha'", "[alpha]", "'[\"alpha\"]'", "ALPHA", "Ａlpha,"])
def test_one_tag(written):
    """A single word is a list of one."""
    assert len(_read(f"tags: {written}").tags) == 1


def test_equal_tags_in_two_unicode_forms_are_one():
    """A composed and a decomposed letter look the same."""
    assert normalise_tags(["caf\u00e9", "cafe\u0301"]) == ("caf\u00e9",)


@pytest.mark.parametrize("text", ["[" * 5000 + "]" * 5000, "[1, 2.5, {}]", '["a", 3]', "[]", "#", "##", ""])
def test_odd_tag_texts_do_not_raise(text):
    """A tag text is untrusted input."""
    assert all(isinstance(tag, str) and tag for tag in normalise_tags([text]))


# FM-10


@pytest.mark.parametrize(
    "block",
    [
        "owner: @bob",
        "title: *important*",
        "title: %done",
        "title: `cmd`",
        "title: [draft] plan",
        "title: - dash",
        "title: &anchor x",
        "title: !todo x",
        "title: >",
        "title: }x",
        "title: ,x",
        "key: ? x",
        "tags:\n\t- a",
    ],
)
def test_a_value_that_begins_with_a_sign_of_yaml(block):
    """Every body is searched and every file that did not parse is listed (OPEN-FM-10)."""
    note = _read(block)
    assert "zebra" in _searched(note.text)
    assert note.title == "Heading"
    assert note.problems or block in {"title: >", "key: ? x"}


@pytest.mark.parametrize("block", ["title: #x", "title: # x #y", "tags: #x #y"])
def test_a_comment_where_a_value_was_meant_is_a_missing_value(block):
    """The catalog falls back to the heading; no fault (OPEN-FM-10)."""
    note = _read(block)
    assert (note.title, note.tags, note.problems) == ("Heading", (), ())


# holon N14, N15


def test_the_last_of_equal_keys_wins_in_any_case():
    """As Holon reads them (N14)."""
    assert _read("title: A\nTitle: B").title == "B"
    assert _read("TITLE: A\nTags: [x]").tags == ("x",)


@pytest.mark.parametrize(
    "block",
    ["summary: |\n  one\n  two", "summary: >-\n  one\n  two", "summary: one\n  two", "summary: 'one\n  two'"],
)
def test_a_summary_of_several_lines_is_joined(block):
    """Folded and literal texts alike (N15)."""
    assert _read(block).summary == "one two"


def test_odd_line_separators_are_characters():
    """U+2028 breaks a line for YAML, for no editor and not for Git."""
    assert _read("title: a\u2028b\u0085c").title == "a b c"


def test_places_of_values_are_those_of_the_file():
    """Edits and messages rest on them, in CRLF files and beyond ASCII too."""
    text = (
        "---\r\ntitle: é🎉 # c\r\nx: |\r\n  a\r\n  b\r\n\r\ntags:\r\n  - 'q'\r\n# c\r\nend: z\r\n---\r\nbody"
    )
    front = read_front_matter(text)
    sources = {name: front.block[one.node.start : one.node.end] for name, one in front.fields.items()}
    assert sources == {"title": "é🎉", "x": "|\r\n  a\r\n  b", "tags": "- 'q'", "end": "z"}
    assert [one.line for one in front.fields.values()] == [2, 3, 7, 10]


@pytest.mark.parametrize(
    ("text", "usable"),
    [(text, True) for text in ("a", "A.b_c-1", "x" * 80, "..a")]
    + [(text, False) for text in ("", ".", "...", "x" * 81, "a b", "a\n", "é", "a:b", "a/b")],
)
def test_ids_are_what_a_ref_can_hold(text, usable):
    """An id that no ref could carry would make the note unreachable."""
    assert is_usable_id(text) is usable


_LINES = st.sampled_from(
    "---; --- ;title: a;title: a: b;tags: [a, B];- x;; ;\t- a;id: 1;x: &a 1;y: *a;summary: |;  text;{a: b};"
    "? [a];...;é: 🎉;a:;\0;\u2028;!x y;';\";# h;```".split(";")
)


@given(st.lists(_LINES, max_size=8), st.sampled_from(["\n", "\r\n", "\r"]))
@example(["---", "---"], "\n")
def test_no_arrangement_of_lines_raises_or_loses_text(lines, newline):
    """Whatever stands in a note, reading it says something and every word can be searched."""
    text = newline.join(["---", *lines])
    note = make_note("notes/x.md", text, "0")
    assert note.front.body_start <= len(text)
    found = _searched(text)
    for word in ("text", "🎉"):
        assert (word in text) == (word in found)


@given(st.text(max_size=80))
def test_no_text_raises(text):
    """Notes are untrusted input."""
    for whole in (text, f"---\n{text}\n---\nbody"):
        make_note("notes/x.md", whole, "0")


@given(st.binary(max_size=120))
def test_no_bytes_raise(content):
    """Files too."""
    text = decode_text(b"---\n" + content + b"\n---\n")
    if isinstance(text, str):
        make_note("notes/x.md", text, "0")


@pytest.mark.parametrize("loader", [yaml.BaseLoader, front_matter_yaml._LOADER])
@pytest.mark.parametrize(
    "block",
    [
        "title: é # c\ntags:\n  - a\n\n# c\nx: |\n  b\n\ny: [a, 'b']\nz:",
        'title: "\\ud800"',
        "a: &x b",
        "a: [",
        "a: b: c",
    ],
)
def test_a_python_without_libyaml_reads_the_same(monkeypatch, loader, block):
    """PyYAML can be built without it; places and refusals do not depend on that."""
    expected = read_front_matter(_note(block))
    monkeypatch.setattr(front_matter_yaml, "_LOADER", loader)
    found = read_front_matter(_note(block))
    assert found.fields == expected.fields
    assert [problem.line for problem in found.problems] == [problem.line for problem in expected.problems]
