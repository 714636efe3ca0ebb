"""Other keyword searches, as they come: the same texts, the words of the same questions."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from whoosh import index
from whoosh.analysis import StemmingAnalyzer
from whoosh.fields import STORED, TEXT, Schema
from whoosh.qparser import OrGroup, QueryParser

_WORD = re.compile(r"\w+")


class Peer(Protocol):
    """A search over texts, numbered from 0."""

    name: str

    def ask(self, question: str, limit: int = 10) -> list[int]:
        """Return the numbers of the texts that answer best, best first."""
        ...

    def close(self) -> None:
        """Release what is open."""
        ...

    @property
    def size(self) -> int:
        """How many bytes its index has."""
        ...


def words_of(question: str) -> list[str]:
    """Return the words of a question, each once."""
    return list(dict.fromkeys(_WORD.findall(question.lower())))


class Fts5:
    """SQLite's FTS5 with `bm25`, the question's words joined by OR."""

    def __init__(self, folder: Path, texts: Sequence[str], tokenizer: str) -> None:
        self.name = f"SQLite FTS5 `{tokenizer}`"
        self._path = folder / f"{tokenizer.replace(' ', '-')}.sqlite"
        base = sqlite3.connect(self._path)
        base.execute(f"CREATE VIRTUAL TABLE docs USING fts5(text, tokenize='{tokenizer}')")
        with base:
            base.executemany("INSERT INTO docs (rowid, text) VALUES (?, ?)", enumerate(texts))
        base.close()
        self._base = sqlite3.connect(self._path)

    def ask(self, question: str, limit: int = 10) -> list[int]:
        """Return the best rows; their texts are read too, as whoever shows hits needs them."""
        words = " OR ".join(f'"{word}"' for word in words_of(question))
        rows = self._base.execute(
            "SELECT rowid, text FROM docs WHERE docs MATCH ? ORDER BY bm25(docs) LIMIT ?", (words, limit)
        )
        return [number for number, _ in rows]

    def close(self) -> None:
        """Close the database."""
        self._base.close()

    @property
    def size(self) -> int:
        """The database, texts included."""
        return self._path.stat().st_size


class Whoosh:
    """Whoosh as its manual has it: a stemming analyzer, BM25F, words joined by OR."""

    name = "Whoosh, its own search"

    def __init__(self, folder: Path, texts: Sequence[str]) -> None:
        self._folder = folder / "whoosh"
        self._folder.mkdir()
        schema = Schema(text=TEXT(analyzer=StemmingAnalyzer(), stored=True), number=STORED)
        made = index.create_in(str(self._folder), schema)
        writer = made.writer(limitmb=128)
        for number, text in enumerate(texts):
            writer.add_document(text=text, number=number)
        writer.commit()
        self._searcher = made.searcher()
        self._parser = QueryParser("text", schema, group=OrGroup)

    def ask(self, question: str, limit: int = 10) -> list[int]:
        """Return the best documents."""
        found = self._searcher.search(self._parser.parse(" ".join(words_of(question))), limit=limit)
        return [hit["number"] for hit in found]

    def close(self) -> None:
        """Close the searcher."""
        self._searcher.close()

    @property
    def size(self) -> int:
        """The folder, stored texts included."""
        return size_of(self._folder)


class Tantivy:
    """tantivy with its tokenizer `en_stem`; a query's words are joined by OR by default."""

    name = "tantivy `en_stem`"

    def __init__(self, folder: Path, texts: Sequence[str]) -> None:
        tantivy = import_module("tantivy")
        self._folder = folder / "tantivy"
        self._folder.mkdir()
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text", stored=True, tokenizer_name="en_stem")
        builder.add_unsigned_field("number", stored=True)
        self._index = tantivy.Index(builder.build(), path=str(self._folder))
        writer = self._index.writer(heap_size=128_000_000, num_threads=1)
        for number, text in enumerate(texts):
            writer.add_document(tantivy.Document(text=text, number=number))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()

    def ask(self, question: str, limit: int = 10) -> list[int]:
        """Return the best documents."""
        query, _ = self._index.parse_query_lenient(" ".join(words_of(question)), ["text"])
        hits = self._searcher.search(query, limit).hits
        return [int(self._searcher.doc(address)["number"][0]) for _, address in hits]

    def close(self) -> None:
        """There is nothing to close."""

    @property
    def size(self) -> int:
        """The folder, stored texts included."""
        return size_of(self._folder)


class Ripgrep:
    """ripgrep over a file with one text a line: the lines with the most different words come first."""

    name = "ripgrep, words counted"

    def __init__(self, folder: Path, texts: Sequence[str]) -> None:
        self._path = folder / "texts.txt"
        with self._path.open("w", encoding="utf-8") as file:
            file.writelines(" ".join(text.split()) + "\n" for text in texts)

    def ask(self, question: str, limit: int = 10) -> list[int]:
        """Return the best lines."""
        words = [part for word in words_of(question) for part in ("-e", word)]
        command = ["rg", "--ignore-case", "--fixed-strings", "--word-regexp", "--only-matching"]
        done = subprocess.run(
            [*command, "--line-number", "--no-config", *words, str(self._path)],
            capture_output=True,
            check=False,
        )
        found: dict[int, set[str]] = {}
        for line in done.stdout.decode("utf-8").splitlines():
            number, word = line.split(":", 1)
            found.setdefault(int(number) - 1, set()).add(word.lower())
        return sorted(found, key=lambda number: (-len(found[number]), number))[:limit]

    def close(self) -> None:
        """There is nothing to close."""

    @property
    def size(self) -> int:
        """It has no index."""
        return 0


def peers_of(folder: Path, texts: Sequence[str]) -> Iterator[tuple[Peer, float]]:
    """Yield each peer that is installed here, filled with texts, and the processor seconds that took."""
    makers: list[Callable[[], Any]] = [
        lambda: Fts5(folder, texts, "porter unicode61"),
        lambda: Fts5(folder, texts, "trigram"),
        lambda: Whoosh(folder, texts),
    ]
    if is_installed("tantivy"):
        makers.append(lambda: Tantivy(folder, texts))
    if shutil.which("rg"):
        makers.append(lambda: Ripgrep(folder, texts))
    for make in makers:
        began = time.process_time()
        peer = make()
        yield peer, time.process_time() - began
        peer.close()


def is_installed(library: str) -> bool:
    """Say whether a library can be imported."""
    try:
        import_module(library)
    except ImportError:
        return False
    return True


def missing() -> Iterable[str]:
    """Return what is not measured here because it is not installed."""
    return [
        *(() if is_installed("tantivy") else ("tantivy (Python package)",)),
        *(() if shutil.which("rg") else ("ripgrep (`rg`)",)),
    ]


def size_of(folder: Path) -> int:
    """Return the bytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
