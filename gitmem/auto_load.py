"""Reads the prose memories that a prompt gets: the operator's first, then the agent's."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gitmem.blocked_parts import Judge
from gitmem.config import HomeConfig
from gitmem.curated import PROSE, Prose, read_prose
from gitmem.forgotten import Receipts
from gitmem.prose_section import HeldParts, ProseSection, make_section, unreadable_section

_NO_RECEIPTS: Final = Receipts()


def read_sections(
    root: Path,
    config: HomeConfig,
    judge: Judge,
    held: HeldParts = lambda _path, _text: (),
    *,
    receipts: Receipts = _NO_RECEIPTS,
) -> list[ProseSection]:
    """Return the sections of a home; a missing file and one that is switched off have none.

    Args:
        root: the work tree.
        config: limits and switches.
        judge: the scanner.
        held: returns the stretches of a text that are in quarantine.
        receipts: what was forgotten; such a file has no section, wherever it comes from.
    """
    sections = []
    for name, path in PROSE.items():
        if not config.memory[name].enabled:
            continue
        prose = read_prose(root, path, receipts)
        if isinstance(prose, Prose):
            limit = config.memory[name].char_limit
            sections.append(make_section(name, path, prose.content, limit=limit, judge=judge, held=held))
        elif prose is not None:
            reason = prose.reason if prose.line is None else f"line {prose.line}: {prose.reason}"
            sections.append(unreadable_section(name, path, reason))
    return sections
