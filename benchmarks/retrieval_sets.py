"""Conversations with questions whose answers are known to stand in certain turns: LoCoMo and MemoryBank.

Each conversation, or each language's users together, is one `Collection`: messages, and questions with the
keys of the messages that answer them. Nothing of it is shipped; the files come from a folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from locomo import lines

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open domain", 4: "single hop", 5: "adversarial"}


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Attributes:
        key: what evidence names; the messages of a pair share one.
        author: who said it, None where only the role is known.
        text: what was said, captions of pictures included.
        ts: RFC 3339.
        workspace: whose message it is, where a home has several users.
    """

    key: str
    session: str
    role: str
    author: str | None
    text: str
    ts: str
    workspace: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question.

    Attributes:
        evidence: keys of the messages that answer it.
        category: its number in LoCoMo, 0 elsewhere.
        workspace: who asks, where a home has several users.
    """

    text: str
    evidence: frozenset[str]
    category: int = 0
    workspace: str | None = None


@dataclass(frozen=True, slots=True)
class Collection:
    """Messages that are searched together, in the order in which they were said, and questions about them."""

    name: str
    messages: Sequence[Message]
    questions: Sequence[Asked]

    @property
    def asked_at(self) -> float:
        """When questions are asked, in seconds since 1970: ten years later.

        `Last year` in a question of these sets counts from some turn, not from the moment of asking, so it
        must not point into the conversation.
        """
        last = max(message.ts for message in self.messages)
        return (datetime.fromisoformat(last) + timedelta(days=3652)).timestamp()


def as_published(message: Message) -> str:
    """Return a message's text where its author stands in a field of its own."""
    return message.text


def as_prefixed(message: Message) -> str:
    """Return a message's text as `Name: words`, as group chats are recorded."""
    return f"{message.author}: {message.text}" if message.author else message.text


def as_dashed(message: Message) -> str:
    """Return a message's text with the name as a word like any other, so that nobody knows the author."""
    return f"{message.author} - {message.text}" if message.author else message.text


Form = Callable[[Message], str]


def in_one_session(one: Collection) -> Collection:
    """Return a collection as if all of it had been one conversation without a break."""
    return replace(one, messages=[replace(message, session="all") for message in one.messages])


def in_one_home(collections: Sequence[Collection]) -> Collection:
    """Return all collections as one."""
    messages = [
        replace(message, key=f"{one.name} {message.key}", session=f"{one.name}-{message.session}")
        for one in collections
        for message in one.messages
    ]
    questions = [
        replace(asked, evidence=frozenset(f"{one.name} {key}" for key in asked.evidence))
        for one in collections
        for asked in one.questions
    ]
    return Collection("all", messages, questions)


def read_locomo(path: Path) -> list[Collection]:
    """Return the conversations of a file in the layout of `locomo10.json`."""
    return [_conversation(item) for item in json.loads(path.read_text("utf-8"))]


def _conversation(item: dict[str, Any]) -> Collection:
    messages = [
        Message(
            key=str(line["source_id"]),
            session=str(line["session"]),
            role=str(line["role"]),
            author=str(line["author"]),
            text=str(line["text"]),
            ts=str(line["ts"]),
        )
        for line in lines(item["conversation"], item["sample_id"])
    ]
    known = {message.key for message in messages}
    # A few evidence ids name no turn; a question counts with those that do.
    found = [(q, frozenset(map(str, q.get("evidence", ()))) & known) for q in item["qa"]]
    questions = [Asked(str(q["question"]), evidence, q["category"]) for q, evidence in found if evidence]
    return Collection(item["sample_id"], messages, questions)


def read_memorybank(history: Path, questions: Path) -> list[Collection]:
    """Return one collection for each language, all of its users in it.

    A query and its response are a message each; evidence names the pair, so both have its key.
    """
    told = json.loads(history.read_text("utf-8"))
    asked = json.loads(questions.read_text("utf-8"))
    return [_language(language, users, asked[language]) for language, users in told.items()]


def _language(language: str, users: dict[str, Any], asked: list[dict[str, Any]]) -> Collection:
    names = {user.strip(): f"{language}{number}" for number, user in enumerate(users, 1)}
    return Collection(
        name={"cn": "Chinese", "en": "English"}.get(language, language),
        messages=[message for user, days in users.items() for message in _days(names[user.strip()], days)],
        questions=[
            Asked(
                q["question"],
                frozenset(_key(names[q["user"].strip()], day, index) for day, index in q["evidence"]),
                workspace=names[q["user"].strip()],
            )
            for q in asked
            if q["evidence"]
        ],
    )


def _days(user: str, days: dict[str, list[dict[str, str]]]) -> Iterator[Message]:
    """Yield a user's messages: of each pair the query and the response, a minute apart, from nine o'clock."""
    for day, pairs in days.items():
        began = datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC)
        for index, pair in enumerate(pairs):
            for place, (role, name) in enumerate((("user", "query"), ("assistant", "response"))):
                yield Message(
                    key=_key(user, day, index),
                    session=f"{user}-{day}",
                    role=role,
                    author=None,
                    text=pair[name],
                    ts=(began + timedelta(minutes=2 * index + place)).isoformat(),
                    workspace=user,
                )


def _key(user: str, day: str, index: int) -> str:
    return f"{user} {day} {index}"
