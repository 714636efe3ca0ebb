"""Git's framing: lines that begin with their length in four hexadecimal digits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

from gitmem.errors import RemoteError, RemoteMisbehaved

FLUSH: Final = b"0000"
DELIMITER: Final = b"0001"
_LONGEST: Final = 65520
_HEAD: Final = 4


class Source(Protocol):
    """Something that bytes come from."""

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, at least one; none at the end."""
        ...

    def read_exactly(self, size: int) -> bytes:
        """Return `size` bytes, or raise a `RemoteError`."""
        ...


class Mark:
    """A packet without content."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        """Return its name."""
        return self._name


FLUSHED: Final = Mark("flush")
DELIMITED: Final = Mark("delimiter")
ENDED: Final = Mark("response end")
_MARKS: Final = {0: FLUSHED, 1: DELIMITED, 2: ENDED}

Packet = bytes | Mark


def pkt_line(content: bytes) -> bytes:
    """Return content with its length before it."""
    return b"%04x%s" % (len(content) + _HEAD, content)


class PacketReader:
    """Reads packets.

    Args:
        source: where they come from.
        most: bytes that may come, packs aside, before it is too much.
    """

    def __init__(self, source: Source, most: int) -> None:
        self.source = source
        self._left = most

    def read(self) -> Packet:
        """Return the next packet.

        Raises:
            RemoteMisbehaved: no packet, or too much.
            RemoteError: the remote says that it failed.
        """
        head = self.source.read_exactly(_HEAD)
        try:
            size = int(head, 16)
        except ValueError:
            hint = "Check the URL; over ssh, that no start-up file of the shell there prints anything."
            raise RemoteMisbehaved(f"not Git's protocol: {head!r}", hint=hint) from None
        if size in _MARKS:
            return _MARKS[size]
        if not _HEAD <= size <= _LONGEST:
            raise RemoteMisbehaved(f"a packet of {size} bytes")
        self._left -= size
        if self._left < 0:
            raise RemoteMisbehaved("the remote's answer is longer than allowed")
        return self.source.read_exactly(size - _HEAD)

    def lines(self) -> Iterator[bytes]:
        """Yield packets without their line feeds up to the next one without content."""
        while not isinstance(packet := self.read(), Mark):
            yield packet.removesuffix(b"\n")


class SideBand:
    """The main stream out of three that a server mixes: data, progress, and its last words.

    Args:
        packets: the mixed stream.
        most: bytes that may come through it.
    """

    def __init__(self, packets: PacketReader, most: int) -> None:
        self._packets = PacketReader(packets.source, most)
        self._ahead = b""
        self._ended = False
        self._said = bytearray()

    @property
    def said(self) -> str:
        """What the server said beside the data, the last of it."""
        return self._said.decode("utf-8", "replace")

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes of data, none at the end."""
        while not self._ahead and not self._ended:
            self._take()
        piece, self._ahead = self._ahead[:size], self._ahead[size:]
        return piece

    def read_exactly(self, size: int) -> bytes:
        """Return `size` bytes of data."""
        out = b""
        while len(out) < size:
            piece = self.read(size - len(out))
            if not piece:
                raise RemoteMisbehaved("the remote's answer breaks off", said=self.said[-300:])
            out += piece
        return out

    def _take(self) -> None:
        packet = self._packets.read()
        if isinstance(packet, Mark):
            self._ended = True
        elif packet[:1] == b"\x01":
            self._ahead = packet[1:]
        elif packet[:1] == b"\x02":
            self._said += packet[1:]
            del self._said[:-4096]
        elif packet[:1] == b"\x03":
            words = printable(packet[1:].decode("utf-8", "replace"))
            raise RemoteError(f"the remote failed: {words}", said=words)
        else:
            raise RemoteMisbehaved("not one of Git's three streams")


def printable(text: str) -> str:
    """Return what a server says as one line that no terminal takes for a command."""
    words = " ".join(text.split())
    return "".join(sign for sign in words if sign.isprintable())[:500]
