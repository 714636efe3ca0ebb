"""The search index on tantivy keeps the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from contract.search_index_contract import StoredIndexContract
from gitmem.search_index import SearchIndex

tantivy_index = pytest.importorskip(
    "gitmem.backends.tantivy_index", reason="the package tantivy is not installed"
)


class TestTantivyIndex(StoredIndexContract):
    """The real one, in a folder of its own; small parts are kept without tantivy."""

    @pytest.fixture
    def index(self, tmp_path: Path) -> SearchIndex:
        """Return an index that is not yet on disk."""
        return tantivy_index.TantivyIndex(tmp_path / "derived" / "index-tantivy")


class TestTantivyAlone(StoredIndexContract):
    """Every part is tantivy's, however small."""

    @pytest.fixture
    def index(self, tmp_path: Path) -> SearchIndex:
        """Return an index that is not yet on disk."""
        return tantivy_index.TantivyIndex(tmp_path / "derived" / "index-tantivy", loose_size=0)
