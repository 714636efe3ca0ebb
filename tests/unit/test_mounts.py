"""Which mounts are polled because others change them unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.mounts import shared_mount

TABLE = r"""
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:40 / /mnt/net rw shared:5 - nfs4 server:/x rw,vers=4.2
31 30 0:41 / /mnt/net/local rw - tmpfs tmpfs rw
32 22 0:42 / /mnt/my\040disk rw - fuse.sshfs me@host:/ rw
33 22 0:43 / /mnt/usb rw - fuseblk /dev/sdb1 rw
34 22 0:44 / /mnt/over rw - ext4 /dev/vdb rw
35 22 0:45 / /mnt/over rw master:3 - 9p host rw
nonsense
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me", None),
        ("/mnt/net/home", "nfs4"),
        ("/mnt/network", None),
        ("/mnt/net/local/home", None),
        ("/mnt/my disk/home", "fuse.sshfs"),
        ("/mnt/usb/home", None),
        ("/mnt/over/home", "9p"),
    ],
)
def test_shared_mounts_are_named(tmp_path: Path, path: str, kind: str | None) -> None:
    """Where notifications do not tell of other machines the reason is shown (OPEN-WATCH-08)."""
    table = tmp_path / "mountinfo"
    table.write_text(TABLE)
    assert shared_mount(Path(path), table) == kind


def test_without_a_table_nothing_is_claimed(tmp_path: Path) -> None:
    """Other systems have no such list."""
    assert shared_mount(tmp_path, tmp_path / "none") is None
