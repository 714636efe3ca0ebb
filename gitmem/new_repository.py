"""Makes an empty Git repository without any Git program: all of it or nothing."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

from gitmem.durable_file import sync_folder, write_file

_FOLDERS: Final = ("objects/info", "objects/pack", "refs/heads", "refs/tags", "hooks", "info")
_FILES: Final = {
    "HEAD": "ref: refs/heads/main\n",
    "description": "Unnamed repository; edit this file 'description' to name it.\n",
    "info/exclude": "# Paths that are ignored in this clone only.\n",
}


def init_repository(root: Path) -> None:
    """Make a repository with the unborn branch `main` in `root`, whatever Git is configured to do.

    Leaves everything alone where `root` has a `.git` already.
    """
    git_dir = root / ".git"
    if os.path.lexists(git_dir):
        return
    import shutil  # noqa: PLC0415 - opening a repository imports this module and should not pay for it

    root.mkdir(parents=True, exist_ok=True)
    fresh = root / f".git.{secrets.token_hex(6)}.part"
    try:
        _fill(fresh)
        fresh.rename(git_dir)
        sync_folder(root)
    except OSError:
        # Another process may have been faster; what it made is as good.
        if not git_dir.is_dir():
            raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _fill(folder: Path) -> None:
    for name in _FOLDERS:
        (folder / name).mkdir(parents=True)
    for name, text in {**_FILES, "config": _config(folder)}.items():
        write_file(folder / name, text.encode())


def _config(folder: Path) -> str:
    """Return a configuration that says what the file system can do."""
    probe = folder / "probe"
    probe.touch(mode=0o644)
    probe.chmod(0o744)
    executable = probe.stat().st_mode & 0o100
    settings = ["repositoryformatversion = 0", f"filemode = {'true' if executable else 'false'}"]
    settings += ["bare = false", "logallrefupdates = true"]
    settings += ["ignorecase = true"] if (folder / "PROBE").exists() else []
    probe.unlink()
    return "[core]\n" + "".join(f"\t{setting}\n" for setting in settings)
