"""What stands behind the entries of Git's index file, and what of it stays true beside a changed entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

#: Bytes of the checksum at the file's end.
TRAILER: Final = 20
DAMAGED: Final = "the staging area is damaged"

# In `UNTR`, between the identity and the id of info/exclude: two stat records and a word of flags.
_UNTRACKED_IDS_AT: Final = 36 + 36 + 4


class StagingRefused(Exception):
    """The staging area cannot take a change; nothing was touched.

    Args:
        reason: in words for a receipt, for example `unsupported index feature: split index`.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def split_extensions(index: bytes, at: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield signature and content of each extension.

    Args:
        index: the whole file.
        at: where the entries end.

    Raises:
        StagingRefused: they do not fill the file up to its checksum.
    """
    stop = len(index) - TRAILER
    while at < stop:
        size = int.from_bytes(index[at + 4 : at + 8], "big")
        if at + 8 + size > stop:
            raise StagingRefused(DAMAGED)
        yield index[at : at + 4], index[at + 8 : at + 8 + size]
        at += 8 + size


def check_extensions(index: bytes, at: int) -> None:
    """Refuse a file that cannot be read right without knowing one of its extensions.

    Raises:
        StagingRefused: it has such an extension.
    """
    for signature, _ in split_extensions(index, at):
        if signature == b"link":
            raise StagingRefused("unsupported index feature: split index")
        if not b"A" <= signature[:1] <= b"Z" and signature != b"sdir":
            raise StagingRefused(f"unsupported index feature: {signature.decode('ascii', 'replace')}")


def keep_extension(
    signature: bytes, content: bytes, paths: Sequence[bytes], *, reshaped: bool
) -> bytes | None:
    """Return an extension as it may stand beside the changed entries, None to leave it out."""
    if signature == b"TREE":
        return _invalidate_trees(content, paths)
    if signature == b"UNTR":
        return _distrust_untracked(content) if reshaped else content
    if signature == b"FSMN":
        return None if reshaped else content
    # The rest is optional by its name: EOIE and IEOT hold offsets that are wrong now, others are not known.
    return content if signature in (b"REUC", b"sdir") else None


def resolved_sides(content: bytes, path: bytes) -> tuple[str, str] | None:
    """Return the blob ids of ours and theirs of a path that was unmerged, as the extension `REUC` holds them.

    An entry is a path, three modes in octal, each ended by NUL, and the ids of those that are not zero.
    """
    at = 0
    while at < len(content):
        name, *modes, rest = content[at:].split(b"\0", 4)
        if len(modes) != 3:
            return None
        at = len(content) - len(rest)
        ids: list[str | None] = []
        for mode in modes:
            has_id = int(mode, 8) != 0
            ids.append(content[at : at + 20].hex() if has_id else None)
            at += 20 * has_id
        if name == path:
            _, ours, theirs = ids
            return (ours, theirs) if ours and theirs else None
    return None


def _invalidate_trees(content: bytes, paths: Sequence[bytes]) -> bytes | None:
    """Forget the ids of the cached trees above `paths`; None if the cache cannot be kept."""
    stale = {path[:cut] for path in paths for cut in range(len(path)) if path[cut : cut + 1] == b"/"} | {b""}
    try:
        result, at = _invalidate_node(content, 0, b"", stale, set(paths))
    except (IndexError, ValueError):
        return None
    return result if at == len(content) else None


def _invalidate_node(
    content: bytes, at: int, prefix: bytes, stale: set[bytes], files: set[bytes]
) -> tuple[bytes, int]:
    name_end = content.index(0, at)
    line_end = content.index(b"\n", name_end)
    entries, children = (int(word) for word in content[name_end + 1 : line_end].split(b" "))
    name = content[at:name_end]
    path = prefix + name
    if path and path in files:
        raise ValueError("a cached folder where a file is staged")
    at = line_end + 1
    identity = content[at : at + 20] if entries >= 0 else b""
    at += len(identity)
    if path in stale:
        entries, identity = -1, b""
    below = []
    for _ in range(children):
        node, at = _invalidate_node(content, at, path + b"/" if path else b"", stale, files)
        below.append(node)
    return name + b"\0%d %d\n" % (entries, children) + identity + b"".join(below), at


def _distrust_untracked(content: bytes) -> bytes | None:
    """Make Git look at every folder again, with the untracked cache still switched on."""
    try:
        length, at = read_varint(content, 0)
    except IndexError:
        return None
    at += length + _UNTRACKED_IDS_AT
    if at + 20 > len(content):
        return None
    return content[:at] + bytes(byte ^ 0xFF for byte in content[at : at + 20]) + content[at + 20 :]


def read_varint(content: bytes, at: int) -> tuple[int, int]:
    """Return Git's offset-encoded number at `at`, and where it ends."""
    byte = content[at]
    value = byte & 127
    while byte & 128:
        at += 1
        byte = content[at]
        value = (value + 1 << 7) + (byte & 127)
    return value, at + 1


def write_varint(value: int) -> bytes:
    """Encode a number as `read_varint` reads it."""
    encoded = [value & 127]
    while value := value >> 7:
        value -= 1
        encoded.append(128 | value & 127)
    return bytes(reversed(encoded))
