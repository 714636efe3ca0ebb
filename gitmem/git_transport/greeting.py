"""What a server says first: the version of the protocol, what it can do, and its refs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitmem.errors import RemoteError, RemoteMisbehaved
from gitmem.git_refs import is_ref_name
from gitmem.git_transport.pkt_line import FLUSHED, Mark, PacketReader
from gitmem.remote_repository import RemoteRefs
from gitmem.repository import ABSENT

_ID: Final = re.compile(rb"[0-9a-f]{40}")
_OTHER_ID: Final = re.compile(rb"[0-9a-f]{64}")
_PEELED: Final = "^{}"


class ServerSaysNo(Exception):
    """The server answered with an error of its own; whoever knows the remote makes one for people of it.

    Attributes:
        said: its words.
    """

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.said = said


@dataclass(frozen=True, slots=True)
class Greeting:
    """A server's first words.

    Attributes:
        version: 0, 1 or 2.
        capabilities: values by name; a name alone has an empty value. Of names told twice all values, with
            spaces between them.
        refs: what it shows; in version 2 they are asked for.
        shallow: its history is cut off.
    """

    version: int
    capabilities: Mapping[str, str]
    refs: RemoteRefs = field(default_factory=RemoteRefs)
    shallow: bool = False

    def can(self, name: str) -> bool:
        """Say whether the server knows a capability."""
        return name in self.capabilities


def read_greeting(packets: PacketReader) -> Greeting:
    """Read what a server says first.

    Raises:
        ServerSaysNo: it says that it does not serve this.
        RemoteMisbehaved: that is not Git's protocol.
    """
    first = packets.read()
    if first is FLUSHED:
        return Greeting(0, {})
    if isinstance(first, Mark):
        raise RemoteMisbehaved("not Git's protocol")
    refuse_error(first)
    if first == b"version 2\n":
        capabilities = _capabilities(line.decode("utf-8", "replace") for line in packets.lines())
        _check_format(capabilities)
        return Greeting(2, capabilities)
    version = 0
    if first == b"version 1\n":
        version, first = 1, packets.read()
        if isinstance(first, Mark):
            return Greeting(1, {})
    return _read_refs(version, first, packets)


def read_listed(packets: PacketReader) -> RemoteRefs:
    """Read the answer to `ls-refs` of version 2."""
    refs: dict[str, str] = {}
    peeled: dict[str, str] = {}
    head = None
    for line in packets.lines():
        refuse_error(line)
        name, value, attributes = _listed(line)
        targets = [a.removeprefix("symref-target:") for a in attributes if a.startswith("symref-target:")]
        if name == "HEAD":
            head = next(iter(targets), None)
        elif value is not None and is_ref_name(name):
            refs[name] = value
            for attribute in attributes:
                if attribute.startswith("peeled:"):
                    peeled[name] = _checked(attribute.removeprefix("peeled:").encode())
    return RemoteRefs(refs, head, peeled)


def only(refs: RemoteRefs, prefixes: Sequence[str]) -> RemoteRefs:
    """Return the refs below some prefixes; without any, all."""
    if not prefixes:
        return refs
    wanted = tuple(prefixes)
    return RemoteRefs(
        {name: value for name, value in refs.refs.items() if name.startswith(wanted)},
        refs.head,
        {name: value for name, value in refs.peeled.items() if name.startswith(wanted)},
    )


def refuse_error(line: bytes) -> None:
    """Raise what a server says in a line that begins with ERR."""
    if line.startswith(b"ERR "):
        raise ServerSaysNo(line[4:].decode("utf-8", "replace").strip())


def _read_refs(version: int, first: bytes, packets: PacketReader) -> Greeting:
    head, nul, tail = first.removesuffix(b"\n").partition(b"\0")
    if not nul or not (_ID.match(head) or _OTHER_ID.match(head)):
        raise RemoteMisbehaved(f"not Git's protocol: {first[:40]!r}", hint="Check the URL.")
    capabilities = _capabilities(tail.decode("utf-8", "replace").split())
    _check_format(capabilities)
    refs: dict[str, str] = {}
    peeled: dict[str, str] = {}
    shallow = False
    for line in [head, *packets.lines()]:
        refuse_error(line)
        if line.startswith(b"shallow "):
            shallow = True
            continue
        name = line[41:].decode("utf-8", "surrogateescape")
        value = _checked(line[:40])
        if name.endswith(_PEELED) and is_ref_name(name.removesuffix(_PEELED)):
            peeled[name.removesuffix(_PEELED)] = value
        elif is_ref_name(name) and value != ABSENT:
            refs[name] = value
    symrefs = dict(pair.split(":", 1) for pair in capabilities.get("symref", "").split() if ":" in pair)
    return Greeting(version, capabilities, RemoteRefs(refs, symrefs.get("HEAD"), peeled), shallow)


def _listed(line: bytes) -> tuple[str, str | None, list[str]]:
    fields = line.decode("utf-8", "surrogateescape").split(" ")
    if len(fields) < 2:
        raise RemoteMisbehaved("a damaged list of refs")
    value = None if fields[0] == "unborn" else _checked(fields[0].encode())
    return fields[1], value, fields[2:]


def _capabilities(words: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        name, _, value = word.partition("=")
        found[name] = f"{found[name]} {value}" if name in found else value
    return found


def _check_format(capabilities: Mapping[str, str]) -> None:
    if capabilities.get("object-format", "sha1") != "sha1":
        kind = capabilities["object-format"]
        hint = "A home is SHA-1: git init --bare --object-format=sha1 there."
        raise RemoteError(f"the remote's objects are named by {kind}, not by sha1", hint=hint, format=kind)


def _checked(value: bytes) -> str:
    if not _ID.fullmatch(value):
        raise RemoteMisbehaved("a damaged list of refs")
    return value.decode("ascii")
