"""Tags of episodes between here and a remote: they go both ways, are only ever made, and never moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gitmem.errors import GitmemError
from gitmem.git_objects import parse_tag
from gitmem.git_refs import is_ref_name
from gitmem.json_view import JsonView
from gitmem.repository import ObjectReader
from gitmem.subjects import parse_trailers

EPISODE_TAGS: Final = "refs/tags/episode/"


@dataclass(frozen=True, slots=True)
class MovedTag(JsonView):
    """A tag that says one thing here and another there.

    Attributes:
        id: its name.
        here: the id that it has here, and keeps.
        there: the id that the remote has.
    """

    id: str
    here: str
    there: str


@dataclass(frozen=True, slots=True)
class TagPlan:
    """What becomes of the tags.

    Attributes:
        come: name -> id of those to make here.
        go: name -> id of those to make there.
        moved: those that differ.
        refused: name -> why a tag of the remote's is not taken.
    """

    come: Mapping[str, str] = field(default_factory=dict)
    go: Mapping[str, str] = field(default_factory=dict)
    moved: tuple[MovedTag, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)


def tag_names(refs: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of episodes among refs."""
    return {name: value for name, value in refs.items() if name.startswith(EPISODE_TAGS)}


def plan_tags(objects: ObjectReader, here: Mapping[str, str], there: Mapping[str, str]) -> TagPlan:
    """Compare tags by name; those of one name agree if their messages do, whatever their commits.

    Args:
        objects: holds the tags of both sides.
        here: id by name.
        there: id by name.
    """
    come: dict[str, str] = {}
    moved: list[MovedTag] = []
    refused: dict[str, str] = {}
    for name, value in there.items():
        mine = here.get(name)
        if mine == value:
            continue
        said = tag_words(objects, value)
        if mine is None:
            fault = None if is_ref_name(name) else "not a ref name"
            fault = fault or (None if said else "it is no annotated tag of an episode")
            (refused if fault else come)[name] = fault or value
        elif said is None or said != tag_words(objects, mine):
            moved.append(MovedTag(name.removeprefix("refs/tags/"), mine, value))
    go = {name: value for name, value in here.items() if name not in there and tag_words(objects, value)}
    return TagPlan(come, go, tuple(moved), refused)


def tag_words(objects: ObjectReader, value: str) -> Mapping[str, str] | None:
    """Return what an annotated tag says of its episode; None for anything else."""
    try:
        kind, content = objects.read(value)
        return parse_trailers(parse_tag(content)[1]) or None if kind == "tag" else None
    except (GitmemError, ValueError):
        return None
