"""Changes that wait for an operator's word: durable files, each pinned to what it would change."""

from __future__ import annotations

import base64
import difflib
import json
import re
import secrets
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from gitmem.branch_changes import PathChange
from gitmem.durable_file import remove_file, write_file
from gitmem.errors import CorruptionError, NotFound
from gitmem.file_lock import file_lock
from gitmem.json_view import JsonView, to_json
from gitmem.layout import Layout
from gitmem.times import format_time

_FORMAT: Final = 1
_NAME: Final = re.compile(r"[0-9a-f]{8}")
_LOCK: Final = "lock"
#: Seconds to wait for another process that judges just now.
_WAIT: Final = 10.0


@dataclass(frozen=True, slots=True)
class ProposedEdit(JsonView):
    """One change of one text.

    Attributes:
        before: the whole text that would go, exactly; None where something is added.
        after: the whole text that would come; None where something is removed.
    """

    action: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Proposal(JsonView):
    """A change that an agent wants and an operator has not judged.

    Attributes:
        id: 8 hex digits.
        target: `memory`, `user`, `self`, `operator` or `note`; `record` for what the ledger holds.
        action: the tool's: `add replace remove batch write append edit move retract`.
        summary: one line, for lists.
        origin: `foreground` or `background_review`.
        created_at: seconds since 1970.
        edits: what it would change, text by text.
        payload: the arguments of the call, where the change is made again from them.
        changes: the files, where the change is made as a whole; `base` is the blob that they must still be.
        subject: the commit's first line, for such a change.
        kind: the trailer `Gitmem-Kind` of such a change.
        source_ref: address of what is changed.
        session, turn, source, reason: what led to it.
        begun: an approval began; if it was broken off behind the commit, the change is there.
    """

    id: str
    target: str
    action: str
    summary: str
    origin: str
    created_at: float
    edits: tuple[ProposedEdit, ...]
    payload: Mapping[str, Any] = field(default_factory=dict)
    changes: tuple[PathChange, ...] = ()
    subject: str = ""
    kind: str = "memory"
    source_ref: str | None = None
    session: str | None = None
    turn: str | None = None
    source: str | None = None
    reason: str | None = None
    begun: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that it would change as a whole."""
        return tuple(change.path for change in self.changes)

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON data; of files their paths, because `edits` tells their texts."""
        left_out = ("changes", "payload", "subject", "kind", "begun")
        data = {
            one.name: to_json(getattr(self, one.name)) for one in fields(self) if one.name not in left_out
        }
        data["created_at"] = format_time(self.created_at)
        return {**data, "paths": list(self.paths), "diff": [diff_of(edit) for edit in self.edits]}


class ProposalFolder:
    """The proposals of one work tree.

    Args:
        layout: whose private folder holds them.
    """

    def __init__(self, layout: Layout) -> None:
        self.folder = layout.private / "proposals"

    def put(self, proposal: Proposal) -> None:
        """Keep a proposal, safe from a power cut."""
        write_file(self._path(proposal.id), json.dumps(_row(proposal)).encode(), mode=0o600)

    def waiting(self) -> list[Proposal]:
        """Return what waits, the oldest first; a damaged file is passed over and named by `damaged`."""
        found = (_parse(path) for path in self._files())
        return sorted((one for one in found if one is not None), key=lambda one: (one.created_at, one.id))

    def damaged(self) -> list[str]:
        """Return the names of files that hold no proposal any more."""
        return [path.name for path in self._files() if _parse(path) is None]

    def read(self, proposal_id: str) -> Proposal:
        """Return a proposal by its id.

        Raises:
            NotFound: it does not wait, or not any more.
            CorruptionError: its file is damaged.
        """
        path = self._path(proposal_id) if _NAME.fullmatch(proposal_id) else None
        found = _parse(path) if path is not None else None
        if path is not None and found is None and path.name in self.damaged():
            hint = f"Nothing of it can be made. To be rid of it: rm {shlex.quote(str(path))}"
            raise CorruptionError(f"the proposal {proposal_id} is damaged", hint=hint, path=str(path))
        if found is None:
            hint = "`gitmem proposals list` shows those that do."
            raise NotFound(f"no proposal {proposal_id[:80]} waits", hint=hint, proposal=proposal_id[:80])
        return found

    def drop(self, proposal: Proposal) -> None:
        """Take a proposal away: it was judged."""
        remove_file(self._path(proposal.id))

    def mint(self) -> str:
        """Return an id that no proposal has."""
        taken = {path.stem for path in self._files()}
        return next(name for name in iter(lambda: secrets.token_hex(4), None) if name not in taken)

    @contextmanager
    def judging(self) -> Iterator[None]:
        """Be the only one who judges, so that a proposal is applied once.

        Raises:
            HomeLocked: another process judged for longer than one may wait.
        """
        with file_lock(self.folder / _LOCK, wait=_WAIT):
            yield

    def _files(self) -> list[Path]:
        try:
            return sorted(path for path in self.folder.iterdir() if path.suffix == ".json")
        except FileNotFoundError:
            return []

    def _path(self, proposal_id: str) -> Path:
        return self.folder / f"{proposal_id}.json"


def diff_of(edit: ProposedEdit) -> list[str]:
    """Return an edit as lines that begin with `-`, `+` or a space, with a little of what stays."""
    before = [] if edit.before is None else edit.before.splitlines()
    after = [] if edit.after is None else edit.after.splitlines()
    lines = list(difflib.unified_diff(before, after, lineterm="", n=2))[2:]
    return [f"{line[0]} {line[1:]}".rstrip() for line in lines if not line.startswith("@@")]


def _row(proposal: Proposal) -> dict[str, Any]:
    row = {one.name: getattr(proposal, one.name) for one in fields(proposal)}
    row["edits"] = [to_json(edit) for edit in proposal.edits]
    row["changes"] = [[one.path, one.base, _encode(one.result)] for one in proposal.changes]
    return {"v": _FORMAT, **row}


def _parse(path: Path) -> Proposal | None:
    try:
        row = json.loads(path.read_bytes())
        if row.pop("v") != _FORMAT or row["id"] != path.stem:
            return None
        row["edits"] = tuple(ProposedEdit(**one) for one in row["edits"])
        row["changes"] = tuple(PathChange(name, base, _decode(text)) for name, base, text in row["changes"])
        return _checked(Proposal(**row))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _checked(proposal: Proposal) -> Proposal | None:
    """Return a proposal whose fields are what they must be for it to be listed."""
    words = (proposal.target, proposal.action, proposal.summary, proposal.origin, proposal.subject)
    texts = [text for edit in proposal.edits for text in (edit.before, edit.after) if text is not None]
    is_sound = isinstance(proposal.created_at, int | float) and isinstance(proposal.payload, dict)
    return proposal if is_sound and all(isinstance(text, str) for text in (*words, *texts)) else None


def _encode(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode("ascii")


def _decode(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text, validate=True)
