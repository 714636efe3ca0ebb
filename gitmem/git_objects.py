"""Git objects as bytes: ids, trees, commits and tags, encoded and decoded without any library."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from gitmem.errors import CorruptionError
from gitmem.repository import TREE_MODE, Commit, GitObject, ObjectKind, TreeEntry


def make_object(kind: ObjectKind, content: bytes) -> GitObject:
    """Return the object of `content`, with its id."""
    return GitObject(kind, content, hash_object(kind, content))


def hash_object(kind: ObjectKind, content: bytes) -> str:
    """Return the id that Git gives to `content`."""
    return hashlib.sha1(
        b"%s %d\0" % (kind.encode(), len(content)) + content, usedforsecurity=False
    ).hexdigest()


def make_tree(entries: Iterable[TreeEntry]) -> GitObject:
    """Return the tree object of `entries`, sorted as Git sorts them."""
    rows = sorted(entries, key=tree_order)
    content = b"".join(b"%o %s\0%s" % (e.mode, encode_path(e.name), bytes.fromhex(e.id)) for e in rows)
    return make_object("tree", content)


def tree_order(entry: TreeEntry) -> bytes:
    """Return the sort key of a tree entry: a folder sorts as if its name ended in a slash."""
    name = encode_path(entry.name)
    return name + b"/" if entry.mode == TREE_MODE else name


def parse_tree(content: bytes) -> list[TreeEntry]:
    """Decode a tree's content.

    Raises:
        CorruptionError: the bytes are not a tree.
    """
    entries = []
    at = 0
    while at < len(content):
        nul = content.find(b"\0", at)
        mode, space, name = content[at:nul].partition(b" ")
        if nul < 0 or not space or nul + 21 > len(content):
            raise CorruptionError("a damaged tree object", hint="Run `git fsck`.")
        entries.append(TreeEntry(decode_path(name), int(mode, 8), content[nul + 1 : nul + 21].hex()))
        at = nul + 21
    return entries


def make_commit(
    *, tree: str, parents: Sequence[str], author: str, committer: str, seconds: int, message: str
) -> GitObject:
    """Return a commit object.

    Args:
        tree: id of its tree.
        parents: ids of its parents, the first one first.
        author: `Name <mail>`.
        committer: `Name <mail>`.
        seconds: author and commit time, since 1970; the zone is always +0000.
        message: text ending in a line feed.
    """
    lines = [f"tree {tree}", *(f"parent {p}" for p in parents)]
    lines += [f"author {author} {seconds} +0000", f"committer {committer} {seconds} +0000", "", message]
    return make_object("commit", "\n".join(lines).encode("utf-8", "surrogateescape"))


def make_tag(*, target: str, name: str, tagger: str, seconds: int, message: str) -> GitObject:
    """Return an annotated tag of a commit; the same commit, name and message always give the same object.

    Args:
        target: id of the commit.
        name: short name, without `refs/tags/`.
        tagger: `Name <mail>`.
        seconds: since 1970; the zone is always +0000.
        message: text ending in a line feed.
    """
    lines = [f"object {target}", "type commit", f"tag {name}", f"tagger {tagger} {seconds} +0000"]
    lines += ["", message]
    return make_object("tag", "\n".join(lines).encode("utf-8", "surrogateescape"))


def parse_tag(content: bytes) -> tuple[str, str]:
    """Return the id that an annotated tag names, and its message.

    Raises:
        CorruptionError: the bytes are no tag.
    """
    head, _, message = content.partition(b"\n\n")
    first = head.split(b"\n", 1)[0]
    if not first.startswith(b"object ") or len(first) != 47:
        raise CorruptionError("a damaged tag object", hint="Run `git fsck`.")
    return first[7:].decode("ascii", "replace"), message.decode("utf-8", "replace")


def parse_commit(commit_id: str, content: bytes) -> Commit:
    """Decode a commit's content; headers that gitmem does not use are passed over.

    Raises:
        CorruptionError: tree, author or committer is missing.
    """
    head, _, message = content.partition(b"\n\n")
    tree, author, committer = "", "", ""
    parents = []
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"parent":
            parents.append(value.decode("ascii"))
        elif key == b"tree":
            tree = value.decode("ascii")
        elif key == b"author":
            author = value.decode("utf-8", "replace")
        elif key == b"committer":
            committer = value.decode("utf-8", "replace")
    if not tree or not author or not committer:
        raise CorruptionError(f"a damaged commit object {commit_id}", hint="Run `git fsck`.")
    author_name, author_time = _split_identity(author)
    committer_name, commit_time = _split_identity(committer)
    text = message.decode("utf-8", "replace")
    return Commit(
        commit_id, tree, tuple(parents), author_name, author_time, committer_name, commit_time, text
    )


def encode_path(name: str) -> bytes:
    """Return a path or name as the bytes that Git stores."""
    return name.encode("utf-8", "surrogateescape")


def decode_path(name: bytes) -> str:
    """Return Git's bytes of a path or name as text; bytes that are not UTF-8 become surrogate escapes."""
    return name.decode("utf-8", "surrogateescape")


def _split_identity(value: str) -> tuple[str, int]:
    name, _, rest = value.rpartition("> ")
    seconds = rest.split(" ")[0]
    return name + ">", int(seconds) if seconds.lstrip("-").isdigit() else 0
