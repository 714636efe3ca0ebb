"""Where a text may be cut: never inside what a reader sees as one character, nor between CR and LF.

The only file that imports `regex`, which knows Unicode's rules for extended grapheme clusters; and only where
a text has to be cut at a place that is not plain ASCII, for that import takes 10 ms.
"""

from __future__ import annotations

from typing import Final

#: So far back a certain boundary is looked for before the whole text is read.
_LOOK_BACK: Final = 1000


def cut_at(text: str, limit: int) -> int:
    """Return the longest length of at most `limit` code points at which `text` may be cut.

    A text that begins with a longer cluster (marks piled upon one letter) is cut to nothing.
    """
    if limit >= len(text):
        return len(text)
    if limit <= 0 or (_is_plain(text[limit - 1]) and _is_plain(text[limit])):
        return max(limit, 0)
    return _last_boundary(text[: limit + 1], limit)


def _is_plain(char: str) -> bool:
    """Say whether a character is a cluster of its own beside another such: printable ASCII, LF, Chinese."""
    return " " <= char <= "~" or char == "\n" or "\u3400" <= char <= "\u9fff" or "\u3001" <= char <= "\u3029"


def _last_boundary(text: str, limit: int) -> int:
    # Whether there may be a cut before a character depends on that one and on what stands before it only.
    import regex  # noqa: PLC0415 - see above

    best = _plain_boundary(text, limit)
    for cluster in regex.finditer(r"\X", text, pos=best):
        if cluster.start() > limit:
            break
        best = cluster.start()
    return best


def _plain_boundary(text: str, limit: int) -> int:
    """Return the last place before `limit` where there certainly may be a cut; else the beginning."""
    for at in range(limit - 1, max(0, limit - _LOOK_BACK), -1):
        if _is_plain(text[at - 1]) and _is_plain(text[at]):
            return at
    return 0
