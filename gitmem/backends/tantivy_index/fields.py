"""A document in tantivy, where a term and its count become one term."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from tantivy import Document as Stored
from tantivy import Schema, SchemaBuilder

from gitmem.analysis import Analysis
from gitmem.documents import Document, from_row, to_row
from gitmem.search_index import Indexed

TERMS: Final = "terms"
NUMBER: Final = "number"
ROW: Final = "row"
#: tantivy's own tokenizer that only cuts at white space.
_TOKENIZER: Final = "whitespace"
#: No term that tantivy is given holds them, white space or half of a surrogate pair.
_COUNT: Final = "\x1f"
_ODD: Final = "\x1e"
_UNSAFE: Final = re.compile(r"[\s\x1e\x1f\ud800-\udfff]")
_ESCAPED: Final = re.compile(f"{_ODD}([0-9a-f]+){_ODD}")


@cache
def schema() -> Schema:
    """Return the fields of a document."""
    builder = SchemaBuilder()
    # Stored, so that a document can be written anew without being analysed anew.
    builder.add_text_field(TERMS, stored=True, tokenizer_name=_TOKENIZER, index_option="basic")
    builder.add_unsigned_field(NUMBER, fast=True)
    builder.add_bytes_field(ROW, stored=True)
    return builder.build()


def to_stored(number: int, item: Indexed) -> Stored:
    """Return a document as tantivy is given it."""
    row = json.dumps(to_row(item.document), separators=(",", ":"), ensure_ascii=False)
    stored = Stored()
    stored.add_text(TERMS, _format_counts(item.analysis.counts))
    stored.add_unsigned(NUMBER, number)
    stored.add_bytes(ROW, row.encode("utf-8", "surrogatepass"))
    return stored


def parse_stored(stored: Stored, length: int) -> Indexed:
    """Return what `to_stored` was given.

    Args:
        stored: as tantivy has it.
        length: of its text; tantivy has that as a column.
    """
    return Indexed(parse_row(stored), Analysis(_parse_counts(stored.get_first(TERMS) or ""), length))


def parse_row(stored: Stored) -> Document:
    """Return the document alone."""
    return from_row(json.loads(bytes(stored.get_first(ROW) or b"")))


def counted_prefix(term: str) -> str:
    """Return how a term begins in tantivy, whatever its count."""
    return f"{_safe(term)}{_COUNT}"


def count_of(token: str) -> int:
    """Return the count of a term in tantivy."""
    return int(token.rpartition(_COUNT)[2])


def safe_prefix(prefix: str) -> str:
    """Return how terms with a prefix begin in tantivy."""
    return _safe(prefix)


def terms_of(tokens: Iterable[str]) -> set[str]:
    """Return the terms that some terms in tantivy stand for."""
    return {_raw(token.rpartition(_COUNT)[0]) for token in tokens}


def _format_counts(counts: Mapping[str, int]) -> str:
    if _UNSAFE.search("".join(counts)):  # hardly ever, and looking at each term would cost more
        counts = {_safe(term): count for term, count in counts.items()}
    return " ".join([f"{term}{_COUNT}{count}" for term, count in counts.items()])


def _parse_counts(text: str) -> dict[str, int]:
    pairs = (token.rpartition(_COUNT) for token in text.split(" ") if token)
    return {_raw(term): int(count) for term, _, count in pairs}


def _safe(term: str) -> str:
    return _UNSAFE.sub(lambda found: f"{_ODD}{ord(found[0]):x}{_ODD}", term)


def _raw(term: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), term) if _ODD in term else term
