"""A two-way stream of bytes to a server, over a socket or the pipes of a child process."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Final, cast

from gitmem.errors import RemoteError, RemoteUnreachable
from gitmem.git_transport.deadline import Deadline

_PIECE: Final = 1 << 16
#: How much of what a child says is kept for a message.
_MOST_WORDS: Final = 4096
#: How much a server may say while it is still being sent to.
_MOST_AHEAD: Final = 16 << 20
#: How long a child may take to end by itself once its input is closed.
_FAREWELL: Final = 1.0

_READABLE: Final = select.POLLIN | select.POLLHUP | select.POLLERR

Explain = Callable[[str], RemoteError]


class Channel:
    """Reads and writes within a deadline, and ends what serves it.

    Args:
        inlet: descriptor to read from; it and the others are made non-blocking.
        outlet: descriptor to write to.
        deadline: for the call in progress; another call sets its own.
        explain: makes the error for a stream that ended too soon, from what was said on `words`.
        words: descriptor of the child's messages.
        release: closes everything.
    """

    def __init__(
        self,
        inlet: int,
        outlet: int,
        deadline: Deadline,
        *,
        explain: Explain,
        words: int | None = None,
        release: Callable[[], None],
    ) -> None:
        self._inlet = inlet
        self._outlet = outlet
        self._words = words
        # Also when a remote is dropped without `close`: no child may stay behind.
        self._release = weakref.finalize(self, release)
        self._explain = explain
        self._ahead = bytearray()
        self._ended = False
        self._said = bytearray()
        self.deadline = deadline
        for descriptor in {inlet, outlet, *([] if words is None else [words])}:
            os.set_blocking(descriptor, False)

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, at least one; none at the end of the stream."""
        while not self._ahead and not self._ended:
            self._wait(writing=False)
        piece = bytes(self._ahead[:size])
        del self._ahead[:size]
        return piece

    def read_exactly(self, size: int) -> bytes:
        """Return `size` bytes.

        Raises:
            RemoteError: the stream ended before.
        """
        out = bytearray()
        while len(out) < size:
            piece = self.read(size - len(out))
            if not piece:
                raise self.broken()
            out += piece
        return bytes(out)

    def write(self, content: bytes) -> None:
        """Write everything; what the server says meanwhile is kept for `read`.

        Where the server hears no more but has said why, nothing more is written.
        """
        view = memoryview(content)
        while view:
            if self._wait(writing=True):
                try:
                    view = view[os.write(self._outlet, view[:_PIECE]) :]
                except BlockingIOError:
                    continue
                except (BrokenPipeError, ConnectionError):
                    if self._has_more():
                        return
                    raise self.broken() from None

    def broken(self) -> RemoteError:
        """Return the error for a stream that ended too soon."""
        with suppress(RemoteError):
            self._listen()
        return self._explain(self._said.decode("utf-8", "replace"))

    def close(self) -> None:
        """End the connection and the child."""
        self._release()

    def _wait(self, *, writing: bool) -> bool:
        """Wait for anything to happen; say whether there is room to write."""
        poll = select.poll()
        if not self._ended:
            poll.register(self._inlet, select.POLLIN)
        if self._words is not None:
            poll.register(self._words, select.POLLIN)
        if writing:
            both = select.POLLIN | select.POLLOUT if self._outlet == self._inlet else select.POLLOUT
            poll.register(self._outlet, both)
        happened = dict(poll.poll(self.deadline.remaining() * 1000))
        if not happened:
            self.deadline.remaining()
        if self._words is not None and happened.get(self._words, 0) & _READABLE:
            self._hear()
        if not self._ended and happened.get(self._inlet, 0) & _READABLE:
            self._take_in(writing=writing)
        return bool(happened.get(self._outlet, 0) & (select.POLLOUT | select.POLLERR | select.POLLHUP))

    def _has_more(self) -> bool:
        """Say whether the server said something that was not read yet, now that it has ended."""
        while not self._ahead and not self._ended:
            self._wait(writing=False)
        return bool(self._ahead)

    def _take_in(self, *, writing: bool) -> None:
        try:
            piece = os.read(self._inlet, _PIECE)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        self._ended = not piece
        self._ahead += piece
        if writing and len(self._ahead) > _MOST_AHEAD:
            raise RemoteUnreachable("the remote talks without listening")

    def _hear(self) -> None:
        try:
            piece = os.read(cast("int", self._words), _PIECE)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self._words = None
        self._said += piece
        del self._said[:-_MOST_WORDS]

    def _listen(self) -> None:
        """Hear the last words of a child whose stream has ended."""
        while self._words is not None:
            poll = select.poll()
            poll.register(self._words, select.POLLIN)
            if not poll.poll(min(self.deadline.remaining(), _FAREWELL) * 1000):
                return
            self._hear()


def socket_channel(connection: socket.socket, deadline: Deadline, explain: Explain) -> Channel:
    """Return a channel over a connected socket, which it closes."""

    def release() -> None:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()

    number = connection.fileno()
    return Channel(number, number, deadline, explain=explain, release=release)


def child_channel(process: subprocess.Popen[bytes], deadline: Deadline, explain: Explain) -> Channel:
    """Return a channel over the pipes of a child, which leads a process group and ends with it."""
    pipes = [cast("IO[bytes]", pipe) for pipe in (process.stdin, process.stdout, process.stderr)]
    into, out, words = (pipe.fileno() for pipe in pipes)
    return Channel(
        out, into, deadline, explain=explain, words=words, release=lambda: end_child(process, _FAREWELL)
    )


def end_child(process: subprocess.Popen[bytes], farewell: float = 0.0) -> None:
    """End a child and all that it started; first it may end by itself, because its input is closed.

    Args:
        process: the leader of a process group.
        farewell: seconds for which it is waited for.
    """
    with suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
    try:
        process.wait(farewell)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        process.wait()
