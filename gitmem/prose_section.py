"""The slices of prose memory that stand in every prompt: `memory/operator.md` and `memory/self.md`.

A slice is the beginning of the file as it is, at most as long as the home allows, never cut inside a
character as readers see it. Paragraphs that the scanner refuses are left out of it, and a note says so; the
file keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from gitmem.authored_text import BOM, Problem, decode_text, line_at
from gitmem.blocked_parts import BlockedPart, Judge, find_blocked
from gitmem.graphemes import cut_at
from gitmem.quarantine_rules import merge_parts

#: Returns the stretches of the text of a file that are in quarantine.
HeldParts = Callable[[str, str], Sequence[BlockedPart]]

#: Name of a prose memory -> what it holds, for the model that reads it.
_ROLES: Final[Mapping[str, str]] = {
    "operator": "Standing orders and preferences, written by the operator",
    "self": "Role, duties and decisions of this agent",
}
#: Code points behind the cut that are scanned too, so that a threat that the cut divides is found.
_BEYOND: Final = 2_000
#: Code points from which on marks upon one letter are no character that anybody reads.
_LONGEST_CHARACTER: Final = 64
#: Where a paragraph ends; how far it is followed, so that one has the same mark here as elsewhere.
_PARAGRAPH_END: Final = re.compile(r"(?:\r\n?|\n)[^\S\r\n]*(?:\r\n?|\n)")
_LONGEST_PARAGRAPH: Final = 16_384


@dataclass(frozen=True, slots=True)
class ProseSection:
    """One prose memory as a prompt has it.

    Attributes:
        id: `agent_memory_operator` or `agent_memory_self`.
        path: of its file.
        text: the whole section: what it is, the slice, and a note where something is missing.
        shown: code points of the file that the slice stands for.
        total: code points of the file behind leading white space and byte order mark.
        problem: why the file cannot be read; None where it can.
        blocked: what of the slice was left out.
        tier: the part of a prompt that it belongs to.
    """

    id: str
    path: str
    text: str
    shown: int = 0
    total: int = 0
    truncated: bool = False
    problem: str | None = None
    blocked: tuple[BlockedPart, ...] = ()
    tier: str = "agent"

    def outside_view(self) -> dict[str, Any]:
        """Return what a consumer outside the prompt may know of it: never its content."""
        return {"path": self.path, "truncated": self.truncated, "total": self.total}


def make_section(
    name: str,
    path: str,
    content: bytes,
    *,
    limit: int,
    judge: Judge,
    held: HeldParts = lambda _path, _text: (),
) -> ProseSection:
    """Return the section of a prose memory.

    Args:
        name: `operator` or `self`.
        path: of its file.
        content: the file's bytes.
        limit: code points that the slice has at most.
        judge: the scanner.
        held: returns the stretches of a text that are in quarantine.
    """
    text = decode_text(content)
    if isinstance(text, Problem):
        return unreadable_section(name, path, str(text))
    text = text.removeprefix(BOM)
    body = text.lstrip()
    ahead = len(text) - len(body)
    if not body:
        note = f"[{path} is empty: nothing is curated yet]"
        return ProseSection(_id(name), path, f"{_intro(name, path)}\n\n{note}")
    blocked = merge_parts(
        find_blocked(_looked_at(body, limit), judge, line=line_at(text, ahead)),
        [replace(one, start=max(one.start - ahead, 0), end=one.end - ahead) for one in held(path, text)],
    )
    cut, shown = _slice(body, limit, path, blocked)
    parts = [_intro(name, path), "", cut]
    if shown < len(body):
        parts = [*parts[:2], f"{cut}\n", _rest_note(name, path, shown, len(body), ahead)]
    return ProseSection(
        _id(name),
        path,
        "\n".join(parts),
        shown=shown,
        total=len(body),
        truncated=shown < len(body),
        blocked=tuple(part for part in blocked if part.start < shown),
    )


def _looked_at(text: str, limit: int) -> str:
    """Return the beginning of a text that is scanned: behind the cut to the end of a paragraph."""
    end = _PARAGRAPH_END.search(text, limit + _BEYOND, limit + _BEYOND + _LONGEST_PARAGRAPH)
    return text[: end.start() if end else limit + _BEYOND + _LONGEST_PARAGRAPH]


def count_prose(content: bytes) -> int:
    """Return how many code points of a prose memory count against its budget; none where it is no text."""
    text = decode_text(content)
    return 0 if isinstance(text, Problem) else len(text.removeprefix(BOM).lstrip())


def unreadable_section(name: str, path: str, reason: str) -> ProseSection:
    """Return the section of a prose memory that cannot be read; it costs only itself."""
    note = f"[{path} is unreadable: {reason}. Its content is missing here; the file was not changed.]"
    return ProseSection(_id(name), path, f"{_intro(name, path)}\n\n{note}", problem=reason)


def _slice(text: str, limit: int, path: str, blocked: Sequence[BlockedPart]) -> tuple[str, int]:
    """Return what is shown of a text, and for how many of its code points it stands."""
    shown: list[str] = []
    room, at = limit, 0
    for start, end, rules in _runs(text, blocked):
        note = f"[BLOCKED: this part of {path} matches {', '.join(rules)}; the operator can see it]"
        if start - at > room or len(note) > room - (start - at):
            break
        shown += [text[at:start], note]
        room -= start - at + len(note)
        at = end
    else:
        start = len(text)
    length = cut_at(text[at:start], room)
    if not length and not shown and room >= _LONGEST_CHARACTER:  # piled marks must not hide a whole file
        length = min(room, start - at)
    return "".join([*shown, text[at : at + length]]), at + length


def _runs(text: str, blocked: Sequence[BlockedPart]) -> list[tuple[int, int, tuple[str, ...]]]:
    """Join blocked parts that nothing stands between: one note is enough for them."""
    runs: list[tuple[int, int, tuple[str, ...]]] = []
    for part in blocked:
        if runs and not text[runs[-1][1] : part.start].strip():
            start, _, rules = runs.pop()
            runs.append((start, part.end, tuple(dict.fromkeys((*rules, *part.rules)))))
        else:
            runs.append((part.start, part.end, part.rules))
    return runs


def _id(name: str) -> str:
    return f"agent_memory_{name}"


def _intro(name: str, path: str) -> str:
    return (
        f"{_ROLES.get(name, 'Prose memory')}: {path}. "
        f"All of it can be read with memory_get (agent_memory:{name}); memory_search finds what is in it."
    )


def _rest_note(name: str, path: str, shown: int, total: int, ahead: int) -> str:
    return (
        f"[shown {shown} of {total} characters of {path}; "
        f"the rest: memory_get agent_memory:{name} from offset {ahead + shown}]"
    )
