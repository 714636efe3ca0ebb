"""Verifies that the tree of a turn line holds nothing but `ledger/`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from gitmem.errors import GitmemError
from gitmem.first_commit import FirstCommits
from gitmem.layout import LEDGER
from gitmem.repository import TREE_MODE, ObjectReader, TreeEntry
from gitmem.verify_finding import Finding


def beside_findings(objects: ObjectReader, first: FirstCommits, tips: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what stands beside `ledger/`, or in its place, each with the commit that brought it.

    Args:
        objects: of the lines.
        first: finds that commit.
        tips: ref and commit of each line.
    """
    for ref, tip in tips.items():
        with suppress(GitmemError):  # named where its files are looked at
            for entry in objects.read_tree(objects.read_commit(tip).tree):
                if (entry.name, entry.mode) != (LEDGER, TREE_MODE):
                    message = f"{entry.name} in the tree of {ref} is none of the ledger's"
                    commit = _since(first, tip, entry)
                    yield Finding("foreign_file", message, path=entry.name, commit=commit)


def _since(first: FirstCommits, tip: str, entry: TreeEntry) -> str | None:
    return first.find_entry(tip, entry.name, lambda found: found is not None and found.mode == entry.mode)
