"""Connections over TCP within a deadline, and Git's bare protocol over one."""

from __future__ import annotations

import socket

from gitmem.errors import RemoteUnreachable
from gitmem.git_transport.channel import socket_channel
from gitmem.git_transport.conversation import Begin, Conversation, ServiceName, StreamConversation
from gitmem.git_transport.deadline import Deadline
from gitmem.git_transport.failures import failure
from gitmem.git_transport.pkt_line import pkt_line
from gitmem.remote_url import RemoteUrl


def open_socket(host: str, port: int, deadline: Deadline, shown: str) -> socket.socket:
    """Return a connected socket.

    Raises:
        RemoteUnreachable: no such host, or nothing answers.
        RemoteTimeout: neither, in time.
    """
    seconds = deadline.remaining()
    try:
        connection = deadline.wait_for(lambda: socket.create_connection((host, port), seconds))
    except TimeoutError:
        raise deadline.passed() from None
    except OSError as error:
        reason = error.strerror or str(error)
        message = f"cannot reach {shown}: {reason}"
        raise RemoteUnreachable(message, hint="Check the URL and the network.", url=shown) from error
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def begin_by_socket(url: RemoteUrl) -> Begin:
    """Return what begins conversations over `git://`."""

    def begin(service: ServiceName, deadline: Deadline) -> Conversation:
        connection = open_socket(url.host, url.port or 0, deadline, url.shown)
        channel = socket_channel(connection, deadline, lambda words: failure(url.shown, words))
        try:
            version = b"\0version=2\0" if service == "git-upload-pack" else b""
            request = f"{service} {url.path}\0host={url.authority}\0".encode("utf-8", "surrogateescape")
            channel.write(pkt_line(request + version))
        except BaseException:
            channel.close()
            raise
        return StreamConversation(channel)

    return begin
