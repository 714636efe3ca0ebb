"""What a machine remembers of quarantine is durable, the same for all processes, and never guessed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitmem.errors import CorruptionError
from gitmem.layout import Layout
from gitmem.quarantine_file import NamedItems, QuarantineFile, Release
from gitmem.quarantine_rules import Held, mark_of


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """The folders of a home, as far as they matter here."""
    return Layout(tmp_path, tmp_path / ".git", tmp_path / ".git")


def release(name: str) -> Release:
    """A release of a note."""
    return Release(f"blob:{name}", name, (mark_of(name),), "notes/a.md", "2026-01-01T00:00:00Z")


def test_a_release_is_seen_by_whoever_looks_next(layout: Layout) -> None:
    """Another process has another object over the same file."""
    one, other = QuarantineFile(layout), QuarantineFile(layout)
    assert not other.lets("poison")
    one.release([release("poison")])
    assert other.read().releases["blob:poison"] == release("poison")
    assert other.lets("  poison\r\n")
    one.hold(["blob:poison"])
    assert not other.lets("poison")
    assert other.read().releases == {}


def test_no_release_is_lost_among_many(layout: Layout) -> None:
    """Who writes reads what is there under a lock."""
    names = [str(number) for number in range(24)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda name: QuarantineFile(layout).release([release(name)]), names))
    assert {one.mark for one in QuarantineFile(layout).read().releases.values()} == set(names)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": 2}', b'{"format": 1, "released": 5}'])
def test_a_file_that_cannot_be_read_releases_nothing(layout: Layout, content: bytes) -> None:
    """It is not written over either: somebody may mend it."""
    file = QuarantineFile(layout)
    file.release([release("poison")])
    path = layout.git_dir / "gitmem" / "quarantine.json"
    path.write_bytes(content)
    assert not file.lets("poison")
    with pytest.raises(CorruptionError):
        file.release([release("more")])
    file.remember_origin("text:1", came=True)
    assert path.read_bytes() == content


def test_origins_stay_beside_releases(layout: Layout) -> None:
    """What came from elsewhere stays known when Git's log of it has expired."""
    file = QuarantineFile(layout)
    file.remember_origin("text:1", came=True)
    file.release([release("poison")])
    file.remember_origin("text:2", came=False)
    assert dict(QuarantineFile(layout).read().origins) == {"text:1": True, "text:2": False}
    assert file.lets("poison")


def test_an_item_is_news_once(layout: Layout) -> None:
    """What a sync has named it names no more, unless it went and came back."""
    one, other = (Held(f"blob:{name}", "note:1", "note", ("r",)) for name in "ab")
    assert NamedItems(layout).news([one]) == [one]
    assert NamedItems(layout).news([one, other]) == [other]
    assert NamedItems(layout).news([other]) == []
    assert NamedItems(layout).news([one, other]) == [one]
