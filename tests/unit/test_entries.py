"""Memory stores: entries, their ids, their size, and the line endings of the file."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.authored_text import newline_of
from gitmem.entries import (
    DELIMITER,
    count_chars,
    entry_digest,
    entry_id,
    format_store,
    make_entry,
    parse_store,
)
from gitmem.errors import RefusedError, UsageError

_TEXTS = st.text(alphabet=st.sampled_from("ab é中🎉§\n\r\t \u2028\x85\x0c"), max_size=60)


def _texts(store):
    return [entry.text for entry in parse_store(store)]


def test_entries_are_split_at_lines_holding_only_the_mark():
    """Each entry stands with its own id and first line, as blame needs them (hermes 2.2)."""
    entries = parse_store("one\n§\ntwo\nmore\n§\nthree\n")
    assert [(e.text, e.line) for e in entries] == [("one", 1), ("two\nmore", 3), ("three", 6)]
    assert entries[0].id == hashlib.sha256(b"one").hexdigest()[:15]


@pytest.mark.parametrize(
    "store",
    [
        "one\n§\ntwo",
        "one\n§\ntwo\n",
        "one\r\n§\r\ntwo\r\n",
        "one\r§\rtwo",
        "\ufeffone\n§\ntwo\n",
        "one\n\n§\ntwo",
        "one \n § \n two",
        "one\n§\n\n§\ntwo",
        "§\none\n§\ntwo\n§\n",
        "one\r\n§\ntwo\r\n",
        "one\n§\ntwo\n§\none\n",
    ],
)
def test_white_space_line_endings_and_repeats_do_not_matter(store):
    """A store touched by an editor or by autocrlf holds the same two facts (OPEN-GIT-19, hermes 2.11)."""
    assert _texts(store) == ["one", "two"]


@pytest.mark.parametrize("store", ["", "\n", " \r\n\t", "§", "\n§\n", "\ufeff"])
def test_a_store_without_words_has_no_entries(store):
    """Only white space and delimiters is an empty store (hermes 2.2)."""
    assert parse_store(store) == []
    assert format_store(parse_store(store)) == ""


def test_a_mark_inside_a_line_is_ordinary_text():
    """Only a line of its own separates (OPEN-AGENT-02)."""
    assert _texts("see § 4 of the law\n§\n§4 too\n") == ["see § 4 of the law", "§4 too"]
    assert make_entry("see § 4").text == "see § 4"


@pytest.mark.parametrize("text", ["Checklist:\n§\nrun migration", "a\r\n § \r\nb", "§"])
def test_an_entry_that_would_be_read_back_as_two_is_refused(text):
    """What is stored as one is read back as one (OPEN-AGENT-02)."""
    with pytest.raises(RefusedError, match="§"):
        make_entry(text)


def test_an_entry_needs_text():
    """White space is no fact."""
    with pytest.raises(UsageError):
        make_entry(" \n ")


def test_written_store_ends_in_a_newline_that_does_not_count():
    """Blame names the right commit only with a newline at the end (design 2)."""
    entries = [make_entry("one"), make_entry("é中🎉")]
    assert format_store(entries) == "one\n§\né中🎉\n"
    assert count_chars(entries) == 3 + 3 + 3
    assert count_chars([]) == 0


def test_size_counts_no_carriage_returns():
    """A store has the same size in every clone (OPEN-GIT-19)."""
    assert count_chars(parse_store("a\r\nb\r\n§\r\nc\r\n")) == count_chars(parse_store("a\nb\n§\nc"))


def test_an_added_entry_keeps_the_files_line_ending():
    """Three entries with CRLF become four with CRLF, and with nothing else (OPEN-GIT-19)."""
    store = "a\r\nb\r\n§\r\nc\r\n§\r\nd\r\n"
    entries = [*parse_store(store), make_entry("e\nf")]
    written = format_store(entries, newline_of(store))
    assert written == store + "§\r\ne\r\nf\r\n"


def test_id_is_the_start_of_the_digest_by_which_it_is_forgotten():
    """A forgotten entry and an entry's id name the same text (I1, F1)."""
    assert entry_id("x") == entry_digest("x")[:15]
    assert make_entry(" x\r\n").id == entry_id("x")


@given(_TEXTS, st.sampled_from(["\n", "\r\n"]))
def test_what_is_read_is_written_and_read_again(store, newline):
    """Any text becomes entries that survive writing, in either line ending."""
    entries = parse_store(store)
    again = parse_store(format_store(entries, newline))
    assert [e.text for e in again] == [e.text for e in entries]
    assert count_chars(entries) == len(DELIMITER.join(e.text for e in entries))


@given(_TEXTS)
def test_line_numbers_point_at_the_entry(store):
    """The named line of the file holds the first line of the entry."""
    lines = store.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for entry in parse_store(store):
        assert entry.text.split("\n", 1)[0] in lines[entry.line - 1]
