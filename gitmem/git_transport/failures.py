"""What a failing server or its program means, by its own words."""

from __future__ import annotations

import re
from typing import Final

from gitmem.errors import NotARepository, RemoteDenied, RemoteError, RemoteUnreachable
from gitmem.git_transport.pkt_line import printable

_UNREACHABLE: Final = (
    r"could not resolve|name or service not known|temporary failure in name resolution|connection refused"
    r"|timed out|no route to host|network is unreachable|connection (?:reset|closed)"
    r"|kex_exchange_identification|broken pipe"
)
_ABSENT: Final = (
    r"not a git repository|does not appear to be|repository not exported|repository not found"
    r"|no such (?:repository|file or directory)|not found"
)
_DENIED: Final = (
    r"permission denied|access denied|authentication|not authorized|unauthorized|forbidden"
    r"|could not read (?:username|password)|not allowed"
)
#: What is said, what it is called, and what helps; the first that fits.
_KNOWN: Final = tuple(
    (re.compile(signs, re.IGNORECASE), make, message, hint)
    for signs, make, message, hint in (
        (
            r"host key verification failed|host identification has changed",
            RemoteDenied,
            "the host key of {} is not known or has changed",
            "Connect once by hand with ssh and check its key.",
        ),
        (
            r"command not found|sh: (?:\d+: |line \d+: )?[^ ]+: not found|exec: .*not found",
            RemoteError,
            "a program is missing on the way to {}",
            "Install Git there, or ssh here.",
        ),
        (
            r"dubious ownership",
            RemoteDenied,
            "Git refuses to serve {}",
            "It belongs to another user; `git config --global --add safe.directory` allows it.",
        ),
        (
            _UNREACHABLE,
            RemoteUnreachable,
            "cannot reach {}",
            "Check the network.",
        ),
        (
            _ABSENT,
            NotARepository,
            "there is no Git repository at {}",
            "Check the URL, and that this user may read it.",
        ),
        (
            _DENIED,
            RemoteDenied,
            "{} does not let this user in",
            "Check the key or the stored password for it.",
        ),
    )
)


def failure(shown: str, words: str) -> RemoteError:
    """Return the error for a remote that ended the connection, or said that it failed.

    Args:
        shown: its URL, without a password.
        words: what it, or the program that led to it, said; may be empty.
    """
    said = printable(words)
    details = {"url": shown, **({"said": said} if said else {})}
    told = f": {said}" if said else ""
    for signs, make, message, hint in _KNOWN:
        if signs.search(said):
            return make(f"{message.format(shown)}{told}", hint=hint, **details)
    if not said:
        hint = "Check the URL and the network."
        return RemoteUnreachable(f"{shown} closed the connection", hint=hint, **details)
    return RemoteError(f"{shown} failed{told}", hint="Try again; it is the server that says so.", **details)
