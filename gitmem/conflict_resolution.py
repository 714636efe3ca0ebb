"""What ending a conflict does to a tree: one text lives, all copies of the path go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from gitmem.branch_merge import EPISODES
from gitmem.conflict_copies import list_conflicts
from gitmem.errors import AmbiguousMatch, NotFound, ProtectedPath, RefusedError
from gitmem.front_matter_edit import ensure_id, set_field
from gitmem.git_objects import hash_object
from gitmem.repository import FILE_MODE
from gitmem.tree_edit import TreeFile

#: The live text stays; the live text as it was edited meanwhile; each copy becomes a note of its own.
LIVE: Final = "live"
EDITED: Final = "edited"
BOTH: Final = "both"

_NOTES: Final = "notes/"
_EPISODES: Final = f"{EPISODES}/"
_LISTED: Final = "See what is open: gitmem status"


@dataclass(frozen=True, slots=True)
class Resolution:
    """What one commit has to do.

    Attributes:
        files: new files by path, None to remove one; all copies of the path are removed.
        made: contents of blobs that are new, by id.
        live: path of what lives behind it; None where nothing does.
        notes: paths of notes that were copies.
    """

    files: Mapping[str, TreeFile | None]
    made: Mapping[str, bytes] = field(default_factory=dict)
    live: str | None = None
    notes: tuple[str, ...] = ()


def resolve_conflict(
    tree: Mapping[str, TreeFile],
    path: str,
    keep: str,
    read: Callable[[str], bytes],
    *,
    mint_id: Callable[[], str],
    edited: bytes | None = None,
) -> Resolution:
    """Work out how a conflict ends.

    Args:
        tree: files by path; those that are not at `path` or below `conflicts/` or `notes/` need not be in it.
        path: whose copies are to go.
        keep: `live`, `edited`, `both`, or a copy: its path, or the beginning of its name.
        read: returns the content of a blob.
        mint_id: returns a new id for a note that has one and must not share it.
        edited: for `edited`, what the file holds now; None where it was removed.

    Raises:
        NotFound: the path has no copies, or none of that name.
        AmbiguousMatch: several copies have that name.
        ProtectedPath: a folder stands where the text would live, or a file where its folder was; or the
            text of an episode was to be replaced.
        RefusedError: `both` was asked of a file that is no note.
    """
    copies = list_conflicts(tree).get(path, ())
    if not copies:
        raise NotFound(f"{path} has no open conflict", hint=_LISTED, path=path)
    gone: dict[str, TreeFile | None] = dict.fromkeys(copies)
    live = path if path in tree else None
    if keep == LIVE:
        return Resolution(gone, live=live)
    if path.startswith(_EPISODES) and keep != BOTH:
        raise ProtectedPath(
            f"{path} is an episode, which never changes", hint="Keep `live` or `both`.", path=path
        )
    if keep == EDITED:
        return _with_text(tree, path, gone, edited)
    if keep == BOTH:
        return _with_notes(tree, path, gone, read, mint_id)
    copy = _find_copy(copies, keep)
    if not tree[copy].is_regular:
        raise ProtectedPath(f"{copy} is a link; links are not followed", path=copy)
    _refuse_taken(tree, path)
    mode = tree[path].mode if live and tree[path].is_regular else FILE_MODE
    return Resolution({**gone, path: TreeFile(mode, tree[copy].id)}, live=path)


def _find_copy(copies: tuple[str, ...], keep: str) -> str:
    found = [one for one in copies if one == keep or (keep and PurePosixPath(one).name.startswith(keep))]
    exact = [one for one in found if keep in (one, PurePosixPath(one).name, PurePosixPath(one).stem)]
    found = exact or found
    if not found:
        raise NotFound(f"no copy is called {keep[:200]}", hint=_LISTED, copies=list(copies))
    if len(found) > 1:
        raise AmbiguousMatch(f"several copies begin with {keep[:200]}", hint=_LISTED, matches=found)
    return found[0]


def _with_text(
    tree: Mapping[str, TreeFile], path: str, gone: Mapping[str, TreeFile | None], text: bytes | None
) -> Resolution:
    if text is None:
        return Resolution({**gone, path: None} if path in tree else gone)
    _refuse_taken(tree, path)
    mode = tree[path].mode if path in tree and tree[path].is_regular else FILE_MODE
    blob = hash_object("blob", text)
    return Resolution({**gone, path: TreeFile(mode, blob)}, {blob: text}, path)


def _with_notes(
    tree: Mapping[str, TreeFile],
    path: str,
    gone: Mapping[str, TreeFile | None],
    read: Callable[[str], bytes],
    mint_id: Callable[[], str],
) -> Resolution:
    if not path.startswith((_NOTES, _EPISODES)):
        raise RefusedError(
            f"{path} is no note, so no second one can stand beside it",
            hint="Keep `live` or a copy, or edit the file and keep `edited`.",
            path=path,
        )
    files, made, notes = dict(gone), {}, []
    for copy in (copy for copy in gone if tree[copy].is_regular):
        name = _free_path(tree, path, PurePosixPath(copy).stem)
        _refuse_taken(tree, name)
        content = read(tree[copy].id)
        if path.startswith(_NOTES):
            content = _with_own_id(content, mint_id)
        blob = hash_object("blob", content)
        files[name], made[blob] = TreeFile(FILE_MODE, blob), content
        notes.append(name)
    return Resolution(files, made, path if path in tree else None, tuple(notes))


def _free_path(tree: Mapping[str, TreeFile], path: str, name: str) -> str:
    """Return where a copy becomes a note: beside the live one, its name with the copy's behind it."""
    file = PurePosixPath(path)
    stem = f"{file.parent}/{file.stem}-{name}"
    number = 1
    while (found := f"{stem}{'' if number == 1 else f'-{number}'}{file.suffix}") in tree:
        number += 1
    return found


def _with_own_id(content: bytes, mint_id: Callable[[], str]) -> bytes:
    """Return a note with another id than the live one's; one that cannot be edited stays as it is."""
    try:
        text = content.decode("utf-8")
        if ensure_id(text, "x") != text:
            return content  # its id comes of its path, so it has its own
        return set_field(text, "id", mint_id()).encode("utf-8")
    except (UnicodeDecodeError, RefusedError):
        return content


def _refuse_taken(tree: Mapping[str, TreeFile], path: str) -> None:
    """Refuse a place for a text that is a folder by now, or lies below what is a file."""
    hint = "Keep `live`, or put the text elsewhere yourself."
    if any(other.startswith(f"{path}/") for other in tree):
        raise ProtectedPath(f"{path} is a folder now", hint=hint, path=path)
    for folder in map(str, PurePosixPath(path).parents):
        if folder in tree:
            raise ProtectedPath(f"{folder} is a file now", hint=hint, path=folder)
