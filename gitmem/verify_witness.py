"""Holds a home against a remote: whatever was pushed there once bears witness of what was rewritten here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from gitmem.errors import GitmemError
from gitmem.layout import TURN_LINES
from gitmem.ledger_growth import ledger_losses
from gitmem.remote_repository import RemoteRepository
from gitmem.repository import Repository
from gitmem.verify import Checked, Verification, conclude
from gitmem.verify_episodes import EPISODE_TAGS
from gitmem.verify_finding import Finding


def verify_against(
    repository: Repository, remote: RemoteRepository, tips: Mapping[str, str], own: str | None
) -> Verification:
    """Verify that what a remote holds of this home is here, and the same.

    Args:
        repository: the own one.
        remote: the witness; nothing is fetched from it.
        tips: of the turn lines here, by ref.
        own: full name of the own line.
    """
    findings: list[Finding] = []
    for name, value in sorted(remote.refs((TURN_LINES, EPISODE_TAGS)).refs.items()):
        if name.startswith(TURN_LINES):
            findings += _line(repository, name, value, tips, is_own=name == own)
        elif name.startswith(EPISODE_TAGS):
            findings += _tag(repository, name, value)
    return conclude("witness", findings, Checked(writers=len(tips)))


def _line(
    repository: Repository, name: str, value: str, tips: Mapping[str, str], *, is_own: bool
) -> Iterator[Finding]:
    behind = sorted({tip for tip in tips.values() if _reaches(repository, tip, value)})
    if behind:
        for tip in behind:
            yield from _losses(repository, value, tip)
    elif is_own:
        message = f"the remote holds commits of {name} that the line here does not go on from"
        yield Finding("witness", message, path=name, commit=value)
    elif repository.contains(value):
        message = f"{name} of the remote is here, and no turn line goes on from it"
        yield Finding("witness", message, path=name, commit=value)
    else:
        message = f"{name} of the remote has commits that are not here yet"
        yield Finding("witness", message, "warning", path=name, commit=value)


def _losses(repository: Repository, value: str, tip: str) -> Iterator[Finding]:
    """Yield what a line lost that goes on from the remote's."""
    with suppress(GitmemError):  # what cannot be read is named by a look at the home itself
        for loss in ledger_losses(repository, value, tip):
            yield Finding("lost", f"{loss.message}, which the remote holds", path=loss.path, commit=tip)


def _tag(repository: Repository, name: str, value: str) -> Iterator[Finding]:
    here = repository.read_ref(name)
    if here is None:
        message = f"{name} of the remote is not here"
        yield Finding("witness", message, "warning", path=name)
    elif here != value:
        yield Finding("tag_moved", f"{name} is {here[:12]} here and {value[:12]} there", path=name)


def _reaches(repository: Repository, tip: str, ancestor: str) -> bool:
    try:
        return repository.is_ancestor(ancestor, tip)
    except GitmemError:
        return False
