"""Asking a server to move refs, and reading what it made of that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gitmem import __version__
from gitmem.errors import RemoteError, RemoteMisbehaved
from gitmem.git_transport.conversation import Conversation
from gitmem.git_transport.greeting import Greeting
from gitmem.git_transport.pkt_line import FLUSH, PacketReader, SideBand, pkt_line, printable
from gitmem.remote_repository import OutcomeCode, RefOutcome, RefUpdate
from gitmem.repository import ABSENT

_BEHIND: Final = re.compile(r"non-fast-forward|fetch first", re.IGNORECASE)
_MOVED: Final = re.compile(
    r"stale info|cannot lock ref|failed to (?:update ref|lock)|already exists|incorrect old value|reference",
    re.IGNORECASE,
)


def send_updates(
    conversation: Conversation,
    greeting: Greeting,
    updates: Sequence[RefUpdate],
    pack: Iterable[bytes],
    most: int,
) -> tuple[RefOutcome, ...]:
    """Send updates with the objects for them; return one outcome for each.

    Args:
        conversation: with `git-receive-pack`, after its greeting.
        greeting: what it said first.
        updates: at least one.
        pack: the pack's bytes; not sent where refs are only deleted.
        most: bytes that the report may have.
    """
    if not greeting.can("report-status"):
        raise RemoteError("the remote does not report what becomes of a push", hint="Its Git is too old.")
    banded = greeting.can("side-band-64k")

    def request() -> Iterator[bytes]:
        yield _commands(updates, greeting)
        if any(update.new is not None for update in updates):
            yield from pack

    answer = conversation.ask(request())
    packets = PacketReader(answer, most)
    if not banded:
        return _read_report(packets, updates, "")
    band = SideBand(packets, most)
    return _read_report(PacketReader(band, most), updates, band)


def _commands(updates: Sequence[RefUpdate], greeting: Greeting) -> bytes:
    wished = ("report-status", "side-band-64k", "quiet", "delete-refs", "ofs-delta")
    chosen = [name for name in wished if greeting.can(name)]
    lines = [f"{update.old or ABSENT} {update.new or ABSENT} {update.name}" for update in updates]
    rows = [line.encode("utf-8", "surrogateescape") for line in lines]
    rows[0] += b"\0 " + " ".join([*chosen, f"agent=gitmem/{__version__}"]).encode()
    return b"".join(pkt_line(row) for row in rows) + FLUSH


def _read_report(
    packets: PacketReader, updates: Sequence[RefUpdate], band: SideBand | str
) -> tuple[RefOutcome, ...]:
    lines = packets.lines()
    unpacked = next(lines, b"").decode("utf-8", "replace")
    outcomes: dict[str, RefOutcome] = {}
    for line in lines:
        verdict, _, rest = line.decode("utf-8", "surrogateescape").partition(" ")
        name, _, reason = rest.partition(" ")
        if verdict == "ok":
            outcomes[name] = RefOutcome(name)
        elif verdict == "ng":
            outcomes[name] = _refusal(name, reason, band if isinstance(band, str) else band.said)
    if not unpacked.startswith("unpack "):
        raise RemoteMisbehaved(f"not a report on a push: {unpacked[:60]!r}")
    if unpacked != "unpack ok" and not outcomes:
        words = printable(unpacked.removeprefix("unpack "))
        raise RemoteError(f"the remote could not take the objects: {words}", said=words)
    missing = RefOutcome("", "refused", "the remote did not say what became of it")
    return tuple(
        outcomes.get(update.name, RefOutcome(update.name, missing.code, missing.reason)) for update in updates
    )


def _refusal(name: str, reason: str, said: str) -> RefOutcome:
    code: OutcomeCode = "refused"
    if _BEHIND.search(reason):
        code = "fetch_first"
    elif _MOVED.search(reason):
        code = "moved"
    words = printable(said)
    told = f"{printable(reason)}: {words}" if words and code == "refused" else printable(reason)
    return RefOutcome(name, code, told)
