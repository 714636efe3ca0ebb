"""Memory stores as a prompt has them: a header that says how full the store is, then its entries.

Entries are data, and some of them were written by whoever could make an agent remember something. One that
the scanner refuses is replaced by a note, in the block only; marks that would let an entry end the block or
begin another are made harmless in it. A `[BLOCKED:` that stands in an entry proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.blocked_parts import Judge
from gitmem.entries import DELIMITER, Entry
from gitmem.graphemes import cut_at
from gitmem.memory_reply import blocked_text
from gitmem.memory_rules import MOST_SCANNED, usage_line

#: The line above and below a block's title.
RULE: Final = "\u2550" * 46
TITLES: Final = {"memory": "MEMORY (your personal notes)", "user": "USER PROFILE (who the user is)"}
#: A block is shown whole up to twice its store's limit, and up to this many code points.
_LEAST_ROOM: Final = 4_000
#: Four of a rule's characters in a row look like a block's border.
_BORDER: Final = re.compile("\u2550{4,}")
#: The fence in which recalled text is handed to a model, opened or closed, in any spelling.
_FENCE: Final = re.compile(r"<(?=\s*/?\s*memory[\s_-]*context\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BlockedEntry:
    """An entry that is kept out of the prompt, and the rules that it breaks."""

    entry: Entry
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PromptBlock:
    """A store as a prompt has it.

    Attributes:
        text: header and entries.
        chars: code points of the entries as they are shown, delimiters included; before a cut.
        blocked: entries that are replaced by a note.
        left_out: code points that a cut left out.
    """

    text: str
    chars: int
    blocked: tuple[BlockedEntry, ...] = ()
    left_out: int = 0


def render_block(
    target: str, file_name: str, entries: Sequence[Entry], *, limit: int, judge: Judge
) -> PromptBlock | None:
    """Return the block of a store; None where it has no entries.

    Args:
        target: `memory` or `user`.
        file_name: `MEMORY.md`, for notes that name the file.
        entries: in file order.
        limit: of the store, in code points.
        judge: the scanner.
    """
    if not entries:
        return None
    blocked = []
    shown = []
    for entry in entries:
        rules = _rules_of(entry, judge)
        if rules:
            blocked.append(BlockedEntry(entry, rules))
        shown.append(blocked_text(file_name, rules, entry.id) if rules else defang(entry.text))
    body = DELIMITER.join(shown)
    body_shown, left_out = _cut(body, max(2 * limit, _LEAST_ROOM), target)
    over = len(body) - limit
    # In the frame: below the entries it would read as a part of the last one.
    note = [f"{over:,} characters over its limit: join, shorten or remove entries"] if over > 0 else []
    lines = [RULE, f"{TITLES[target]} [{usage_line(len(body), limit)}]", *note, RULE, body_shown]
    return PromptBlock("\n".join(lines), len(body), tuple(blocked), left_out)


def render_unreadable(target: str, file_name: str) -> PromptBlock:
    """Return the block of a store that cannot be read: it must not look as if nothing were remembered."""
    note = f"[{file_name} cannot be read just now; nothing in it is lost. Tell the operator: gitmem status]"
    return PromptBlock("\n".join([RULE, f"{TITLES[target]} [unreadable]", RULE, note]), 0)


def join_blocks(blocks: Sequence[PromptBlock | None]) -> str | None:
    """Return blocks as one text; None where there is none."""
    return "\n\n".join(block.text for block in blocks if block is not None) or None


def shown_parts(text: str) -> list[str]:
    """Return what stands between the borders and delimiters of blocks: their titles and entries."""
    return [part for block in text.split(RULE) for part in block.strip("\n").split(DELIMITER) if part]


def defang(text: str) -> str:
    """Return an entry's text, as long as before, without what could end the block or begin another."""
    text = _BORDER.sub(lambda match: "=" * len(match[0]), text)
    return _FENCE.sub("\u2039", text)


def _rules_of(entry: Entry, judge: Judge) -> tuple[str, ...]:
    if len(entry.text) > MOST_SCANNED:
        return ("too_long_to_scan",)
    return tuple(dict.fromkeys(hit.rule for hit in judge(entry.text)))


def _cut(body: str, room: int, target: str) -> tuple[str, int]:
    """Return the beginning and the end of a body that is too long, and how much is missing between them."""
    if len(body) <= room:
        return body, 0
    head = cut_at(body, room * 3 // 4)
    line = body.find("\n", len(body) - room // 4)
    tail = line + 1 if line >= 0 else cut_at(body, len(body) - room // 4)
    missing = tail - head
    note = f"[\u2026 {missing:,} characters are left out; memory_get agent_memory:{target} has all \u2026]"
    return f"{body[:head]}\n{note}\n{body[tail:]}", missing
