"""A new writer where another copy of this folder goes on under the old id, or a backup was put back.

No record, id or commit changes: the branch gets another name, or is left to the other copy. Each step leaves
what a kill may find: at worst a second name of one line, which the next sync takes away.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gitmem.repository import ABSENT, Repository
from gitmem.writer import WriterState, mint_writer, read_writer, write_writer


def change_writer(
    repository: Repository, writer_file: Path, expected: str, ahead: str | None, agent: str
) -> str | None:
    """Begin to write under a new id; call only under the home's lock, with nothing in the spool.

    Args:
        repository: the refs.
        writer_file: where the writer is remembered.
        expected: the commit that the own line was seen at.
        ahead: the remote's commit where it contains the own line (a backup was put back); None where the two
            have parted (the folder was copied).
        agent: `Name <mail>` for reflogs.

    Returns:
        The new writer; None where the own line stands elsewhere by now.
    """
    state = read_writer(writer_file)
    if state is None or state.last != expected or repository.read_ref(state.ref) != expected:
        return None
    if ahead is None:
        return _rename(repository, writer_file, state, expected, agent)
    fresh = mint_writer()
    write_writer(writer_file, fresh)
    message = "sync: forward, by a new writer"
    repository.move_ref(state.ref, old=expected, new=ahead, message=message, who=agent)
    return fresh.writer


def _rename(repository: Repository, writer_file: Path, state: WriterState, tip: str, agent: str) -> str:
    """Give the own branch the name of a new writer; the old name is the other copy's."""
    fresh = replace(state, writer=mint_writer().writer, segment=None, number=0)
    message = f"sync: {state.branch} is another copy's"
    repository.move_ref(fresh.ref, old=ABSENT, new=tip, message=message, who=agent)
    write_writer(writer_file, fresh)
    repository.move_ref(state.ref, old=tip, new=ABSENT, message=message, who=agent)
    return fresh.writer
