"""Scores over arrays of postings against what Whoosh itself gives to the same documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whoosh import fields, query, scoring
from whoosh.analysis import SpaceSeparatedTokenizer
from whoosh.filedb.filestore import RamStorage

from gitmem.backends.whoosh_index import WhooshIndex
from gitmem.documents import Document, analyze
from gitmem.manifest import EMPTY
from gitmem.question import parse_question
from gitmem.recipe import OWN_TEXT
from gitmem.scoring import wanted
from gitmem.scoring.corpus import Corpus
from gitmem.scoring.score import score
from gitmem.search_index import IndexChange, Indexed

WORDS = ["port", "server", "cedar", "birch", "oak", "elm", "maple"]
texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=60), min_size=1, max_size=30)


class ExactLengths(scoring.BM25F):
    """Whoosh's BM25 without its one loss: it stores the length of a document in one byte."""

    def __init__(self, lengths: Sequence[int]) -> None:
        super().__init__(B=OWN_TEXT.b, K1=OWN_TEXT.k1)
        self._lengths = lengths

    def scorer(self, searcher: Any, fieldname: str, text: bytes, qf: int = 1) -> Any:
        """Return Whoosh's scorer of a term, told the true lengths."""
        made = super().scorer(searcher, fieldname, text, qf)
        made.dfl = self._lengths.__getitem__
        return made


def scores_of_whoosh(documents: list[list[str]], asked: list[str]) -> list[float]:
    """Return the scores that Whoosh gives, by its own index and search."""
    schema = fields.Schema(text=fields.TEXT(analyzer=SpaceSeparatedTokenizer(), phrase=False))
    index = RamStorage().create_index(schema)
    writer = index.writer()
    for words in documents:
        writer.add_document(text=" ".join(words))
    writer.commit()
    scores = [0.0] * len(documents)
    with index.searcher(weighting=ExactLengths([len(words) for words in documents])) as searcher:
        any_word = query.Or([query.Term("text", word) for word in dict.fromkeys(asked)])
        for hit in searcher.search(any_word, limit=None):
            scores[hit.docnum] = hit.score
    return scores


def scores_of_gitmem(documents: list[list[str]], asked: list[str], cuts: list[int]) -> list[float]:
    """Return the scores over the segments of gitmem's index."""
    items = []
    for number, words in enumerate(documents):
        ts, ref = "2026-11-30T09:15:00.000Z", f"message:{number}"
        document = Document(ref, "message", "", " ".join(words), ts, "ledger/a.jsonl", seq=number)
        items.append(Indexed(document, analyze(document)))
    bounds = [0, *sorted(cut % (len(items) + 1) for cut in cuts), len(items)]
    with TemporaryDirectory() as folder:
        index = WhooshIndex(Path(folder) / "index")
        with index.writing() as writer:
            assert writer is not None
            for start, end in pairwise(bounds):
                writer.commit(IndexChange(EMPTY, add=items[start:end], merge_limit=0))
            corpus = Corpus(writer.snapshot().parts, OWN_TEXT)
            total = score(corpus, parse_question(" ".join(asked), 0.0), everywhere=True).total
        index.close()
    return [float(total[number]) for number in corpus.order.number]


@settings(max_examples=25, deadline=None)
@given(
    texts, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), st.lists(st.integers(0, 30), max_size=2)
)
def test_own_words_alone_score_as_in_whoosh(
    documents: list[list[str]], asked: list[str], cuts: list[int]
) -> None:
    """Without neighbours, conversations and factors the arrays hold the BM25 that Whoosh computes.

    Only how much a rare term counts is defined otherwise, so Whoosh's definition is put in its place.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wanted, "rarity", lambda total, having: math.log(total / (having + 1)) + 1)
        found = scores_of_gitmem(documents, asked, cuts)
    assert found == pytest.approx(scores_of_whoosh(documents, asked), abs=1e-4)
