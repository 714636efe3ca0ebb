"""The file of an episode: front matter for machines, below it an account for people; written once.

Each line of the account is one item with its source ref at the end. What was recalled stands on one line and
behind a mark, with the signs escaped that Markdown would act on, so that no text of a conversation can forge
a heading, an item, a link or front matter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final

from gitmem.counted import counted
from gitmem.episode_record import BOUNDARIES, EpisodeItem, EpisodeRecord
from gitmem.git_refs import is_ref_name
from gitmem.layout import EPISODES
from gitmem.slugs import make_slug
from gitmem.times import short_time

#: Of the file; a reader takes others as far as it knows their fields.
FORMAT: Final = 1
#: Folder of the tags.
TAGS: Final = "refs/tags/"
_TAG_FOLDER: Final = "episode/"
#: Digits of the id in a file's name: more where another episode has the shorter one.
ID_DIGITS: Final = (4, 8, 15)
#: Trailers of a tag's message.
TAG_ID: Final = "Gitmem-Episode"
TAG_DIGEST: Final = "Gitmem-SHA256"

#: Heading and attribute of each list, in the order of the file.
LISTS: Final = (
    ("What was done", "done"),
    ("Decisions", "decisions"),
    ("Verification", "verification"),
    ("Files", "files"),
    ("Links", "links"),
    ("Follow-ups", "follow_ups"),
)
#: Lists whose items begin with what they are.
LABELLED: Final = ("done", "follow_ups")
_ACTIVE: Final = re.compile(r"[\\`\[\]<]")
#: JSON leaves these as they are; in YAML they would break a line or are forbidden.
_UNSAFE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_SAFE_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")


def render_episode(episode: EpisodeRecord) -> bytes:
    """Return the bytes of an episode's file; equal records give equal bytes."""
    lines = ["---", *_front_lines(episode), "---", "", f"# {_escape(episode.title)}", ""]
    lines += [_summary(episode), *_section("Delivery target", _target(episode))]
    lines += _section("Scope", _scope(episode))
    for heading, name in LISTS:
        lines += _section(heading, [_item_line(item, name) for item in getattr(episode, name)])
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def digest_of(content: bytes) -> str:
    """Return the SHA-256 by which an episode's file is known."""
    return sha256(content).hexdigest()


def episode_slug(episode: EpisodeRecord) -> str:
    """Return what an episode is called in names of files and in subjects."""
    return make_slug(episode.objective or episode.title) or "episode"


def episode_path(episode: EpisodeRecord, *, digits: int = 4) -> str:
    """Return where an episode's file lies.

    Args:
        episode: of it; its last turn gives the day.
        digits: of its id in the name; more where another episode has the shorter name.
    """
    day = episode.finalized_at[:10]
    name = episode.id.rpartition("_")[2][:digits]
    return f"{EPISODES}/{day[:7]}/{day[8:]}-{episode_slug(episode)}-{name}.md"


def own_paths(episode: EpisodeRecord) -> tuple[str, ...]:
    """Return the paths at which gitmem writes an episode's file: the first that was free."""
    return tuple(episode_path(episode, digits=digits) for digits in ID_DIGITS)


def tag_name(episode_id: str) -> str:
    """Return the short name of an episode's tag; an id that Git takes for no name is encoded.

    Two ids never have one name: only an encoded one has a percent sign.
    """
    if _SAFE_NAME.fullmatch(episode_id) and is_ref_name(f"{TAGS}{_TAG_FOLDER}{episode_id}"):
        return f"{_TAG_FOLDER}{episode_id}"
    encoded = "".join(
        chr(byte) if chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in "_-") else f"%{byte:02X}"
        for byte in episode_id.encode("utf-8", "surrogateescape")
    )
    return f"{_TAG_FOLDER}{encoded}"


def tag_message(episode: EpisodeRecord, digest: str) -> str:
    """Return the message of an episode's tag; `git tag -n` shows its first line."""
    subject = f"{episode_slug(episode)} ({counted(len(episode.turns), 'turn')})"
    return f"{subject}\n\n{TAG_ID}: {episode.id}\n{TAG_DIGEST}: {digest}\n"


def _front_lines(episode: EpisodeRecord) -> Iterator[str]:
    yield f"id: {episode.id}"
    yield f"episode: {FORMAT}"
    for name in ("title", "objective", "delivery_target", "boundary", "created_at", "finalized_at",
                 "writer", "session", "work_item", "result_brief"):  # fmt: skip
        value = getattr(episode, name)
        if value is not None:
            yield f"{name}: {_quoted(value)}"
    yield "turns:"
    for turn in episode.turns:
        known = {"id": turn.id, "at": turn.at, "workspace": turn.workspace}
        yield "  - " + _quoted({name: value for name, value in known.items() if value})
    yield "source_refs:"
    for ref in episode.source_refs:
        yield f"  - {_quoted(ref)}"


def _summary(episode: EpisodeRecord) -> str:
    where = f" of session {episode.session}" if episode.session else ""
    why = BOUNDARIES.get(episode.boundary, episode.boundary)
    span = f"{short_time(episode.created_at)} to {short_time(episode.finalized_at)} UTC"
    return f"{counted(len(episode.turns), 'turn')}{where}, {span}. It ended because {why}."


def _target(episode: EpisodeRecord) -> list[str]:
    if episode.delivery_target is None:
        return []
    return [_item_line(EpisodeItem(episode.delivery_target, f"work_item:{episode.work_item}"))]


def _scope(episode: EpisodeRecord) -> list[str]:
    items = []
    if episode.objective is not None:
        items.append(EpisodeItem(episode.objective, f"work_item:{episode.work_item}", "Objective"))
    for place, count in episode.workspaces.items():
        first = next(turn for turn in episode.turns if turn.workspace == place)
        told = (
            f"{counted(count, 'turn')} in {place}" if place else f"{counted(count, 'turn')} in no workspace"
        )
        items.append(EpisodeItem(told, f"turn:{first.id}", "Ran"))
    return [_item_line(item, "done") for item in items]


def _section(heading: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {heading}", "", *lines] if lines else []


def _item_line(item: EpisodeItem, name: str = "") -> str:
    label = f"{item.label}: " if item.label and name in LABELLED else ""
    ref = f" (`{item.ref}`)" if item.ref else ""
    return f"- {label}{_escape(item.text)}{ref}"


def _escape(text: str) -> str:
    return _ACTIVE.sub(lambda match: f"\\{match[0]}", text)


def _quoted(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
