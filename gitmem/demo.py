"""The demo: an agent's morning on a copy of the sample home, told step by step."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Final

from gitmem.home import AgentHome
from gitmem.records import Receipt
from gitmem.sample_home import copy_sample_home

Say = Callable[[str], None]

_NOTE: Final = "notes/staging.md"
_OLD: Final = "It takes 12 minutes."
_NEW: Final = "It takes 12 minutes; warn Tomás, he loses his cart."
_QUESTIONS: Final = ("which port does staging listen on", "支付超时要重新付款吗", "warn Tomás cart")
_TURNS: Final = "demo_turns.jsonl"
#: Lines of the catalog that are shown: its head and two notes.
_CATALOG_LINES: Final = 9


@dataclass(frozen=True, slots=True)
class DemoReport:
    """What the demo did.

    Attributes:
        path: the copy, for looking around.
        turns: the receipts of the turns it recorded.
        note_commit: the operator's commit.
        searches: question and the source ref of its first hit.
        seconds: how long all of it took.
    """

    path: str
    turns: Sequence[Receipt]
    note_commit: str
    searches: Sequence[Mapping[str, str | None]]
    seconds: float


@dataclass(slots=True)
class _Telling:
    say: Say
    step: int = 0
    started: float = field(default_factory=time.perf_counter)

    def chapter(self, title: str, how: str) -> None:
        """Begin a step: what is done, and the command that does it."""
        self.step += 1
        self.say(f"\n{self.step}. {title}  ($ {how})")

    def line(self, text: str) -> None:
        """Tell a line of the step."""
        self.say(f"   {text}")

    def seconds(self) -> float:
        """Return how long the telling has taken so far."""
        return time.perf_counter() - self.started


def run_demo(keep: Path | None = None, *, say: Say, program: str = "gitmem") -> DemoReport:
    """Show gitmem's main job on a copy of the sample home.

    Args:
        keep: where to make the copy; by default a temporary folder, which stays too.
        say: told each line of the story.
        program: what a person types to run gitmem.
    """
    telling = _Telling(say)
    path = keep if keep is not None else Path(tempfile.mkdtemp(prefix="gitmem-demo-")) / "aria"
    copy_sample_home(path)
    say("gitmem demo: a small agent home, at work.")
    _tell_copy(telling, path)
    with AgentHome.open(path) as home:
        turns = _record_turns(telling, home)
        commit = _edit_note(telling, home)
        searches = [_search(telling, home, number) for number in range(len(_QUESTIONS))]
        _show_catalog(telling, home)
        _show_log(telling, home)
    report = DemoReport(str(path), turns, commit, searches, round(telling.seconds(), 2))
    _tell_end(telling, report, program, kept=keep is not None)
    return report


def read_turns() -> list[list[dict[str, Any]]]:
    """Return the events of each turn that the demo records."""
    turns: dict[int, list[dict[str, Any]]] = {}
    for line in resources.files("gitmem").joinpath(_TURNS).read_text("utf-8").splitlines():
        event = json.loads(line)
        turns.setdefault(event.pop("turn"), []).append(event)
    return list(turns.values())


def _tell_copy(telling: _Telling, path: Path) -> None:
    telling.chapter("A home is a folder of plain files in a Git repository", f"ls {path}")
    notes = sorted(found.relative_to(path).as_posix() for found in (path / "notes").rglob("*.md"))
    segments = list((path / "ledger").rglob("*.jsonl"))
    telling.line(f"memory/    {', '.join(sorted(found.name for found in (path / 'memory').iterdir()))}")
    some = ", ".join(name.removeprefix("notes/") for name in notes[:5])
    telling.line(f"notes/     {len(notes)} notes: {some}, …")
    telling.line(f"ledger/    {len(segments)} days of what was said and run")


def _record_turns(telling: _Telling, home: AgentHome) -> list[Receipt]:
    telling.chapter("The agent works; each turn is one commit", "gitmem turn --session … < events")
    receipts = []
    for events in read_turns():
        before = time.perf_counter()
        receipt = home.record(events)
        took = (time.perf_counter() - before) * 1000
        receipts.append(receipt)
        commit = (receipt.committed or "not committed")[:10]
        kinds = ", ".join(record["kind"] for record in receipt.records[:-1])
        telling.line(f"turn {receipt.turn_index} → {commit} in {took:.1f} ms: {kinds}")
    telling.line(f"on the branch {receipts[-1].branch}; HEAD, staging area and files were not touched")
    return receipts


def _edit_note(telling: _Telling, home: AgentHome) -> str:
    telling.chapter("An operator edits a note and commits it with plain git", "$EDITOR …; git commit")
    root = home.layout.root
    note = root / _NOTE
    note.write_text(note.read_text("utf-8").replace(_OLD, _NEW), "utf-8")
    telling.line(f"- {_OLD}")
    telling.line(f"+ {_NEW}")
    commit = _commit(home, "Staging: who must be warned before a reset")
    telling.line(f"committed as {commit[:10]} on the operator's branch, between the agent's own commits")
    return commit


def _commit(home: AgentHome, message: str) -> str:
    root = home.layout.root
    if shutil.which("git") is None:  # gitmem itself needs no git
        return home.commit([_NOTE], message=message).committed or ""
    _git(root, "add", _NOTE)
    _git(root, "commit", "--quiet", "--message", message)
    return _git(root, "rev-parse", "HEAD").strip()


def _search(telling: _Telling, home: AgentHome, number: int) -> dict[str, str | None]:
    question = _QUESTIONS[number]
    if number == 0:
        telling.chapter("All of it is found, in any script, at once", "gitmem search …")
    before = time.perf_counter()
    reply = home.search(question, limit=3)
    took = (time.perf_counter() - before) * 1000
    telling.line(f"“{question}”  {took:.0f} ms")
    for hit in reply.results[:2]:
        telling.line(f"    {hit.path or hit.source_ref}: {_short(hit.snippet, 90)}")
    first = reply.results[0].source_ref if reply.results else None
    return {"query": question, "source_ref": first}


def _show_catalog(telling: _Telling, home: AgentHome) -> None:
    telling.chapter("The catalog tells the agent what notes there are", "gitmem notes --catalog")
    lines = [line for line in home.catalog().splitlines() if line.strip()]
    for line in lines[:_CATALOG_LINES]:
        telling.line(_indent(line) + _short(line, 100))
    telling.line(f"… {len(lines) - _CATALOG_LINES} lines more")


def _show_log(telling: _Telling, home: AgentHome) -> None:
    telling.chapter("What happened, in one list", "gitmem log")
    for entry in home.log(limit=8).commits:
        telling.line(f"{entry.at[:16].replace('T', ' ')}  {entry.name[:13]:<13}  {_short(entry.title, 64)}")


def _tell_end(telling: _Telling, report: DemoReport, program: str, *, kept: bool) -> None:
    say = telling.say
    say(f"\nDone in {report.seconds:.1f} s. Look around:")
    say(f"   cd {report.path}")
    say(f"   {program} status; {program} log; {program} search …")
    say("   git log --stat; git log --oneline --branches='gitmem/turns/*'; git blame memory/MEMORY.md")
    say("   rg 2222 ledger/")
    if not kept:
        say(f"When you are done: rm -r {Path(report.path).parent}")


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _short(text: str, width: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def _git(root: Path, *arguments: str) -> str:
    # Also for an operator with a key that asks, or inside a hook.
    settings = ("-c", "commit.gpgSign=false", "-c", f"core.hooksPath={os.devnull}")
    options = [f"--git-dir={root / '.git'}", f"--work-tree={root}", *settings]
    done = subprocess.run(["git", *options, *arguments], cwd=root, capture_output=True, check=True, text=True)  # noqa: S603, S607
    return done.stdout
