"""Titles as file names."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.slugs import MAX_SLUG, make_slug


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Restart staging", "restart-staging"),
        ("  C++ / ADR-016: why?  ", "c-adr-016-why"),
        ("Über Café", "über-café"),
        ("Cafe\u0301", "café"),
        ("发布流程（草案）", "发布流程-草案"),
        ("हिन्दी नोट", "हिन्दी-नोट"),
        ("../../etc/passwd", "etc-passwd"),
        ("a\nb\0c", "a-b-c"),
        ("🎉", ""),
        ("", ""),
        ("x" * 50, "x" * 40),
        (f"{'x' * 39} y", "x" * 39),
        ("\u0301 x", "x"),
    ],
)
def test_slugs(title, slug):
    """Letters and digits of any script, NFC, lower case, hyphens, at most 40 characters (design 2)."""
    assert make_slug(title) == slug


@given(st.text(max_size=100))
def test_any_title_gives_a_safe_name(title):
    """No separator, no dot, nothing hidden; and a slug of a slug is itself."""
    slug = make_slug(title)
    assert len(slug) <= MAX_SLUG
    assert not set(slug) & set("/\\.\0 ")
    assert not slug.startswith("-")
    assert not slug.endswith("-")
    assert unicodedata.normalize("NFC", slug) == slug
    assert make_slug(slug) == slug
