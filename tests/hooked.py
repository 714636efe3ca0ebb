"""Homes with gitmem's Git hooks in them, and what a folder of hooks holds, to the last byte."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

from originals import copy_of

from fixtures import make_repo
from gitmem.backends.dulwich_repository import open_repository
from gitmem.hook_files import CLIENT, HookFiles, HookReport
from gitmem.init import init_home
from gitmem.layout import Layout, find_layout

#: When homes are made.
NOW = 1_772_442_000.0


def make_home(path: Path, *, hooks: bool = True) -> Path:
    """Make an agent home with an operator's identity and, by default, gitmem's hooks."""
    if path.exists():
        _create(path, hooks)
    else:
        copy_of(("hooked", hooks), lambda at: _create(at, hooks), path)
    return path


def _create(path: Path, hooks: bool) -> None:
    make_repo(path)
    init_home(path, agent="aria", now=NOW, hooks=hooks)


def act(
    repo: Path, what: str, *, names: tuple[str, ...] = CLIENT, python: str = sys.executable
) -> HookReport:
    """Call `install`, `uninstall` or `states` on the hooks of a repository, a bare one too."""
    bare = (repo / "HEAD").is_file()
    layout = Layout(repo, repo, repo) if bare else find_layout(repo)
    repository = open_repository(layout)
    try:
        report: HookReport = getattr(HookFiles(layout, repository, names, python), what)()
        return report
    finally:
        repository.close()


def write_hook(path: Path, text: str, mode: int = 0o755) -> Path:
    """Write an operator's hook, making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def picture(folder: Path) -> dict[str, tuple[str, int, bytes]]:
    """Return what stands below a folder: kind, permissions and bytes of each name; links are not followed."""
    found = {}
    for parent, folders, names in os.walk(folder, followlinks=False):
        for name in [*folders, *names]:
            path = Path(parent) / name
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                content = str(path.readlink()).encode()
            else:
                content = b"" if stat.S_ISDIR(mode) else path.read_bytes()
            found[str(path.relative_to(folder))] = (stat.filemode(mode)[0], stat.S_IMODE(mode), content)
    return found


def git_bare_path(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run git as a program with a window does: with a bare PATH and hardly any environment."""
    return subprocess.run(
        ["/usr/bin/env", "-i", "PATH=/usr/bin:/bin", f"HOME={cwd.parent}", "git", *args],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
