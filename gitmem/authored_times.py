"""When authored files and their parts came to be: by a commit where Git knows, else by the file's time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gitmem.errors import InvalidRecord
from gitmem.git_objects import hash_object
from gitmem.times import format_time


@dataclass(frozen=True, slots=True)
class AuthoredTimes:
    """What the first-parent history of a commit tells of the files it has; times are seconds since 1970.

    Attributes:
        files: path -> its blob, and when it was last changed.
        entries: path of a store -> id of an entry -> when it was brought in; None where history is cut off.
        digest: of all that the times depend on beside the files on disk, as `digest_of` gives it; "" where
            nothing is known.
    """

    files: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    entries: Mapping[str, Mapping[str, int | None]] = field(default_factory=dict)
    digest: str = ""

    def of_file(self, path: str, blobs: str, mtime_ns: int) -> str:
        """Return when a file was last changed.

        Args:
            path: relative to the work tree.
            blobs: of what is on disk, as `blobs_of` gives them; what is not committed is as old as the file.
            mtime_ns: of the file, nanoseconds.
        """
        blob, seconds = self.files.get(path, ("", 0))
        return format_time(seconds) if blob and blob in blobs.split() else _file_time(mtime_ns)

    def of_entry(self, path: str, entry_id: str, mtime_ns: int) -> str:
        """Return when an entry was brought into the store at `path`."""
        seconds = self.entries.get(path, {}).get(entry_id)
        return _file_time(mtime_ns) if seconds is None else format_time(seconds)

    def mark_of(self, path: str, blobs: str, mtime_ns: int) -> str:
        """Return what stands for all times of a file: equal marks, and equal content, are equal times."""
        entries = self.entries.get(path)
        if not entries:
            return self.of_file(path, blobs, mtime_ns)
        known = hashlib.sha256(json.dumps(sorted(entries.items())).encode()).hexdigest()[:16]
        is_known = self.files.get(path, ("", 0))[0] in blobs.split() and None not in entries.values()
        return known if is_known else f"{known} {_file_time(mtime_ns)}"


#: Where no history is known, or none yet.
UNKNOWN: Final = AuthoredTimes()


def digest_of(head: str | None, end: str = "") -> str:
    """Return what the times of a commit depend on.

    Args:
        head: the commit; None where there is none yet.
        end: where its history is cut off, if it is.
    """
    return f"{head or 'unborn'} {end}"


def is_of(digest: str, head: str | None) -> bool:
    """Say whether times are those of a commit; how far its history goes is not looked at."""
    return digest.partition(" ")[0] == (head or "unborn")


def blobs_of(content: bytes) -> str:
    """Return the ids under which Git may have a file's content: as it is, and with line ends normalised."""
    found = [hash_object("blob", content)]
    if b"\r\n" in content:
        found.append(hash_object("blob", content.replace(b"\r\n", b"\n")))
    return " ".join(found)


def commit_time(author_time: int, commit_time: int) -> int | None:
    """Return when a commit's change was made; None where neither of its times can be.

    The author's time survives a rebase. It is never later than the commit's, unless a clock was wrong.
    """
    seconds = min(author_time, commit_time) if author_time > 0 else commit_time
    try:
        format_time(seconds)
    except InvalidRecord:
        return None
    return seconds if seconds > 0 else None


def _file_time(mtime_ns: int) -> str:
    try:
        return format_time(mtime_ns / 1e9)
    except InvalidRecord:
        return format_time(0)
