"""What operators do in a world of real homes: they edit files, and use plain git however they like."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable

from real_machines import STORE, WORD, Place, pick

Deed = Callable[[random.Random, Place], str]


def edit(chance: random.Random, place: Place) -> str:
    """Insert, replace or delete a line of a note; commit it, or leave it for later."""
    path = pick(chance, place.notes())
    if path is None:
        return "-"
    place.change(lambda: _edit(chance, place, path))
    return f"{path} {commit(chance, place)}"


def _edit(chance: random.Random, place: Place, path: str) -> None:
    lines = (place.root / path).read_text().splitlines(keepends=True)
    first = 0
    if lines and lines[0] == "---\n" and "---\n" in lines[1:]:
        first = lines.index("---\n", 1) + 1
    at = chance.randrange(first, len(lines) + 1)
    size = chance.choice([0, 0, 0, 1, 1, 2])
    word = place.known.word()
    new = [] if size and chance.random() < 0.3 else [f"{word}\n"]
    (place.root / path).write_text("".join(lines[:at] + new + lines[at + size :]) or "\n")
    if new:
        place.known.written.add(word)


def clash(chance: random.Random, place: Place) -> str:
    """Rewrite the first line of the note that everybody rewrites."""
    word = place.known.word()
    path = "notes/shared.md"

    def act() -> None:
        old = (place.root / path).read_text() if (place.root / path).is_file() else "\n"
        place.write(path, f"{word}\n" + old.partition("\n")[2])
        place.known.written.add(word)

    place.change(act)
    return f"{word} {commit(chance, place)}"


def edit_store(chance: random.Random, place: Place) -> str:
    """Add an entry to the store in an editor."""
    word = place.known.word()
    path = place.root / STORE

    def act() -> None:
        old = path.read_text().rstrip("\n") if path.exists() else ""
        place.write(STORE, f"{old}\n§\nBy hand {word}.\n" if old.strip() else f"By hand {word}.\n")
        place.known.written.add(word)

    place.change(act)
    return f"{word} {commit(chance, place)}"


def write(chance: random.Random, place: Place) -> str:
    """Begin a note under a name that others use too, or a folder of that name."""
    path = chance.choice(["notes/shared.md", "notes/x", "notes/x/y.md", "notes/new.md", "notes/z.md"])
    word = place.known.word()

    def act() -> None:
        place.write(path, f"{word}\n")
        place.known.written.add(word)

    place.change(act)
    return f"{path} {word} {commit(chance, place)}"


def remove(chance: random.Random, place: Place) -> str:
    """Remove a note."""
    path = pick(chance, place.notes())
    if path is None:
        return "-"
    place.change((place.root / path).unlink)
    return f"{path} {commit(chance, place)}"


def move(chance: random.Random, place: Place) -> str:
    """Move a note with git."""
    path = pick(chance, place.notes())
    target = f"notes/by-hand-{place.known.word()}.md"
    if path is None or not place.git("mv", path, target):
        return "-"
    return f"{path} {target} {commit(chance, place)}"


def commit(chance: random.Random, place: Place) -> str:
    """Commit in one of the ways people do, or later."""
    if not place.is_on_main:
        return "not on main"
    way = chance.choice(["all", "-a", "later", "amend", "gitmem"])
    if way == "all":
        place.git("add", "-A")
        place.git("commit", "-q", "-m", "all")
    elif way == "-a":
        place.git("commit", "-q", "-a", "-m", "those that are tracked")
    elif way == "amend" and not is_known_elsewhere(place):
        place.git("add", "-A")
        place.git("commit", "-q", "--amend", "--no-edit")
    elif way == "gitmem":
        place.home.commit()
    return way


def is_known_elsewhere(place: Place) -> bool:
    """Say whether the newest commit has left this machine; nobody amends one that has."""
    if place.head in place.known.kept:
        return True
    place.git("fetch", "-q", "--all")
    refs = place.ask("for-each-ref", "--contains", "HEAD", "--format=%(refname)", "refs/remotes")
    return refs != "" or place.ask("rev-parse", "-q", "--verify", "HEAD^") == ""


def merge(chance: random.Random, place: Place) -> str:
    """Fetch and merge; where that clashes, give up, or keep the lines of both."""
    remote = chance.choice(place.remotes)
    place.git("fetch", "-q", remote)
    if place.has_edits or place.git("merge", "-q", "--no-edit", f"{remote}/main"):
        return "merged, or nothing to do"
    return _after_clash(chance, place, ("merge", "--abort"))


def pull(chance: random.Random, place: Place) -> str:
    """Pull, by merge or by rebase; where that clashes, give up."""
    remote = chance.choice(place.remotes)
    how = chance.choice(["--no-rebase", "--rebase", "--ff-only"])
    if how == "--rebase" and not _may_rebase(place, remote):
        return "its merges would be undone, or a copy has them"
    done = place.git("pull", "-q", "--no-edit", how, remote, "main")
    place.git("rebase", "--abort")
    place.git("merge", "--abort")
    return f"{how} {done}"


def _may_rebase(place: Place, remote: str) -> bool:
    place.git("fetch", "-q", remote)
    own = place.ask("rev-list", f"{remote}/main..HEAD").splitlines()
    return place.ask("rev-list", "--merges", f"{remote}/main..HEAD") == "" and not place.known.kept & {*own}


def _after_clash(chance: random.Random, place: Place, giving_up: tuple[str, ...]) -> str:
    unmerged = place.ask("diff", "--name-only", "--diff-filter=U").splitlines()
    both = [path for path in unmerged if len(place.ask("ls-files", "-u", "--", path).splitlines()) == 3]
    if chance.random() < 0.5 or both != unmerged or any(not path.startswith("notes/") for path in unmerged):
        place.git(*giving_up)
        return "given up"
    for path in unmerged:
        _keep_both(place, path)
    place.git("add", "-A")
    place.git("commit", "-q", "--no-edit")
    return f"kept both of {unmerged}"


def _keep_both(place: Place, path: str) -> None:
    lines = (place.root / path).read_text().splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(("<<<<<<<", "=======", ">>>>>>>", "|||||||"))]
    (place.root / path).write_text("".join(kept))


def stash(chance: random.Random, place: Place) -> str:
    """Put edits aside, let the agent remember something meanwhile, and take them back."""
    if not place.has_edits or not place.git("stash", "push", "-q", "--include-untracked"):
        return "-"
    word = place.known.word()
    if place.home.entries("memory").add(f"Meanwhile {word}.").success:
        place.known.written.add(word)
    take_back(place)
    return word


def take_back(place: Place) -> None:
    """Take back what was put aside last; of what clashes the lines of both are kept."""
    if place.git("stash", "pop", "-q"):
        return
    unmerged = place.ask("diff", "--name-only", "--diff-filter=U").splitlines()
    if not unmerged:  # what was untracked is in the way of what is there now: it is given up
        for rev in ("stash@{0}", "stash@{0}^3"):
            place.known.removed.update(WORD.findall(place.ask("grep", "-h", "-E", "w[0-9]{5}", rev)))
    for path in unmerged:
        _keep_both(place, path)
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "what was put aside")
    place.git("stash", "drop", "-q")


def side_branch(chance: random.Random, place: Place) -> str:
    """Write something on another branch while the agent goes on, and merge it."""
    if place.has_edits or not place.git("switch", "-q", "-c", "side"):
        return "-"
    word, fact = place.known.word(), place.known.word()
    place.write(f"notes/side-{word}.md", f"{word}\n")
    place.git("add", "notes")
    place.git("commit", "-q", "-m", "side")
    if place.home.entries("memory").add(f"Aside {fact}.").success:
        place.known.written.add(fact)
    place.home.record([{"kind": "message", "role": "user", "text": f"Aside {word}"}], session="side")
    if chance.random() < 0.4:
        place.home.sync(chance.choice(place.remotes))
    before = place.ask("stash", "list")
    place.git("stash", "-q")
    assert place.git("switch", "-q", "main"), place.ask("status")
    if place.ask("stash", "list") != before:
        take_back(place)
    if place.git("merge", "-q", "--no-edit", "side"):
        place.known.written.add(word)
    else:
        place.git("merge", "--abort")
    place.git("branch", "-q", "-D", "side")
    return f"{word} {fact}"


def push(chance: random.Random, place: Place) -> str:
    """Push."""
    remote = chance.choice(place.remotes)
    return f"{remote} {place.git('push', '-q', remote, 'main')}"


def fetch(chance: random.Random, place: Place) -> str:
    """Fetch, all there is."""
    return f"{place.git('fetch', '-q', '--all', '--tags')}"


def collect(chance: random.Random, place: Place) -> str:
    """Collect garbage at once."""
    return f"{place.git('gc', '-q', '--prune=now')}"


def clean(chance: random.Random, place: Place) -> str:
    """Remove the ledger's copy on disk."""
    shutil.rmtree(place.root / "ledger", ignore_errors=True)
    return ""


#: How often each is done.
OPERATOR_DEEDS: dict[Deed, int] = {
    edit: 6, clash: 4, edit_store: 2, write: 3, remove: 1, move: 2, merge: 2, pull: 2, stash: 1,
    side_branch: 1, push: 2, fetch: 1, collect: 1, clean: 1,
}  # fmt: skip
