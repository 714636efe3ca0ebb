"""Making a home: in nothing, in an empty folder, in a repository with history and uncommitted work."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gitmem.backends.dulwich_repository import init_repository, open_repository
from gitmem.branch_changes import PathChange
from gitmem.config import HomeConfig, mint_home_id, parse_config
from gitmem.drivers import driver_state, install_drivers
from gitmem.durable_file import write_file
from gitmem.errors import RefusedError, UnsupportedFormat, UsageError
from gitmem.git_objects import hash_object
from gitmem.hook_files import HookFiles
from gitmem.identity import agent_identity, clean_identity, operator_identity
from gitmem.layout import CONFIG_FILE, LEDGER, Layout, find_layout
from gitmem.operator_branch import OperatorBranch
from gitmem.redaction import refuse_secret
from gitmem.remotes import SETTINGS
from gitmem.repository import Repository, read_path
from gitmem.subjects import HOME, KIND, format_message, init_subject
from gitmem.templates import render_templates

#: Settings of Git's own that a home shares with whatever was there before; lines missing in them are added.
_RULE_FILES: Final = (".gitattributes", ".gitignore")
_EXCLUDED: Final = f"/{LEDGER}/"


@dataclass(frozen=True, slots=True)
class InitReport:
    """What `init` did.

    Attributes:
        created: paths that were added.
        settings: Git settings that were set, with their values.
        committed: the first commit, or None with `reason`.
        notes: what was left as it is, and why.
        hooks: names of the Git hooks that were put there.
    """

    path: str
    home_id: str
    agent: str
    branch: str
    created: Sequence[str]
    settings: Mapping[str, str]
    committed: str | None
    reason: str | None
    notes: Sequence[str]
    hooks: Sequence[str] = ()


def init_home(path: Path, *, agent: str | None, now: float, hooks: bool = False) -> InitReport:
    """Make `path` an agent home, adding only what is missing.

    Args:
        path: a folder, which is made if it is not there.
        agent: the agent's name; for a home that exists it must be its name or None.
        now: seconds since 1970.
        hooks: put gitmem's Git hooks there too.

    Raises:
        RefusedError: a `ledger/` is there that is not gitmem's.
        UnsupportedFormat: the Git repository there is of a format that gitmem does not read.
        UsageError: the path is a file or a bare repository, or the home exists under another agent's name.
    """
    if path.exists() and not path.is_dir():
        raise UsageError(f"not a folder: {path}")
    if _is_bare(path):
        raise UsageError(f"a bare repository has no files: {path}", hint="Clone it, and name the clone.")
    config = _existing_config(path)
    if config is None and os.path.lexists(path / LEDGER):
        raise RefusedError(
            f"there is a {LEDGER}/ that is not gitmem's",
            hint="Move it away, or choose another folder.",
            path=LEDGER,
        )
    if config is not None and agent is not None and agent != config.agent:
        raise UsageError(f"this home belongs to the agent {config.agent!r}", hint="Leave --agent out.")
    name = clean_identity(agent or "") if agent is not None else None
    if name == "":
        raise UsageError(f"not a name: {agent!r}")
    refuse_secret(name or "", "agent")
    path.mkdir(parents=True, exist_ok=True)
    init_repository(path)
    layout = find_layout(path)
    repository = open_repository(layout)
    try:
        check_git_format(repository)
        report = _fill(layout, repository, config or HomeConfig(mint_home_id(), agent=name or "agent"), now)
        return _with_hooks(report, layout, repository) if hooks else report
    finally:
        repository.close()


def _with_hooks(report: InitReport, layout: Layout, repository: Repository) -> InitReport:
    """Install Git's hooks; a repository that cannot have them is a home all the same."""
    try:
        done = HookFiles(layout, repository).install()
    except (RefusedError, OSError) as error:
        return replace(report, notes=[*report.notes, f"no hooks were installed: {error}"])
    return replace(report, hooks=done.changed, notes=[*report.notes, *done.notes])


def check_git_format(repository: Repository) -> None:
    """See that Git's repository is of the kind that gitmem reads and writes.

    Raises:
        UnsupportedFormat: it is not; what it is stands in `details.format`.
    """
    kind = repository.object_format()
    if kind != "sha1":
        raise UnsupportedFormat(
            f"gitmem cannot use this Git repository: {kind}",
            hint="It needs one with SHA-1, refs as files, and all objects here: not a partial clone.",
            reason="git_format",
            format=kind,
        )


def prepare_git(layout: Layout, repository: Repository) -> dict[str, str]:
    """Set what a home needs in Git's own files, unless it is set already; return what was set.

    Also done at the first open of a clone, which brings none of it.
    """
    settings = dict(SETTINGS)
    branch = repository.head().branch
    if branch is not None:
        settings[layout.branch_setting] = branch.removeprefix("refs/heads/")
    done = {key: value for key, value in settings.items() if repository.config(key) is None}
    for key, value in done.items():
        repository.set_config(key, value)
    _exclude_ledger(layout)
    return done | install_drivers(layout, repository, sys.executable)


def _is_bare(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def _existing_config(path: Path) -> HomeConfig | None:
    try:
        return parse_config((path / CONFIG_FILE).read_bytes())
    except FileNotFoundError:
        return None


def _fill(layout: Layout, repository: Repository, config: HomeConfig, now: float) -> InitReport:
    settings = prepare_git(layout, repository)
    branch_name = repository.config(layout.branch_setting)
    templates = render_templates(agent=config.agent, home_id=config.home_id)
    changes, notes = _missing(layout, repository, templates)
    foreign = [key for key, state in driver_state(repository, sys.executable).items() if state == "foreign"]
    notes += [f"{key} is set to something of your own and was left alone" for key in foreign]
    committed, reason = None, None
    if changes:
        operator = operator_identity(
            repository.config("user.name"), repository.config("user.email"), config.home_id
        )
        branch = OperatorBranch(
            repository,
            layout,
            home_id=config.home_id,
            agent=agent_identity(config.agent, config.home_id),
            operator=operator,
            now=lambda: now,
            branch=branch_name,
        )
        message = format_message(init_subject(), [(KIND, "init"), (HOME, config.home_id)])
        outcome = branch.write(changes, message=message, author=operator, operation="init", turn=None)
        committed, reason = outcome.committed, outcome.reason
    return InitReport(
        str(layout.root),
        config.home_id,
        config.agent,
        branch_name or "",
        [change.path for change in changes],
        settings,
        committed,
        reason,
        notes,
    )


def _missing(
    layout: Layout, repository: Repository, templates: Mapping[str, bytes]
) -> tuple[list[PathChange], list[str]]:
    changes, notes = [], []
    for path, content in templates.items():
        target = layout.root / path
        if path in _RULE_FILES and target.is_file() and not target.is_symlink():
            change, note = _extended(layout, repository, path, content)
            changes += [change] if change else []
            notes += [note] if note else []
        elif not os.path.lexists(target):
            changes.append(PathChange(path, None, content))
        elif not _in_head(repository, path) and path == CONFIG_FILE:
            changes.append(PathChange(path, None, target.read_bytes()))
    return changes, notes


def _extended(
    layout: Layout, repository: Repository, path: str, content: bytes
) -> tuple[PathChange | None, str | None]:
    """Add the rules that a file of Git's lacks, at its end; one with uncommitted edits is left alone."""
    found = (layout.root / path).read_bytes()
    present = {line.strip() for line in found.splitlines()}
    rules = [line for line in content.splitlines() if line.strip() and not line.startswith(b"#")]
    missing = [
        line for line in rules if b" ".join(line.split()) not in {b" ".join(p.split()) for p in present}
    ]
    if not missing:
        return None, None
    blob = hash_object("blob", found)
    if _blob_in_head(repository, path) != blob:
        note = "has uncommitted edits and was left alone; commit them and run `gitmem init` again"
        return None, f"{path} {note}"
    end = b"" if found.endswith(b"\n") or not found else b"\n"
    block = b"\n# gitmem\n" + b"\n".join(missing) + b"\n"
    return PathChange(path, blob, found + end + block), None


def _in_head(repository: Repository, path: str) -> bool:
    return _blob_in_head(repository, path) is not None


def _blob_in_head(repository: Repository, path: str) -> str | None:
    head = repository.head().commit
    if head is None:
        return None
    entry = read_path(repository, repository.read_commit(head).tree, path)
    return entry.id if entry else None


def _exclude_ledger(layout: Layout) -> None:
    """Keep the ledger's copy out of `git status` and `git add` on every branch, also without `.gitignore`."""
    path = layout.common_dir / "info" / "exclude"
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        found = b""
    if _EXCLUDED.encode() in {line.strip() for line in found.splitlines()}:
        return
    end = b"" if found.endswith(b"\n") or not found else b"\n"
    write_file(path, found + end + _EXCLUDED.encode() + b"\n")
