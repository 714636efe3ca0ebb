"""The search indexes that are kept on disk, and the names of their files, for tests that damage them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from contract.search_index_contract import commit, document, manifest
from gitmem.search_index import IndexChange, SearchIndex

NO_TANTIVY = "the package tantivy is not installed"


@dataclass(frozen=True)
class Engine:
    """One kind of index.

    Attributes:
        module, name: of its class.
        options: with which it is made.
        commits: pattern of the file that makes a commit.
        parts: pattern of the files of parts.
        later: name of a commit that is later than any other.
    """

    module: str
    name: str
    options: tuple[tuple[str, Any], ...]
    commits: str
    parts: str
    later: str

    def open(self, folder: Path) -> SearchIndex:
        """Return the index in a folder."""
        make: Callable[..., SearchIndex] = getattr(import_module(self.module), self.name)
        return make(folder, **dict(self.options))

    def commit(self, folder: Path) -> Path:
        """Return the file of the last commit."""
        return max(folder.glob(self.commits))

    def part(self, folder: Path) -> Path:
        """Return the file of one part."""
        return min(folder.glob(self.parts))


WHOOSH = Engine("gitmem.backends.whoosh_index", "WhooshIndex", (), "_MAIN_*.toc", "*.seg", "_MAIN_99.toc")
_TANTIVY = ("gitmem.backends.tantivy_index", "TantivyIndex")
_COMMIT = ("commit-*.json", "commit-99-00000000.json")
TANTIVY = Engine(*_TANTIVY, (("loose_size", 0),), _COMMIT[0], "*.part", _COMMIT[1])
LOOSE = Engine(*_TANTIVY, (), _COMMIT[0], "*.rows", _COMMIT[1])
ENGINES = {"whoosh": WHOOSH, "tantivy": TANTIVY, "tantivy, small parts": LOOSE}

needs_tantivy = pytest.mark.skipif(find_spec("tantivy") is None, reason=NO_TANTIVY)
each_engine = pytest.mark.parametrize(
    "engine",
    [pytest.param(e, id=name, marks=() if e is WHOOSH else needs_tantivy) for name, e in ENGINES.items()],
)


def filled(engine: Engine, path: Path) -> Path:
    """Make an index of two documents in two parts; return its folder."""
    index = engine.open(path)
    commit(index, IndexChange(manifest("a"), add=[document("m1", "staging port")]))
    commit(index, IndexChange(manifest("a", "b"), add=[document("m2", "other port")]))
    return path


def cut(path: Path) -> None:
    """Take away the second half of a file."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
