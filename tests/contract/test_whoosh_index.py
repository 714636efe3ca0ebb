"""The search index on disk keeps the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from contract.search_index_contract import StoredIndexContract
from gitmem.backends.whoosh_index import WhooshIndex
from gitmem.search_index import SearchIndex


class TestWhooshIndex(StoredIndexContract):
    """The real one, in a folder of its own."""

    @pytest.fixture
    def index(self, tmp_path: Path) -> SearchIndex:
        """Return an index that is not yet on disk."""
        return WhooshIndex(tmp_path / "derived" / "index")
