"""Whatever happens to a home, both engines of the search index give the same answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_engines import WHOOSH, Engine, needs_tantivy
from search_home import SearchHome

pytestmark = [needs_tantivy, pytest.mark.slow]

WORDS = ["port", "ports", "staging", "上海", "memory.char_limit", "it's", "C++", "yesterday", "why?", "Ann"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), TEXTS, st.integers(0, 2)),
        st.tuples(st.just("note"), TEXTS, st.integers(0, 2)),
        st.tuples(st.just("forget"), st.just(""), st.integers(0, 30)),
        st.tuples(st.just("index"), st.just(""), st.integers(1, 40)),
    ),
    min_size=4,
    max_size=40,
)
QUESTIONS = [
    "staging port",
    "what did Ann say of 上海",
    "memory.char_limit C++",
    "yesterday",
    "port",
    "nothing",
]


def apply(home: SearchHome, kind: str, text: str, number: int) -> None:
    """Take one step."""
    if kind == "say":
        author = ("Ann", "Bob", None)[number]
        fields = {} if author is None else {"author": author}
        home.say(text, session=f"s{number}", **fields)
    elif kind == "note":
        home.write({f"notes/n{number}.md": f"# Note {number}\n\n{text}\n"}, mtime=1_700_000_000 + number)
    elif kind == "forget":
        records = [r for r in map(home.bent.find, sorted(home.bent.record_ids())) if r and not r.redacted]
        if records:
            home.redact(records[number % len(records)])
    else:
        home.indexer._size = number
        home.catch_up()


def answers(home: SearchHome) -> list[list[tuple[str, float, str]]]:
    """Return what is found."""
    found = []
    for question in QUESTIONS:
        for sort in ("relevance", "newest"):
            hits = home.search(question, limit=50, sort=sort).results
            found.append([(hit.source_ref, round(hit.score, 6), hit.snippet) for hit in hits])
    return found


@settings(max_examples=25)
@given(steps=STEPS, loose_size=st.sampled_from([0, 4, 32]))
def test_engines_agree(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int]], loose_size: int
) -> None:
    """The same history gives the same hits with the same scores, from parts of whatever size."""
    folder = tmp_path_factory.mktemp("homes")
    tantivy = Engine(
        "gitmem.backends.tantivy_index", "TantivyIndex", (("loose_size", loose_size),), "", "", ""
    )
    homes = [home_on(engine, folder / str(at)) for at, engine in enumerate((WHOOSH, tantivy))]
    for step in [*steps, ("index", "", 8)]:
        for home in homes:
            apply(home, *step)
    first, second = map(answers, homes)
    assert first == second
    assert not homes[1].searcher.index_status().pending


def home_on(engine: Engine, folder: Path) -> SearchHome:
    """Return a home that an engine indexes."""
    return SearchHome(folder / "home", engine.open(folder / "derived" / "index"))
