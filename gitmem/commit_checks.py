"""What a plain `git commit` is about to bring into a home, judged as it is staged, not as it lies on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.cat_file import (
    EMPTY_TREE,
    CatFile,
    StagedChange,
    config_values,
    resolved_sides,
    run_git,
    staged_changes,
)
from gitmem.config import HomeConfig, parse_config
from gitmem.content_checks import FIXED_FILES, GIT_FILES, CheckFinding, check_file
from gitmem.errors import ObjectMissing, UnsupportedFormat
from gitmem.findings import ALLOW_SETTING, split_allowed
from gitmem.layout import CONFIG_FILE, EPISODES, LEDGER, MANAGED_FILES, MANAGED_FOLDERS, is_managed
from gitmem.repository import LINK_MODE, SUBMODULE_MODE

#: Whom a home belongs to whose `gitmem.toml` nobody can read; only its limits count, and they are the usual.
_UNKNOWN: Final = HomeConfig("h" + "0" * 15)


def check_staged(folder: Path | None = None) -> list[CheckFinding]:
    """Return what speaks against committing what is staged; nothing where there is no home.

    Args:
        folder: the top of the work tree; by default the current folder, as a hook has it.
    """
    head = (
        (run_git("rev-parse", "--verify", "--quiet", "HEAD^{commit}", folder=folder) or b"").decode().strip()
    )
    with CatFile(folder) as objects:
        config = _config(objects, head)
        if config is None:
            return []
        changes = [change for change in staged_changes(head or EMPTY_TREE, folder) if _concerns(change.path)]
        if not changes:
            return []
        kept = _kept_of_others(folder)
        allowed = split_allowed(" ".join(config_values(ALLOW_SETTING, folder)[-1:]))
        return [
            finding
            for change in changes
            if _is_judged(change, kept)
            for finding in _check(objects, change, config, allowed, folder)
        ]


def _config(objects: CatFile, head: str) -> HomeConfig | None:
    """Return the home's facts as they will be with this commit; None where there is no home."""
    is_home = False
    for name in (f":{CONFIG_FILE}", f"{head}:{CONFIG_FILE}") if head else (f":{CONFIG_FILE}",):
        try:
            content = objects.read(name)[1]
        except ObjectMissing:
            continue
        is_home = True
        with suppress(UnsupportedFormat):
            return parse_config(content)
    return _UNKNOWN if is_home else None


def _concerns(path: str) -> bool:
    top = path.split("/", 1)[0]
    return is_managed(path) or top == LEDGER or top in MANAGED_FILES or path in GIT_FILES


def _kept_of_others(folder: Path | None) -> frozenset[tuple[str, str | None]] | None:
    """Return which paths a merge under way has otherwise than the commits it merges; None without a merge.

    What another side has committed is in history and was judged there; only its episodes are looked at.
    """
    raw = run_git("rev-parse", "--git-path", "MERGE_HEAD", folder=folder)
    if raw is None:
        return None
    path = Path(folder or ".") / raw.decode("utf-8", "surrogateescape").rstrip("\n")
    try:
        others = path.read_text("ascii").split()
    except (OSError, UnicodeDecodeError):
        return None
    sets = [{(change.path, change.new) for change in staged_changes(other, folder)} for other in others]
    return frozenset.intersection(*map(frozenset, sets)) if sets else None


def _is_judged(change: StagedChange, own: frozenset[tuple[str, str | None]] | None) -> bool:
    if own is None or (change.path, change.new) in own:
        return True
    return change.path.startswith((f"{EPISODES}/", f"{LEDGER}/", CONFIG_FILE))


def _check(
    objects: CatFile,
    change: StagedChange,
    config: HomeConfig,
    allowed: frozenset[str],
    folder: Path | None,
) -> Iterator[CheckFinding]:
    misfit = _kind_fault(change)
    if misfit is not None:
        yield misfit
    if misfit is not None or change.mode == SUBMODULE_MODE:
        return
    content = None if change.new is None else objects.read(change.new)[1]
    ids = resolved_sides(change.path, folder) if content is not None and b"<<<<<<<" in content else None
    sides = None if ids is None else (objects.read(ids[0])[1], objects.read(ids[1])[1])
    before = _before(objects, change)
    yield from check_file(change.path, content, before, config, allowed, sides=sides)


def _kind_fault(change: StagedChange) -> CheckFinding | None:
    """Say what is wrong with a path that is no file any more, or is an episode of another mode."""
    path = change.path
    if change.mode == LINK_MODE and is_managed(path):
        fix = "Put the file itself there: links are never followed."
        return CheckFinding(path, None, "link", "a link among the home's files is not read", fix)
    if change.mode == SUBMODULE_MODE and (path in FIXED_FILES or path in MANAGED_FOLDERS):
        return CheckFinding(
            path, None, "place", "another repository stands in its place", "Put it elsewhere."
        )
    is_episode = path.startswith(f"{EPISODES}/") and change.old is not None and change.new is not None
    if is_episode and (change.old == change.new or change.mode == SUBMODULE_MODE):
        fix = f"Take it back: git checkout HEAD -- '{path}'"
        what = "an episode is an account of what was: its mode and kind do not change either"
        return CheckFinding(path, None, "episode", what, fix)
    return None


def _before(objects: CatFile, change: StagedChange) -> bytes | None:
    try:
        return None if change.old is None else objects.read(change.old)[1]
    except ObjectMissing:
        return None  # a submodule was here, or a clone without this blob
