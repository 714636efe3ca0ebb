"""The pack that a push sends: found by a walk of one's own, or by Git where it is long."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from gitmem.errors import RemoteError
from gitmem.git_transport.channel import Channel, end_child
from gitmem.git_transport.deadline import Deadline
from gitmem.git_transport.pack_entries import pack_entries
from gitmem.git_transport.pkt_line import printable
from gitmem.git_transport.programs import start
from gitmem.layout import Layout
from gitmem.pack_format import PackAssembler
from gitmem.repository import ObjectReader
from gitmem.transfer_walk import NewHistory, WalkTooLong, lacking_objects, new_history

#: From so many commits on, Git's deltas save more than its start costs.
_LONG: Final = 1000
_PIECE: Final = 1 << 16


def outgoing_pack(
    own: ObjectReader,
    layout: Layout,
    tips: Sequence[str],
    known: Collection[str],
    landmarks: Sequence[str],
    *,
    thin: bool,
    git: str | None,
    deadline: Deadline,
) -> Iterator[bytes]:
    """Yield the bytes of a pack with everything behind `tips` that a remote lacks.

    Args:
        own: the own store.
        layout: where it lies.
        tips: the new values.
        known: all values that the remote shows.
        landmarks: those of them from which history is followed.
        thin: whether the remote completes deltas of what it has.
        git: Git's program, which makes long packs; None where there is none.
        deadline: for making it.
    """
    try:
        most = None if git is None else _LONG
        history = new_history(own, tips, known, landmarks=landmarks, most=most)
    except WalkTooLong:
        there = [value for value in landmarks if own.contains(value)]
        yield from _by_git(layout, tips, there, str(git), deadline, thin=thin)
    else:
        yield from _by_walk(own, history, deadline, thin=thin)


def _by_walk(own: ObjectReader, history: NewHistory, deadline: Deadline, *, thin: bool) -> Iterator[bytes]:
    lacking = list(lacking_objects(own, history))
    assembler = PackAssembler(len(lacking))
    yield assembler.header
    for entry in pack_entries(own, lacking, thin=thin, pulse=deadline.remaining):
        yield assembler.add(entry)
    yield assembler.finish()[0]


def _by_git(
    layout: Layout, tips: Sequence[str], there: Sequence[str], git: str, deadline: Deadline, *, thin: bool
) -> Iterator[bytes]:
    command = [git, f"--git-dir={layout.git_dir}", "pack-objects", "--revs", "--stdout", "-q"]
    command += ["--delta-base-offset", *(["--thin"] if thin else [])]
    with tempfile.TemporaryFile() as revisions:
        revisions.write("".join(f"{line}\n" for line in (*tips, *(f"^{one}" for one in there))).encode())
        revisions.seek(0)
        process = start(command, stdin=revisions)
    try:
        if process.stdout is None or process.stderr is None:
            raise RemoteError("Git has no output")
        out, words = process.stdout.fileno(), process.stderr.fileno()
        channel = Channel(
            out, out, deadline, explain=_failed, words=words, release=lambda: end_child(process)
        )
        while piece := channel.read(_PIECE):
            yield piece
        if process.wait(deadline.remaining()) != 0:
            raise channel.broken()
    finally:
        end_child(process)


def _failed(words: str) -> RemoteError:
    return RemoteError(f"Git could not make the pack to push: {printable(words)}", hint="Run `git fsck`.")
