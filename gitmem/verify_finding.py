"""What `verify` finds: a rule that something breaks, and where it stands, never a record's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from gitmem.json_view import JsonView

Severity = Literal["error", "warning"]

#: Rule -> what it says, for people and for `docs/verify.md`.
RULES: Final[Mapping[str, str]] = {
    "bad_line": "bytes in a segment that are no line of the ledger",
    "gap": "a line whose predecessor is nowhere",
    "broken": "a line that does not follow the line before it",
    "body": "words that are not those that were sealed",
    "illegal_redaction": "words that were taken out without a receipt of forgetting",
    "unredacted": "words that were forgotten and stand in a copy of the segment still",
    "reordered": "a line that stands before an earlier one",
    "duplicate": "a line that stands twice",
    "inserted": "a line that no turn brought",
    "fork": "two lines of one number, each brought by a turn: a copied or restored folder went on",
    "chain": "a turn's commit that says another line than the ledger holds",
    "long_text": "a long text that is not the one that was sealed, or is gone",
    "foreign_file": "a file below ledger/ that is none of the ledger's",
    "lost": "something that a turn line held and holds no longer",
    "rewritten": "a turn line that does not go on from where it was",
    "unreadable": "an object of a turn line that cannot be read",
    "store": "stored bytes of an object or pack that are not those that were written",
    "disk": "a file of the ledger's copy on disk that says something else than the turn lines",
    "episode_changed": "an episode's file that is not what was finished",
    "episode_missing": "a finished episode whose file is gone",
    "tag_moved": "an episode's tag that does not name the episode that was finished",
    "tag_missing": "a finished episode without its tag",
    "memory_trailer": "a commit whose trailers name another turn than the ledger's record of it",
    "index": "the search index says something else than the home holds",
    "ledger_in_branch": "a ledger/ on a branch of people",
    "branch": "a change that the checks of commits refuse",
    "witness": "a remote holds something of this home that is not here, or not the same",
}


@dataclass(frozen=True, slots=True)
class Finding(JsonView):
    """One thing that is not as it should be.

    Attributes:
        rule: a word of `RULES`.
        message: what it is, one sentence.
        severity: an `error` is corruption or tampering, a `warning` is legal and worth knowing.
        path: of the file, as in the tree.
        line: of the file, from 1.
        commit: the first one in which it is so, where that can be told.
        source_ref: of the record, episode or turn.
    """

    rule: str
    message: str
    severity: Severity = "error"
    path: str | None = None
    line: int | None = None
    commit: str | None = None
    source_ref: str | None = None
