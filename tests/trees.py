"""Trees of a home in memory, for tests of merges: files by path, contents by blob id."""

from __future__ import annotations

from collections.abc import Mapping

from gitmem.errors import ObjectMissing
from gitmem.forgotten import Receipts, read_receipts, receipt_path
from gitmem.git_objects import hash_object
from gitmem.repository import FILE_MODE
from gitmem.tree_edit import TreeFile
from gitmem.tree_merge import TreeMerge, merge_trees

Files = Mapping[str, TreeFile]


class Blobs:
    """Contents by id, and how often each was read."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.reads: list[str] = []

    def put(self, content: str | bytes) -> str:
        """Keep a content; return its id."""
        raw = content.encode() if isinstance(content, str) else content
        blob = hash_object("blob", raw)
        self.contents[blob] = raw
        return blob

    def read(self, blob: str) -> bytes:
        """Return a content."""
        self.reads.append(blob)
        if blob not in self.contents:
            raise ObjectMissing(f"no object {blob}")
        return self.contents[blob]

    def tree(
        self, files: Mapping[str, str | bytes], modes: Mapping[str, int] | None = None
    ) -> dict[str, TreeFile]:
        """Return a tree of contents by path."""
        return {
            path: TreeFile((modes or {}).get(path, FILE_MODE), self.put(text)) for path, text in files.items()
        }

    def merge(self, base: Files, first: Files, second: Files, receipts: Receipts | None = None) -> TreeMerge:
        """Merge two trees; the same with the sides exchanged, or it is no merge of ours."""
        receipts = receipts or Receipts()
        merged = merge_trees(base, first, second, self.read, receipts=receipts)
        assert merged == merge_trees(base, second, first, self.read, receipts=receipts)
        for blob, content in merged.made.items():
            assert self.put(content) == blob
        return merged

    def texts(self, files: Files) -> dict[str, str]:
        """Return what a tree says, by path."""
        return {
            path: self.contents[file.id].decode("utf-8", "replace") for path, file in sorted(files.items())
        }


def forget(*, entries: tuple[str, ...] = (), blobs: tuple[str, ...] = ()) -> Receipts:
    """Return receipts of entries by SHA-256 and of blobs by id."""
    names = [receipt_path("entry", one) for one in entries] + [receipt_path("blob", one) for one in blobs]
    return read_receipts(dict.fromkeys(names, b'{"at":"2026-03-02T09:00:00Z","by":"operator"}\n'))
