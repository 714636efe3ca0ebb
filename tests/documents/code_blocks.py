"""Code blocks of the pages, and a shell to run them in."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```([a-z]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: the word behind the fence and the text."""

    language: str
    text: str


def blocks_of(page: str) -> list[Block]:
    """Return the fenced blocks of a page in order."""
    return [Block(*match) for match in _BLOCK.findall((ROOT / page).read_text("utf-8"))]


def run_shell(script: str, folder: Path) -> str:
    """Run a script of the pages in `folder`, with `gitmem` on the path; it must not fail."""
    tools = folder / ".tools"
    tools.mkdir(exist_ok=True)
    (tools / "gitmem").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gitmem "$@"\n')
    (tools / "gitmem").chmod(0o755)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def masked(text: str) -> str:
    """Return output without what differs from run to run: ids, commits, times."""
    text = re.sub(r"\b\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d+)?Z)?", "TIME", text)
    text = re.sub(r"(?<=[_:])[0-9a-f]{15}\b|\b[hw][0-9a-f]{8,15}\b|\b[0-9a-f]{7,40}\b", "ID", text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
