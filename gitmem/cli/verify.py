"""`gitmem verify`: whether a home is what was written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current
from gitmem.counted import counted

if TYPE_CHECKING:
    from gitmem.verify import Verification
    from gitmem.verify_finding import Finding

#: Exit code of corruption and tampering.
CORRUPT: Final = 20


@define(example="gitmem verify --full")
@click.option("--full", is_flag=True, help="Look at everything, trusting nothing that was verified before.")
@click.option("--range", metavar="A..B", help="Look at what B has beyond A: a check for pull requests.")
@click.option("--against", metavar="REMOTE", help="Hold the home against a remote: a witness from outside.")
@click.pass_context
def command(ctx: click.Context, *, full: bool, range: str | None, against: str | None) -> None:  # noqa: A002
    """Look whether turn lines, episodes, commits and the copy on disk are what was written.

    By default it begins behind the last look that found nothing wrong. What is wrong is named with its file,
    line and commit, and the exit code is 20. Nothing is repaired. What it can find and what it cannot is told
    in docs/verify.md.
    """
    settings = current()
    found = settings.open_home().verify(full=full, range=range, against=against)
    settings.reply(found, lambda: describe(found))
    if not found.ok:
        ctx.exit(CORRUPT)


def describe(found: Verification) -> str:
    """Return a verification for people."""
    lines = [_line(finding) for finding in found.findings]
    lines += [f"… and {count} more of {rule}" for rule, count in found.omitted.items()]
    errors = sum(finding.severity == "error" for finding in found.findings)
    checked = found.checked
    what = [
        counted(count, noun, f"{noun}s")
        for count, noun in (
            (checked.commits, "commit"),
            (checked.lines, "line"),
            (checked.episodes, "episode"),
        )
        if count
    ]
    seen = ", ".join(what) or "nothing new"
    verdict = "Nothing is wrong" if not errors else counted(errors, "thing is wrong", "things are wrong")
    return "\n".join([*lines, f"{verdict}: {seen} looked at."])


def _line(finding: Finding) -> str:
    where = finding.path or finding.source_ref or ""
    if finding.line is not None:
        where += f":{finding.line}"
    commit = f" (commit {finding.commit[:12]})" if finding.commit else ""
    return f"{finding.severity}: {finding.rule}: {where}: {finding.message}{commit}"
