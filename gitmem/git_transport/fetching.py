"""Asking for refs and for packs, in the versions 0, 1 and 2 of Git's protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitmem import __version__
from gitmem.errors import RemoteError, RemoteMisbehaved
from gitmem.git_transport.conversation import Conversation
from gitmem.git_transport.greeting import Greeting, only, read_greeting, read_listed, refuse_error
from gitmem.git_transport.pkt_line import (
    DELIMITED,
    DELIMITER,
    FLUSH,
    FLUSHED,
    Mark,
    PacketReader,
    SideBand,
    Source,
    pkt_line,
)
from gitmem.remote_repository import MOST_HAVES, RemoteRefs, TransferLimits

_AGENT: Final = f"agent=gitmem/{__version__}"
#: Beyond so many prefixes all refs are asked for.
_MOST_PREFIXES: Final = 1000


@dataclass(slots=True)
class UploadPack:
    """The service from which one fetches.

    Attributes:
        spent: nothing more can be asked in this conversation.
        shallow: the server said that its history is cut off.
    """

    conversation: Conversation
    limits: TransferLimits
    greeting: Greeting = field(init=False)
    spent: bool = False
    shallow: bool = False

    def __post_init__(self) -> None:
        self.greeting = read_greeting(PacketReader(self.conversation.greeting(), self.limits.answer_bytes))
        self.shallow = self.greeting.shallow

    def refs(self, prefixes: Sequence[str]) -> RemoteRefs:
        """Return the server's refs below some prefixes."""
        if self.greeting.version < 2:
            return only(self.greeting.refs, prefixes)
        lines = ["peel", "symrefs"]
        if "unborn" in self.greeting.capabilities.get("ls-refs", ""):
            lines.append("unborn")
        if prefixes and len(prefixes) < _MOST_PREFIXES:
            lines += [f"ref-prefix {prefix}" for prefix in ("HEAD", *prefixes)]
        answer = self.conversation.ask(_command("ls-refs", lines))
        return only(read_listed(PacketReader(answer, self.limits.answer_bytes)), prefixes)

    def pack(self, wants: Sequence[str], haves: Sequence[str], edges: Sequence[str]) -> Source:
        """Ask for a pack and return its bytes.

        Args:
            wants: ids that the server shows.
            haves: what is here, newest first.
            edges: commits here whose parents are missing, because the own history is cut off.
        """
        self.spent = True
        known = list(dict.fromkeys(haves))[:MOST_HAVES]
        if self.greeting.version < 2:
            return self._old_pack(wants, known, edges)
        lines = ["thin-pack", "no-progress", "ofs-delta"]
        lines += [f"want {want}" for want in wants]
        lines += [f"shallow {edge}" for edge in edges]
        lines += [*(f"have {have}" for have in known), "done"]
        answer = self.conversation.ask(_command("fetch", lines))
        packets = PacketReader(answer, self.limits.answer_bytes)
        self._find_section(packets)
        return SideBand(packets, self._most)

    @property
    def _most(self) -> int:
        # What surrounds the pack comes on top of it; the pack itself is measured where it arrives.
        return 2 * self.limits.pack_bytes + self.limits.answer_bytes

    def _old_pack(self, wants: Sequence[str], haves: Sequence[str], edges: Sequence[str]) -> Source:
        wished = ("side-band-64k", "ofs-delta", "thin-pack", "no-progress")
        chosen = [name for name in wished if self.greeting.can(name)]
        lines = [f"want {want}" for want in wants]
        lines[0] += f" {' '.join([*chosen, _AGENT])}"
        lines += [f"shallow {edge}" for edge in edges]
        request = b"".join(pkt_line(line.encode() + b"\n") for line in lines) + FLUSH
        request += b"".join(pkt_line(f"have {have}\n".encode()) for have in haves) + pkt_line(b"done\n")
        answer = self.conversation.ask([request])
        packets = PacketReader(answer, self.limits.answer_bytes)
        # Without an extension for more there is one answer: the first common commit, or none.
        line = packets.read()
        if isinstance(line, Mark):
            line = packets.read()
        if isinstance(line, Mark):
            raise RemoteMisbehaved("no answer to what was asked for")
        refuse_error(line)
        if not line.startswith((b"ACK ", b"NAK")):
            raise RemoteMisbehaved(f"not an answer to what was asked for: {line[:40]!r}")
        return SideBand(packets, self._most) if "side-band-64k" in chosen else answer

    def _find_section(self, packets: PacketReader) -> None:
        while True:
            packet = packets.read()
            if packet is FLUSHED:
                raise RemoteError("the remote sent no pack")
            if packet is DELIMITED:
                continue
            if isinstance(packet, bytes):
                refuse_error(packet)
                self.shallow |= packet.startswith(b"shallow ")
                if packet == b"packfile\n":
                    return


def _command(name: str, lines: Sequence[str]) -> Iterator[bytes]:
    head = pkt_line(f"command={name}\n".encode()) + pkt_line(_AGENT.encode() + b"\n") + DELIMITER
    body = b"".join(pkt_line(line.encode("utf-8", "surrogateescape") + b"\n") for line in lines)
    yield head + body + FLUSH
