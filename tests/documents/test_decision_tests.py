"""A decision that names tests names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_named_tests_exist(page: Path) -> None:
    """Whoever reads why something is so can run what holds it."""
    code = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py"))
    text = page.read_text("utf-8")
    functions = re.findall(r"`(test_\w+|Test\w+)`", text)
    assert [name for name in functions if not re.search(rf"(?:def|class) {name}\b", code)] == []
    files = re.findall(r"`((?:tests|docs|benchmarks)/[\w/.-]+)`", text)
    assert [name for name in files if not (ROOT / name).exists()] == []
