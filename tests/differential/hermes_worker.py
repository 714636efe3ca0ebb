"""Answers what the published hermes-agent does; run by its interpreter, it knows nothing of gitmem.

One JSON object per line in, one out. `{"sequence": {…}}` drives the memory tool on two files (see
`sequences.py`) and is answered with one object per step: `reply` or `raised`, and `files`. A sequence may
begin with `failures` counted, `unguarded` (no look for others' edits of the file) or with `joiners` allowed.
`{"scan": text, "scope": name}` is answered with the ids that the threat scan finds.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

NAMES = {"memory": "MEMORY.md", "user": "USER.md"}


def main() -> None:
    """Serve until standard input ends."""
    logging.disable()
    with tempfile.TemporaryDirectory(prefix="hermes-oracle-") as home:
        os.environ["HERMES_HOME"] = home
        os.fsync = lambda _fd: None  # durability is not compared, and costs most of the time
        worker = Worker(Path(home) / "memories")
        for line in sys.stdin:
            print(json.dumps(worker.answer(json.loads(line)), ensure_ascii=True), flush=True)


class Worker:
    """Drives the memory tool in one folder.

    Args:
        folder: where the home keeps its two stores.
    """

    def __init__(self, folder: Path) -> None:
        # Here, for the home has to stand in the environment first.
        from tools import memory_tool, threat_patterns  # noqa: PLC0415

        self._folder = folder
        self._tool = memory_tool
        self._scan = threat_patterns.scan_for_threats
        self._scan_content = memory_tool._scan_memory_content

    def answer(self, request: dict[str, Any]) -> Any:
        """Return the answer to one request."""
        if "scan" in request:
            return self._scan(request["scan"], scope=request["scope"])
        return self._run(request["sequence"])

    def _run(self, sequence: dict[str, Any]) -> list[dict[str, Any]]:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        for target, content in sequence["files"].items():
            self._write(target, content)
        store = self._tool.MemoryStore(sequence["limits"]["memory"], sequence["limits"]["user"])
        with suppress(UnicodeDecodeError):  # as the agent does: it goes on without a word
            store.load_from_disk()
        store._consolidation_failures = sequence.get("failures", 0)
        if sequence.get("unguarded"):
            store._detect_external_drift = lambda _target: None
        self._tool._scan_memory_content = self._scan_joined if sequence.get("joiners") else self._scan_content
        return [self._step(store, step) for step in sequence["steps"]]

    def _step(self, store: Any, step: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        if "call" in step:
            answer = self._call(store, step["call"])
        elif "write" in step:
            for target, content in step["write"].items():
                self._write(target, content)
        else:
            store.reset_consolidation_failures()
        return {**answer, "files": {target: self._read(target) for target in NAMES}}

    def _call(self, store: Any, call: dict[str, Any]) -> dict[str, Any]:
        try:
            reply = self._tool.memory_tool(
                action=call.get("action", ""),
                target=call.get("target", "memory"),
                content=call.get("content"),
                old_text=call.get("old_text"),
                operations=call.get("operations"),
                store=store,
            )
        except Exception as error:  # noqa: BLE001 - whatever it raises is the answer
            return {"raised": type(error).__name__}
        return {"reply": json.loads(reply)}

    def _scan_joined(self, content: str) -> str | None:
        """Scan as if the joiner of emoji were no threat."""
        return self._scan_content(content.replace("\u200d", ""))

    def _write(self, target: str, content: str | None) -> None:
        path = self._folder / NAMES[target]
        if content is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(content.encode("latin-1"))

    def _read(self, target: str) -> str | None:
        path = self._folder / NAMES[target]
        return path.read_bytes().decode("latin-1") if path.exists() else None


if __name__ == "__main__":
    main()
