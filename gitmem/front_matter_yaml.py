"""The fence to python-frontmatter and YAML: a block becomes nodes with texts and places, never typed values.

The parser's events are taken as they come: nothing of a note is constructed, resolved or expanded, so a date
stays as written and an alias cannot multiply.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import frontmatter
import yaml
from frontmatter.default_handlers import YAMLHandler
from yaml.constructor import SafeConstructor
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)
from yaml.nodes import ScalarNode
from yaml.resolver import Resolver

#: A larger block is not read.
MAX_BLOCK: Final = 64 * 1024
_MAX_DEPTH: Final = 16

_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]")
#: YAML 1.1 breaks lines at these, editors and Git do not.
_ODD_BREAKS: Final = re.compile("[\x85\u2028\u2029]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_PREFIX: Final = "tag:yaml.org,2002:"
_ORDINARY_TAGS: Final = frozenset({None, "!", f"{_PREFIX}str", f"{_PREFIX}seq", f"{_PREFIX}map"})
#: Python reads no integer of more digits.
_LONGEST_NUMBER: Final = 4300
#: libyaml where PyYAML was built with it; ten times as fast, the same events.
_LOADER: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_RESOLVER: Final[Any] = Resolver()
_CONSTRUCTOR: Final[Any] = SafeConstructor()

Value = str | None | list[Any] | dict[str, Any]


@dataclass(frozen=True, slots=True)
class Node:
    """One value of the block and where it stands in the block.

    Attributes:
        text: of a text, as written (folded where YAML folds lines); None for null and for collections.
        children: of a list its items; of a map its keys and values in turn.
        start, end: offsets of the first character and behind the last.
        column: of the first character in its line.
        is_flow: a collection in brackets. is_plain: a text without quotes. tag: an explicit `!tag`.
    """

    kind: Literal["text", "list", "map"]
    text: str | None
    children: tuple[Node, ...]
    start: int
    end: int
    column: int
    is_flow: bool = False
    is_plain: bool = False
    tag: str | None = None

    @property
    def value(self) -> Value:
        """The node as texts, lists and dicts."""
        if self.kind == "text":
            return self.text
        if self.kind == "list":
            return [child.value for child in self.children]
        pairs = zip(self.children[::2], self.children[1::2], strict=True)
        return {key.text or "": node.value for key, node in pairs}


class UnreadableBlock(Exception):
    """The block is not YAML of the kind that is read; `offset` is where it shows."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(reason)
        self.offset = offset
        self.reason = reason


class _Nodes(YAMLHandler):
    """Hands python-frontmatter the nodes of a block in place of its values."""

    FM_BOUNDARY = re.compile(r"^---$", re.MULTILINE)

    def load(self, fm: str, **_: object) -> dict[str, Any]:
        """Return the root node, which python-frontmatter takes only as the value of a mapping."""
        # The line feed behind the opening `---` counts as part of the block.
        return {"root": _build(fm[1:])}


def read_block(block: str) -> Node | None:
    """Return the root node of the text between two `---` lines; None where it holds no value.

    Raises:
        UnreadableBlock: too large or too deep, no YAML, an anchor or alias, a key that is not text.
    """
    if len(block) > MAX_BLOCK:
        raise UnreadableBlock(0, f"more than {MAX_BLOCK // 1024} KiB")
    bad = _FORBIDDEN.search(block)
    if bad:
        raise UnreadableBlock(bad.start(), f"a character that YAML forbids (U+{ord(bad[0]):04X})")
    # A space for each odd break, so that offsets stay.
    metadata, _ = frontmatter.parse(f"---\n{_ODD_BREAKS.sub(' ', block)}\n---", handler=_Nodes())
    root = metadata.get("root")
    return _on_breaks_of(block, root) if isinstance(root, Node) else None


def reads_as_text(text: str) -> bool:
    """Say whether other readers of YAML take an unquoted `text` for text, not for a number, date or null."""
    return _kind_of(text) == "str"


def is_possible(text: str) -> bool:
    """Say whether other readers of YAML, which build dates and numbers, can read an unquoted text."""
    kind = _kind_of(text)
    if kind not in {"int", "float", "timestamp"}:
        return True
    if len(text) > _LONGEST_NUMBER:
        return False
    try:
        getattr(_CONSTRUCTOR, f"construct_yaml_{kind}")(ScalarNode(_PREFIX + kind, text))
    except (ValueError, OverflowError):
        return False
    return True


def has_foreign_tag(node: Node) -> bool:
    """Say whether a node or one below it carries a `!tag` that asks for more than text."""
    return node.tag not in _ORDINARY_TAGS or any(has_foreign_tag(child) for child in node.children)


def _on_breaks_of(block: str, root: Node) -> Node:
    """Return the nodes with their places in `block`; python-frontmatter reads CRLF as one character."""
    breaks = [match.start() - number for number, match in enumerate(re.finditer("\r\n", block))]
    return _moved(root, breaks) if breaks else root


def _moved(node: Node, breaks: Sequence[int]) -> Node:
    return replace(
        node,
        start=node.start + bisect_left(breaks, node.start),
        end=node.end + bisect_left(breaks, node.end),
        children=tuple(_moved(child, breaks) for child in node.children),
    )


def _kind_of(text: str) -> str:
    return str(_RESOLVER.resolve(ScalarNode, text, (True, False))).removeprefix(_PREFIX)


def _build(source: str) -> Node | None:
    try:
        root = _root_of(source)
    except yaml.MarkedYAMLError as error:
        raise UnreadableBlock(_place_of(error, len(source)), error.problem or "not YAML") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UnreadableBlock(0, str(error).partition("\n")[0] or "not YAML") from error
    return None if root is not None and root.kind == "text" and root.text is None else root


def _place_of(error: yaml.MarkedYAMLError, end: int) -> int:
    place = _index(error.problem_mark or error.context_mark)
    # What is missing shows at the end; where it was opened is what an operator looks for.
    return _index(error.context_mark) if place >= end - 1 and error.context_mark else place


def _root_of(source: str) -> Node | None:
    root: Node | None = None
    open_nodes: list[tuple[CollectionStartEvent, list[Node]]] = []
    for event in _checked_events(source):
        if isinstance(event, CollectionStartEvent):
            open_nodes.append((event, []))
            if len(open_nodes) > _MAX_DEPTH:
                raise UnreadableBlock(_index(event.start_mark), f"nested deeper than {_MAX_DEPTH} levels")
            continue
        if isinstance(event, CollectionEndEvent):
            node = _collection(*open_nodes.pop(), _index(event.end_mark))
        elif isinstance(event, ScalarEvent):
            node = _scalar(source, event)
        else:
            continue
        if open_nodes:
            open_nodes[-1][1].append(node)
        else:
            root = node
    return root


def _checked_events(source: str) -> Iterator[Any]:
    documents = 0
    for event in yaml.parse(source, Loader=_LOADER):
        documents += isinstance(event, DocumentStartEvent)
        if documents > 1:
            raise UnreadableBlock(_index(event.start_mark), "a second YAML document")
        if isinstance(event, AliasEvent) or (isinstance(event, NodeEvent) and event.anchor):
            raise UnreadableBlock(
                _index(event.start_mark), "a YAML anchor or alias (& or *), which is not read"
            )
        yield event


def _collection(start: CollectionStartEvent, children: list[Node], end: int) -> Node:
    is_map = isinstance(start, MappingStartEvent)
    is_flow = bool(start.flow_style)
    at: Any = start.start_mark
    odd = next((key for key in children[::2] if key.kind != "text" or key.text is None), None)
    if is_map and odd is not None:
        raise UnreadableBlock(odd.start, "a key that is not plain text")
    if not is_flow and children:
        # The event of a block's end stands at the next token, behind blank lines and comments.
        end = children[-1].end
    kind: Literal["list", "map"] = "map" if is_map else "list"
    return Node(kind, None, tuple(children), at.index, end, at.column, is_flow, tag=start.tag)


def _scalar(source: str, event: ScalarEvent) -> Node:
    start: Any = event.start_mark
    end = _index(event.end_mark)
    if event.style in {"|", ">"}:
        end = start.index + len(source[start.index : end].rstrip())
    if _SURROGATE.search(event.value):
        # libyaml refuses such an escape itself; PyYAML's own parser makes a text that no file can hold.
        raise UnreadableBlock(start.index, "half of a surrogate pair")
    is_plain = not event.style
    is_null = is_plain and event.tag is None and event.value in _NULLS
    text = None if is_null else str(event.value)
    return Node("text", text, (), start.index, end, start.column, is_plain=is_plain, tag=event.tag)


def _index(mark: Any) -> int:
    return int(mark.index) if mark else 0
