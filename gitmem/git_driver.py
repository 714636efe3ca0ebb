"""What Git itself calls, by its configuration: texts for people, and merges of one file.

    python -P -m gitmem.git_driver textconv ledger|store FILE
    python -P -m gitmem.git_driver merge entries|text BASE OURS THEIRS

A program of its own, because Git starts it once for each file: it imports no command line. Where it cannot
do what it is asked it says nothing and exits 1; the shell command in Git's configuration then does what plain
Git would.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

#: By the name of the driver: a path of the class whose rules it follows.
_CLASSES: Final = {"entries": "memory/MEMORY.md", "text": "notes/note.md"}


def main(arguments: Sequence[str]) -> int:
    """Do what Git asks; return the exit code."""
    try:
        if len(arguments) == 3 and arguments[0] == "textconv":
            return _textconv(arguments[1], Path(arguments[2]))
        if len(arguments) == 5 and arguments[0] == "merge":
            return _merge(arguments[1], *map(Path, arguments[2:]))
    except Exception:  # noqa: BLE001 - whatever it is, plain Git can go on without us
        return 1
    return 1


def _textconv(kind: str, file: Path) -> int:
    text = _renderers()[kind](file.read_bytes())
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
    return 0


def _renderers() -> Mapping[str, Callable[[bytes], str]]:
    from gitmem.ledger_text import render_ledger  # noqa: PLC0415 - a merge needs none of it
    from gitmem.store_text import render_store  # noqa: PLC0415

    return {"ledger": render_ledger, "store": render_store}


def _merge(kind: str, base: Path, ours: Path, theirs: Path) -> int:
    from gitmem.durable_file import write_file  # noqa: PLC0415 - a text needs none of it

    merged = merge_clean(kind, base.read_bytes(), ours.read_bytes(), theirs.read_bytes())
    if merged is None:
        return 1
    write_file(ours, merged, durable=False)
    return 0


def merge_clean(kind: str, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return the merge of a file as gitmem itself would make it; None where something clashes.

    Args:
        kind: `entries` or `text`.
        base: empty where Git knows none; then only entries can be merged.
        ours: one side.
        theirs: the other side; exchanging them changes nothing.
    """
    from gitmem.branch_merge import merge_path  # noqa: PLC0415

    merged = merge_path(_CLASSES[kind], base or None, ours, theirs)
    return None if merged.copies else merged.live


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
