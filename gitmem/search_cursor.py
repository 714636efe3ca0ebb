"""Where a page of hits ended, as opaque text for the next one."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from gitmem.errors import UsageError

#: What decides a hit's place: smaller comes first; 1 where it was retracted, two numbers, its ref.
Place = tuple[int, float, float, str]

#: Hits of earlier pages that a cursor remembers; behind so many it goes on by its place alone.
MOST_SHOWN: Final = 400
_KEY_BYTES: Final = 6


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page ended.

    Attributes:
        sign: of the question that it belongs to.
        place: of its last hit.
        shown: keys of the hits of all pages so far, joined; empty where there were too many.
    """

    sign: str
    place: Place
    shown: bytes = b""

    def is_behind(self, place: Place, ref: str) -> bool:
        """Say whether a hit comes on a later page.

        What is written meanwhile moves all hits: they are told by their refs as long as these are known.
        """
        if not self.shown:
            return place > self.place
        key = key_of_ref(ref)
        return key not in {self.shown[at : at + _KEY_BYTES] for at in range(0, len(self.shown), _KEY_BYTES)}


def key_of_ref(ref: str) -> bytes:
    """Return what stands for a ref in a cursor."""
    return blake2b(ref.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()


def sign_of(query: str, sort: str, *, advanced: bool) -> str:
    """Return what says whether two searches ask the same."""
    text = json.dumps([query, sort, advanced])
    return f"{sort}:{blake2b(text.encode(), digest_size=6).hexdigest()}"


def next_cursor(before: Cursor | None, sign: str, place: Place, refs: Iterable[str]) -> Cursor:
    """Return the cursor behind a page.

    Args:
        before: that of the page before; None for the first page.
        sign: of the question.
        place: of the last hit.
        refs: of the hits of the page.
    """
    is_known = before is None or bool(before.shown)
    shown = (b"" if before is None else before.shown) + b"".join(map(key_of_ref, refs))
    return Cursor(sign, place, shown if is_known and len(shown) <= MOST_SHOWN * _KEY_BYTES else b"")


def format_cursor(cursor: Cursor) -> str:
    """Return a cursor as text that is safe in an address and on a command line."""
    last, first, second, ref = cursor.place
    shown = base64.b64encode(cursor.shown).decode("ascii")
    row = json.dumps([cursor.sign, last, first.hex(), second.hex(), ref, shown], separators=(",", ":"))
    return base64.urlsafe_b64encode(row.encode("utf-8", "surrogatepass")).decode("ascii").rstrip("=")


def parse_cursor(text: str, sign: str) -> Cursor:
    """Return the cursor that a text stands for.

    Raises:
        UsageError: it is none, or of another question.
    """
    try:
        row = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        of, last, first, second, ref, shown = row
        place = int(last), float.fromhex(first), float.fromhex(second), str(ref)
        keys = base64.b64decode(shown, validate=True)
    except (binascii.Error, AttributeError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise UsageError("not a cursor", hint="Take it from the page before.", field="cursor") from error
    if of != sign or len(keys) % _KEY_BYTES:
        hint = "Keep the question and its order; take the cursor from the page before."
        raise UsageError("the cursor is of another search", hint=hint, field="cursor")
    return Cursor(sign, place, keys)
