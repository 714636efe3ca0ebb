"""How complete the index is: a pure rule over what one search sees.

Every reason has somebody who clears it; `docs/search.md` lists them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitmem.authored_times import is_of
from gitmem.counted import counted
from gitmem.index_view import IndexView
from gitmem.search_reply import Freshness, IndexStatus, Quarantined

#: So many records are searched in memory again and again before it is worth while to index them.
_WORTH_WHILE: Final = 100


def status_of(view: IndexView, hidden: int = 0) -> IndexStatus:
    """Return how complete an answer from a view is.

    Args:
        view: what was searched.
        hidden: hits that were left out because they belong to another workspace.
    """
    pending = _pending(view)
    quarantined = [Quarantined(name, reason) for name, reason in sorted(view.quarantined.items())]
    reasons = [*view.doubts, *([view.astray] if view.astray else ()), *_reasons(view)]
    if hidden:
        reasons.append(f"hidden, because of another workspace: {counted(hidden, 'hit')}")
    return IndexStatus(
        freshness=_freshness(view, pending),
        indexed=view.manifest.covered,
        pending=pending,
        reasons=reasons,
        quarantined=quarantined,
    )


def should_catch_up(view: IndexView) -> bool:
    """Say whether the index should catch up soon; a few new records that a search reads anyway can wait."""
    read = view.unindexed.read - view.unindexed.cut - view.unindexed.brief
    if not view.manifest.complete or view.backlog.new_files or read >= _WORTH_WHILE:
        return _pending(view) > 0
    # After a commit files may be dated otherwise.
    return _pending(view) > read or not is_of(view.manifest.times_of, view.sources.head)


def _pending(view: IndexView) -> int:
    return view.unindexed.pending + len(view.backlog.outdated) + len(view.backlog.gone(view.manifest))


def _reasons(view: IndexView) -> Iterator[str]:
    """Say what an answer may lack, and what the index does not hold as it should."""
    unread = view.unindexed.pending - view.unindexed.read
    if unread > 0:
        what = counted(unread, "record or file", "records or files")
        yield f"not indexed yet and not searched: {what}"
        if not view.is_there and not view.doubts:
            yield "there is no index yet"
    if cut := view.unindexed.cut:
        yield f"not indexed yet and searched at the beginning only: {counted(cut, 'long file')}"
    if brief := view.unindexed.brief:
        yield f"not indexed yet and searched at the beginning and end only: {counted(brief, 'long text')}"
    if outdated := len(view.backlog.outdated):
        total = max(view.manifest.renewing, outdated)
        done = f"{total - outdated:,} of {counted(total, 'segment or file', 'segments and files')}"
        yield f"indexed anew, and searched as it was until then: {done} done"
    if gone := len(view.backlog.gone(view.manifest)):
        what = counted(gone, "segment, file or record", "segments, files and records")
        yield f"gone and not shown, still to be removed: {what}"


def _freshness(view: IndexView, pending: int) -> Freshness:
    if not view.manifest.complete:
        return "building"
    return "catching_up" if pending else "fresh"
