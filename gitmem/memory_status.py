"""What `status` says of curated memory: what prompts leave out, what sessions lack, what found no room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitmem.counted import counted
from gitmem.curated import STORES
from gitmem.findings import allow_command, text_mark
from gitmem.json_view import to_json
from gitmem.memory_rules import MOST_SCANNED
from gitmem.prompt_block import BlockedEntry, PromptBlock
from gitmem.prose_section import ProseSection
from gitmem.refused_facts import Refusals
from gitmem.session_snapshot import SessionSnapshots
from gitmem.status import Finding
from gitmem.store_sight import StoreSights

#: Sessions that are listed, the newest; and findings of one kind.
_LISTED: Final = 20


@dataclass(frozen=True, slots=True)
class MemoryStatus:
    """The part of a status that has to do with curated memory.

    Attributes:
        sessions: `id`, `frozen_at`, `commit` and `changed` of those that have not ended.
        findings: what wants a person's eye.
    """

    sessions: Sequence[Mapping[str, Any]] = ()
    findings: Sequence[Finding] = ()


def memory_status(
    sights: StoreSights,
    snapshots: SessionSnapshots,
    sections: Sequence[ProseSection],
    refused: Mapping[str, Refusals],
) -> MemoryStatus:
    """Return what there is to say of curated memory now."""
    now = sights.read()
    rows = []
    for block in snapshots.live()[:_LISTED]:
        changed = snapshots.changed(block, now)
        rows.append(
            {
                "id": block.session,
                "frozen_at": block.frozen_at,
                "commit": block.commit,
                "changed": to_json(changed),
            }
        )
    findings = [
        *_prose_findings(sections),
        *_store_findings(sights.blocks(now)),
        *_refused_findings(refused),
    ]
    return MemoryStatus(rows, findings)


def _prose_findings(sections: Sequence[ProseSection]) -> Iterator[Finding]:
    for section in sections:
        for part in section.blocked[:_LISTED]:
            yield Finding(
                "blocked",
                0,
                f"{section.path}:{part.line} is kept out of prompts ({', '.join(part.rules)})",
                f"If it is yours and meant so: {allow_command(part.rules, part.mark)}",
                section.path,
            )
        if section.truncated:
            yield Finding(
                "slice",
                0,
                f"{section.path}: {section.shown:,} of {section.total:,} characters reach prompts",
                "Put first what matters most, or move the rest to notes.",
                section.path,
            )


def _store_findings(blocks: Mapping[str, PromptBlock]) -> Iterator[Finding]:
    for target, block in blocks.items():
        path = STORES[target]
        for one in block.blocked[:_LISTED]:
            yield Finding(
                "blocked",
                0,
                f"{path}:{one.entry.line} is kept out of prompts ({', '.join(one.rules)})",
                _entry_hint(target, one),
                path,
            )
        if block.left_out:
            yield Finding(
                "slice",
                0,
                f"{path}: {counted(block.left_out, 'character')} in its middle do not reach prompts",
                "Divide it into entries by lines that hold only §, and drop what is not needed always.",
                path,
            )


def _entry_hint(target: str, one: BlockedEntry) -> str:
    remove = f"To take it out: gitmem memory remove --target {target} --old-text entry:{one.entry.id}"
    if len(one.entry.text) > MOST_SCANNED:
        return remove
    return f"{remove}; if it is meant so: {allow_command(one.rules, text_mark(one.entry.text))}"


def _refused_findings(refused: Mapping[str, Refusals]) -> Iterator[Finding]:
    for target, found in refused.items():
        yield Finding(
            "no-room",
            0,
            f"{STORES[target]} is too full: since {found.since[:16]} {counted(found.count, 'fact')} found no"
            f" room; kept as {', '.join(found.refs[-3:])}",
            f"Make room (gitmem edit {target}) or raise its limit in gitmem.toml.",
            STORES[target],
        )
