"""Prose memory as the agent or a person writes it: a whole file, or text at its end, scanned before."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gitmem.authored_text import BOM, LINE_BREAK, Problem, decode_text, newline_of
from gitmem.authoring import Authoring, Provenance, WriteReply
from gitmem.blocked_parts import BlockedPart, find_blocked
from gitmem.branch_changes import PathChange
from gitmem.config import HomeConfig
from gitmem.curated import PROSE, read_only_fault
from gitmem.errors import ProtectedPath, RefusedError, ThreatFound, UsageError
from gitmem.file_lock import file_lock
from gitmem.findings import Finding, allow_sentence
from gitmem.git_objects import hash_object
from gitmem.layout import Layout
from gitmem.records import clean_text
from gitmem.scanner import Scan
from gitmem.subjects import file_subject
from gitmem.tree_files import Skipped, read_managed

#: Code points of a prose memory at most; what is longer is a note.
MOST_CHARS: Final = 100_000
#: Seconds to wait for the home's lock, as for every write to the branch.
_LOCK_WAIT: Final = 10.0
_BLANK_LINES: Final = re.compile(r"\n\s*\n")
_LIST_MARK: Final = re.compile(r"(?:[-*+>#]+|\d+[.)])\s+")


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file as it was read: its text without byte order mark, the mark, and its blob id."""

    text: str
    mark: str
    blob: str | None


class ProseWrites:
    """Writes `operator.md` and `self.md`.

    Args:
        authoring: commits and records.
        layout: where the files are.
        config: limits and switches.
        scan: judges a text for a prompt.
        head: returns the commit that HEAD is at.
        judged: says that a text was retracted or rejected: the sentence, and the source ref that tells of it.
    """

    def __init__(
        self,
        authoring: Authoring,
        layout: Layout,
        config: HomeConfig,
        scan: Callable[[str], Scan],
        head: Callable[[], str | None],
        *,
        judged: Callable[[str], tuple[str, str] | None] = lambda _: None,
    ) -> None:
        self._authoring = authoring
        self._layout = layout
        self._config = config
        self._scan = scan
        self._head = head
        self._judged = judged

    def write(self, target: str, content: str, by: Provenance) -> WriteReply:
        """Give a prose memory another text; byte order mark and line ending stay those of the file.

        Args:
            target: `operator` or `self`.
            content: the whole text.
            by: who, and why.

        Raises:
            ThreatFound: the scanner refuses the text.
            RefusedError: the file is switched off, cannot be read, or would be too long; or an agent writes
                what was retracted or rejected.
        """
        return self._change(target, by, "edit", [lambda _: _ended(_clean(content))])

    def append(self, target: str, content: str, by: Provenance) -> WriteReply:
        """Add text at a prose memory's end, on a line of its own."""
        added = _clean(content)
        if not added.strip():
            raise UsageError("nothing to append", field="content")
        makes = [lambda text: _ended(text) + _ended(added), lambda text: _apart(text) + _ended(added)]
        return self._change(target, by, "append", makes)

    def _change(
        self, target: str, by: Provenance, action: str, makes: Sequence[Callable[[str], str]]
    ) -> WriteReply:
        path = self._path_of(target, by)
        with file_lock(self._layout.home_lock, wait=_LOCK_WAIT):
            seen = self._read(path)
            before = LINE_BREAK.sub("\n", seen.text)
            text, allowed = self._first_allowed(path, before, makes)
            if by.author == "agent":
                self._refuse_judged(path, text, before)
            newline = newline_of(seen.text)
            content = f"{seen.mark}{text}".replace("\n", newline).encode()
            if seen.blob is not None and seen.text == text.replace("\n", newline):
                reply = WriteReply(self._head(), None, _ref(target), path, unchanged=True)
            else:
                self._check_mode(path)
                reply = self._authoring.write(
                    [PathChange(path, seen.blob, content)],
                    kind="memory",
                    action=action,
                    subject=file_subject(path),
                    source_ref=_ref(target),
                    by=by,
                    allowed=allowed,
                    scanned=True,
                    locked=True,
                )
        return replace(reply, warnings=self._warnings(target, text.replace("\n", newline).lstrip()))

    def _path_of(self, target: str, by: Provenance) -> str:
        path = PROSE.get(target)
        if path is None:
            raise UsageError(f"target is {' or '.join(PROSE)}, not {target!r}", field="target")
        if by.author == "agent" and not self._config.memory[target].enabled:
            raise RefusedError(
                f"{path} is switched off in this home",
                hint=f"A person can switch it on: {target}_enabled in gitmem.toml.",
                path=path,
            )
        return path

    def _check_mode(self, path: str) -> None:
        fault = read_only_fault(self._layout.root, path)
        if fault is not None:
            raise RefusedError(fault, hint=f"A person can give it back: chmod u+w {path}", path=path)

    def _read(self, path: str) -> _Seen:
        file = read_managed(self._layout.root, path)
        if file is None:
            return _Seen("", "", None)
        if isinstance(file, Skipped):
            raise ProtectedPath(f"{path} is not written: {file.reason}", path=path, reason=file.reason)
        text = decode_text(file.content)
        if isinstance(text, Problem):
            raise RefusedError(
                f"{path} cannot be read ({text}), so it is not written",
                hint="A person has to mend the file first.",
                path=path,
            )
        mark = BOM if text.startswith(BOM) else ""
        return _Seen(text.removeprefix(BOM), mark, hash_object("blob", file.content))

    def _first_allowed(
        self, path: str, before: str, makes: Sequence[Callable[[str], str]]
    ) -> tuple[str, Sequence[str]]:
        """Return the first new text that passes, and the rules that this machine allows in it.

        A paragraph that this machine allows is another one as soon as a line is appended to it.
        """
        refused: ThreatFound | None = None
        for make in makes:
            try:
                return (text := make(before)), self._check(path, text, before)
            except ThreatFound as error:
                refused = refused or error
        assert refused is not None
        raise refused

    def _check(self, path: str, text: str, before: str) -> Sequence[str]:
        """Refuse what must not reach a prompt; return the rules that this machine allows.

        Args:
            path: of the file.
            text: its new text.
            before: its old text; what stands in that already is not this writer's.
        """
        if len(text) > MOST_CHARS:
            raise RefusedError(
                f"{path} would have {len(text):,} characters; at most {MOST_CHARS:,} are written",
                hint="Put the details into a note: `gitmem note add`.",
                limit=MOST_CHARS,
                chars=len(text),
            )
        uses: list[str] = []

        def judge(part: str) -> Sequence[Finding]:
            verdict = self._scan(part)
            uses.extend(verdict.allowed_uses)
            return verdict.findings

        for part in find_blocked(text, judge):
            if text[part.start : part.end] not in before:
                raise _refusal(path, part)
        return tuple(dict.fromkeys(uses))

    def _refuse_judged(self, path: str, text: str, before: str) -> None:
        """Refuse what was taken back; an operator may say it again, and an agent elsewhere in a sentence."""
        known = _statements(before)
        for statement in _statements(text) - known:
            found = self._judged(statement)
            if found is not None:
                raise RefusedError(found[0], path=path, pointer=found[1])

    def _warnings(self, target: str, text: str) -> tuple[str, ...]:
        limit = self._config.memory[target].char_limit
        if len(text) <= limit:
            return ()
        return (f"{limit} of {len(text)} characters of {PROSE[target]} reach the prompt",)


def _refusal(path: str, part: BlockedPart) -> ThreatFound:
    rules = ", ".join(part.rules)
    return ThreatFound(
        f"Blocked: line {part.line} of {path} matches threat pattern(s) {rules}",
        for_people=allow_sentence(part.rules, part.mark),
        rule=part.rules[0],
        line=part.line,
        path=path,
    )


def _ref(target: str) -> str:
    return f"agent_memory:{target}"


def _clean(content: str) -> str:
    if "\0" in content:
        raise UsageError("prose memory is text and holds no NUL", field="content")
    return LINE_BREAK.sub("\n", clean_text(content)).removeprefix(BOM)


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _statements(text: str) -> set[str]:
    """Return the lines and paragraphs of a text, without the marks of lists and headings."""
    parts = [*text.split("\n"), *_BLANK_LINES.split(text)]
    return {_LIST_MARK.sub("", part.strip()) for part in parts} - {""}


def _apart(text: str) -> str:
    """Return a text after which a paragraph begins."""
    return f"{_ended(text)}\n" if text.strip() else text
