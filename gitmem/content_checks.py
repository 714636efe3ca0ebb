"""What a commit may bring into a home: rules over one file's old and new bytes, without any I/O.

The same rules hold for a plain `git commit` (through the `pre-commit` hook), for `gitmem commit` and for
`gitmem edit`. A fault that stood in the file before is not held against the change that leaves it there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gitmem.authored_text import BOM, LINE_BREAK, Problem, decode_text, line_at, one_line
from gitmem.blocked_parts import BlockedPart, Judge, find_blocked, find_blocked_entries
from gitmem.config import HomeConfig, parse_config
from gitmem.conflict_marks import Clash, find_clashes
from gitmem.curated import NOTE_SUFFIXES, PROSE, STORES, is_note_path
from gitmem.entries import count_chars, parse_store
from gitmem.errors import UnsupportedFormat
from gitmem.findings import Finding, allow_command, without_allowed
from gitmem.front_matter import read_front_matter
from gitmem.layout import CONFIG_FILE, EPISODES, LEDGER, MANAGED_FILES, MANAGED_FOLDERS, MEMORY, is_managed
from gitmem.redaction import redact_secrets
from gitmem.scanner import Scan, find_secrets, scan
from gitmem.tree_files import MAX_FILE

_STORE_NAMES: Final = {path: name for name, path in STORES.items()}
_TEXTS: Final = frozenset({*STORES.values(), *PROSE.values()})
#: Files of a home that have their place and must be files.
FIXED_FILES: Final = frozenset({*_TEXTS, *MANAGED_FILES})
#: What a home begins with for Git's use; marks in there switch rules off in silence.
GIT_FILES: Final = frozenset({".gitattributes", ".gitignore"})
_EXAMPLE: Final = "; an example stands in a block of code, between ``` lines, or is indented"


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """Why a file may not be committed as it is.

    Attributes:
        path: relative to the home, with slashes.
        line: from 1; None where the whole file is meant.
        rule: a short name; a scanner's rule stands with its own name.
        message: what is wrong; it never quotes what the scanner found.
        fix: what to do, one sentence.
    """

    path: str
    line: int | None
    rule: str
    message: str
    fix: str

    def __str__(self) -> str:
        """Return the finding on one line: `path:line: rule: message. fix`."""
        where = one_line(self.path) if self.line is None else f"{one_line(self.path)}:{self.line}"
        return f"{where}: {self.rule}: {one_line(self.message)}. {self.fix}"


def check_file(
    path: str,
    content: bytes | None,
    before: bytes | None,
    config: HomeConfig,
    allowed: Collection[str] = frozenset(),
    *,
    sides: tuple[bytes, bytes] | None = None,
) -> list[CheckFinding]:
    """Return what speaks against committing a file.

    Args:
        path: relative to the home, with slashes.
        content: what would be committed; None deletes the file.
        before: what the last commit has; None if it has no such file.
        config: the home's facts as they would be with this commit.
        allowed: this machine's exceptions for the scanner.
        sides: what the two sides had, if Git had it unmerged: marks between them are no example, whatever is
            around them.
    """
    if content == before:
        return []
    if path == LEDGER or path.startswith(f"{LEDGER}/"):
        return list(_ledger(path, content))
    change = _Change(path, content, before, config, frozenset(allowed), sides)
    return [finding for check in _CHECKS for finding in check(change)]


@dataclass(frozen=True, slots=True)
class _Change:
    path: str
    content: bytes | None
    before: bytes | None
    config: HomeConfig
    allowed: frozenset[str]
    sides: tuple[bytes, bytes] | None

    def finding(self, line: int | None, rule: str, message: str, fix: str) -> CheckFinding:
        return CheckFinding(self.path, line, rule, message, fix)


def _ledger(path: str, content: bytes | None) -> Iterator[CheckFinding]:
    if content is not None:
        fix = f"Take it out of the commit: git rm -r --cached --quiet {LEDGER}"
        yield CheckFinding(
            path, None, "ledger", "the ledger is kept on its own branches, not on this one", fix
        )


def _place(change: _Change) -> Iterator[CheckFinding]:
    """Judge where a file stands: a file in a folder's place, or below a file's, hides what belongs there."""
    if change.content is None or change.before is not None:
        return
    fix = "Give it another name."
    if change.path in MANAGED_FOLDERS:
        yield change.finding(None, "place", f"{change.path} is a folder of the home, not a file", fix)
    for fixed in FIXED_FILES:
        if change.path.startswith(f"{fixed}/"):
            yield change.finding(None, "place", f"{fixed} is a file of the home, not a folder", fix)


def _name(change: _Change) -> Iterator[CheckFinding]:
    """Find secrets in the name of a new file: names are in every listing and in history for good."""
    if change.content is None or change.before is not None or not is_managed(change.path):
        return
    for one in without_allowed(find_secrets(change.path), change.path, change.allowed)[0]:
        path = redact_secrets(change.path)[0]
        reason = one.reason.removesuffix(".")
        yield CheckFinding(path, None, one.rule, f"in the file's name: {reason}", "Give it another name.")


def _size(change: _Change) -> Iterator[CheckFinding]:
    if change.content is None or not (change.path in FIXED_FILES or is_note_path(change.path)):
        return
    size = len(change.content)
    if size > MAX_FILE and size > len(change.before or b""):
        message = f"{size:,} bytes; a file of more than {MAX_FILE >> 20} MiB is not read"
        yield change.finding(None, "size", message, "Divide it, or keep it outside the home's folders.")


def _episode(change: _Change) -> Iterator[CheckFinding]:
    if not change.path.startswith(f"{EPISODES}/") or change.before is None:
        return
    if change.content is not None and _is_stub(change.content, change.before):
        return
    did = "deleted" if change.content is None else "changed"
    fix = f"Take it back: git checkout HEAD -- '{change.path}'"
    yield change.finding(None, "episode", f"an episode is an account of what was, and is not {did}", fix)


def _is_stub(content: bytes, before: bytes) -> bool:
    """Say whether an episode was forgotten: its id is left, and the word that says so."""
    new, old = read_front_matter(_lenient(content)), read_front_matter(_lenient(before))
    mark = new.fields.get("forgotten")
    body = _lenient(content)[new.body_start :]
    return mark is not None and mark.node.text == "true" and new.id == old.id and not body.strip()


def _marks(change: _Change) -> Iterator[CheckFinding]:
    if change.content is None or not (is_managed(change.path) or change.path in GIT_FILES):
        return
    known = {clash.content for clash in find_clashes(change.before or b"")}
    for clash in find_clashes(change.content):
        if clash.content not in known and not _is_example(clash, change):
            fix = f"Keep what is right and delete the three mark lines{_EXAMPLE}."
            yield change.finding(clash.line, "conflict", "the marks of an unresolved merge stand here", fix)


def _is_example(clash: Clash, change: _Change) -> bool:
    if not clash.is_fenced or not change.path.lower().endswith(NOTE_SUFFIXES):
        return False
    return change.sides is None or not clash.is_between(*change.sides)


def _encoding(change: _Change) -> Iterator[CheckFinding]:
    if change.content is None or not (change.path in _TEXTS or is_note_path(change.path)):
        return
    text = decode_text(change.content)
    if isinstance(text, Problem) and not (
        change.before is not None and isinstance(decode_text(change.before), Problem)
    ):
        yield change.finding(text.line, "encoding", text.reason, "Save the file as UTF-8.")


def _limit(change: _Change) -> Iterator[CheckFinding]:
    name = _STORE_NAMES.get(change.path)
    if name is None or change.content is None or not change.config.memory[name].enabled:
        return
    limit = change.config.memory[name].char_limit
    chars = _chars(change.content)
    # Who shortens a full store step by step is not stopped on the way.
    if chars > limit and chars > _chars(change.before or b""):
        message = f"{chars:,} of {limit:,} characters, {chars - limit:,} too many"
        fix = f"Shorten or remove entries, or raise memory.{name}_char_limit in {CONFIG_FILE}."
        yield change.finding(None, "limit", message, fix)


def _chars(content: bytes) -> int:
    return count_chars(parse_store(_lenient(content)))


def _front_matter(change: _Change) -> Iterator[CheckFinding]:
    if change.content is None or not is_note_path(change.path):
        return
    found = read_front_matter(_lenient(change.content)).problems
    if not found:
        return
    known = {problem.reason for problem in read_front_matter(_lenient(change.before or b"")).problems}
    for problem in found:
        if problem.reason not in known:
            fix = "Mend that line, or delete the front matter."
            yield change.finding(problem.line, "front-matter", problem.reason, fix)


def _home_facts(change: _Change) -> Iterator[CheckFinding]:
    if change.path != CONFIG_FILE:
        return
    take_back = f"Take it back: git checkout HEAD -- {CONFIG_FILE}"
    if change.content is None:
        yield change.finding(None, "config", "without this file the repository is no agent home", take_back)
        return
    try:
        new = parse_config(change.content)
    except UnsupportedFormat as error:
        yield change.finding(None, "config", error.message, error.hint or take_back)
        return
    old = _parsed(change.before)
    if old is not None and new.home_id != old.home_id:
        message = f"the home's id was {old.home_id} and cannot become {new.home_id}"
        yield change.finding(None, "config", message, "Put the line `home` back.")
    for problem in new.problems:
        if old is None or problem not in old.problems:
            yield change.finding(None, "config", problem, "Mend that line.")


def _parsed(content: bytes | None) -> HomeConfig | None:
    try:
        return None if content is None else parse_config(content)
    except UnsupportedFormat:
        return None


def _scanner(change: _Change) -> Iterator[CheckFinding]:
    if change.content is None or not is_managed(change.path):
        return
    for part, hits in _refused_parts(change):
        fix = f"Take it out; if it is harmless: {allow_command(part.rules, part.mark)}"
        for one in hits:
            yield change.finding(part.line_of(one), one.rule, one.reason.removesuffix("."), fix)


def allowed_uses(
    path: str, content: bytes | None, before: bytes | None, allowed: Collection[str]
) -> tuple[str, ...]:
    """Return the entries of this machine's allow list without which a change could not be committed."""
    if not allowed or content is None or not is_managed(path):
        return ()
    uses: list[dict[str, None]] = []
    for part in (before or b"", content):
        seen: dict[str, None] = {}

        def judge(text: str, seen: dict[str, None] = seen) -> tuple[Finding, ...]:
            verdict = _judged(text, path, frozenset(allowed))
            seen.update(dict.fromkeys(verdict.allowed_uses))
            return verdict.findings

        _parts(path, _lenient(part).removeprefix(BOM), judge)
        uses.append(seen)
    return tuple(use for use in uses[1] if use not in uses[0])


def _refused_parts(change: _Change) -> Iterator[tuple[BlockedPart, Sequence[Finding]]]:
    """Yield the parts that a change brings and the scanner refuses, each with what is new of its hits."""
    text, before = (_lenient(part or b"").removeprefix(BOM) for part in (change.content, change.before))

    def judge(part: str) -> tuple[Finding, ...]:
        return _judged(part, change.path, change.allowed).findings

    found = _parts(change.path, text, judge)
    known = _parts(change.path, before, judge) if found and before else ()
    texts = {part.text for part in known}
    lines = set(LINE_BREAK.split(before)) if known and change.path not in _STORE_NAMES else set()
    for part in found:
        if part.text not in texts:
            yield part, _new_hits(part, lines, judge) if lines else part.hits


def _new_hits(part: BlockedPart, known: set[str], judge: Judge) -> Sequence[Finding]:
    """Return what is found in a part besides known lines, each where its line begins in the part."""
    starts = [0, *(found.end() for found in LINE_BREAK.finditer(part.text))]
    lines = zip(starts, LINE_BREAK.split(part.text), strict=True)
    added = [(start, line) for start, line in lines if line not in known]
    text = "\n".join(line for _, line in added)
    hits = judge(text)
    places = [added[line_at(text, hit.start) - 1][0] for hit in hits]
    return [replace(hit, start=start, end=start) for hit, start in zip(hits, places, strict=True)]


def _parts(path: str, text: str, judge: Judge) -> tuple[BlockedPart, ...]:
    return find_blocked_entries(text, judge) if path in _STORE_NAMES else find_blocked(text, judge)


def _judged(text: str, path: str, allowed: frozenset[str]) -> Scan:
    if path.startswith(f"{MEMORY}/"):
        return scan(text, "strict", allowed)
    return Scan(*without_allowed(find_secrets(text), text, allowed))


def _lenient(content: bytes) -> str:
    return content.decode("utf-8", "replace")


_CHECKS: Final[tuple[Callable[[_Change], Iterator[CheckFinding]], ...]] = (
    _home_facts,
    _place,
    _name,
    _size,
    _episode,
    _marks,
    _encoding,
    _limit,
    _front_matter,
    _scanner,
)
