"""What is promised of homes on several machines, held against a world that has come to rest."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from real_machines import STORE, WORD, Place
from three_machines import World, check_moves

from fixtures import fsck, git
from gitmem.json_view import to_json
from gitmem.ledger_format import decode

#: The name of an episode's file keeps the words that it was made of.
_EPISODE = re.compile(r"episodes/[0-9-]+/[\w-]+\.md")


def judge(world: World) -> None:
    """Check everything."""
    for remote in world.remotes.values():
        check_moves(remote)
    _judge_branches(world)
    _judge_words(world)
    _judge_records(world)
    _judge_tags(world)
    works = [_work_of(place) for place in world.places]
    for place, work in zip(world.places, works, strict=True):
        assert work == works[0], f"{place.name} and {world.places[0].name} see work differently"
        _judge_alone(place)
        _judge_reading(world, place)


def _judge_branches(world: World) -> None:
    heads = {place.name: place.head for place in world.places}
    trees = {place.name: place.ask("rev-parse", "HEAD^{tree}") for place in world.places}
    assert len(set(trees.values())) == 1, f"the machines have different trees: {heads}"
    for name, remote in world.remotes.items():
        assert git("rev-parse", "main^{tree}", cwd=remote) in trees.values(), f"{name} has another tree"


def _judge_words(world: World) -> None:
    known = world.known
    files = world.places[0].files()
    there = {word for text in files.values() for word in WORD.findall(text)}
    twice = {word for word, count in known.taken.items() if count > 1}
    lost = known.written - known.removed - known.forgotten - twice - there
    assert not lost, f"words are gone that nobody removed: {sorted(lost)}"
    assert not there & known.forgotten, f"forgotten words are back: {sorted(there & known.forgotten)}"
    back = {*WORD.findall(files.get(STORE, ""))} & known.removed_entries
    assert not back, f"removed entries are back: {sorted(back)}"
    for path, text in files.items():
        assert "<<<<<<<" not in text, path
        assert ">>>>>>>" not in text, path
    listed = {one.copy for one in world.places[0].home.conflicts()}
    assert listed == {path for path in files if path.startswith("conflicts/")}


def _judge_records(world: World) -> None:
    for place in world.places:
        counts: dict[str, int] = {}
        for line in place.home.ledger.lines_newest_first():
            counts[line.id] = counts.get(line.id, 0) + 1
        missing = world.known.records.keys() - counts.keys()
        assert not missing, f"{place.name} lacks {[world.known.records[one] for one in missing]}"
        twice = [one for one, count in counts.items() if count > 1]
        assert not twice, f"{place.name} has twice: {[(one, world.known.records.get(one)) for one in twice]}"


def _judge_tags(world: World) -> None:
    """Tags of one name say the same, whatever their commits; each machine has them all."""
    tags = {}
    for folder in (*(place.root for place in world.places), *world.remotes.values()):
        said = "%(refname) %(contents)"
        tags[folder.name] = sorted(
            git("for-each-ref", f"--format={said}", "refs/tags", cwd=folder).splitlines()
        )
    first = next(iter(tags.values()))
    for name, found in tags.items():
        assert found == first, f"{name} has other tags"


def _work_of(place: Place) -> dict[str, Any]:
    state = place.home.work_state()
    items = {name: _stable(item) for name, item in state.items.items()}
    tasks = {name: _stable(task) for name, task in state.tasks.items()}
    waits = {name: _stable(wait) for name, wait in state.waits.items()}
    return {"items": items, "tasks": tasks, "waits": waits, "focus": state.focus()}


def _stable(value: Any) -> Any:
    """Return an object's state without what hangs on the time it is looked at."""
    data = to_json(value)
    return json.loads(json.dumps({key: one for key, one in data.items() if key not in ("due", "readiness")}))


def _judge_alone(place: Place) -> None:
    assert not place.has_edits, place.ask("status")
    found = place.home.verify(full=True)
    errors = [finding for finding in found.findings if finding.severity == "error"]
    assert not errors, f"{place.name}: {errors}"
    fsck(place.root)
    assert not leftovers(place.root)


def leftovers(root: Path) -> list[Path]:
    """Return locks of Git's, and half files, that nobody uses any more."""
    locks = [path for path in (root / ".git").rglob("*.lock") if "gitmem" not in path.parts]
    return locks + [path for path in root.rglob("*.part") if ".git" not in path.parts]


def told_by(place: Place, word: str) -> int:
    """Return how many messages of a home tell a word."""
    lines = (line for line in place.home.ledger.lines_newest_first() if line.kind == "message")
    return sum(word in str(decode(line).body.get("text", "")) for line in lines)


def _judge_reading(world: World, place: Place) -> None:
    forgotten = world.known.forgotten
    for word in forgotten:
        hits = place.home.search(word, by="operator").results
        assert not any(word in hit.snippet for hit in hits), f"{place.name} finds a forgotten word: {word}"
    copies = (path for path in (place.root / "ledger").rglob("*") if path.is_file())
    texts = [_EPISODE.sub("", path.read_text("utf-8", "replace")) for path in copies]
    told = {word for text in texts for word in WORD.findall(text)}
    assert not told & forgotten, f"the ledger's copy on disk of {place.name} tells {told & forgotten}"
    blobs = {row.split()[2] for row in place.ask("ls-tree", "-r", "HEAD").splitlines()}
    assert not blobs & place.home.ledger.receipts().blobs, f"a forgotten file is back on {place.name}"
    for words in world.known.told.values():
        for word in words:
            assert told_by(place, word) == 1, f"{place.name} has {word} {told_by(place, word)} times"
    newest = {name: word for name, word in world.known.spoken.items() if word not in forgotten}
    for other, word in newest.items():
        hits = place.home.search(word).results
        assert any(word in hit.snippet for hit in hits), (
            f"{place.name} does not find what {other} said: {word}"
        )


def play(folder: Path, seed: int, *, mesh: bool = False, steps: int = 30) -> World:
    """Play one story and judge its end."""
    world = World(folder, seed, mesh=mesh)
    try:
        for _ in range(steps):
            world.step()
        world.story.append(f"came to rest in {world.settle()} rounds")
        judge(world)
    except BaseException:
        print(f"seed {seed}, mesh {mesh}:\n" + "\n".join(world.story))
        raise
    finally:
        world.close()
    return world
