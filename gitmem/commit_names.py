"""Commits by Git's names for them: an id or its beginning, HEAD, branches, tags, and what is before these."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

from gitmem.errors import GitmemError, NotFound
from gitmem.git_objects import parse_tag
from gitmem.repository import Commit, Repository

_ID: Final = re.compile(r"[0-9a-f]{4,40}")
#: Digits of an id that Git shows at least.
_SHOWN: Final = 7
#: What gitrevisions(7) calls `<rev>~<n>` and `<rev>^<n>`, any number of times.
_STEPS: Final = re.compile(r"(?P<base>[^~^]+)(?P<steps>(?:[~^][0-9]{0,6})*)")
_STEP: Final = re.compile(r"([~^])([0-9]*)")
#: What git-check-ref-format(1) forbids, as far as it matters for reading: no name leaves the folder of refs.
_NO_REF: Final = re.compile(r"[\x00-\x20\x7f:?*\[\\]|\.\.|@\{|//|^[/.-]|[/.]$|/\.|\.lock(/|$)")
#: Bytes of a name in a folder, as file systems have it.
_LONGEST: Final = 255
_HEAD: Final = ("HEAD", "@")
#: Where a short name is looked for, in Git's order.
_FOLDERS: Final = ("", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/")


def is_commit_id(text: str) -> bool:
    """Say whether a text is the id of a commit or its beginning; digits alone can be a time."""
    return _ID.fullmatch(text) is not None and (len(text) == 40 or not text.isdigit())


def may_be_commit_id(text: str) -> bool:
    """Say whether a text can be the id of a commit or its beginning, as Git shows it."""
    return _ID.fullmatch(text) is not None and (len(text) >= _SHOWN or not text.isdigit())


def may_be_words(text: str) -> bool:
    """Say whether a text that names no commit need not have been meant for one, as HEAD~9 is."""
    parts = _STEPS.fullmatch(text)
    return parts is None or not (parts["steps"] or parts["base"] in _HEAD or is_commit_id(parts["base"]))


def find_commit(repository: Repository, name: str, lines: Iterable[str]) -> Commit:
    """Return the commit that a text names.

    Args:
        repository: the home's.
        name: an id, or the beginning of one on HEAD's branch or a turn line; HEAD, a branch or a tag; each
            with any number of `~N` and `^N` behind it.
        lines: tips of the turn lines.

    Raises:
        NotFound: there is none here.
    """
    parts = _STEPS.fullmatch(name)
    found = None if parts is None else _start(repository, parts["base"], lines)
    for kind, count in _STEP.findall(parts["steps"]) if parts is not None else ():
        step = _back if kind == "~" else _parent
        found = None if found is None else step(repository, found, count)
    if found is None:
        raise NotFound(
            f"no commit {name[:80]} here", hint="Fetch it, or take one from `gitmem log`.", commit=name[:80]
        )
    return found


def _start(repository: Repository, base: str, lines: Iterable[str]) -> Commit | None:
    found = _by_id(repository, base, lines) if may_be_commit_id(base) else None
    if found is not None:
        return found
    if base in _HEAD:
        return _peeled(repository, repository.head().commit)
    if _NO_REF.search(base) or max(len(os.fsencode(part)) for part in base.split("/")) > _LONGEST:
        return None
    names = [f"{folder}{base}" for folder in _FOLDERS]
    values = (repository.read_ref(name) for name in names if name.startswith("refs/"))
    return _peeled(repository, next((value for value in values if value is not None), None))


def _by_id(repository: Repository, name: str, lines: Iterable[str]) -> Commit | None:
    if len(name) == 40 and repository.contains(name):
        return _peeled(repository, name)
    tips = [repository.head().commit, *lines]
    commits = (commit for tip in tips if tip for commit in repository.walk_first_parents(tip))
    return next((commit for commit in commits if commit.id.startswith(name)), None)


def _peeled(repository: Repository, object_id: str | None) -> Commit | None:
    """Return the commit that an object is, or that a tag names; None where it is something else."""
    while object_id is not None and repository.contains(object_id):
        kind, content = repository.read(object_id)
        if kind == "commit":
            return repository.read_commit(object_id)
        object_id = parse_tag(content)[0] if kind == "tag" else None
    return None


def _back(repository: Repository, commit: Commit, count: str) -> Commit | None:
    steps = int(count or 1)
    try:
        for passed, found in enumerate(repository.walk_first_parents(commit.id)):
            if passed == steps:
                return found
    except GitmemError:  # a shallow clone ends before
        return None
    return None


def _parent(repository: Repository, commit: Commit, count: str) -> Commit | None:
    number = int(count or 1)
    if number == 0:
        return commit
    return _peeled(repository, commit.parents[number - 1]) if number <= len(commit.parents) else None
