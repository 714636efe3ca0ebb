"""Curated memory as the agent is shown it: what the scanner refuses gives way to a note that names the rules.

Memory, notes and episodes come into a home on many ways, a plain `git commit --no-verify` and a pull among
them. What must not reach a prompt does not reach it by search or by reading either. An operator sees all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Protocol, TypeVar, get_args

from gitmem.blocked_parts import BlockedPart, Judge, find_blocked
from gitmem.curated import STORES
from gitmem.documents import Document
from gitmem.entries import DELIMITER, entry_id, parse_store
from gitmem.errors import UsageError
from gitmem.findings import Finding
from gitmem.layout import EPISODES, MEMORY, NOTES
from gitmem.memory_reply import blocked_text
from gitmem.memory_rules import MOST_SCANNED
from gitmem.memory_text import Whole, as_json
from gitmem.note_text import Note
from gitmem.quarantine_rules import merge_parts

#: Who reads.
Reader = Literal["agent", "operator"]
#: Scanner's scope, by folder: a note may tell of attacks in words that what is remembered must not have.
_SCOPES: Final[Mapping[str, str]] = {MEMORY: "strict", NOTES: "context", EPISODES: "context"}
#: Kinds of what is held, and let through, as a whole file.
_WHOLE: Final = ("note", "episode", "file")
#: A longer text is not taken apart, which costs its square: one bad part of it stands for all of it.
_MOST_DIVIDED: Final = 262_144

_Text = TypeVar("_Text", Whole, Document)

#: Returns what is wrong with a text in a scope, without what this machine allows.
JudgeIn = Callable[[str, str], Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class SeenText:
    """A text as the agent may see it.

    Attributes:
        rules: for which parts of it are withheld.
    """

    text: str
    rules: tuple[str, ...] = ()


class Holding(Protocol):
    """What says which parts of prose came by sync and are held, and which files an operator let through."""

    def parts(self, path: str, text: str) -> Sequence[BlockedPart]:
        """Return the stretches of a prose file that are held."""

    def over_limit(self, text: str) -> tuple[str, ...]:
        """Return the rules for which an entry is held that is longer than an agent could write it."""

    def is_let(self, path: str) -> bool:
        """Say whether a file was released as it is on disk."""


class AgentSight:
    """Withholds from an agent what must not reach a prompt.

    Args:
        judge: the scanner.
        quarantine: what came by sync; without it nothing did.
    """

    def __init__(self, judge: JudgeIn, quarantine: Holding | None = None) -> None:
        self._judge = judge
        self._quarantine = quarantine

    def whole(self, whole: Whole) -> tuple[Whole, tuple[str, ...]]:
        """Return what `get` found as the agent sees it, and the rules for which something is withheld."""
        kind = whole.ref.partition(":")[0]
        path = whole.metadata.get("path")
        if kind == "memory" or (kind == "entry" and path is None):  # judged or refused, kept by a record
            scope, path = "strict", "the record"
        elif isinstance(path, str) and path.partition("/")[0] in _SCOPES and _is_of_home(kind):
            scope = _SCOPES[path.partition("/")[0]]
        else:
            return whole, ()
        if self._is_let(kind, path):
            return whole, ()
        return self._sighted(whole, kind, path, scope)

    def document(self, document: Document) -> tuple[Document, tuple[str, ...]]:
        """Return a hit's document as the agent sees it, and the rules for which something is withheld."""
        path, kind = document.path, document.kind
        if kind == "memory" or (kind == "entry" and document.record is not None):
            scope, path = "strict", "the record"
        elif path is not None and document.record is None and path.partition("/")[0] in _SCOPES:
            scope = _SCOPES[path.partition("/")[0]]
        else:
            return document, ()
        if self._is_let(kind, path):
            return document, ()
        return self._sighted(document, kind, path, scope)

    def _is_let(self, kind: str, path: str) -> bool:
        """Say whether a whole file was let through, so that nothing of it is withheld."""
        return self._quarantine is not None and kind in _WHOLE and self._quarantine.is_let(path)

    def _sighted(self, text: _Text, kind: str, path: str, scope: str) -> tuple[_Text, tuple[str, ...]]:
        body = self._body(kind, path, text.text, scope)
        title = self._line("title", text.title, scope)
        metadata, rules = self._metadata(text.metadata, scope)
        seen = replace(text, text=body.text, title=title.text, metadata=metadata)
        return seen, _joined(body.rules, title.rules, rules)

    def note(self, note: Note) -> tuple[Note, tuple[str, ...]]:
        """Return a note with path, title, summary and tags as the agent's catalog has them; its text stays.

        They are judged together too, because a reader sees them together.
        """
        if self._quarantine is not None and self._quarantine.is_let(note.path):
            return note, ()
        scope = _SCOPES[NOTES]
        parts = [note.path, note.title, note.summary or "", *note.tags]
        joined = self._rules("\n".join(parts), scope)
        single = [self._rules(part, scope) for part in parts]
        if joined and not any(single):
            single = [(), joined, joined, *([()] * len(note.tags))]
        rules = _joined(*single)
        if not rules:
            return note, ()
        path, title, summary, *tags = single
        seen = replace(
            note,
            path=_withheld("path", path) if path else note.path,
            title=_withheld("title", title) if title else note.title,
            summary=_withheld("summary", summary) if summary and note.summary else note.summary,
            tags=tuple(tag for tag, found in zip(note.tags, tags, strict=True) if not found),
        )
        return seen, rules

    def whole_note(self, note: Note) -> Note:
        """Return a note as the agent sees it, its text too."""
        text = self._prose(note.path, note.text, lambda part: self._judge(part, _SCOPES[NOTES])).text
        return self.note(replace(note, text=text))[0]

    def retracted(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is told of a retraction: reason and correction may be words that nobody scanned."""
        said = {name: facts[name] for name in ("reason", "with") if isinstance(facts.get(name), str)}
        return {**facts, **{name: self._line(name, text, "strict").text for name, text in said.items()}}

    def _metadata(self, metadata: Mapping[str, Any], scope: str) -> tuple[dict[str, Any], tuple[str, ...]]:
        seen, rules = dict(metadata), []
        if isinstance(seen.get("summary"), str):
            summary = self._line("summary", seen["summary"], scope)
            seen["summary"] = summary.text
            rules.append(summary.rules)
        if isinstance(seen.get("tags"), list):
            found = {str(tag): self._rules(str(tag), scope) for tag in seen["tags"]}
            seen["tags"] = [tag for tag, broken in found.items() if not broken]
            rules += found.values()
        return seen, _joined(*rules)

    def _body(self, kind: str, path: str, text: str, scope: str) -> SeenText:
        name = path.rpartition("/")[2]
        if kind == "entry":
            rules = self._entry_rules(text)
            return SeenText(blocked_text(name, rules, entry_id(text)), rules) if rules else SeenText(text)
        if path in STORES.values():
            return self._store(name, text)
        if kind == "memory" and text.startswith("{"):
            return self._fields(text, scope)
        return self._prose(path, text, lambda part: self._judge(part, scope))

    def _store(self, name: str, text: str) -> SeenText:
        entries = [(entry, self._entry_rules(entry.text)) for entry in parse_store(text)]
        if not any(rules for _, rules in entries):
            return SeenText(text)
        shown = [blocked_text(name, rules, entry.id) if rules else entry.text for entry, rules in entries]
        return SeenText(DELIMITER.join(shown) + "\n", _joined(*(rules for _, rules in entries)))

    def _fields(self, text: str, scope: str) -> SeenText:
        """Judge a record's words one by one: quotes around an order would make it a mention."""
        try:
            fields = json.loads(text)
        except ValueError:
            return self._prose("the record", text, lambda part: self._judge(part, scope))
        lines = {
            name: self._line(name, said, scope) for name, said in fields.items() if isinstance(said, str)
        }
        rules = _joined(*(line.rules for line in lines.values()))
        seen = {**fields, **{name: line.text for name, line in lines.items()}}
        return SeenText(as_json(seen), rules) if rules else SeenText(text)

    def _entry_rules(self, text: str) -> tuple[str, ...]:
        if len(text) > MOST_SCANNED:
            return ("too_long_to_scan",)
        over = () if self._quarantine is None else self._quarantine.over_limit(text)
        return self._rules(text, "strict") or over

    def _prose(self, path: str, text: str, judge: Judge) -> SeenText:
        if len(text) > _MOST_DIVIDED:
            rules = _joined([one.rule for one in judge(text)])
            return SeenText(_note(path, rules, "all of it"), rules) if rules else SeenText(text)
        held = () if self._quarantine is None else self._quarantine.parts(path, text)
        parts = merge_parts(find_blocked(text, judge), held)
        shown, at = [], 0
        for part in parts:
            shown += [text[at : part.start], _note(path, part.rules, "this part of it")]
            at = part.end
        return SeenText("".join([*shown, text[at:]]), _joined(*(part.rules for part in parts)))

    def _line(self, name: str, text: str, scope: str) -> SeenText:
        rules = self._rules(text, scope)
        return SeenText(_withheld(name, rules), rules) if rules else SeenText(text)

    def _rules(self, text: str, scope: str) -> tuple[str, ...]:
        return _joined([one.rule for one in self._judge(text, scope)]) if text else ()


def check_reader(by: object) -> Reader:
    """Return who reads, if it is somebody.

    Raises:
        UsageError: it is not.
    """
    readers: tuple[Reader, ...] = get_args(Reader)
    for known in readers:
        if by == known:
            return known
    raise UsageError(f"the reader is {' or '.join(readers)}, not {by!r}", field="by")


def _is_of_home(kind: str) -> bool:
    """Say whether a kind's path names a file of the home; a record may name any."""
    return kind in ("note", "entry", "agent_memory", "episode", "file")


def _note(path: str, rules: Sequence[str], part: str) -> str:
    return f"[BLOCKED: {path}, {part}: {', '.join(rules)}. The operator can see it.]"


def _withheld(name: str, rules: Sequence[str]) -> str:
    return f"({name} withheld: {', '.join(rules)})"


def _joined(*rules: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(rule for some in rules for rule in some))
