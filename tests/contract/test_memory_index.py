"""The search index in memory keeps the contract."""

from __future__ import annotations

import pytest

from contract.search_index_contract import SearchIndexContract
from gitmem.search_index import SearchIndex
from gitmem.testing.memory_index import MemoryIndex


class TestMemoryIndex(SearchIndexContract):
    """The fake that use cases are tested with."""

    @pytest.fixture
    def index(self) -> SearchIndex:
        """Return an empty index in memory."""
        return MemoryIndex()
