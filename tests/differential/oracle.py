"""The other side of the comparison: hermes-agent in an interpreter of its own, asked line by line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from differential.differences import hermes_entries, target_of
from differential.facts import Facts, facts_of
from differential.sequences import Sequence, decode

WORKER = Path(__file__).with_name("hermes_worker.py")


class Oracle:
    """A running worker; a context manager.

    Args:
        interpreter: a Python in whose environment `hermes-agent==0.19.0` is installed.
    """

    def __init__(self, interpreter: str) -> None:
        self._process = subprocess.Popen(
            [interpreter, str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def run(self, sequence: Sequence) -> list[Facts]:
        """Return the facts of each step of a sequence, and what became of the file of each call."""
        files = dict(sequence["files"])
        found = []
        for step, answer in zip(sequence["steps"], self._ask({"sequence": sequence}), strict=True):
            after = answer["files"]
            if "call" in step:
                target = target_of(step["call"])
                changed = {name for name in after if after[name] != files[name]}
                assert changed <= {target}, f"{step} wrote {changed}"
                found.append(_reduced(answer, decode(after[target]), written=bool(changed)))
            else:
                found.append({})
            files = after
        return found

    def scan(self, text: str, scope: str = "strict") -> list[str]:
        """Return the ids of the rules that a text trips."""
        return list(self._ask({"scan": text, "scope": scope}))

    def _ask(self, request: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the worker ended; is hermes-agent==0.19.0 installed in its interpreter?")
        return json.loads(line)


def _reduced(answer: dict[str, Any], content: bytes | None, *, written: bool) -> Facts:
    facts: Facts = {"raised": answer["raised"]} if "raised" in answer else facts_of(answer["reply"])
    return {**facts, "written": written, "entries": hermes_entries(content)}
