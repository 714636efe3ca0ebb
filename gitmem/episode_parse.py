"""The file of an episode, read back: what it says as data, whoever wrote it and in which format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from gitmem.authored_text import LINE_BREAK
from gitmem.episode_file import LABELLED, LISTS
from gitmem.episode_record import EpisodeItem, EpisodeRecord, EpisodeTurn
from gitmem.front_matter import FrontMatter, read_front_matter

#: Fields of accounts that other programs wrote, by the attribute that they became.
_OLD_LISTS: Final = {
    "files": "working_set_files",
    "decisions": "decisions",
    "follow_ups": "carry_forward",
}
_ESCAPED: Final = re.compile(r"\\([\\`\[\]<])")
_ITEM: Final = re.compile(r"- (.*?)(?: \(`([^`\s]+)`\))?")
_LABEL: Final = re.compile(r"([A-Z][a-z]+): (.*)")


def parse_episode(text: str, episode_id: str | None = None) -> EpisodeRecord:
    """Return what the file of an episode says; whatever it lacks is empty.

    Args:
        text: of the file. Accounts of older formats are read too: numeric turn ids become text, and a
            boundary that is not known any more stays as it is written.
        episode_id: the id of a file that names none.
    """
    front = read_front_matter(text)
    values = {name: field.node.value for name, field in front.fields.items()}
    turns = tuple(_turns(values))
    episode = EpisodeRecord(
        id=front.id or episode_id or "",
        writer=_one(values, "writer") or "",
        session=_one(values, "session"),
        title=_one(values, "title") or _heading(text, front) or "",
        boundary=_one(values, "boundary", "boundary_reason") or "",
        created_at=_one(values, "created_at") or "",
        finalized_at=_one(values, "finalized_at") or "",
        turns=turns,
        work_item=_one(values, "work_item", "current_work_item_id"),
        objective=_one(values, "objective"),
        delivery_target=_one(values, "delivery_target"),
        result_brief=_one(values, "result_brief"),
        is_forgotten=values.get("forgotten") == "true",
    )
    lists: dict[str, Any] = _lists(text[front.body_start :], values)
    return replace(episode, **lists)


def _lists(body: str, values: Mapping[str, Any]) -> dict[str, tuple[EpisodeItem, ...]]:
    headings = dict(LISTS)
    found: dict[str, list[EpisodeItem]] = {}
    name = None
    for line in LINE_BREAK.split(body):
        if line.startswith("#"):
            name = headings.get(line.removeprefix("## "))
        elif name is not None and (item := _ITEM.fullmatch(line)) is not None:
            found.setdefault(name, []).append(_parse_item(item[1], item[2] or "", name))
    for attribute, old in _OLD_LISTS.items():
        texts = values.get(old)
        if attribute not in found and isinstance(texts, list):
            found[attribute] = [EpisodeItem(text) for text in texts if isinstance(text, str)]
    return {attribute: tuple(items) for attribute, items in found.items()}


def _parse_item(told: str, ref: str, name: str) -> EpisodeItem:
    label = _LABEL.fullmatch(told) if name in LABELLED else None
    text, what = (label[2], label[1]) if label else (told, "")
    return EpisodeItem(_ESCAPED.sub(r"\1", text), ref, what)


def _turns(values: Mapping[str, Any]) -> Iterator[EpisodeTurn]:
    found = values.get("turns")
    old = values.get("source_turn_ids")
    for one in found if isinstance(found, list) else old if isinstance(old, list) else ():
        if isinstance(one, str):
            yield EpisodeTurn(one)
        elif isinstance(one, Mapping) and isinstance(one.get("id"), str):
            yield EpisodeTurn(one["id"], one.get("at") or "", one.get("workspace"))


def _one(values: Mapping[str, Any], *names: str) -> str | None:
    found = (values.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value), None)


def _heading(text: str, front: FrontMatter) -> str | None:
    lines = LINE_BREAK.split(text[front.body_start :])
    found = (line.removeprefix("# ") for line in lines if line.startswith("# "))
    title = next(found, None)
    return None if title is None else _ESCAPED.sub(r"\1", title)
