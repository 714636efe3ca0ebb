"""Tests of `gitmem.graphemes`."""

from __future__ import annotations

import subprocess
import sys

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from gitmem.graphemes import cut_at

#: Clusters that must not be cut, each with the rule of UAX 29 that says so.
WHOLE = [
    ("\r\n", "GB3"),
    ("e\u0301", "GB9: combining mark"),
    ("o\u0302\u0323", "GB9: two marks"),
    ("\u1112\u1161\u11ab", "GB6 to GB8: Hangul syllable of three letters"),
    ("\uac00\u11a8", "GB7: Hangul syllable and final consonant"),
    ("\u0e01\u0e33", "GB9a: Thai sara am"),
    ("\u0915\u093e", "GB9a: Devanagari vowel sign"),
    ("\u0600\u0661", "GB9b: Arabic number sign"),
    ("\u0915\u094d\u0937", "GB9c: conjunct of two consonants"),
    ("\u0915\u094d\u200d\u0937", "GB9c: with a joiner"),
    ("\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", "GB11: family"),
    ("\U0001f44d\U0001f3fd", "GB9: skin tone"),
    ("\u2764\ufe0f\u200d\U0001f525", "GB11: with a variation selector"),
    ("\U0001f1e9\U0001f1ea", "GB12: flag"),
    ("1\ufe0f\u20e3", "GB9: keycap"),
    ("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "GB9: flag by tags"),
]
#: Pairs between which there may be a cut.
APART = [
    ("a", "b"),
    ("\n", "\r"),
    ("a", "\r\n"),
    ("混", "合"),
    ("\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7"),
    ("\u200d", "\U0001f466"),
    ("\u0915", "\u0937"),
    ("\n", "\u0301"),
    ("한", "글"),
]


@pytest.mark.parametrize(("cluster", "rule"), WHOLE, ids=[rule for _, rule in WHOLE])
def test_a_cluster_stays_whole(cluster: str, rule: str) -> None:
    """What a reader sees as one character is shown or it is not; half of it is another character."""
    for limit in range(1, len(cluster)):
        assert cut_at(f"x{cluster}y", 1 + limit) == 1
    assert cut_at(f"x{cluster}y", 1 + len(cluster)) == 1 + len(cluster)


@pytest.mark.parametrize(("left", "right"), APART)
def test_neighbours_may_be_parted(left: str, right: str) -> None:
    """Cutting earlier than needed would waste budget; a pair of flags is two characters."""
    assert cut_at(f"x{left}{right}y", 1 + len(left)) == 1 + len(left)


@given(
    st.text(
        st.sampled_from("ab \n\r\u0301\u200d\U0001f469\U0001f1e9\u0915\u094d\u0937\u1112\u1161混"),
        max_size=40,
    )
)
def test_a_cut_is_a_boundary_of_the_whole_text(text: str) -> None:
    """What stands behind the cut never changes where it may be."""
    starts = {match.start() for match in regex.finditer(r"\X", text)} | {len(text)}
    for limit in range(len(text) + 2):
        cut = cut_at(text, limit)
        assert cut in starts | {0}
        assert cut == max(start for start in starts | {0} if start <= max(limit, 0))


def test_plain_text_costs_no_import() -> None:
    """Most texts are cut at plain ASCII; a command must not pay for what it does not need."""
    code = "import sys; from gitmem.graphemes import cut_at; cut_at('words ' * 9, 5)"
    code += "; sys.exit('regex' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
