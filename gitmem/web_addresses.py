"""Web addresses in text: where they end, and what of them may be kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit, urlunsplit

#: Code points of an address; longer ones are data, not places.
MOST_ADDRESS: Final = 1_000

#: What stands around an address, in English and CJK, and never in it.
_STOPS: Final = r"""\s<>"'`\\|{}^，。；：！？、（）「」『』【】《》〈〉“”‘’…\x00-\x1f\x7f"""
_ADDRESS: Final = re.compile(
    rf"(?:https?://|(?<![\w./@:%-])(?:www\.)?github\.com/)[^{_STOPS}]{{1,{MOST_ADDRESS}}}", re.IGNORECASE
)
_CLOSING: Final = {")": "(", "]": "["}
#: Where another address begins right behind one: behind a comma, or a sign that stands in none unescaped.
_NEXT: Final = re.compile(r"[,;]https?://|(?<=[^\x00-\x7f])https?://", re.IGNORECASE)
#: Signs that end a sentence or a word in Markdown, not an address.
_TRAILING: Final = ".,;:!?*_"
_HOST: Final = re.compile(r"[\w-]+(?:\.[\w-]+)*\.?|[0-9a-f:.]+")


def addresses(text: str) -> Iterator[str]:
    """Yield the web addresses in a text, without the punctuation around them.

    An address of GitHub may stand without `https://`, which it then gets.
    """
    at = 0
    while found := _ADDRESS.search(text, at):
        address = _trimmed(found[0])
        at = found.start() + max(len(address), 1)
        if len(found[0]) >= MOST_ADDRESS:
            at = found.end()
        elif address.partition("://")[2] or "://" not in address:
            yield address if "://" in address[:8] else f"https://{address}"


def plain_address(address: str) -> str | None:
    """Return an address without user, password and fragment; None if it names no host."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:  # brackets that are no IPv6 address, a port that is no number
        return None
    if not host or not _HOST.fullmatch(host):
        return None
    place = f"[{host}]" if ":" in host else host
    place += f":{port}" if port else ""
    return urlunsplit((parts.scheme.lower(), place, parts.path, parts.query, ""))


def _trimmed(address: str) -> str:
    """Return what of a run of characters is the address: closing brackets only where they were opened."""
    opened = {")": 0, "]": 0}
    end = len(address)
    for place, char in enumerate(address):
        if char in "([":
            opened[")" if char == "(" else "]"] += 1
        elif char in opened:
            opened[char] -= 1
            if opened[char] < 0:
                end = place
                break
    following = _NEXT.search(address, 1, end)
    return address[: end if following is None else following.start()].rstrip(_TRAILING)
