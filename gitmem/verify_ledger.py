"""Verifies the turn lines: chains on the files, commits against the lines they name, nothing lost on the way.

A look begins behind commits that were found whole before; without any it takes everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from gitmem.errors import GitmemError, ObjectMissing
from gitmem.first_commit import FirstCommits
from gitmem.forgotten import Receipts, is_receipt_path
from gitmem.layout import LEDGER
from gitmem.ledger import Ledger
from gitmem.ledger_chain import LedgerChains, Place, essence, faults_of, has_line, lines_with, places_in
from gitmem.ledger_format import (
    Line,
    SegmentName,
    decode_lines,
    parse_blob_path,
    parse_segment_path,
    split_segment,
)
from gitmem.ledger_growth import Loss, ledger_losses, segment_losses
from gitmem.long_text import needs_blob
from gitmem.records import Record, record_ref
from gitmem.repository import FILE_MODE, TREE_MODE, ObjectReader, Repository, read_path
from gitmem.tree_changes import changed_paths
from gitmem.turn_commits import TurnCommit, walk_turns
from gitmem.verify_beside import beside_findings
from gitmem.verify_finding import Finding
from gitmem.verify_losses import LineLosses

#: Kinds of records against which other things are held.
_KEPT: Final = ("episode", "memory")
#: In a line with one of these, a record may have a long text beside it, or is of such a kind.
_LOOKED_AT: Final = (b'"blob":{', *(f'","kind":"{kind}"'.encode() for kind in _KEPT))


@dataclass(frozen=True, slots=True)
class LedgerLook:
    """What a look at the lines brought.

    Attributes:
        findings: what is not as it should be.
        tips: ref and commit of each line that was looked at.
        lines: of the ledger, read.
        commits: of turn lines, read.
        records: of episodes and of changes to memory, among what was read.
        turns: ids of the turns whose commits were read.
        closed: ids of turns of which such a record was forgotten.
    """

    findings: Sequence[Finding]
    tips: Mapping[str, str]
    lines: int
    commits: int
    records: Sequence[Record]
    turns: frozenset[str]
    closed: frozenset[str]


@dataclass(frozen=True, slots=True)
class _File:
    """One version of a file of the ledger, and a tip that holds it."""

    path: str
    blob: str
    mode: int
    ref: str


class LedgerVerifier:
    """One look at the turn lines.

    Args:
        repository: their objects.
        ledger: which lines there are, what is forgotten.
        shallow: commits whose parents are not here because the clone was cut there.
        objects: the same ones, as the many commits and files are read; by default from the repository.
    """

    def __init__(
        self,
        repository: Repository,
        ledger: Ledger,
        shallow: frozenset[str] = frozenset(),
        objects: ObjectReader | None = None,
    ) -> None:
        self._repository = repository
        self._objects = objects or repository
        self._ledger = ledger
        self._shallow = shallow
        self._first = FirstCommits(repository)
        self._receipts: Receipts = Receipts()
        self._chains = LedgerChains(self._receipts)
        self._tips: Mapping[str, str] = {}
        self._since: Mapping[str, str] = {}
        self._records: list[Record] = []
        self._turns: set[str] = set()
        self._walked: list[TurnCommit] = []
        self._closed: set[str] = set()

    def look(self, since: Mapping[str, str]) -> LedgerLook:
        """Verify everything that came after some commits.

        Args:
            since: ref of a line -> its commit that was found whole; none for everything.
        """
        self._receipts = self._ledger.receipts()
        self._chains = LedgerChains(self._receipts)
        self._tips = self._ledger.tips()
        self._records, self._turns, self._walked, self._closed = [], set(), [], set()
        findings = [*self._lines_out_of_place(), *self._rewritten(since)]
        rewritten = {finding.path for finding in findings}
        self._since = {ref: c for ref, c in since.items() if ref in self._tips and ref not in rewritten}
        findings += self._losses()
        findings += [*beside_findings(self._repository, self._first, self._tips), *self._files()]
        findings += self._located(self._chains.finish())
        walked, commits = self._commits()
        findings += [*commits, *self._forks()]
        losses = LineLosses(self._repository, self._tips, self._walked, self._receipts, self._ledger.find)
        findings += losses.findings()
        unique = {(f.rule, f.path, f.line, f.message): f for f in findings}
        return LedgerLook(
            findings=tuple(unique.values()),
            tips=self._tips,
            lines=self._chains.lines,
            commits=walked,
            records=tuple(self._records),
            turns=frozenset(self._turns),
            closed=frozenset(self._closed),
        )

    # Lines

    def _lines_out_of_place(self) -> Iterator[Finding]:
        astray = self._ledger.lines.astray()
        if astray is not None:
            yield Finding("rewritten", astray.reason, path=astray.ref, commit=astray.last)
        for ref, tip in self._ledger.lines.unreadable().items():
            yield Finding("unreadable", f"the tip of {ref} cannot be read", path=ref, commit=tip)

    def _rewritten(self, since: Mapping[str, str]) -> Iterator[Finding]:
        for ref, verified in since.items():
            tip = self._tips.get(ref)
            tips = [tip] if tip is not None else list(self._tips.values())
            if any(self._reaches(one, verified) for one in tips):
                continue
            what = "is gone, and no line goes on" if tip is None else "does not go on"
            message = f"the turn line {ref} {what} from what was verified ({verified[:12]})"
            yield Finding("rewritten", message, path=ref, commit=tip or verified)

    def _reaches(self, tip: str, ancestor: str) -> bool:
        try:
            return self._repository.is_ancestor(ancestor, tip)
        except GitmemError:
            return False

    def _losses(self) -> Iterator[Finding]:
        for ref, verified in self._since.items():
            try:
                losses = list(ledger_losses(self._repository, verified, self._tips[ref]))
            except GitmemError as error:
                yield Finding("unreadable", error.message, path=ref, commit=self._tips[ref])
                continue
            for loss in losses:
                yield Finding(
                    "lost", loss.message, path=loss.path, commit=self._who_lost(ref, verified, loss)
                )

    def _who_lost(self, ref: str, verified: str, loss: Loss) -> str | None:
        before = self._first.content(verified, loss.path)

        def is_lost(content: bytes | None) -> bool:
            if content is None or parse_segment_path(loss.path) is None:
                return content != before
            losses = segment_losses(
                loss.path, before or b"", content, lambda name: name in self._receipts.records
            )
            return any(one.message == loss.message for one in losses)

        return self._first.find(self._tips[ref], loss.path, is_lost, until=verified)

    # Files

    def _files(self) -> Iterator[Finding]:
        files: dict[tuple[str, str], _File] = {}
        for ref in self._tips:
            try:
                for file in self._new_files(ref):
                    files.setdefault((file.path, file.blob), file)
            except GitmemError as error:
                yield Finding("unreadable", error.message, path=ref, commit=self._tips[ref])
        for file in sorted(files.values(), key=_in_order):
            yield from self._look_at(file)

    def _new_files(self, ref: str) -> Iterator[_File]:
        old = self._since.get(ref)
        before = self._ledger_tree(old) if old is not None else None
        after = self._ledger_tree(self._tips[ref])
        for change in changed_paths(self._repository, before, after, f"{LEDGER}/"):
            if change.new is not None:
                yield _File(change.path, change.new.id, change.new.mode, ref)

    def _ledger_tree(self, commit: str) -> str | None:
        entry = read_path(self._repository, self._repository.read_commit(commit).tree, LEDGER)
        return entry.id if entry is not None and entry.mode == TREE_MODE else None

    def _look_at(self, file: _File) -> Iterator[Finding]:
        name = parse_segment_path(file.path)
        is_plain = file.mode == FILE_MODE
        if not is_plain or not (name or parse_blob_path(file.path) or is_receipt_path(file.path)):
            message = f"{file.path} is no file of the ledger"
            commit = self._first.find_entry(
                self._tips[file.ref], file.path, lambda entry: entry is not None and entry.mode == file.mode
            )
            yield Finding("foreign_file", message, path=file.path, commit=commit)
            return
        if name is None:
            return  # long texts are looked at with their record; a receipt counts by its name
        try:
            content = self._objects.read(file.blob)[1]
        except GitmemError as error:
            yield Finding("unreadable", error.message, path=file.path, commit=self._tips[file.ref])
            return
        self._learn_before(name, file, content)
        yield from self._located(self._chains.check(file.path, content), file.ref)
        yield from self._texts(file.path, content)

    def _learn_before(self, name: SegmentName, file: _File, looked_at: bytes) -> None:
        """Let the lines of a segment follow those of the segment before it, where that is not looked at."""
        if file.ref not in self._since:
            return
        for path, content in self._segments_of(name.writer):
            found = parse_segment_path(path)
            if found is not None and found.number == name.number - 1:
                self._chains.learn(content)
        if not self._chains.goes_on(looked_at):
            # It begins as the first one, or as none should: perhaps with lines that stand in another one.
            for path, content in self._segments_of(name.writer):
                if path != file.path:
                    self._chains.learn(content)

    def _segments_of(self, writer: str) -> Iterator[tuple[str, bytes]]:
        for segment in self._ledger.segments().values():
            if segment.writer == writer:
                for blob in segment.blobs:
                    with suppress(ObjectMissing):
                        yield segment.path, self._repository.read(blob)[1]

    def _texts(self, path: str, content: bytes) -> Iterator[Finding]:
        """Look at what stands beside some records, their long texts; and keep those that others look at."""
        marked = list(lines_with(_LOOKED_AT, content))
        found = [item for item in split_segment(b"\n".join(marked)) if isinstance(item, Line)]
        self._closed.update(item.turn for item in found if item.redacted and item.kind in _KEPT)
        lines = [item for item in found if item.fits]
        for record in decode_lines(lines):
            if record.kind in _KEPT:
                self._records.append(record)
            if not needs_blob(record.body) or record.id in self._receipts.records:
                continue
            try:
                self._ledger.full_body(record)
            except GitmemError as error:
                ref = record_ref(record.kind, record.id, record.object)
                yield Finding("long_text", error.message, path=path, source_ref=ref)

    # Commits

    def _commits(self) -> tuple[int, list[Finding]]:
        count = 0
        findings: list[Finding] = []
        for found in walk_turns(self._objects, self._tips.values(), self._since.values(), self._shallow):
            count += 1
            if isinstance(found, str):
                message = f"commit {found[:12]} of a turn line cannot be read"
                findings.append(Finding("unreadable", message, commit=found))
                continue
            if len(self._tips) > 1:  # one alone can lack nothing that another has
                self._walked.append(found)
            if found.turn is not None:
                self._turns.add(found.turn)
            if found.chain is not None and not self._is_known(found):
                findings.append(self._contradicted(found))
        return count, findings

    def _is_known(self, found: TurnCommit) -> bool:
        assert found.chain is not None
        if self._chains.holds(*found.chain):
            return True
        if not self._since:
            return False
        writer, _, _ = found.chain
        for _, content in self._segments_of(writer):  # of a part that was verified before
            self._chains.learn(content)
        return self._chains.holds(*found.chain)

    def _contradicted(self, found: TurnCommit) -> Finding:
        assert found.chain is not None
        writer, seq, line_hash = found.chain
        state = "is another one now" if self._chains.has(writer, seq) else "is gone"
        message = f"line {seq} of {writer}, which commit {found.id[:12]} recorded, {state}"
        path, line = self._where(found.id, line_hash)
        culprit = None
        for tip in self._tips.values():
            if path is not None and self._reaches(tip, found.id):
                culprit = self._first.find(
                    tip, path, lambda content: not has_line(path, content, line_hash), until=found.id
                )
                break
        ref = f"turn:{found.turn}" if found.turn else None
        return Finding("chain", message, path=path, line=line, commit=culprit or found.id, source_ref=ref)

    def _where(self, commit: str, line_hash: str) -> tuple[str | None, int | None]:
        """Return the segment in which a commit put its last line, and that line's number."""
        parents = self._repository.read_commit(commit).parents
        with suppress(GitmemError):
            before = self._ledger_tree(parents[0]) if parents else None
            for change in changed_paths(self._repository, before, self._ledger_tree(commit), f"{LEDGER}/"):
                content = self._repository.read(change.new.id)[1] if change.new is not None else b""
                for place in places_in(change.path, content):
                    if place.hash == line_hash:
                        return change.path, place.number
        return None, None

    def _forks(self) -> Iterator[Finding]:
        forked = self._chains.forked()
        if not forked:
            return
        turns = {found.turn for found in self._all_commits() if isinstance(found, TurnCommit)}
        places = [
            place
            for writer in sorted({writer for writer, _ in forked})
            for path, content in self._segments_of(writer)
            for place in places_in(path, content)
            if place.hash in forked.get((writer, place.seq), ())
        ]
        for key in sorted(forked):
            yield from self._fork(key, {p.hash: p for p in places if (p.writer, p.seq) == key}, turns)

    def _fork(
        self, key: tuple[str, int], places: Mapping[str, Place], turns: set[str | None]
    ) -> Iterator[Finding]:
        what = f"line {key[1]} of {key[0]}"
        strange = [place for place in places.values() if place.turn not in turns]
        for place in strange:
            message = f"{what} in {place.path} was brought by no turn"
            commit = self._since_when(place)
            yield Finding("inserted", message, "error", place.path, place.number, commit, place.ref)
        if not strange:
            place = max(places.values(), key=lambda one: one.hash)
            message = f"{what} exists {len(places)} times: a copied or restored folder went on"
            yield Finding("fork", message, "warning", place.path, place.number, source_ref=place.ref)

    def _since_when(self, place: Place) -> str | None:
        firsts = (
            self._first.find(tip, place.path, lambda content: has_line(place.path, content, place.hash))
            for tip in self._tips.values()
        )
        return next((first for first in firsts if first is not None), None)

    def _all_commits(self) -> Iterator[TurnCommit | str]:
        return walk_turns(self._repository, self._tips.values(), (), self._shallow)

    # When

    def _located(self, findings: Iterable[Finding], ref: str | None = None) -> Iterator[Finding]:
        """Add to findings in a segment the first commit that has them."""
        for finding in findings:
            if finding.severity == "warning" or finding.path is None:
                yield finding
                continue
            tips = [self._tips[ref]] if ref is not None else list(self._tips.values())
            yield replace(finding, commit=self._culprit(finding, tips))

    def _culprit(self, finding: Finding, tips: Sequence[str]) -> str | None:
        path = finding.path or ""
        if (name := parse_segment_path(path)) is None:
            return None
        known = [
            place
            for other, content in self._segments_of(name.writer)
            if other != path
            for place in places_in(other, content)
        ]

        def is_so(content: bytes | None) -> bool:
            found = faults_of(path, content, self._receipts, known) if content is not None else ()
            return essence(finding.message) in found

        return next((first for tip in tips if (first := self._first.find(tip, path, is_so))), None)


def _in_order(file: _File) -> tuple[str, int, str, str]:
    name = parse_segment_path(file.path)
    return (name.writer, name.number, file.path, file.blob) if name else ("", 0, file.path, file.blob)
