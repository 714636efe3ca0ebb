"""How complete the index is: a pure rule over what one search sees."""

from __future__ import annotations

from gitmem.counted import counted
from gitmem.index_view import IndexView
from gitmem.manifest import Manifest
from gitmem.search_reply import Freshness, IndexStatus, Quarantined


def status_of(view: IndexView, hidden: int = 0) -> IndexStatus:
    """Return how complete an answer from a view is.

    Args:
        view: what was searched.
        hidden: hits that were left out because they belong to another workspace.
    """
    reasons = list(view.doubts)
    pending = view.unindexed.pending
    unread = pending - view.unindexed.read
    if unread > 0:
        what = counted(unread, "older record or file", "older records or files")
        reasons.append(f"not indexed yet and not searched: {what}")
    if hidden:
        reasons.append(f"hidden, because of another workspace: {counted(hidden, 'hit')}")
    return IndexStatus(
        freshness=_freshness(view.manifest, pending),
        indexed=view.manifest.covered,
        pending=pending,
        reasons=reasons,
        quarantined=[Quarantined(name, reason) for name, reason in sorted(view.manifest.quarantined.items())],
    )


def _freshness(manifest: Manifest, pending: int) -> Freshness:
    if not manifest.complete:
        return "building"
    return "catching_up" if pending else "fresh"
