"""Which engine keeps the search index, and what happens when another is chosen."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from index_engines import needs_tantivy
from search_home import SearchHome

from gitmem.chosen_index import ChosenIndex, check_engine
from gitmem.errors import UsageError
from gitmem.indexer import Budget


class Home(SearchHome):
    """A home whose engine can be chosen."""

    def __init__(self, folder: Path) -> None:
        self.chosen: str | None = None
        folders = {name: folder / "derived" / name for name in ("whoosh", "tantivy")}
        self.folders = folders
        self.chooser = ChosenIndex(lambda: self.chosen, folders)
        super().__init__(folder / "home", self.chooser)

    def engines(self) -> set[str]:
        """Return the engines that have an index."""
        return {name for name, folder in self.folders.items() if folder.is_dir()}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home of 40 messages, not indexed."""
    home = Home(tmp_path)
    for number in range(40):
        home.say(f"port {number} of staging", session="s1", number=1 + number // 10)
    return home


@pytest.fixture
def without_tantivy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is not installed."""
    monkeypatch.setitem(sys.modules, "gitmem.backends.tantivy_index", None)


def test_whoosh_is_the_default(home: Home) -> None:
    """Nobody has to choose anything."""
    home.catch_up()
    assert home.engines() == {"whoosh"}
    assert home.chooser.doubt() is None
    assert len(home.refs("staging", limit=50)) == 40


def test_an_engine_that_there_is_not_is_named(home: Home) -> None:
    """A typing error in the configuration costs neither the search nor the truth about it."""
    home.chosen = "lucene"
    home.catch_up()
    assert home.engines() == {"whoosh"}
    assert home.chooser.doubt() == "gitmem.search.engine is 'lucene', not whoosh or tantivy: whoosh serves"
    with pytest.raises(UsageError, match="whoosh or tantivy"):
        check_engine("lucene")


@pytest.mark.usefixtures("without_tantivy")
def test_a_missing_package_leaves_the_default_serving(home: Home) -> None:
    """Whoever copies a configuration to another machine still finds, and reads what to install."""
    home.chosen = "tantivy"
    home.catch_up()
    assert home.engines() == {"whoosh"}
    assert len(home.refs("staging", limit=50)) == 40
    assert "pip install gitmem-home[tantivy]" in (home.chooser.doubt() or "")
    with pytest.raises(UsageError) as raised:
        check_engine("tantivy")
    assert raised.value.hint == "Install it: `pip install gitmem-home[tantivy]`."


@needs_tantivy
def test_the_one_before_answers_until_the_new_one_is_complete(home: Home) -> None:
    """Choosing another engine takes nothing out of the search, and leaves one index in the end."""
    home.catch_up()
    home.chosen = "tantivy"
    assert len(home.refs("staging", limit=50)) == 40
    status = home.searcher.index_status()
    assert (status.freshness, status.pending) == ("catching_up", 4)
    assert status.reasons == [
        "indexed anew, and searched as it was until then: 0 of 4 segments and files done"
    ]
    assert home.indexer.is_behind()
    home.indexer._size = 10
    home.catch_up(None, Budget(seconds=0.0))
    assert home.engines() == {"whoosh", "tantivy"}
    assert home.searcher.index_status().pending == 3
    assert len(home.refs("staging", limit=50)) == 40
    home.catch_up()
    assert home.engines() == {"tantivy"}
    assert home.searcher.index_status().freshness == "fresh"
    assert not home.indexer.is_behind()
    assert len(home.refs("staging", limit=50)) == 40


@needs_tantivy
def test_a_process_that_was_there_before_follows(home: Home, tmp_path: Path) -> None:
    """A watcher that began with the other engine does not build that one's index again."""
    home.catch_up()
    other = ChosenIndex(lambda: home.chosen, home.folders)
    assert other.snapshot() is not None
    home.chosen = "tantivy"
    home.catch_up()
    with other.writing() as writer:
        assert writer is not None
        assert writer.snapshot().manifest.complete
    assert home.engines() == {"tantivy"}


@needs_tantivy
def test_back_again(home: Home) -> None:
    """The way back is the same, also when what was said meanwhile is only in the new index."""
    home.catch_up()
    home.chosen = "tantivy"
    home.catch_up()
    home.say("staging again", session="s1", number=9)
    home.catch_up()
    home.chosen = None
    assert len(home.refs("staging", limit=50)) == 41
    home.catch_up()
    assert home.engines() == {"whoosh"}
    assert len(home.refs("staging", limit=50)) == 41


@needs_tantivy
def test_a_damaged_one_before_is_no_obstacle(home: Home) -> None:
    """It is not needed any more, and goes with the rest."""
    home.catch_up()
    for path in home.folders["whoosh"].glob("*.seg"):
        path.write_bytes(b"")
    home.chooser.close()
    home.chosen = "tantivy"
    assert len(home.refs("staging", limit=50)) == 40  # read from the ledger
    home.catch_up()
    assert home.engines() == {"tantivy"}
    assert len(home.refs("staging", limit=50)) == 40
