"""What agents do in a world of real homes: they talk, remember, take notes and work on things."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from real_machines import WORD, Place, pick

from gitmem.errors import ConflictError, NotFound, RefusedError
from gitmem.records import Receipt

#: Work items and tasks that all machines know, so that they change the same ones.
ITEMS = ("deploy", "review")
_REFUSED = (ConflictError, NotFound, RefusedError)

Deed = Callable[[random.Random, Place], str]


def _note_records(place: Place, receipt: Receipt, word: str) -> None:
    assert receipt.on_disk
    refused = {row["event"] for row in receipt.refused}
    for row in (row for number, row in enumerate(receipt.records) if number not in refused):
        place.known.records[str(row["id"])] = word


def say(chance: random.Random, place: Place) -> str:
    """Record a turn of a message and a tool call."""
    word = place.known.word()
    events: list[Mapping[str, object]] = [
        {"kind": "message", "role": "user", "text": f"Please look at {word}."},
        {"kind": "tool_execution", "tool": "bash", "input": "ls", "output": "a b", "status": "success"},
    ]
    _note_records(place, place.home.record(events[: chance.randrange(1, 3)], session=f"s-{place.name}"), word)
    place.known.spoken[place.name] = word
    return word


def remember(chance: random.Random, place: Place) -> str:
    """Add an entry, and now and then replace or remove one."""
    store = place.home.entries("memory")
    old = pick(chance, store.texts)
    deed = chance.choice(["add", "add", "add", "replace", "remove"])
    word = place.known.word()
    if deed == "add" or old is None:
        reply = store.add(f"Fact {word}.")
    else:
        reply = store.replace(old, f"Fact {word}.") if deed == "replace" else store.remove(old)
        if reply.success:
            _note_gone(place, old)
    if reply.success and (deed != "remove" or old is None):
        place.known.written.add(word)
    return f"{deed} {word} {old} {reply.success} {reply.reason}"


def _note_gone(place: Place, text: str) -> None:
    words = WORD.findall(text)
    place.known.removed.update(words)
    place.known.removed_entries.update(words)


def note_add(chance: random.Random, place: Place) -> str:
    """Begin a note."""
    word = place.known.word()
    place.home.note_add(f"n{word}.md", content=f"# N\n\n{word}\n", session=f"s-{place.name}")
    place.known.written.add(word)
    return word


def note_edit(chance: random.Random, place: Place) -> str:
    """Change a line of a note, or append one."""
    path = pick(chance, place.notes())
    if path is None:
        return "-"
    word = place.known.word()
    old = place.home.note_show(path)
    if chance.random() < 0.4:
        place.home.note_append(path, f"{word}\n")
    else:
        body = old.body.splitlines() or [""]
        at = chance.randrange(len(body))
        _note_removed(place, body[at])
        body[at] = word
        place.home.note_edit(path, content="\n".join(body) + "\n")
    place.known.written.add(word)
    return f"{path} {word}"


def _note_removed(place: Place, text: str) -> None:
    place.known.removed.update(WORD.findall(text))


def note_move(chance: random.Random, place: Place) -> str:
    """Move a note."""
    path = pick(chance, place.notes())
    if path is None:
        return "-"
    target = f"moved/{place.known.word()}.md"
    place.home.note_move(path, target)
    return f"{path} {target}"


def note_remove(chance: random.Random, place: Place) -> str:
    """Remove a note."""
    path = pick(chance, place.notes())
    if path is None:
        return "-"
    text = (place.root / path).read_text()
    place.change(lambda: _remove(place, path))
    _note_removed(place, text)
    return path


def _remove(place: Place, path: str) -> None:
    place.home.note_remove(path)


def work(chance: random.Random, place: Place) -> str:
    """Change one of the work items, tasks and waits that other machines change too."""
    item, task = chance.choice(ITEMS), f"t{chance.randrange(3)}"
    word = place.known.word()
    deeds: list[Mapping[str, object]] = [
        {"kind": "work_item", "action": "create", "work_item_id": item, "objective": f"Do {word}"},
        {"kind": "work_item", "action": "update", "work_item_id": item, "todo": [f"Do {word}"]},
        {"kind": "work_item", "action": "pick", "work_item_id": item},
        {"kind": "work_item", "action": "complete", "work_item_id": item, "report": f"Did {word}"},
        {"kind": "work_item", "action": "drop", "work_item_id": item, "reason": f"No {word}"},
        {"kind": "task", "task_id": task, "status": "running", "summary": word},
        {"kind": "task", "task_id": task, "status": chance.choice(["completed", "failed"]), "summary": word},
        {"kind": "wait", "wait_id": f"wait{task}", "status": "active", "wait_kind": "operator",
         "waiting_for": word, "work_item_id": item},
        {"kind": "wait", "wait_id": f"wait{task}", "status": "resolved"},
    ]  # fmt: skip
    deed = chance.choices(deeds, weights=[3, 3, 1, 1, 1, 2, 1, 2, 1])[0]
    receipt = place.home.record([deed], session=f"s-{place.name}")
    _note_records(place, receipt, word)
    return f"{deed} refused={[row['code'] for row in receipt.refused]}"


def close_episode(chance: random.Random, place: Place) -> str:
    """Finish the session's episode."""
    receipt = place.home.episode_close(f"s-{place.name}")
    _note_records(place, receipt, "episode")
    return f"{receipt.reason}"


def resolve(chance: random.Random, place: Place) -> str:
    """End a conflict."""
    open_ones = place.home.conflicts()
    if not open_ones:
        return "-"
    one = chance.choice(sorted(open_ones, key=lambda row: row.id))
    keep = chance.choice(["live", "edited", one.copy, "both" if one.path.startswith("notes/") else "live"])
    place.change(lambda: _resolve(place, one.path, keep))
    return f"{one.path} {keep}"


def _resolve(place: Place, path: str, keep: str) -> None:
    place.home.resolve(path, keep)


def forget(chance: random.Random, place: Place) -> str:
    """Forget a message, an entry or a note with all its versions."""
    known = place.known
    kind = chance.choice(["message", "entry", "note"])
    if kind == "message":
        word = pick(chance, set(known.spoken.values()) - known.forgotten)
        hits = place.home.search(word, kind="message").results if word else ()
        ref = next((hit.source_ref for hit in hits if word and word in hit.snippet), None)
        words = {word} if word else set()
    elif kind == "entry":
        entry = pick(chance, place.home.entries("memory").texts)
        words = {*WORD.findall(entry or "")}
        ref = next((one.source_ref for one in place.home.entries("memory") if one.text == entry), None)
    else:
        path = pick(chance, place.notes())
        ref = place.home.note_show(path).source_ref if path else None
        words = {*WORD.findall(place.ask("log", "-p", "--format=", "--all", "--", path or "-"))}
        words |= {*WORD.findall(place.notes().get(path or "", ""))}
    if ref is None:
        return "-"
    reply = place.home.forget(ref, reason="asked to")
    if kind == "note":  # versions that it had under other names go as well
        blobs = [place.ask("cat-file", "-p", blob) for blob in place.home.ledger.receipts().blobs]
        known.removed |= words | {*WORD.findall(" ".join(blobs))}
        return f"note {ref} {sorted(words)} {reply.reason} {reply.branch_reason}"
    known.forgotten |= words
    return f"{kind} {ref} {sorted(words)} {reply.reason} {reply.branch_reason} {reply.warnings}"


def tried(deed: Deed, chance: random.Random, place: Place) -> str:
    """Let an agent do something; what cannot be done now is told to it, and nothing has happened."""
    try:
        return deed(chance, place)
    except _REFUSED as error:
        return f"refused: {error.message}"


#: How often each is done.
AGENT_DEEDS: dict[Deed, int] = {
    say: 8, remember: 6, note_add: 3, note_edit: 5, note_move: 2, note_remove: 1, work: 7, close_episode: 1,
    resolve: 2, forget: 2,
}  # fmt: skip
