"""The files that patches name, in every form in which a patch is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.patch_paths import PatchedFile, patched_files


def changes(patch: str) -> dict[str, str]:
    """Return what a patch does to each file."""
    return {file.path: file.change for file in patched_files(patch)}


HUNK = "@@ -1 +1 @@\n-old\n+new\n"

PATCHES = {
    "git": (
        f"diff --git a/src/x.py b/src/x.py\nindex 1..2 100644\n--- a/src/x.py\n+++ b/src/x.py\n{HUNK}",
        {"src/x.py": "changed"},
    ),
    "names of Windows": (f"--- a\\src\\x.py\n+++ b\\src\\x.py\n{HUNK}", {"src\\x.py": "changed"}),
    "a merge's, binary": (
        "diff --cc p.png\nindex 1,2..3\nBinary files differ\ndiff --combined q\nindex 1,2..3\n",
        {"p.png": "changed", "q": "changed"},
    ),
    "several files, hunks without numbers": (
        "--- a/x\n+++ b/x\n@@ ... @@\n-old\n+new\n--- a/y\n+++ b/y\n@@ ... @@\n-old\n+new\n",
        {"x": "changed", "y": "changed"},
    ),
    "lines that look like names, hunks without numbers": (
        "--- a/x\n+++ b/x\n@@ ... @@\n--- old\n+++ new\n@@ ... @@\n-a\n",
        {"x": "changed"},
    ),
    "without prefixes": (f"--- src/x.py\n+++ src/x.py\n{HUNK}", {"src/x.py": "changed"}),
    "mnemonic prefixes": (f"diff --git i/x w/x\n--- i/x\n+++ w/x\n{HUNK}", {"x": "changed"}),
    "a folder called b": (f"--- a/b/x\n+++ b/b/x\n{HUNK}", {"b/x": "changed"}),
    "times behind tabs": (
        f"--- a/my file.py\t2026-11-30 09:00:00.0000 +0100\n+++ b/my file.py\t2026-11-30 09:01:00\n{HUNK}",
        {"my file.py": "changed"},
    ),
    "times behind spaces": (
        f"--- x.py 2026-11-30 09:00:00.000 +0100\n+++ x.py 2026-11-30 09:00:00.1\n{HUNK}",
        {"x.py": "changed"},
    ),
    "carriage returns": (f"--- a/x\r\n+++ b/x\r\n{HUNK}".replace("\n", "\r\n"), {"x": "changed"}),
    "quoted, octal": (
        'diff --git "a/\\303\\244 b" "b/\\303\\244 b"\n--- "a/\\303\\244 b"\n+++ "b/\\303\\244 b"\n' + HUNK,
        {"ä b": "changed"},
    ),
    "quoted, a tab and a quote in the name": (
        f'--- "a/t\\tq\\".c"\n+++ "b/t\\tq\\".c"\n{HUNK}',
        {'t\tq".c': "changed"},
    ),
    "bytes that are no UTF-8": (f'--- "a/\\377.c"\n+++ "b/\\377.c"\n{HUNK}', {"\ufffd.c": "changed"}),
    "added": (
        "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n",
        {"n": "added"},
    ),
    "added and empty": (
        "diff --git a/my n b/my n\nnew file mode 100644\nindex 000..e69\n",
        {"my n": "added"},
    ),
    "deleted": ("--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", {"gone": "deleted"}),
    "deleted and empty": ("diff --git a/gone b/gone\ndeleted file mode 100644\n", {"gone": "deleted"}),
    "another mode": (
        "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n",
        {"run.sh": "changed"},
    ),
    "binary": (
        "diff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\ndiff --git a/q b/q\n",
        {"p.png": "changed", "q": "changed"},
    ),
    "renamed": (
        "diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n",
        {"old": "moved_away", "new": "moved_here"},
    ),
    "renamed and changed": (
        f"diff --git a/old b/new\nrename from old\nrename to new\n--- a/old\n+++ b/new\n{HUNK}",
        {"old": "moved_away", "new": "changed"},
    ),
    "renamed, quoted": (
        'rename from "\\303\\244"\nrename to b/real folder\n',
        {"ä": "moved_away", "b/real folder": "moved_here"},
    ),
    "copied": ("diff --git a/x b/y\ncopy from x\ncopy to y\n", {"x": "copied", "y": "added"}),
    "one name quoted": (
        'diff --git a/plain "b/\\303\\244"\nsimilarity index 90%\n',
        {"ä": "changed"},
    ),
    "context": (
        "*** a/x.c\t2026\n--- b/x.c\t2026\n***************\n*** 1,2 ****\n! a\n--- 1,2 ----\n! b\n",
        {"x.c": "changed"},
    ),
    "written by a model": (
        (
            "*** Begin Patch\n*** Update File: src/a.py\n@@ def f():\n-x\n+y\n*** Add File: new.py\n+z\n"
            "*** Delete File: gone.py\n*** End Patch\n"
        ),
        {"src/a.py": "changed", "new.py": "added", "gone.py": "deleted"},
    ),
    "moved by a model": (
        "*** Begin Patch\n*** Update File: a b.py\n*** Move to: c/d.py\n@@\n-x\n+y\n*** End Patch\n",
        {"a b.py": "moved_away", "c/d.py": "moved_here"},
    ),
    "written by a model, with lines that look like headers": (
        "*** Begin Patch\n*** Update File: real.sql\n@@\n--- a/no\n+++ b/no\n*** End Patch\n",
        {"real.sql": "changed"},
    ),
    "written by a model, without a hunk's header": (
        "*** Begin Patch\n*** Update File: real.sql\n--- a/no\n+++ b/no\n*** End Patch\n",
        {"real.sql": "changed"},
    ),
    "a hunk that ends too early": (
        "--- a/x\n+++ b/x\n@@ -1,90 +1,90 @@\n-a\ndiff --git a/z b/z\nold mode 100644\nnew mode 100755\n",
        {"x": "changed", "z": "changed"},
    ),
    "two files": (
        f"--- a/x\n+++ b/x\n{HUNK}--- a/y\n+++ b/y\n{HUNK}",
        {"x": "changed", "y": "changed"},
    ),
    "lines of a hunk that look like headers": (
        "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- a/no\n+++ b/no\n context\n",
        {"x.sql": "changed"},
    ),
    "a hunk with too large numbers": (
        f"--- a/x\n+++ b/x\n@@ -1,90 +1,90 @@\n-a\n+b\n--- a/y\n+++ b/y\n{HUNK}diff --git a/z b/z\n",
        {"x": "changed", "y": "changed", "z": "changed"},
    ),
    "a hunk without numbers": (
        f"--- a/x\n+++ b/x\n@@\n--- a/no\n+++ b/no\n-z\n--- a/y\n+++ b/y\n{HUNK}",
        {"x": "changed", "y": "changed"},
    ),
    "no newline at the end": (
        f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n--- a/y\n+++ b/y\n{HUNK}",
        {"x": "changed", "y": "changed"},
    ),
    "none": ("---\ntitle: x\n---\n+++\ntoml\n+++\n", {}),
    "an empty name": ("--- a/\n+++ b/\n*** Add File:  \nrename to  \n", {}),
    "cut off": ("--- a/x", {}),
}


@pytest.mark.parametrize(("patch", "expected"), PATCHES.values(), ids=PATCHES)
def test_every_form_of_a_patch(patch: str, expected: dict[str, str]) -> None:
    """Names come out as the working tree has them, each once, and nothing else does."""
    assert changes(patch) == expected


def test_order_is_that_of_the_headers() -> None:
    """The first file of a patch is named first, also where it stands in it twice."""
    patch = f"--- a/z\n+++ b/z\n{HUNK}--- a/a\n+++ b/a\n{HUNK}--- a/z\n+++ /dev/null\n{HUNK}"
    assert patched_files(patch) == (PatchedFile("z", "deleted"), PatchedFile("a", "changed"))
    assert [file.is_gone for file in patched_files(patch)] == [True, False]


@given(
    st.lists(
        st.sampled_from(
            '--- |+++ |--- a/x|+++ b/y|@@ -1,9 +1,9 @@|@@|diff --git a/x b/x|diff --git "a|rename from x'
            '|*** |*** Add File: x|*** Move to: y|***************|-|+| |\\|"|\r'.split("|")
        ),
        max_size=30,
    )
)
def test_any_lines_are_read(lines: list[str]) -> None:
    """A patch cut anywhere gives names without blank ones, and no error."""
    assert all(file.path.strip() for file in patched_files("\n".join(lines)))


@pytest.mark.parametrize(
    "piece",
    ["-", "--- \n", "--- a\n+++ b\n", "@@ -1,9 +1,9 @@\n", '"\\', " ", "diff --git a b\n", "*** \n--- \n"],
)
def test_a_long_hostile_text_is_read_once(piece: str) -> None:
    """64 KiB of anything costs no more than reading it: this test would outlast its time limit otherwise."""
    text = piece * (65_536 // len(piece))
    assert len(patched_files(text)) <= 1
    assert len(patched_files(f"--- {text}\n+++ {text}\ndiff --git {text}")) <= 65_536
