"""What a sync did, for people and programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gitmem.json_view import JsonView, to_json
from gitmem.quarantine_rules import Held
from gitmem.tag_sync import MovedTag

#: Done, but something waits for the operator; the remote has something that it must not have.
CONFLICT: Final = 12
TAMPERED: Final = 20


@dataclass(frozen=True, slots=True)
class LineReport(JsonView):
    """What became of turn lines; turns are counted.

    Attributes:
        pruned: lines that the remote needed no more.
        writer: the new writer where the old one's line had gone another way.
    """

    fetched: int = 0
    pushed: int = 0
    pruned: Sequence[str] = ()
    writer: str | None = None


@dataclass(frozen=True, slots=True)
class BranchReport(JsonView):
    """What became of the operator's branch.

    Attributes:
        before: the commit that HEAD's branch was at.
        after: the commit that it is at.
        there: the commit that the remote has.
        merged: commits that came into the branch.
        pushed: commits that the remote got.
        moved: whether HEAD's branch is where the remote's is.
        reason: why not.
        blocked: paths that stand in the way, and why.
    """

    name: str | None = None
    before: str | None = None
    after: str | None = None
    there: str | None = None
    merged: int = 0
    pushed: int = 0
    moved: bool = True
    reason: str | None = None
    blocked: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the report with a list of what stands in the way."""
        data: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        data["blocked"] = [{"path": path, "reason": why} for path, why in sorted(self.blocked.items())]
        return data


@dataclass(frozen=True, slots=True)
class SyncReply(JsonView):
    """What a sync did.

    Attributes:
        remote: its name.
        fetched: commits that came, of turns and of the branch.
        merged: commits of the remote's branch that came into HEAD's.
        pushed: commits that the remote got.
        conflicts: texts that lost a merge and wait for the operator.
        quarantined: items that came and are kept from the agent.
        rescue_ref: keeps where the branch was before a merge.
        episodes: how many tags went and came, and how many the remote has.
        moved_tags: tags that say one thing here and another there.
        refused: refs of the remote that were not taken as they are, and updates that it did not take.
        ignored: refs of the remote that are none of this home's.
        receipts: what was forgotten elsewhere and is now forgotten here.
        dry_run: nothing was moved, here or there.
    """

    remote: str
    fetched: int = 0
    merged: int = 0
    pushed: int = 0
    conflicts: Sequence[Mapping[str, str]] = ()
    quarantined: Sequence[Held] = ()
    rescue_ref: str | None = None
    episodes: Mapping[str, int] = field(default_factory=dict)
    lines: LineReport = LineReport()
    branch: BranchReport = BranchReport()
    moved_tags: Sequence[MovedTag] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    ignored: Mapping[str, str] = field(default_factory=dict)
    receipts: Sequence[str] = ()
    warnings: Sequence[str] = ()
    dry_run: bool = False

    @property
    def exit_code(self) -> int:
        """0; 12 if something waits for the operator; 20 if the remote holds what must not be."""
        if self.tampered:
            return TAMPERED
        return CONFLICT if self.conflicts or self.branch.blocked else 0

    @property
    def tampered(self) -> list[str]:
        """What the remote holds that must not be, in sentences: moved tags, rewritten turn lines."""
        found = [
            f"the tag {tag.id} was moved: {tag.here} here, which stays, {tag.there} there"
            for tag in self.moved_tags
        ]
        return found + [f"{name}: {why}" for name, why in self.refused.items() if _is_rewritten(why)]

    def to_json(self) -> dict[str, Any]:
        """Return the reply; what maps a name to a reason is a list."""
        data: dict[str, Any] = {name: to_json(getattr(self, name)) for name in self.__slots__}
        for name in ("refused", "ignored"):
            found: Mapping[str, str] = getattr(self, name)
            data[name] = [{"id": key, "reason": reason} for key, reason in sorted(found.items())]
        return data


def _is_rewritten(reason: str) -> bool:
    return "rewritten" in reason
