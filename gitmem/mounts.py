"""Which file systems change behind this machine's back: from /proc/self/mountinfo, where there is one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

#: Types whose files other machines, or the host of a container, change without a notification here.
_SHARED: Final = re.compile(
    r"nfs\d?|cifs|smb\w*|afs|9p|ceph|glusterfs|lustre|gpfs|virtiofs|vboxsf|prl_fs|vmhgfs|ncpfs|fuse\.(?!.*snapfuse).*"
)
_OCTAL: Final = re.compile(r"\\([0-7]{3})")
_TABLE: Final = Path("/proc/self/mountinfo")


def shared_mount(path: Path, table: Path = _TABLE) -> str | None:
    """Return the type of the file system that holds `path` if others can change it unseen, else None.

    Args:
        path: absolute, links resolved.
        table: the kernel's list of mounts; without it the answer is None.
    """
    try:
        lines = table.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    best, kind = "", None
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        point = _OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[4])
        # The later of two mounts on one place hides the earlier.
        if path.is_relative_to(point) and len(point) >= len(best):
            best, kind = point, after.split(" ")[0]
    return kind if kind and _SHARED.fullmatch(kind) else None
