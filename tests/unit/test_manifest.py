"""What an index covers survives the way to disk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.manifest import EMPTY, FileMark, Manifest, SegmentMark, format_manifest, parse_manifest

TEXT = st.text(max_size=20)
SEGMENTS = st.builds(
    SegmentMark, st.tuples(TEXT), st.integers(0), TEXT, st.integers(0), st.dictionaries(TEXT, TEXT), TEXT
)
FILES = st.builds(
    FileMark, st.integers(), st.integers(), st.integers(), TEXT, st.booleans(), st.none() | TEXT
)


@given(
    st.builds(
        Manifest,
        st.dictionaries(TEXT, SEGMENTS, max_size=3),
        st.dictionaries(TEXT, FILES, max_size=3),
        st.frozensets(TEXT, max_size=3),
        TEXT,
        TEXT,
        st.booleans(),
    )
)
def test_round_trip(manifest: Manifest) -> None:
    """Names of files may be any text, also such that is no valid Unicode."""
    assert parse_manifest(format_manifest(manifest)) == manifest


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b'{"format": 2}',
        b'{"format": 1}',
        b'{"format": 1, "segments": 3}',
        b"\xff",
        b"null",
    ],
)
def test_anything_else_is_no_manifest(content: bytes) -> None:
    """A damaged manifest is damage of the index, by one exception."""
    with pytest.raises(ValueError):
        parse_manifest(content)


def test_what_is_quarantined_is_told_by_the_marks() -> None:
    """Records and files that cannot be indexed are named together."""
    manifest = Manifest(
        {"a": SegmentMark(("b",), 1, "h", 3, {"a:2": "bad"})},
        {"f": FileMark(1, 1, 1, "", problem="link"), "g": FileMark(1, 1, 1, "d")},
    )
    assert manifest.quarantined == {"a:2": "bad", "f": "link"}
    assert manifest.covered == 5
    assert EMPTY.covered == 0
