"""gitmem's memory tool on two plain files: the tool itself, with a writer and a branch without Git."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from differential.differences import entries_of, target_of
from differential.facts import Facts, facts_of
from differential.sequences import Sequence, decode
from gitmem.authoring import Provenance, WriteReply
from gitmem.config import MemoryFile
from gitmem.curated import STORES
from gitmem.layout import Layout
from gitmem.memory_reply import MemoryReply
from gitmem.memory_stores import MemoryStores, Scan, Verdict
from gitmem.memory_tool import MemoryTool, ToolParts
from gitmem.scanner import scan
from gitmem.threats import blocked_message

#: What a write is told to have been committed as.
_COMMIT = "0" * 40
_BOM = b"\xef\xbb\xbf"


def scan_text(text: str) -> Verdict:
    """Judge a text for a memory store, with nothing allowed."""
    found = scan(text).findings
    return Verdict(blocked_message(found[0]) if found else None, tuple(finding.rule for finding in found))


class PlainFiles:
    """Stands where the branch and what writes to it stand.

    Args:
        root: the folder of the files.
    """

    operator = "Olivia <olivia@example.com>"

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, changes: list[Any], **_: Any) -> WriteReply:
        """Write the one file."""
        (change,) = changes
        self._path(change.path).write_bytes(change.result)
        return WriteReply(_COMMIT, None, None, change.path)

    def look(self, **_: Any) -> SimpleNamespace:
        """Return what a snapshot says of a file: the branch has what the disk has."""
        state = SimpleNamespace(head=SimpleNamespace(commit=_COMMIT), obstacle=None)
        return SimpleNamespace(sight=self._sight, state=state)

    def _sight(self, path: str) -> SimpleNamespace:
        content = self._path(path).read_bytes() if self._path(path).exists() else None
        return SimpleNamespace(disk=content, head=content)

    def _path(self, path: str) -> Path:
        return self._root / path


class PlainSide:
    """Drives the tool in one folder.

    Args:
        root: an empty folder, or none yet.
        judge: judges texts.
    """

    def __init__(self, root: Path, judge: Scan) -> None:
        self._root = root
        self._limits: dict[str, int] = {}
        layout = Layout(root, root / ".git", root / ".git")
        layout.private.mkdir(parents=True)
        (root / "memory").mkdir()
        files: Any = PlainFiles(root)
        spool: Any = None
        stores = MemoryStores(layout, files, lambda target: MemoryFile(True, self._limits[target]), judge)
        self._tool = MemoryTool(ToolParts(layout, files, files, spool, stores))

    def begin(self, sequence: Sequence) -> None:
        """Stand where a sequence or round begins."""
        self._limits = sequence["limits"]
        for target, content in sequence["files"].items():
            self.write(target, decode(content))
        self.turn()
        for _ in range(sequence.get("failures", 0)):
            self._tool.failures.add("session ", shared=False)

    def call(self, call: dict[str, Any]) -> Facts:
        """Return the facts of one call, with what became of its file."""
        before = {target: self.file(target) for target in STORES}
        arguments = {
            name: call.get(name) for name in ("action", "target", "content", "old_text", "operations")
        }
        reply = self._tool.call(Provenance(), **arguments)
        return facts_of_call(call, reply, before, {target: self.file(target) for target in STORES})

    def write(self, target: str, content: bytes | None) -> None:
        """Write or remove a file by hand."""
        if content is None:
            self._path(target).unlink(missing_ok=True)
        else:
            self._path(target).write_bytes(content)

    def turn(self) -> None:
        """Begin a new turn."""
        self._tool.begin_turn(None)

    def file(self, target: str) -> bytes | None:
        """Return the bytes of a file."""
        return self._path(target).read_bytes() if self._path(target).exists() else None

    def _path(self, target: str) -> Path:
        return self._root / STORES[target]


def facts_of_call(
    call: dict[str, Any],
    reply: MemoryReply,
    before: dict[str, bytes | None],
    after: dict[str, bytes | None],
) -> Facts:
    """Return the facts of an answer of gitmem's, after checking what holds of each of them.

    A written file holds its entries in the one form (a branch keeps a file's line endings), a refused call
    changes no byte, no other file is touched, and the figures are those of the file.
    """
    target = target_of(call)
    facts = facts_of(json.loads(json.dumps(reply.to_json(), ensure_ascii=False)))
    entries = entries_of(after[target])
    joined = "\n§\n".join(entries)
    written = after[target] != before[target]
    assert {name for name in after if after[name] != before[name]} <= {target}
    if written:
        assert facts["success"]
        content, old = after[target] or b"", before[target] or b""
        mark = _BOM if old.startswith(_BOM) else b""
        plain = content.removeprefix(mark).replace(b"\r\n", b"\n")
        assert plain == (joined + "\n" if entries else "").encode(), (
            call,
            old,
            content,
        )
        assert b"\r\n" not in content or b"\r\n" in old
    if facts["success"]:
        assert facts["entry_count"] == len(entries) == len(set(entries))
        assert f" {len(joined):,}/" in facts["usage"]
    return {**facts, "written": written, "entries": entries}
