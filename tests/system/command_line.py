"""Runs the command line in this process (fast) or in one of its own (real)."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gitmem.cli.program import run


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return what it printed, which must be exactly one JSON object."""
        data = json.loads(self.out)
        assert isinstance(data, dict)
        assert self.out.endswith("}\n")
        return data


def gitmem(*arguments: str | Path, stdin: str | bytes = b"", cwd: Path | None = None, **env: str) -> Ran:
    """Run one command line in this process, as if its outputs were pipes."""
    raw = stdin.encode() if isinstance(stdin, str) else stdin
    out, err = io.BytesIO(), io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), "utf-8"))
        patch.setattr(sys, "stdout", io.TextIOWrapper(out, "utf-8", errors="replace", write_through=True))
        patch.setattr(sys, "stderr", io.TextIOWrapper(err, "utf-8", errors="replace", write_through=True))
        for name, value in env.items():
            patch.setenv(name, value)
        if cwd is not None:
            patch.chdir(cwd)
        code = run([str(argument) for argument in arguments])
        return Ran(code, out.getvalue().decode(), err.getvalue().decode())


def gitmem_process(
    *arguments: str | Path, stdin: str | bytes = b"", cwd: Path | None = None, **env: str
) -> Ran:
    """Run one command line in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", *map(str, arguments)],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **env},
        capture_output=True,
        check=False,
        timeout=60,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
