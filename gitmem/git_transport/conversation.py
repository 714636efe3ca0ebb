"""A conversation with one service of a server: over one stream, or in questions and answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Literal, Protocol

from gitmem.errors import RemoteError
from gitmem.git_transport.channel import Channel
from gitmem.git_transport.deadline import Deadline
from gitmem.git_transport.pkt_line import FLUSH, Source

ServiceName = Literal["git-upload-pack", "git-receive-pack"]


class Conversation(Protocol):
    """One service of one server."""

    def greeting(self) -> Source:
        """Return what the server says first."""
        ...

    def ask(self, request: Iterable[bytes]) -> Source:
        """Send a request and return the answer to it."""
        ...

    def limit(self, deadline: Deadline) -> None:
        """Set how long what comes next may take."""
        ...

    def close(self) -> None:
        """End it."""
        ...


#: Begins a conversation.
Begin = Callable[[ServiceName, Deadline], Conversation]


class StreamConversation:
    """A conversation over one stream, which remembers."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def greeting(self) -> Source:
        """Return the stream."""
        return self._channel

    def ask(self, request: Iterable[bytes]) -> Source:
        """Send a request and return the stream."""
        for piece in request:
            self._channel.write(piece)
        return self._channel

    def limit(self, deadline: Deadline) -> None:
        """Set how long what comes next may take."""
        self._channel.deadline = deadline

    def close(self) -> None:
        """Say goodbye, so that the server does not take it for a broken connection, and end it."""
        try:
            with suppress(RemoteError):
                self._channel.write(FLUSH)
        finally:
            self._channel.close()
