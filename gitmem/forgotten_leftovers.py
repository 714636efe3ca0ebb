"""What the private folder keeps of files and calls, without what was forgotten."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from gitmem.closed_tree import close_file
from gitmem.durable_file import remove_file, write_file
from gitmem.errors import GitmemError
from gitmem.forgotten import Receipts, close_leftover, close_segment
from gitmem.git_objects import hash_object
from gitmem.layout import LEDGER, Layout
from gitmem.ledger import Ledger
from gitmem.proposals import Proposal, ProposalFolder

#: How a segment is called that was set aside.
_ASIDE: Final = re.compile(r"-ledger_(\d{4}-\d{2})_(\d{2})_(w[0-9a-f]{8}-\d{4,}\.jsonl)$")
_RECORD: Final = re.compile(r"[a-z]{1,16}_[0-9a-f]{15}")
#: Names the path of which a folder's other file is an operator's copy.
_KEPT: Final = ".kept"


def clean_set_aside(layout: Layout, ledger: Ledger) -> None:
    """Close what was found in the ledger's place on disk and set aside."""
    receipts, segments = ledger.receipts(), ledger.segments()
    for path in _files(layout.set_aside):
        content = path.read_bytes()
        if receipts.is_forgotten_blob(hash_object("blob", content)) or not receipts.records.isdisjoint(
            _RECORD.findall(path.name)
        ):
            remove_file(path)
            continue
        named = _ASIDE.search(path.name)
        segment = segments.get("ledger/{}/{}/{}".format(*named.groups())) if named else None
        closed = close_segment(content, receipts)
        if segment is not None:
            with suppress(GitmemError):
                closed = close_leftover(content, ledger.read_segment(segment), receipts)
        if closed != content:
            write_file(path, closed)


def clean_long_texts(layout: Layout, receipts: Receipts) -> None:
    """Remove the long texts of forgotten records from the copy of the ledger, which restores only."""
    blobs = layout.root / LEDGER / "blobs"
    for path in blobs.glob("*/*/*") if receipts.records else ():
        if path.name in receipts.records and not blobs.is_symlink():
            remove_file(path)


def clean_copies(folder: Path, receipts: Receipts) -> None:
    """Close the copies that people's editors left and that are kept for them."""
    for mark in sorted(folder.glob(f"*/{_KEPT}")):
        path = mark.read_text("utf-8", "replace")
        for copy in (one for one in mark.parent.iterdir() if one != mark and one.is_file()):
            content = copy.read_bytes()
            closed = close_file(path, content, receipts)
            if closed is None:
                shutil.rmtree(mark.parent, ignore_errors=True)
                break
            if closed != content:
                write_file(copy, closed, mode=0o600)


def clean_proposals(proposals: ProposalFolder, receipts: Receipts) -> None:
    """Drop the proposals that hold or would bring back what was forgotten."""
    for proposal in proposals.waiting():
        if _holds_forgotten(proposal, receipts):
            proposals.drop(proposal)


def _holds_forgotten(proposal: Proposal, receipts: Receipts) -> bool:
    texts = [text for edit in proposal.edits for text in (edit.before, edit.after) if text is not None]
    texts += _texts(proposal.payload)
    if any(receipts.is_forgotten_entry(text.strip()) for text in texts):
        return True
    if any(
        receipts.is_forgotten_blob(hash_object("blob", text.encode("utf-8", "replace"))) for text in texts
    ):
        return True
    return any(
        receipts.is_forgotten_blob(change.base or "")
        or (change.result is not None and close_file(change.path, change.result, receipts) != change.result)
        for change in proposal.changes
    ) or not receipts.records.isdisjoint(_RECORD.findall(str(proposal.source_ref)))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
