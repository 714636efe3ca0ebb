"""The ranking built up step by step, each step measured on its own code: what every ingredient adds."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from recall import Figures, figures_of
from retrieval_sets import Asked, Collection, Form, Message, as_published

from gitmem.analysis import Analysis, QueryUnit, analyze_query
from gitmem.documents import Document, analyze
from gitmem.question import Question, author_of, parse_question
from gitmem.recipe import OWN_TEXT, RECIPE, Recipe
from gitmem.search_index import Indexed
from gitmem.testing.plain_ranking import score_plainly

#: Any ranking: the score of each document.
Scorer = Callable[[Sequence[Indexed], Question, Recipe], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Step:
    """One rung: a recipe, how words are analysed, and what the specification measured.

    Attributes:
        expected: on the development conversations in the published form.
        by_sqlite: whether words are cut and stemmed as FTS5's `porter unicode61` does, not by gitmem.
        keep_all: whether words without content stay in the question.
    """

    name: str
    recipe: Recipe
    expected: Figures
    by_sqlite: bool = False
    keep_all: bool = False


#: Weight of the turn before while it is the same for all.
_BEFORE = 0.5


def _steps() -> Iterator[Step]:
    # There are only messages here, so what others gain stands in all steps.
    recipe = replace(OWN_TEXT, k1=1.2, b=0.75, kept=RECIPE.kept)
    yield Step("BM25, Porter, k1 1.2 b .75", recipe, _of(0.485, 0.568, 0.421), by_sqlite=True, keep_all=True)
    yield Step("Porter2 and irregular forms", recipe, _of(0.513, 0.583, 0.445), keep_all=True)
    yield Step("stop and question words out", recipe, _of(0.540, 0.624, 0.478))
    for name, names, expected in (
        ("k1 .9, b .4", ("k1", "b"), _of(0.567, 0.640, 0.503)),
        ("neighbours ±1", ("before", "after"), _of(0.628, 0.726, 0.533)),
        ("neighbours ±2", ("before_2", "after_2"), _of(0.660, 0.745, 0.550)),
        ("author factor", ("other_author", "name"), _of(0.705, 0.767, 0.604)),
        ("date interval", ("day",), _of(0.728, 0.786, 0.624)),
        ("session", ("session",), _of(0.728, 0.790, 0.631)),
        ("question share", ("asking",), _of(0.730, 0.800, 0.639)),
        ("heavier turn before, if it asks", ("before", "before_asking"), _of(0.742, 0.805, 0.651)),
        ("time cue", ("when",), _of(0.746, 0.807, 0.657)),
    ):
        recipe = replace(recipe, **{each: getattr(RECIPE, each) for each in names})
        if name == "neighbours ±1":
            recipe = replace(recipe, before=_BEFORE, before_asking=_BEFORE)
        yield Step(name, recipe, expected)
    assert recipe == RECIPE, "the last rung is the whole recipe"


def _of(at_5: float, at_10: float, mrr: float) -> Figures:
    return Figures(at_5, at_10, mrr, 581)


STEPS = tuple(_steps())


def climb(
    collections: Sequence[Collection], form: Form, score: Scorer = score_plainly
) -> Iterator[tuple[Step, Figures, float]]:
    """Yield each step with its figures on categories 1 to 4, and the seconds it took."""
    for step in STEPS:
        began = time.perf_counter()
        answers = [answer for one in collections for answer in answers_of(one, form, step, score)]
        yield step, figures_of(answers), time.perf_counter() - began


def answers_of(
    collection: Collection, form: Form, step: Step, score: Scorer
) -> Iterator[tuple[list[str], frozenset[str]]]:
    """Yield the keys of the ten best documents of each question, and those of its evidence."""
    documents = documents_of(collection, form, by_sqlite=step.by_sqlite)
    keys = [message.key for message in collection.messages]
    for asked in collection.questions:
        if asked.category in (0, 1, 2, 3, 4):
            scores = score(documents, question_of(asked, collection, step), step.recipe)
            best = sorted(range(len(keys)), key=lambda number: -scores[number])[:10]
            yield [keys[number] for number in best if scores[number] > 0], asked.evidence


def question_of(asked: Asked, collection: Collection, step: Step) -> Question:
    """Take a question apart as a step does."""
    question = _parsed(asked.text, collection.asked_at)
    if step.by_sqlite:
        terms = sqlite_terms((asked.text,))[0].counts
        return replace(question, units=[QueryUnit(term, {term: 1.0}, (term,)) for term in terms])
    return replace(question, units=analyze_query(asked.text, keep_all=True)) if step.keep_all else question


@lru_cache(maxsize=10_000)
def _parsed(text: str, now: float) -> Question:
    return parse_question(text, now)


def documents_of(collection: Collection, form: Form, *, by_sqlite: bool = False) -> list[Indexed]:
    """Return the messages of a collection as documents with their terms."""
    documents = _documents(collection.name, tuple(collection.messages), form)
    if by_sqlite:
        found = sqlite_terms(tuple(f"{d.keywords} {d.text}" for d in documents))
    else:
        found = [analyze(document) for document in documents]
    return [Indexed(document, analysis) for document, analysis in zip(documents, found, strict=True)]


@lru_cache(maxsize=50)
def _documents(name: str, messages: tuple[Message, ...], form: Form) -> list[Document]:
    found = []
    for number, message in enumerate(messages):
        text = form(message)
        given = message.author if form is as_published else None
        found.append(
            Document(
                source_ref=f"message:{number}",
                kind="message",
                title=message.role,
                text=text,
                ts=message.ts,
                origin=name,
                keywords=given or "",
                session=message.session,
                author=author_of(given, text),
                clock=number,
            )
        )
    return found


@lru_cache(maxsize=10_000)
def sqlite_terms(texts: tuple[str, ...]) -> list[Analysis]:
    """Return the terms that SQLite's FTS5 makes of texts with its tokenizer `porter unicode61`."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='porter unicode61')")
    base.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(texts, 'instance')")
    base.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(texts))
    counts: list[dict[str, int]] = [{} for _ in texts]
    for term, number in base.execute("SELECT term, doc FROM terms"):
        counts[number][term] = counts[number].get(term, 0) + 1
    base.close()
    return [Analysis(own, sum(own.values())) for own in counts]
