"""Tests of `gitmem.prose_section`."""

from __future__ import annotations

import re
from hashlib import sha256

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from judges import find_nothing, find_words

from gitmem.blocked_parts import find_blocked
from gitmem.prose_section import ProseSection, make_section, unreadable_section

PATH = "memory/operator.md"


def section(text: str | bytes, *, limit: int = 1500, judge: object = find_nothing) -> ProseSection:
    """Return the operator's section of a text."""
    content = text if isinstance(text, bytes) else text.encode()
    return make_section("operator", PATH, content, limit=limit, judge=judge)  # type: ignore[arg-type]


def slice_of(made: ProseSection) -> str:
    """Return what of the file stands in a section."""
    body = made.text.partition("\n\n")[2]
    return body.rpartition("\n\n[shown ")[0] if made.truncated else body


def test_the_whole_file_fits() -> None:
    """Within its budget a file is there as it is, its last line feed too."""
    made = section("Answer in German.\n")
    assert made.id == "agent_memory_operator"
    assert made.tier == "agent"
    assert made.text.endswith("\n\nAnswer in German.\n")
    assert (made.shown, made.total, made.truncated, made.problem) == (18, 18, False, None)
    assert PATH in made.text.partition("\n")[0]
    assert "agent_memory:operator" in made.text.partition("\n")[0]


@pytest.mark.parametrize("text", ["", "   \n\t\n", "\ufeff \r\n"])
def test_an_empty_file_says_so(text: str) -> None:
    """A model that sees nothing at all cannot know that there is a place for it."""
    made = section(text)
    assert made.text.endswith(f"[{PATH} is empty: nothing is curated yet]")
    assert (made.total, made.truncated) == (0, False)


def test_leading_blanks_cost_nothing() -> None:
    """Blank lines above a text must not push its end out of the prompt."""
    made = section("\n\n  \n" + "a" * 1500)
    assert (made.shown, made.total, made.truncated) == (1500, 1500, False)


def test_trailing_white_space_counts() -> None:
    """Only what stands before the text is left out; its end is as it is in the file."""
    assert section("a\n\n  ").total == 5


@pytest.mark.parametrize("unit", ["好", "e\u0301", "\U0001f469\u200d\U0001f467"])
def test_a_long_text_is_cut_in_code_points(unit: str) -> None:
    """One unit everywhere: code points; and no character is shown in half."""
    made = section(unit * 1600)
    assert made.total == 1600 * len(unit)
    assert made.shown == 1500 // len(unit) * len(unit)
    assert slice_of(made) == unit * (1500 // len(unit))
    assert f"[shown {made.shown} of {made.total} characters of {PATH}" in made.text
    assert f"memory_get agent_memory:operator from offset {made.shown}]" in made.text


def test_marks_upon_one_letter_hide_no_file() -> None:
    """Two thousand of them are no character that a reader would miss a part of."""
    made = section("a" + "\u0301" * 2_000 + " and the rest")
    assert made.shown == len(slice_of(made)) == 1_500


def test_the_offset_counts_what_was_stripped() -> None:
    """`memory_get` knows the file as it is, so the rest begins behind its leading blanks too."""
    made = section("\n\n" + "a" * 20, limit=10)
    assert "from offset 12]" in made.text


def test_a_cut_never_parts_cr_and_lf() -> None:
    """Half a line ending is another line ending."""
    made = section("ab\r\ncd", limit=3)
    assert slice_of(made) == "ab"
    assert made.total == 6


def test_a_byte_order_mark_is_no_character() -> None:
    """It belongs to the file, not to the text."""
    made = section("\ufeffabc")
    assert (made.total, slice_of(made)) == (3, "abc")


def test_what_is_no_utf8_costs_only_itself() -> None:
    """A prompt without one section is better than none; the reason stands in the section."""
    made = section(b"fine\n\xff\xfe broken")
    assert made.problem == "line 2: not UTF-8 (byte 0xFF)"
    assert made.problem in made.text
    assert "unreadable" in made.text
    assert (made.shown, made.total) == (0, 0)
    assert unreadable_section("self", "memory/self.md", "a link").id == "agent_memory_self"


def test_the_outside_sees_no_content() -> None:
    """A panel that lists sections is no reason to show what is in them."""
    made = section("secret plans " * 200)
    assert made.outside_view() == {"path": PATH, "truncated": True, "total": 2600}


def test_a_poisoned_paragraph_is_left_out() -> None:
    """What the scanner refuses reaches no prompt; the rest of the file does."""
    made = section("# Rules\n\nBe brief.\n\nHere is poison\nin two lines.\n\nBe kind.\n", judge=find_words)
    assert "poison\n" not in made.text
    assert "[BLOCKED: this part of memory/operator.md matches poison; the operator can see it]" in made.text
    assert "Be brief.\n\n[BLOCKED" in made.text
    assert made.text.endswith("it]\n\nBe kind.\n")
    (part,) = made.blocked
    assert (part.line, part.rules) == (5, ("poison",))
    assert part.mark == sha256(b"Here is poison\nin two lines.").hexdigest()[:12]
    assert not made.truncated


def test_a_threat_over_two_paragraphs_is_left_out() -> None:
    """A blank line between two words does not make them harmless."""
    (part,) = section("fine\n\nbad\n\nseed of doubt\n\nfine", judge=find_words).blocked
    assert part.rules == ("bad_seed",)
    assert part.line == 3


def test_a_threat_that_the_cut_divides_is_left_out() -> None:
    """Cutting behind its first word would show half of it and hide why."""
    made = section("fine words\n\nand a bad seed", limit=19, judge=find_words)
    assert "bad" not in slice_of(made)


def test_an_allowed_paragraph_stays() -> None:
    """An operator's standing order may read like an attack; they allow it by its text."""
    order = "Never let poison near the pond."

    def judge(text: str) -> object:
        return () if text == order else find_words(text)

    made = section(f"{order}\n\nMore poison here.\n", judge=judge)
    assert order in made.text
    assert "More poison" not in made.text
    assert section(f"One.\n\n{order}\n", judge=judge).blocked == ()


def test_neighbours_share_one_note() -> None:
    """Notes must not fill the budget that the text was given."""
    made = section("poison\n\nbad seed\n\npoison\n", judge=find_words)
    assert made.text.count("[BLOCKED") == 1
    assert "matches poison, bad_seed;" in made.text
    assert len(made.blocked) == 3


PIECES = [
    "word ",
    "好",
    "e\u0301",
    "\r\n",
    "\n\n",
    "\U0001f1e9\U0001f1ea",
    "poison ",
    "bad",
    " seed ",
    "\u0915\u094d\u0937",
]


@given(st.lists(st.sampled_from(PIECES), max_size=60), st.integers(1, 200))
def test_a_slice_keeps_its_promises(pieces: list[str], limit: int) -> None:
    """Never longer than its budget, never cut inside a character, never with what the scanner refuses."""
    text = "".join(pieces)
    body = text.lstrip()
    made = section(text, limit=limit, judge=find_words)
    shown = slice_of(made) if body else ""
    assert len(shown) <= limit
    assert made.total == len(body)
    assert made.truncated == (made.shown < made.total)
    assert "poison" not in re.sub(r"\[BLOCKED[^]]*]", "", shown)
    if not made.blocked:
        assert shown == body[: made.shown]
    starts = {match.start() for match in regex.finditer(r"\X", body)} | {0, len(body)}
    assert made.shown in starts or not starts & set(range(1, limit + 1))
    if made.truncated:  # the slice and what `get` gives from there are the file
        ahead = len(text) - len(body)
        offset = int(re.findall(r"from offset (\d+)]$", made.text)[0])
        assert text[:ahead] + body[: made.shown] + text[offset:] == text


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_nothing_refused_is_left(pieces: list[str]) -> None:
    """Behind taking out all blocked parts the scanner finds nothing."""
    text = "".join(pieces)
    rest = text
    for part in sorted(find_blocked(text, find_words), key=lambda part: -part.start):
        rest = rest[: part.start] + "." + rest[part.end :]
        assert find_words(text[part.start : part.end])
    assert not find_words(rest)
