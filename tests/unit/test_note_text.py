"""What a note is called, what it is about, and the parts by which it is searched."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.note_text import make_note, split_sections


def _note(text, path="notes/on-call_plan.md"):
    return make_note(path, text, "0")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# A title #\n", "A title"),
        ("intro\n\n## Second level\n", "Second level"),
        ("#\n##   \n# Real\n", "Real"),
        ("#Glued\n", "Glued"),
        ("#tag #other\n# Real\n", "Real"),
        ("#tag #other\n", "on call plan"),
        ("# C#\n", "C#"),
        ("A title\n=======\n\ntext\n", "A title"),
        ("A title\n---\ntext\n", "A title"),
        ("- item\n---\n# Real\n", "Real"),
        ("```sh\n# not a heading\n```\n# Real\n", "Real"),
        ("~~~~\n```\n# no\n~~~\n# no\n~~~~\n# Real\n", "Real"),
        ("```\n# never closed\n", "on call plan"),
        ("<!-- # hidden\n# hidden -->\n# Real\n", "Real"),
        ("    # code\n# Real\n", "Real"),
        ("no heading\n", "on call plan"),
        ("", "on call plan"),
        ("\ufeff# Real\r\n", "Real"),
        ("# a\x1b[31m\u202eb\n", "a[31mb"),
    ],
)
def test_title_is_the_first_heading_else_the_files_name(text, title):
    """Front matter aside; code and comments are no headings (holon 7, N12)."""
    assert _note(text).title == title


@pytest.mark.parametrize(
    ("path", "title"), [("notes/---.md", "note"), ("notes/日志.md", "日志"), ("notes/a/b_c.MD", "b c")]
)
def test_a_name_without_words_is_a_note(path, title):
    """There is always something to show."""
    assert _note("", path).title == title


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("# T\n\nOne\ntwo\n\nthree\n", "One two"),
        ("# T\nOne\n# U\ntwo\n", "One"),
        ("# T\n\n```\ncode\n```\n\nOne\n", "One"),
        ("# T\n\n---\n\nOne\n---\n", None),
        ("# T\n\n    code\n\n\tmore\n\nOne\n    goes on\n", "One goes on"),
        ("# T\n\n<!-- note\nto self -->\nOne\n", "One"),
        ("# T\n", None),
        ("", None),
    ],
)
def test_summary_is_the_first_paragraph(text, summary):
    """Headings, rules, code and comments are none (holon 7, N12)."""
    assert _note(text).summary == summary


def test_title_and_summary_are_cut_with_an_ellipsis():
    """120 and 200 code points, not bytes (holon 7)."""
    note = _note(f"# {'题' * 130}\n\n{'文' * 300}\n")
    assert note.title == "题" * 119 + "…"
    assert note.summary == "文" * 199 + "…"
    assert _note(f"---\nsummary: {'x' * 200}\n---\n").summary == "x" * 200


def test_sections_are_named_by_their_first_lines():
    """A hit leads to the line in the file, front matter counted."""
    text = "---\ntitle: T\nowner: bob\n---\n\nintro\n\n# One\na\n### deep\nb\n\n## Two\n```\n## no\n```\nc\n"
    sections = [(section.heading, section.line, section.text) for section in split_sections(text)]
    assert sections == [
        (None, 3, "owner: bob"),
        (None, 6, "intro"),
        ("One", 8, "# One\na\n### deep\nb"),
        ("Two", 13, "## Two\n```\n## no\n```\nc"),
    ]


def test_sections_of_a_crlf_file_have_plain_line_feeds():
    """A phrase over a line break is found in every clone."""
    assert [s.text for s in split_sections("a\r\nb\r\n\r\n## C\r\nd")] == ["a\nb", "## C\nd"]


def test_a_note_without_words_has_no_sections():
    """Nothing to find."""
    assert split_sections("---\ntitle: T\n---\n \n\n") == []


def test_underlined_headings_begin_sections():
    """The heading is the line above."""
    assert [(s.heading, s.line) for s in split_sections("Intro\n===\na\n\nNext\n---\nb\n")] == [
        ("Intro", 1),
        ("Next", 5),
    ]


@pytest.mark.parametrize(
    "line", ["#" * 100_000 + "x", "- " * 50_000 + "x", "#a " * 30_000, " " * 100_000 + "x", "`" * 100_000]
)
def test_long_lines_cost_little(line):
    """No line makes the reader slow."""
    began = time.process_time()
    split_sections(f"{line}\n{line}\n---\n{line}")
    _note(line)
    assert time.process_time() - began < 1


_LINES = st.sampled_from("# a;## b;;  ;text;---;===;```;~~~;- x;<!--;-->;    code;#t #u;title: x".split(";"))


@given(st.lists(_LINES, max_size=12), st.sampled_from(["\n", "\r\n"]))
def test_sections_hold_every_word_and_stand_where_they_say(lines, newline):
    """Nothing is lost between two sections, and no line number is off."""
    text = newline.join(lines)
    sections = split_sections(text)
    for section in sections:
        assert lines[section.line - 1].strip() == section.text.split("\n")[0].strip()
    front = lines[: lines.index("---", 1) + 1] if lines[:1] == ["---"] and "---" in lines[1:] else []
    words = [line.strip() for line in lines[len(front) :] if line.strip() and line.strip() != "---"]
    found = "\n".join(section.text for section in sections)
    assert all(word in found for word in words)
