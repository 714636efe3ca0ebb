"""Collects the status of a home from its parts."""

from __future__ import annotations

import shlex
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from gitmem.config import HomeConfig
from gitmem.counted import counted
from gitmem.curated import PROSE, STORES, NoteList, read_prose, read_store
from gitmem.git_state import find_lock
from gitmem.hook_files import HookFiles
from gitmem.layout import LEDGER, RESCUES, Layout
from gitmem.maintenance_need import measure_need
from gitmem.memory_status import MemoryStatus
from gitmem.operator_branch import OperatorBranch
from gitmem.proposals import Proposal
from gitmem.prose_section import count_prose
from gitmem.quarantine import QuarantineList
from gitmem.remote_standing import RemoteStanding
from gitmem.repository import Head, Repository, read_path
from gitmem.rescue_refs import is_in_branch
from gitmem.status import BUSY, CONFLICT, CORRUPT, Finding, Status, conflict_copies
from gitmem.times import format_time, short_time
from gitmem.tree_files import Skipped
from gitmem.watch_state import watch_facts

#: Percent of a store's limit from which a person is told.
FULL: Final = 80
#: Names that are listed one by one; the rest is counted.
_LISTED: Final = 20
#: Files with edits that are named.
_FIRST: Final = 3


@dataclass(frozen=True, slots=True)
class StatusParts:
    """What a status is made from.

    Attributes:
        turns: of the turn lines and the spool.
        index: the search index's own word.
        notes: all notes with their problems.
        withheld: paths of notes of which the catalog withholds something, with the rules.
        edits: managed files with edits that are not committed.
        memory: of curated memory.
        work: of plans and episodes.
        proposals: what waits for an operator's word, the oldest first.
        damaged_proposals: files of those that cannot be read.
        remotes: how the home stands to each remote.
        quarantine: what came by sync and is kept from the agent.
        now: seconds since 1970.
    """

    layout: Layout
    config: HomeConfig
    repository: Repository
    branch: OperatorBranch
    turns: Mapping[str, Any]
    index: Mapping[str, Any]
    notes: NoteList
    withheld: Mapping[str, Sequence[str]]
    edits: Sequence[str]
    memory: MemoryStatus
    work: Sequence[Finding]
    proposals: Sequence[Proposal]
    damaged_proposals: Sequence[Path]
    pinned: str | None
    remotes: Sequence[RemoteStanding]
    quarantine: QuarantineList
    now: float


def collect_status(parts: StatusParts) -> Status:
    """Return the state of a home, with everything that wants a person's eye."""
    layout = parts.layout
    stores = list(_stores(layout, parts.config))
    pending = [_pending(write, parts.now) for write in parts.branch.pending()]
    conflicts = conflict_copies(layout)
    head = parts.repository.head()
    git = _git(parts, head)
    watch = watch_facts(layout, parts.now)
    findings = [
        *_git_findings(git, find_lock(layout, head)),
        *_ledger_findings(parts.repository, head.commit),
        *_turn_findings(parts.turns),
        *_rescue_findings(parts.repository, head.commit),
        *_sync_findings(parts.remotes),
        *_quarantine_findings(parts.quarantine),
        *_pending_findings(pending),
        *_damaged_findings(parts.branch.damaged()),
        *parts.work,
        *_edit_findings(parts.edits),
        *_conflict_findings(conflicts),
        *_file_findings(parts.notes, stores),
        *_withheld_findings(parts.withheld),
        *parts.memory.findings,
        *_proposal_findings(parts.proposals, parts.damaged_proposals),
        *_index_findings(parts.index, {*_named_files(parts.notes, stores), parts.turns["astray"]}),
        *(Finding("config", 0, f"gitmem.toml: {problem}") for problem in parts.config.problems),
        *_watch_findings(watch),
        *_maintenance_findings(layout, watch),
    ]
    return Status(
        _home(parts),
        git,
        parts.turns,
        pending,
        parts.index,
        watch,
        stores,
        conflicts,
        parts.memory.sessions,
        [_proposal(one, parts.now) for one in parts.proposals],
        parts.remotes,
        [one.to_json() for one in parts.quarantine.quarantined],
        findings,
    )


def _home(parts: StatusParts) -> dict[str, Any]:
    return {
        "id": parts.config.home_id,
        "agent": parts.config.agent,
        "path": str(parts.layout.root),
        "format": parts.config.format,
        "notes": parts.notes.total,
    }


def _git(parts: StatusParts, head: Head) -> dict[str, Any]:
    hooks = HookFiles(parts.layout, parts.repository)
    return {
        "head": head.commit,
        "branch": head.branch.removeprefix("refs/heads/") if head.branch else None,
        "pinned": parts.pinned,
        "obstacle": parts.branch.obstacle(),
        "hooks_not_run": hooks.not_run(),
        "hooks": {hook.id: hook.state for hook in hooks.states().hooks},
    }


def _damaged_findings(names: Sequence[str]) -> Iterator[Finding]:
    for name in names:
        yield Finding("pending", CORRUPT, f"{name}: a waiting write that cannot be read", path=name)


def _watch_findings(watch: Mapping[str, Any]) -> Iterator[Finding]:
    if watch.get("running"):
        yield from (Finding("watch", 0, f"watch: {reason}") for reason in watch.get("reasons", ()))


def _maintenance_findings(layout: Layout, watch: Mapping[str, Any]) -> Iterator[Finding]:
    reasons = measure_need(layout).reasons
    if reasons:
        hint = "gitmem watch sees to it" if watch.get("running") else "To do it: gitmem maintain"
        yield Finding("maintenance", 0, f"maintenance is due: {', '.join(reasons)}", hint)


def _stores(layout: Layout, config: HomeConfig) -> Iterator[dict[str, Any]]:
    """Yield a row for each store and prose memory that is there, or that is switched off."""
    rows = {row["id"]: row for row in _files(layout, config)}
    for name, path in {**STORES, **PROSE}.items():
        if not config.memory[name].enabled:
            empty = _store(name, path, 0, config.memory[name].char_limit, None)
            yield {**rows.get(name, empty), "off": True}
        elif name in rows:
            yield rows[name]


def _files(layout: Layout, config: HomeConfig) -> Iterator[dict[str, Any]]:
    for name, path in STORES.items():
        limit = config.memory[name].char_limit
        store = read_store(layout.root, path)
        if isinstance(store, Skipped):
            yield _unreadable(name, path, limit, store.reason)
        elif store is not None:
            yield _store(name, path, store.chars, limit, len(store.entries))
    for name, path in PROSE.items():
        limit = config.memory[name].char_limit
        prose = read_prose(layout.root, path)
        if isinstance(prose, Skipped):
            yield _unreadable(name, path, limit, prose.reason)
        elif prose is not None:
            yield _store(name, path, count_prose(prose.content), limit, None)


def _store(name: str, path: str, chars: int, limit: int, entries: int | None) -> dict[str, Any]:
    row = {"id": name, "path": path, "chars": chars, "limit": limit, "percent": chars * 100 // limit}
    return row if entries is None else {**row, "entries": entries}


def _unreadable(name: str, path: str, limit: int, reason: str) -> dict[str, Any]:
    return {"id": name, "path": path, "chars": None, "limit": limit, "percent": 0, "problem": reason}


def _pending(write: Any, now: float) -> dict[str, Any]:
    return {
        "id": write.id,
        "path": write.changes[0].path if write.changes else None,
        "operation": write.operation,
        "turn": write.turn,
        "reason": write.reason,
        "age_seconds": round(max(now - write.since, 0.0), 1),
    }


def _proposal(proposal: Proposal, now: float) -> dict[str, Any]:
    age = round(max(now - proposal.created_at, 0.0), 1)
    return {"id": proposal.id, "summary": proposal.summary, "origin": proposal.origin, "age_seconds": age}


def _proposal_findings(proposals: Sequence[Proposal], damaged: Sequence[Path]) -> Iterator[Finding]:
    if proposals:
        since = short_time(format_time(proposals[0].created_at))
        wait = f"{counted(len(proposals), 'proposal waits', 'proposals wait')} for your word"
        yield Finding("proposals", 0, f"{wait}, the oldest since {since}", "Look: gitmem proposals list")
    for path in damaged:
        yield Finding(
            "proposals",
            CORRUPT,
            f"{path.name}: a proposal that cannot be read",
            hint=f"Look at it; to be rid of it: rm {shlex.quote(str(path))}",
            path=path.name,
        )


def _git_findings(git: Mapping[str, Any], lock: Path | None) -> Iterator[Finding]:
    if git["obstacle"]:
        hint = None
        if git["branch"] is not None and git["branch"] != git["pinned"]:
            hint = f"To keep the home on this branch: gitmem config set gitmem.branch {git['branch']}"
        elif lock is not None:
            hint = f"If no Git command is at work here any more: rm {shlex.quote(str(lock))}"
        yield Finding("git", 0, f"commits to your branch wait: {git['obstacle']}", hint)
    if git["hooks_not_run"]:
        names = ", ".join(git["hooks_not_run"])
        yield Finding("hooks", 0, f"the agent's commits do not run these hooks: {names}")
    yield from _hook_findings(git["hooks"])


def _hook_findings(hooks: Mapping[str, str]) -> Iterator[Finding]:
    """Say which of gitmem's hooks do not stand guard; a clone brings none of them."""
    amiss = {name: state for name, state in hooks.items() if state != "installed"}
    if not amiss:
        return
    if len(amiss) == len(hooks) and set(amiss.values()) == {"missing"}:
        what = "gitmem's hooks are not installed, so that plain git commits are not checked"
    else:
        what = "gitmem's hooks are not as installed: " + ", ".join(f"{n} is {s}" for n, s in amiss.items())
    yield Finding("own-hooks", 0, what, "To install them: gitmem hooks install")


def _ledger_findings(repository: Repository, head: str | None) -> Iterator[Finding]:
    if head is not None and read_path(repository, repository.read_commit(head).tree, LEDGER) is not None:
        yield Finding(
            "ledger",
            0,
            f"{LEDGER}/ is tracked on your branch, so that the copy in it is not kept up to date",
            hint=f"To end that: git rm -r --cached {LEDGER}",
            path=LEDGER,
        )


def _turn_findings(turns: Mapping[str, Any]) -> Iterator[Finding]:
    if turns["spooled"]:
        yield Finding(
            "spool", BUSY, f"{turns['spooled']} turns are acknowledged and not yet on the turn line"
        )
    if turns["astray"]:
        yield Finding("line", CORRUPT, turns["astray"], "To put it back now: gitmem watch --once")
    for line in turns["ignored_lines"]:
        yield Finding("line", 0, f"{line['id']} belongs to another home ({line['home']}) and is ignored")
    for row in turns["clocks_ahead"]:
        far = timedelta(seconds=row["ahead_seconds"])
        yield Finding(
            "clock",
            0,
            f"records of {row['id']} are dated {far} ahead of this machine's clock",
            hint="A clock is or was wrong; the order of records holds all the same.",
        )
    for row in turns["damaged"][:_LISTED]:
        yield Finding("ledger", CORRUPT, f"{row['id'][:12]} cannot be read: {row['reason']}")


def _sync_findings(remotes: Sequence[RemoteStanding]) -> Iterator[Finding]:
    """Say what keeps a remote and the home apart, and wants a person."""
    for remote in remotes:
        if remote.error:
            what = f"the last sync with {remote.id} failed: {remote.error}"
            yield Finding("sync", 0, what, f"Try again: gitmem sync --remote {remote.id}")
        for path, why in [*remote.blocked.items()][:_LISTED]:
            what = f"{remote.id} has what your branch cannot take: {path}: {why}"
            hint = f"Commit or move it, then: gitmem sync --remote {remote.id}"
            yield Finding("sync", CONFLICT, what, hint, path)
        for one in remote.tampered[:_LISTED]:
            hint = f"See who did it; then put it right there, and: gitmem sync --remote {remote.id}"
            yield Finding("sync", CORRUPT, f"{remote.id}: {one}", hint)
        for warning in remote.warnings[:_LISTED]:
            yield Finding("sync", 0, f"{remote.id}: {warning}")


def _quarantine_findings(listed: QuarantineList) -> Iterator[Finding]:
    """Say how much is kept from the agent, and what the first of it is."""
    held = listed.quarantined
    if held:
        what = counted(len(held), "thing that came by sync is", "things that came by sync are")
        first = held[0].path or held[0].source_ref
        words = f"{what} in quarantine, kept from the agent: {first} ({held[0].reason})"
        more = f" and {len(held) - 1:,} more" if len(held) > 1 else ""
        yield Finding("quarantine", 0, words + more, "Look: gitmem quarantine list", held[0].path)
    if listed.unread:
        what = counted(listed.unread, "file that came by sync is", "files that came by sync are")
        words = f"{what} not looked through yet; what is shown of it is judged all the same"
        yield Finding("quarantine", 0, words, "To look through all of it: gitmem quarantine list")


def _rescue_findings(repository: Repository, head: str | None) -> Iterator[Finding]:
    """Name what nothing else holds; where the branch was before a sync, it holds itself."""
    refs = (
        ref for ref in repository.list_refs(RESCUES) if not (head and is_in_branch(repository, ref, head))
    )
    for ref in [*refs][:_LISTED]:
        yield Finding(
            "rescue",
            0,
            f"somebody had moved a turn line; it was put back, and what it was moved to is {ref}",
            hint=f"Look at it with git log -p; if nothing in it is wanted: git update-ref -d {ref}",
            path=ref,
        )


def _pending_findings(pending: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for write in pending[:_LISTED]:
        yield Finding(
            "pending", BUSY, f"{write['path']} waits to be committed: {write['reason']}", path=write["path"]
        )


def _edit_findings(edits: Sequence[str]) -> Iterator[Finding]:
    if edits:
        more = f" and {len(edits) - _FIRST:,} more" if len(edits) > _FIRST else ""
        has = "file has an edit" if len(edits) == 1 else "files have edits"
        what = f"{len(edits):,} {has} not committed yet: {', '.join(edits[:_FIRST])}{more}"
        yield Finding("edits", 0, what, "To commit them: gitmem commit", edits[0])


def _conflict_findings(conflicts: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for copy in conflicts[:_LISTED]:
        hint = f"See both texts and who wrote them: gitmem resolve {shlex.quote(copy['path'])}"
        yield Finding(
            "conflict", CONFLICT, f"{copy['path']} has a text that lost a merge", hint, copy["path"]
        )


def _file_findings(notes: NoteList, stores: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    problems = notes.problems
    for problem in problems[:_LISTED]:
        where = f"{problem.path}:{problem.line}" if problem.line else problem.path
        yield Finding("file", 0, f"{where}: {problem.reason}", path=problem.path)
    if len(problems) > _LISTED:
        yield Finding("file", 0, f"{len(problems) - _LISTED} more files with problems")
    for store in stores:
        if store.get("problem"):
            yield Finding("file", CORRUPT, f"{store['path']}: {store['problem']}", path=store["path"])
        elif store["percent"] >= FULL and not store.get("off"):
            yield Finding("store", 0, f"{store['path']} is {store['percent']} % full", path=store["path"])


def _withheld_findings(withheld: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """Name the notes that the agent's catalog does not show as they are."""
    for path, rules in sorted(withheld.items())[:_LISTED]:
        what = f"{path}: title, summary or tags are withheld from the agent's catalog: {', '.join(rules)}"
        yield Finding("withheld", 0, what, f"Change them: gitmem edit {shlex.quote(path)}", path)
    if len(withheld) > _LISTED:
        yield Finding("withheld", 0, f"{len(withheld) - _LISTED} more notes that the catalog withholds")


def _named_files(notes: NoteList, stores: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    faulty = (str(store["path"]) for store in stores if store.get("problem"))
    return frozenset([*(problem.path for problem in notes.problems), *faulty])


def _index_findings(index: Mapping[str, Any], named: Container[str]) -> Iterator[Finding]:
    for reason in index.get("reasons", ()):
        if reason not in named:
            yield Finding("index", 0, f"index: {reason}")
    for item in index.get("quarantined", ()):
        if item["name"] not in named:
            yield Finding("index", 0, f"not indexed: {item['name']}: {item['reason']}")
